import json

import numpy as np
import pyspiel
import pytest
import scipy

import rave_agents.agents.named_agents as agents_module
from rave_agents import from_step
from rave_agents.agents.named_agents import AgentSpec
from rave_agents.agents.state_agents import RandomAgent
from rave_agents.arena import RunError, play_match
from rave_agents.arena.arguments import limited_agent
from rave_agents.arena.match import _MatchRun
from rave_agents.arena.play import Table
from rave_agents.arena.run import Pairing, Plan, RunOptions
from rave_agents.arena.sprt import Sprt
from rave_agents.arena.worker import Key
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.frameworks.adapters import load_game
from rave_agents.frameworks.agent import AgentType, Effort
from rave_agents.records.openings import draw_opening
from rave_agents.records.record import GameRecord


@pytest.fixture
def register(monkeypatch):
    """Gives a function that adds a named agent of a class for the time of a test."""

    def add(name, make):
        kind = AgentType("of a test", {"seed": None}, make)
        monkeypatch.setitem(agents_module._TYPES, name, kind)

    return add


def moves_of(result):
    return [(record.number, record.actions, record.returns) for record in result.records]


class Listener(RandomAgent):
    """Plays at random and writes down what it is told."""

    def __init__(self, game, player, *, seed=None):
        super().__init__(seed=seed)
        self.player = player
        self.heard = []
        self.restarts = 0

    def restart(self):
        self.restarts += 1

    def inform_action(self, state, player, action):
        self.heard.append((len(state.state.history()), int(player), action))


def test_the_same_seed_gives_the_same_match_and_another_one_another():
    first, second, other = (
        play_match("connect_four", "rave", "uct", games=2, simulations=15, seed=seed)
        for seed in (7, 7, 8)
    )
    assert moves_of(first) == moves_of(second) != moves_of(other)


@pytest.mark.parametrize("plies", [3, 0])
def test_the_games_of_a_pair_start_with_their_opening_and_pairs_differ(plies):
    result = play_match("connect_four", "random", "random", games=7, opening_plies=plies)
    assert result.complete
    openings = [record.opening for record in result.records]
    assert openings[0:6:2] == openings[1:6:2]
    assert len(set(openings)) > 1 if plies else set(openings) == {()}
    assert all(len(opening) == plies for opening in openings)
    assert all(r.actions[:plies] == r.opening for r in result.records)


def test_the_seats_are_exchanged(register):
    seats = []

    class Seated(RandomAgent):
        def __init__(self, game, player, *, seed=None):
            super().__init__(seed=seed)
            self.player = player

        def step(self, state):
            seats.append((self.player, state.current_player()))
            return super().step(state)

    register("seated", Seated)
    result = play_match("tic_tac_toe", "seated", "random", games=4)
    assert [record.first_seat for record in result.records] == [0, 1, 0, 1]
    assert set(seats) == {(0, 0), (1, 1)}


@pytest.mark.parametrize(
    ("agents", "score"), [(("uct", "random"), (2, 0)), (("random", "uct"), (0, 2))]
)
def test_wins_are_counted_for_the_first_agent_in_both_seats(agents, score):
    result = play_match("connect_four", *agents, games=2, simulations=60)
    assert (result.score.wins, result.score.losses) == score
    assert {record.returns for record in result.records} == {(1.0, -1.0), (-1.0, 1.0)}


@pytest.mark.full(but=2)
@pytest.mark.parametrize("game", ["tic_tac_toe", "pig(winscore=15)"])
def test_agents_hear_every_action_and_outcome_before_it_is_played(register, game):
    listeners = []

    def make(game, player, **parameters):
        listeners.append(Listener(game, player, **parameters))
        return listeners[-1]

    register("listener", make)
    record = play_match(game, "listener", "random", games=1).records[0]
    plies, players, actions = zip(*listeners[-1].heard, strict=True)
    assert plies == tuple(range(len(record.actions)))
    assert actions == record.actions
    if game == "tic_tac_toe":
        assert players == tuple(ply % 2 for ply in plies)
    else:
        assert set(players) == {-1, 0, 1}
    assert listeners[-1].restarts == 1


