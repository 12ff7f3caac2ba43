"""evaluate: episodes between policies of every usual form."""

import contextlib
import csv
import json
import math
import threading

import gymnasium
import numpy as np
import pettingzoo
import pytest
from helpers import zoo
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from rave_pettingzoo import ActionOutsideError, UCTAgent, evaluate

from rave_agents import UnsupportedGameError, from_maker, from_sb3


def tictactoe():
    return pettingzoo.make("aec", "classic/tictactoe-v3")


def first(observation, mask):
    return int(np.flatnonzero(mask)[0])


def run(policy, other=first, episodes=4, env_fn=tictactoe, **options):
    return evaluate(env_fn, {"player_1": policy, "player_2": other}, episodes=episodes, **options)


def by_observation(observation):
    return np.flatnonzero(observation["action_mask"])[0]


class Actor:
    """An agent that is made for each episode."""

    made = 0

    def __init__(self, player):
        type(self).made += 1

    def step(self, state):
        return state.legal_actions()[0]


class MaskableModel:
    """As sb3_contrib's MaskablePPO predicts."""

    observation_space = zoo.spaces.Box(0, 1, (3, 3, 2))

    def predict(
        self, observation, state=None, episode_start=None, deterministic=False, action_masks=None
    ):
        assert observation.shape == (3, 3, 2)
        assert deterministic
        return np.array([np.flatnonzero(action_masks)[0]]), None


class DictionaryModel:
    """As a Stable-Baselines3 model of a dictionary space predicts."""

    observation_space = zoo.spaces.Dict({})

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        return np.int64(by_observation(observation)), None


@pytest.mark.parametrize(
    "policy",
    [
        first,
        by_observation,
        Actor,
        from_maker(lambda game, player: first),
        from_sb3(MaskableModel()),
        from_sb3(DictionaryModel()),
    ],
)
def test_policies_in_all_usual_forms_play_the_same(policy):
    result = run(policy)
    assert [episode.returns for episode in result.episodes] == [
        (1.0, -1.0),
        (-1.0, 1.0),
        (1.0, -1.0),
        (-1.0, 1.0),
    ]
    assert result["player_1"].illegal_moves == 0


def test_an_agent_is_made_for_each_episode():
    before = Actor.made
    run(Actor, episodes=3)
    assert Actor.made == before + 3


def test_agent_bound_to_another_environment_plays_in_this_one():
    env = zoo.classic("tictactoe-v3")
    result = run(UCTAgent(env, simulations=100, seed=1))
    assert result["player_1"].score.losses == 0
    assert len(zoo.legal_of(env)) == 9


def test_seats_are_exchanged_and_rounds_share_a_seed():
    result = run(first)
    assert [episode.seats for episode in result.episodes] == [
        ("player_1", "player_2"),
        ("player_2", "player_1"),
    ] * 2
    seeds = [episode.seed for episode in result.episodes]
    assert seeds[0] == seeds[1] != seeds[2] == seeds[3]
    kept = run(first, exchange_seats=False)
    assert {episode.seats for episode in kept.episodes} == {("player_1", "player_2")}
    assert kept["player_1"].win_rate == 1.0


@pytest.mark.slow
def test_result_counts_wins_draws_losses_and_returns():
    result = run("uct(simulations=200)", "random", episodes=6, seed=3)
    mine, other = result.policies
    assert mine.score.games == 6
    assert (mine.score.wins, mine.score.losses) == (other.score.losses, other.score.wins)
    assert mine.score.losses == 0
    assert mine.mean_return == pytest.approx(sum(mine.returns) / 6)
    assert mine.win_rate == mine.score.wins / 6
    assert json.loads(json.dumps(result.to_dict()))["policies"][0]["wins"] == mine.score.wins
    assert "uct(simulations=200)" in str(result)
    assert "illegal moves" in result._repr_html_()


def test_equal_seeds_give_equal_episodes():
    results = [run("rave(simulations=20)", "random", seed=5) for _ in range(2)]
    assert results[0].episodes == results[1].episodes
    assert results[0].episodes != run("rave(simulations=20)", "random", seed=6).episodes


def test_illegal_moves_are_counted_and_judged_by_the_environment():
    result = run(lambda observation: 0, first, episodes=2)
    assert result["player_1"].illegal_moves == 2
    assert result["player_2"].illegal_moves == 0
    assert result["player_1"].score.losses == 2
    assert result["player_1"].mean_return == -1.0


