import functools
import json
import math

import pytest

from rave_agents.agents.named_agents import agent_type
from rave_agents.arena.bench import THIRTY_GAMES, run_bench
from rave_agents.arena.measurements import Round
from rave_agents.arena.result import RunResult
from rave_agents.arena.run import Pairing
from rave_agents.arena.speeds import Speeds
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import load_game
from rave_agents.records.openings import initial_decision


@pytest.fixture(scope="module")
def measured():
    return run_bench(["tic_tac_toe", "nim"], rounds=2, round_seconds=0.02, peers=False)


@pytest.mark.slow
def test_every_agent_has_a_speed_in_every_game_beside_that_of_the_baseline(measured):
    assert [(row.game, row.agent) for row in measured.rows] == [
        (game, agent) for game in ("tic_tac_toe", "nim") for agent in ("uct", "rave")
    ]
    for row in measured.rows:
        assert 0 < row.simulations_per_second < math.inf
        assert 0 < row.baseline_simulations_per_second < math.inf
    assert len({row.baseline_simulations_per_second for row in measured.rows}) == 2


@pytest.mark.slow
def test_times_per_move_have_a_row_for_each_number_of_simulations(measured):
    rows = [row for row in measured.moves if row.game == "nim"]
    assert [(row.agent, row.simulations) for row in rows] == [
        (agent, simulations) for simulations in (10, 50, 200) for agent in ("uct", "rave")
    ]
    assert all(0 < row.seconds < 60 and 0 < row.baseline_seconds < 60 for row in rows)
    assert "Microseconds per move over whole games" in str(measured)


def test_ratio_and_geometric_mean():
    rounds = [tuple(Round(n, ((10.0, value),)) for n, value in enumerate((20.0, 10.0, 30.0)))]
    rounds.append((Round(0, ((10.0, 80.0),)),))
    result = RunResult(
        show=functools.partial(Speeds, baseline="mcts", counted=1),
        pairings=tuple(Pairing(game, ("mcts", "uct")) for game in "ab"),
        records=tuple(rounds),
        seed=0,
        games_planned=(3, 3),
    )
    assert result.rows[0].ratio == 2.0
    assert result.geometric_mean == {"uct": pytest.approx(4.0)}


@pytest.mark.slow
def test_the_dictionary_is_strict_json_with_these_keys(measured):
    values = json.loads(json.dumps(measured.to_dict(), allow_nan=False))
    assert list(values) == ["rows", "geometric_mean", "moves"]
    assert list(values["rows"][0]) == [
        "game", "agent", "simulations_per_second", "mctsbot_simulations_per_second", "ratio",
    ]  # fmt: skip
    assert set(values["geometric_mean"]) == {"uct", "rave"}


def test_progress_sees_every_round():
    calls = []
    run_bench(
        ["tic_tac_toe"],
        ["uct"],
        rounds=2,
        round_seconds=0.01,
        move_times=False,
        progress=lambda so_far: calls.append((so_far.game, so_far.finished)),
    )
    assert calls == [("tic_tac_toe", 0), ("tic_tac_toe", 1), ("", 2)]


def test_chance_before_the_first_decision_is_drawn_from_the_seed():
    game = load_game("backgammon")
    states = [initial_decision(game, seed) for seed in range(8)]
    assert not any(state.is_chance_node() for state in states)
    assert str(initial_decision(game, 3)) == str(states[3])
    assert len({str(state) for state in states}) > 1


def test_agents_that_count_no_simulations_are_refused():
    with pytest.raises(ValueError, match="random has no simulations"):
        run_bench(["tic_tac_toe"], ["random"])


def test_a_game_that_the_baseline_cannot_play_is_refused_before_anything_is_measured():
    calls = []
    with pytest.raises(UnsupportedGameError, match="terminal rewards"):
        run_bench(["tic_tac_toe", "2048"], progress=calls.append)
    assert calls == []


@pytest.mark.parametrize("name", ["rounds", "round_seconds", "equal_time", "equal_time_games"])
def test_numbers_are_checked(name):
    with pytest.raises(ValueError, match=name):
        run_bench(["tic_tac_toe"], **{name: 0})


@pytest.mark.parametrize("name", THIRTY_GAMES)
def test_the_default_games_can_be_measured(name):
    game = load_game(name)
    agent_type("mcts").make(game, 0, simulations=1)
    assert len(initial_decision(game, 0).legal_actions()) > 1


def test_an_interrupted_run_keeps_the_rounds_that_are_finished():
    def interrupt(so_far):
        if (so_far.game, so_far.finished) == ("nim", 3):
            raise KeyboardInterrupt

    games = ["tic_tac_toe", "nim"]
    result = run_bench(games, rounds=2, round_seconds=0.02, peers=False, progress=interrupt)
    assert result.interrupted
    assert [row.game for row in result.rows] == ["tic_tac_toe"] * 2 + ["nim"] * 2
    assert set(result.geometric_mean) == {"uct", "rave"}


@pytest.mark.full(but=4)
@pytest.mark.parametrize(
    ("game", "agent", "options", "measured"),
    [
        ("tic_tac_toe", "uct", {}, ["uct", "mcts_py"]),
        ("tic_tac_toe", "mcts_py(uct_c=2)", {}, ["mcts_py(uct_c=2)"]),
        ("pettingzoo:connect_four_v3", "uct", {}, ["uct"]),  # Which mcts_py cannot play.
        ("tic_tac_toe", "uct", {"peers": False}, ["uct"]),
    ],
)
@pytest.mark.slow
def test_openspiels_python_bot_is_measured_once_where_it_can_play(game, agent, options, measured):
    fast = {"rounds": 1, "round_seconds": 0.001, "baseline": "uct(c=1)", "move_times": False}
    assert [row.agent for row in run_bench([game], [agent], **fast, **options).rows] == measured


@pytest.fixture(scope="module")
def at_equal_time():
    calls = []
    result = run_bench(
        ["tic_tac_toe"],
        ["uct"],
        baseline="mcts",
        rounds=1,
        round_seconds=0.001,
        equal_time=0.001,
        equal_time_games=2,
        move_times=False,
        progress=calls.append,
    )
    return result, calls


def test_agents_play_the_baseline_at_equal_time(at_equal_time):
    uct, python_bot = at_equal_time[0].rows
    assert uct.match.agents == ("uct(seconds=0.001)", "mcts(seconds=0.001)")
    assert uct.match.score.games == 2
    assert python_bot.match is None


def test_games_at_equal_time_count_as_progress(at_equal_time):
    result, calls = at_equal_time
    assert [call.finished for call in calls] == [0, 1, 2, 3]
    assert result.finished == result.all_planned == 3


def test_scores_at_equal_time_are_told_with_the_seconds_that_both_took(at_equal_time):
    result, _ = at_equal_time
    score = result.rows[0].match.score.score
    assert result.mean_score == {"uct": score}
    assert "Scores against mcts at equal time" in str(result)
    assert result.to_dict()["rows"][0]["score"] == score
    assert result.columns()["baseline_seconds"][0] > 0
    assert result.columns()["score"] == [score, None]