def test_chance_in_an_opening_is_not_counted_as_a_ply():
    game = load_game("pig")
    opening = draw_opening(game, 3, seed=0, pair=0)
    state, decisions = game.new_initial_state(), 0
    for action in opening:
        decisions += not state.is_chance_node()
        state.apply_action(action)
    assert decisions == 3


def test_an_opening_does_not_end_the_game():
    game = load_game("tic_tac_toe")
    for pair in range(30):
        state = game.new_initial_state()
        for action in draw_opening(game, 7, seed=0, pair=pair):
            state.apply_action(action)
        assert not state.is_terminal()


def test_openings_that_all_end_the_game_are_refused():
    with pytest.raises(ValueError, match="fewer opening plies"):
        play_match("tic_tac_toe", "random", "random", games=1, opening_plies=9)


def test_an_illegal_action_names_game_seat_and_agent_and_keeps_the_finished_games(register):
    class Illegal(RandomAgent):
        games = 0

        def restart(self):
            Illegal.games += 1

        def step(self, state):
            return super().step(state) if Illegal.games < 3 else 99

    register("illegal", lambda game, player, **parameters: Illegal(**parameters))
    with pytest.raises(RunError, match=r"Game 3, seat 0, agent illegal: .*99.*not legal") as caught:
        play_match("tic_tac_toe", "illegal", "random", games=6)
    assert [record.number for record in caught.value.result.records] == [0, 1]


def test_an_answer_that_is_no_integer_is_refused(register):
    class Vague(RandomAgent):
        def step(self, state):
            return None

    register("vague", lambda game, player, **parameters: Vague(**parameters))
    with pytest.raises(RunError, match=r"agent vague: TypeError: .*returned None"):
        play_match("tic_tac_toe", "vague", "random", games=2)


def test_an_agent_cannot_change_the_game(register):
    class Cheat(RandomAgent):
        def step(self, state):
            action = super().step(state)
            state.apply_action(action)
            return action

    register("cheat", lambda game, player, **parameters: Cheat(**parameters))
    result = play_match("tic_tac_toe", "cheat", "random", games=2)
    for record in result.records:
        state = load_game("tic_tac_toe").new_initial_state()
        for action in record.actions:
            assert action in state.legal_actions()
            state.apply_action(action)


@pytest.mark.full
def test_a_failure_in_another_process_comes_back_with_its_traceback_and_its_cause():
    with pytest.raises(RunError, match="agent failing: ZeroDiv") as caught:
        play_match("tic_tac_toe", "random", failing, games=4, jobs=2)
    assert "in failing" in caught.value.__notes__[0]
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@from_step
def failing(state):
    return 1 // 0


def test_the_dictionary_is_strict_json_with_these_keys():
    result = play_match("connect_four", "uct", "random", games=2, simulations=60)
    values = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert list(values) == [
        "game", "agents", "games", "score", "wins", "draws", "losses", "ci95", "elo", "elo_ci95",
        "pairs",
        "margin", "margin_ci95", "seconds_per_move", "simulations_per_second", "seed", "endings",
    ]  # fmt: skip
    assert values["agents"] == ["uct(simulations=60)", "random"]
    assert (values["score"], values["elo"], values["elo_ci95"][1]) == (1.0, None, None)
    assert (values["margin"], values["margin_ci95"]) == (2.0, [2.0, 2.0])


def test_margins_are_told_where_games_are_won_by_more_and_less():
    result = play_match("leduc_poker", "random", "random", games=20)
    margins = [record.margin for record in result.records]
    assert result.is_won_by_margins
    assert result.margin == pytest.approx(np.mean(margins))
    low, high = scipy.stats.t.interval(0.95, 19, np.mean(margins), scipy.stats.sem(margins))
    assert result.margin_interval == pytest.approx((low, high))
    assert not play_match("tic_tac_toe", "random", "random", games=4).is_won_by_margins