def test_three_agents_take_turns_on_the_seats():
    def env_fn():
        return zoo.classic("texas_holdem-v4", num_players=3)

    names = [f"player_{seat}" for seat in range(3)]
    result = evaluate(env_fn, dict.fromkeys(names, "random"), episodes=6)
    assert result.episodes[1].seats == ("player_1", "player_2", "player_0")
    assert sum(policy.score.wins for policy in result.policies) <= 6
    assert all(abs(sum(episode.returns)) < 1e-6 for episode in result.episodes)


def fails(observation, mask):
    raise ValueError("no idea")


@pytest.mark.parametrize("policy", ["random", fails])
def test_the_environment_is_closed_whatever_happens(policy, monkeypatch):
    closed = []
    env = tictactoe()
    monkeypatch.setattr(env, "close", lambda: closed.append(True))
    with contextlib.suppress(ValueError):
        run(policy, env_fn=lambda: env, episodes=1)
    assert closed == [True]


def test_returns_of_shimmy_are_openspiels():
    result = evaluate(
        lambda: zoo.shimmy("tic_tac_toe"),
        {"player_0": "uct(simulations=50)", "player_1": "random"},
        episodes=4,
    )
    assert {abs(value) for episode in result.episodes for value in episode.returns} <= {0.0, 1.0}


@pytest.mark.parametrize(
    "name", ["rps-v2", "leduc_holdem-v4", "texas_holdem-v4", "texas_holdem_no_limit-v6"]
)
def test_random_policy_needs_no_leave_where_a_search_would_see_too_much(name):
    result = evaluate(
        lambda: pettingzoo.make("aec", f"classic/{name}"),
        {"player_0": "random", "player_1": "random"},
        episodes=2,
    )
    assert [policy.illegal_moves for policy in result.policies] == [0, 0]


def test_hanabi_takes_the_seeds_of_episodes():
    result = evaluate(
        lambda: pettingzoo.make("aec", "classic/hanabi-v5"),
        {"player_0": "random", "player_1": "random"},
        episodes=8,
    )
    assert all(episode.steps > 0 for episode in result.episodes)


ROCK, PAPER = 0, 1


def rps():
    return pettingzoo.make("parallel", "classic/rps-v2", max_cycles=3)


def rock(observation):
    return ROCK


def paper(observation, mask):
    return PAPER


def run_rps(policy, other, episodes=4, **options):
    policies = {"player_0": policy, "player_1": other}
    return evaluate(rps, policies, episodes=episodes, **options)


def test_parallel_environment_is_played_with_the_seats_exchanged():
    result = run_rps(paper, rock)
    assert [episode.returns for episode in result.episodes] == [(3.0, -3.0)] * 4
    assert [episode.seats[0] for episode in result.episodes] == ["player_0", "player_1"] * 2
    assert {episode.steps for episode in result.episodes} == {6}
    assert result.policies[0].win_rate == 1.0
    assert result.env == "rps_v2"
    kept = run_rps(paper, rock, exchange_seats=False)
    assert {episode.seats[0] for episode in kept.episodes} == {"player_0"}


@pytest.mark.slow
def test_agents_from_specs_play_for_the_seat_that_they_have():
    results = [
        run_rps("regret_matching(simulations=4)", "random", episodes=4, seed=seed)
        for seed in (1, 1, 2)
    ]
    assert results[0].episodes == results[1].episodes != results[2].episodes
    assert len({episode.returns for episode in results[0].episodes}) > 1
    assert all(sum(episode.returns) == 0.0 for episode in results[0].episodes)
    with pytest.raises(UnsupportedGameError, match="no solver"):
        run_rps("pn_mcts", "random")


@pytest.mark.slow
def test_agent_bound_to_a_player_takes_every_seat_and_keeps_its_player():
    env = rps()
    env.reset(seed=1)
    asked = []

    class Asked(UCTAgent):
        def choose(self, state):
            asked.append(self.player)
            return super().choose(state)

    agent = Asked(env, player="player_1", simulations=30, seed=1)
    run_rps(agent, rock, episodes=2)
    assert asked == ["player_0"] * 3 + ["player_1"] * 3
    assert agent.player == "player_1"
    assert agent.last_result.player == 1


def test_agents_know_the_masks_of_a_parallel_environment():
    policies = {"first": "uct(simulations=20)", "second": "random"}
    result = evaluate(zoo.Turns, policies, episodes=2, seed=1)
    assert [policy.illegal_moves for policy in result.policies] == [0, 0]
    # Who is not to move has 0 alone: 2 is illegal for one of both at each step.
    twos = dict.fromkeys(policies, lambda observation: 2)
    assert evaluate(zoo.Turns, twos, episodes=1).episodes[0].illegal_moves == (1, 1)


