"""tournament: ratings of policies of every form that evaluate takes."""

import json

import numpy as np
import pettingzoo
import pytest
from helpers import zoo
from rave_pettingzoo import ActionOutsideError, UCTAgent, evaluate, tournament

from rave_agents import from_maker, from_sb3
from rave_agents.arena import RunError


def tictactoe():
    return pettingzoo.make("aec", "classic/tictactoe-v3")


def connect_four():
    return pettingzoo.make("aec", "classic/connect_four-v3")


def three_players():
    return zoo.classic("texas_holdem-v4", num_players=3)


def first(observation, mask):
    return int(np.flatnonzero(mask)[0])


def last(observation, mask):
    return int(np.flatnonzero(mask)[-1])


class Model:
    """As Stable-Baselines3 models predict; it draws by a generator of its own."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def predict(self, observation, *, action_masks=None, deterministic=False):
        return self.random.choice(np.flatnonzero(action_masks)), None


def make_model(seed):
    return from_sb3(Model(seed))


POLICIES = {
    "uct": "uct(simulations=30)",
    "first": first,
    "last": last,
    "model": from_maker(make_model),
}


@pytest.fixture(scope="module")
def straight():
    return tournament(tictactoe, POLICIES, episodes=4)


def test_every_two_policies_meet_and_are_rated(straight):
    assert len(straight.lineups) == 6
    assert straight.finished == 24
    assert straight.ratings.order[0] == "uct"
    assert [row.num_episodes for row in straight.standings] == [12] * 4


def test_seats_are_exchanged_within_one_seed_of_the_environment(straight):
    for episodes in straight.episodes:
        assert [e.seats for e in episodes[:2]] == [
            ("player_1", "player_2"), ("player_2", "player_1"),
        ]  # fmt: skip
        assert episodes[0].seed == episodes[1].seed != episodes[2].seed


def test_the_table_names_all_and_notebooks_show_it(straight):
    assert all(name in str(straight) for name in POLICIES)
    assert "<table" in straight._repr_html_()
    json.dumps(straight.to_dict(), allow_nan=False)


def test_its_dictionary_has_the_names_of_an_evaluations(straight):
    policies = {"player_1": first, "player_2": last}
    told = straight.to_dict()
    other = evaluate(tictactoe, policies, episodes=2).to_dict()
    assert told.keys() == other.keys()
    assert told["num_episodes"] == len(told["episodes"]) == 24
    assert told["episodes"][0].keys() - {"policies"} == other["episodes"][0].keys()
    assert told["episodes"][0]["policies"] == list(straight.lineups[0])
    assert {row["num_episodes"] for row in told["policies"]} == {12}


@pytest.mark.slow
def test_it_goes_on_from_its_file(straight, tmp_path):
    path = tmp_path / "episodes.jsonl"
    tournament(tictactoe, POLICIES, episodes=4, output=path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:10]) + lines[10][:20])
    again = tournament(tictactoe, POLICIES, episodes=4, output=path)
    assert str(again) == str(straight)
    assert sorted(path.read_text().splitlines()) == sorted(line.strip() for line in lines)


def test_agents_bound_to_an_environment_take_part():
    env = connect_four()
    env.reset(seed=0)
    policies = {"bound": UCTAgent(env, simulations=20, seed=1), "first": first}
    result = tournament(connect_four, policies, episodes=2)
    assert result.finished == 2


def test_environments_for_three_rate_all_by_their_returns():
    policies = {"one": first, "two": first, "three": first, "four": first}
    result = tournament(three_players, policies, episodes=3)
    assert len(result.lineups) == 4
    assert all(len(lineup) == 3 for lineup in result.lineups)
    assert len(result.outcomes) == 4 * 3 * 3


def test_fewer_policies_than_agents_fill_the_seats():
    result = tournament(three_players, {"one": first, "two": first}, episodes=3)
    assert result.lineups == (("one", "one", "two"), ("one", "two", "two"))


def test_an_id_stands_for_a_function_as_in_evaluate():
    result = tournament("classic/tictactoe-v3", {"one": first, "two": "random"}, episodes=2)
    assert (result.env, result.finished) == ("tictactoe_v3", 2)


def test_an_action_outside_its_space_ends_the_tournament_or_counts_as_illegal():
    policies = {"first": first, "nine": lambda observation: 9}
    with pytest.raises(RunError, match="in episode 0, chose 9") as caught:
        tournament(tictactoe, policies, episodes=2)
    assert isinstance(caught.value.__cause__, ActionOutsideError)
    result = tournament(tictactoe, policies, episodes=2, outside="illegal")
    # On the empty board no action is forbidden: there it plays on, and errs once more.
    assert [row.illegal_moves for row in result.standings] == [0, 3]
    with pytest.raises(ValueError, match="outside must be 'raise' or 'illegal', got 'count'"):
        tournament(tictactoe, policies, outside="count")


def test_a_failing_policy_is_named_and_the_episodes_are_kept():
    def bad(observation, mask):
        raise ZeroDivisionError("by a test")

    with pytest.raises(RunError, match="first, bad: Episode 0: ZeroDiv") as caught:
        tournament(tictactoe, {"first": first, "bad": bad}, episodes=2)
    assert caught.value.result.finished == 0
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("policies", "options", "message"),
    [
        ({"one": first}, {}, "at least two policies"),
        ([first, first], {}, "policies must be a dictionary"),
        ({"one": first, "two": first}, {"anchor": "thre"}, "Unknown anchor"),
        (
            {"one": first, "two": first},
            {"episodes": 0},
            "episodes must be an integer of at least 1",
        ),
    ],
)
def test_bad_arguments_are_refused(policies, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        tournament(tictactoe, policies, **options)