def test_efforts_are_summed_over_the_games():
    result = play_match("tic_tac_toe", "uct(reuse_tree=False)", "random", games=2, simulations=50)
    first, second = result.efforts
    moves = sum(len(record.actions) - len(record.opening) for record in result.records)
    assert first.moves + second.moves == moves
    assert 0 < first.simulations <= 50 * first.moves
    assert second.simulations == 0


def test_games_for_more_players_are_refused():
    with pytest.raises(UnsupportedGameError, match="two players"):
        play_match("pig(players=3)", "random", "random", games=1)


@pytest.mark.parametrize("seat", [0, 1])
def test_specs_are_checked_before_the_first_game(seat):
    specs = ["random", "random"]
    specs[seat] = "rave(schedul=fuego)"
    with pytest.raises(UnknownNameError, match="Did you mean 'schedule'"):
        play_match("tic_tac_toe", *specs, games=1)


@pytest.mark.parametrize(
    ("spec", "limits", "expected"),
    [
        ("rave", {}, "rave(simulations=1000)"),
        ("rave", {"seconds": 0.5}, "rave(seconds=0.5)"),
        ("rave(seconds=2)", {"simulations": 10}, "rave(seconds=2)"),
        ("rave", {"simulations": 10, "seconds": 0.5}, "rave(simulations=10,seconds=0.5)"),
        ("random", {"seconds": 0.5}, "random"),
    ],
)
def test_limits_go_to_agents_without_one(spec, limits, expected):
    assert str(limited_agent(spec, **limits)) == expected


def test_an_agent_that_cannot_keep_the_limit_is_refused():
    with pytest.raises(ValueError, match="mcts_py takes no seconds"):
        limited_agent("mcts_py", seconds=0.1)


def test_a_game_of_a_framework_is_taken_for_its_name():
    options = {"games": 2, "simulations": 20, "seed": 3}
    given = play_match(pyspiel.load_game("hex(board_size=3)"), "auto", "random", **options)
    named = play_match("hex(board_size=3)", "auto", "random", **options)
    assert moves_of(given) == moves_of(named)
    assert given.game == str(pyspiel.load_game("hex(board_size=3)"))


def test_what_is_no_game_is_refused():
    with pytest.raises(TypeError, match=r"game must be the name of .* got int 7"):
        play_match(7, "auto", "random")


def test_a_test_ends_with_whole_pairs_whichever_game_is_finished_first():
    plan = Plan(
        kind="match",
        settings={"seed": 1},
        tables=[None],
        pairings=[Pairing("a game", ("a", "b"))],
        by=(),
        games=[400],
    )
    match = _MatchRun(plan, RunOptions(), False, Sprt(0, 100))
    order = [0, *(number for pair in range(20) for number in (2 * pair + 2, 2 * pair + 1))]
    for number in order:
        first_seat = number % 2
        record = GameRecord(
            number=number,
            first_seat=first_seat,
            opening=(),
            actions=(0,),
            returns=(1.0 - first_seat, 0.0 + first_seat),
            efforts=(Effort(), Effort()),
        )
        if match.take(Key(0, number), record):
            break
    assert [each.number for each in match.result().records] == list(range(number + 1))


def test_each_seat_of_an_agent_has_random_numbers_of_its_own(register):
    seeds = []

    def make(game, player, *, seed=None):
        seeds.append(seed)
        return RandomAgent(seed=seed)

    register("seeded", make)
    game = load_game("kuhn_poker(players=3)")
    Table(game, (AgentSpec("seeded"), AgentSpec("seeded")), seed=1).play(0)
    assert len(seeds) == len(set(seeds)) == 3