@pytest.mark.slow
def test_parallel_view_of_turns_is_played_in_turns():
    result = evaluate(
        lambda: turn_based_aec_to_parallel(zoo.Counting()),
        {"first": "uct_solver(simulations=200)", "second": "random"},
        episodes=4,
    )
    assert result["first"].score.wins >= 2  # From 0 the first can force the win.
    assert result.episodes[0].returns == (1.0, -1.0)


def test_interrupt_keeps_the_episodes_that_were_finished():
    calls = iter(range(100))

    def interrupting(observation, mask):
        if next(calls) > 8:
            raise KeyboardInterrupt
        return first(observation, mask)

    result = run(interrupting, episodes=50)
    assert 1 <= len(result.episodes) < 50
    assert not math.isnan(result["player_1"].win_rate)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="Did you mean 'player_"):
        evaluate(tictactoe, {"player_0": first, "player_2": first})
    with pytest.raises(ValueError, match=r"\['player_2'\] have none"):
        evaluate(tictactoe, {"player_1": first})
    with pytest.raises(TypeError, match="An agent is a spec"):
        run(3)
    with pytest.raises(TypeError, match="env_fn must be a function"):
        evaluate(3, {"player_1": first, "player_2": first})
    with pytest.raises(TypeError, match="it made a int"):
        evaluate(lambda: 3, {"player_1": first, "player_2": first})
    with pytest.raises(TypeError, match="policies must be a dictionary"):
        evaluate(tictactoe, [first, first])
    with pytest.raises(ValueError, match="episodes must be an integer of at least 1"):
        run(first, episodes=0)
    with pytest.raises(TypeError, match="progress must be a function, True, False or None"):
        run(first, progress="yes")


def test_a_maker_gets_the_seat_that_its_agent_plays():
    asked = []

    @from_maker
    def make(player):
        asked.append(player)
        return first

    run(make, episodes=2)
    assert asked == [0, 1]


@pytest.mark.parametrize(
    ("name", "expected", "agents"),
    [
        ("classic/tictactoe-v3", "tictactoe_v3", ("player_1", "player_2")),
        ("tictactoe_v3", "tictactoe_v3", ("player_1", "player_2")),
        ("classic/rps-v2(max_cycles=3)", "rps_v2", ("player_0", "player_1")),
        ("pettingzoo.classic.rps_v2", "rps_v2", ("player_0", "player_1")),
    ],
)
def test_an_id_stands_for_a_function(name, expected, agents):
    result = evaluate(name, dict.fromkeys(agents, "random"), episodes=2)
    assert result.env == expected


def test_an_id_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="Did you mean 'tictactoe_v3'"):
        evaluate("tictacto_v3", {"player_1": "random", "player_2": "random"})


@pytest.mark.full
def test_episodes_do_not_depend_on_the_number_of_processes():
    results = [run("rave(simulations=20)", "random", episodes=6, jobs=jobs) for jobs in (1, 2)]
    assert results[0].episodes == results[1].episodes


def outside_at_once(observation):
    return 9


@pytest.mark.full(but=["1"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_of_policies_pass_through_from_any_process(jobs):
    with pytest.raises(ActionOutsideError, match="at_once, in episode 0, chose 9") as caught:
        run(outside_at_once, episodes=1, jobs=jobs)
    assert (caught.value.agent, caught.value.action) == ("player_1", 9)
    with pytest.raises(ValueError, match="no idea"):
        run(fails, episodes=1, jobs=jobs)


def test_what_cannot_be_sent_to_other_processes_plays_here_and_a_line_says_so(caplog):
    lock = threading.Lock()

    def locked(observation, mask):
        return lock and first(observation, mask)

    here, alone = (run(locked, episodes=2, jobs=jobs) for jobs in (2, 1))
    assert here.episodes == alone.episodes
    assert "locked cannot be sent to other processes" in "".join(caplog.messages)


def test_episodes_are_in_the_dictionary_and_in_csv(tmp_path):
    result = run(first)
    told = json.loads(json.dumps(result.to_dict()))
    assert told["num_episodes"] == 4
    assert told["episodes"][1] == {
        "number": 1,
        "seed": result.episodes[1].seed,
        "seats": ["player_2", "player_1"],
        "returns": [-1.0, 1.0],
        "illegal_moves": [0, 0],
        "steps": result.episodes[1].steps,
    }
    text = result.to_csv(tmp_path / "episodes.csv")
    assert (tmp_path / "episodes.csv").read_text() == text
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 8
    assert rows[2] | {"seed": ""} == {
        "episode": "1",
        "seed": "",
        "policy": "first",
        "agent": "player_1",
        "seat": "player_2",
        "return": "-1.0",
        "illegal_moves": "0",
        "steps": "7",
    }


@pytest.mark.parametrize("action", [9, -1, None, 2.5, "a1", np.array([1, 2])])
def test_an_action_outside_its_space_names_policy_episode_and_action(action):
    def outside(observation, mask):
        return action if len(np.flatnonzero(mask)) < 9 else 0

    with pytest.raises(ActionOutsideError) as caught:
        run(outside)
    assert "The policy outside, in episode 0, chose" in str(caught.value)
    assert repr(action) in str(caught.value)
    assert "Discrete(9)" in str(caught.value)


class Pushing(zoo.Endless):
    """Two agents who each gain what they push; ended after two steps."""

    space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def action_space(self, agent):
        return self.space

    def reset(self, seed=None, options=None):
        self.steps = 0
        return super().reset(seed, options)

    def step(self, actions):
        self.steps += 1
        sums = {agent: np.sum(action) for agent, action in actions.items()}
        seen, rewards, no, ends, infos = super().step(sums)
        if self.steps == 2:
            no, self.agents = dict.fromkeys(no, True), []
        return seen, rewards, no, ends, infos


@pytest.mark.parametrize("push", [np.array([0.5]), np.float32([[0.5]])])
def test_policies_choose_real_numbers(push):
    policies = {"first": lambda observation: push, "second": lambda observation: np.zeros(1)}
    assert evaluate(Pushing, policies, episodes=2)["first"].returns == (1.0, 1.0)
    with pytest.raises(ActionOutsideError, match=r"chose 0\.5 for 'first'"):
        evaluate(Pushing, policies | {"first": lambda observation: 0.5}, episodes=1)


def test_policies_choose_several_bits():
    class Bits(Pushing):
        space = gymnasium.spaces.MultiBinary(3)

    policies = {"first": lambda observation: [1, 0, 1], "second": lambda observation: [2, 0, 0]}
    with pytest.raises(ActionOutsideError, match="for 'second'"):
        evaluate(Bits, policies, episodes=1)
    policies["second"] = lambda observation: np.zeros(3, int)
    assert evaluate(Bits, policies, episodes=1)["first"].returns == (4.0,)


@pytest.mark.parametrize(
    "actions",
    [
        gymnasium.spaces.Box(-1, 1, (2,)),
        gymnasium.spaces.MultiBinary(3),
        gymnasium.spaces.MultiDiscrete([2, 3]),
        gymnasium.spaces.Discrete(3, start=5),
    ],
    ids=str,
)
def test_a_random_agent_plays_actions_of_any_space_and_leaves_it_alone(actions):
    class Any(Pushing):
        space = actions

    before = actions.np_random.bit_generator.state
    policies = {"first": "random", "second": "random"}
    returns = {evaluate(Any, policies, episodes=3, seed=1)["first"].returns for _ in range(2)}
    assert len(returns) == 1
    assert len(set(*returns)) > 1
    assert actions.np_random.bit_generator.state == before
    with pytest.raises(UnsupportedGameError, match="the search needs Discrete"):
        evaluate(Any, policies | {"first": "uct"}, episodes=1)


@pytest.mark.needs("torch")
def test_a_network_chooses_real_numbers():
    import torch

    class Network(torch.nn.Module):
        def forward(self, x):
            assert x.shape == (1, 1)
            return 0.0 * x + 0.5

    policies = {"first": Network(), "second": lambda observation: torch.zeros(1)}
    assert evaluate(Pushing, policies, episodes=1)["first"].returns == (1.0,)


def test_an_action_outside_its_space_counts_as_illegal_where_asked():
    def outside(observation, mask):
        return 9 if len(np.flatnonzero(mask)) < 9 else 0

    result = run(outside, episodes=2, outside="illegal")
    assert result["player_1"].illegal_moves == 2
    assert result["player_1"].score.losses == 2
    rps_result = run_rps(lambda observation: 3, paper, episodes=1, outside="illegal")
    assert rps_result.episodes[0].illegal_moves == (3, 0)
    with pytest.raises(ValueError, match="Did you mean 'illegal'"):
        run(first, outside="ilegal")
