"""OpenSpiel's own tests and example of its MCTS bot, with nothing but the import changed."""

import functools
import importlib.util
import itertools
import pathlib
import unittest

import numpy as np
import open_spiel
import pytest
from helpers.processes import run_python
from open_spiel.python.algorithms import mcts_agent_test, mcts_test
from rave_openspiel import MCTSBot, mcts

from rave_agents import SearchConfig

BEFORE = "from open_spiel.python.algorithms import mcts\n"
AFTER = "from rave_openspiel import mcts\n"
OPEN_SPIEL = pathlib.Path(next(iter(open_spiel.__path__))) / "python"
LOADER = unittest.TestLoader()
NAMES = LOADER.getTestCaseNames(mcts_test.MctsBotTest)
AGENT_NAMES = LOADER.getTestCaseNames(mcts_agent_test.MCTSAgentTest)


def swapped(path, folder):
    """A copy of one of OpenSpiel's files that imports this package's ``mcts``."""
    text = (OPEN_SPIEL / path).read_text(encoding="utf-8")
    assert text.count(BEFORE) == 1
    copied = folder / f"swapped_{pathlib.Path(path).name}"
    copied.write_text(text.replace(BEFORE, AFTER), encoding="utf-8")
    return copied


def swapped_module(path, folder):
    file = swapped(path, folder)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.mcts is mcts
    return module


def problems_of(case):
    result = unittest.TestResult()
    case.run(result)
    assert result.testsRun == 1
    return [text for _, text in result.failures + result.errors]


# Games for one player and for three take the interpreted search of the quick run ten seconds.
QUICK = [f"{name}-uct" for name in NAMES if not name.endswith(("single_player", "three_player"))]


PRESETS = ["uct", "uct_solver", "pn_mcts", "rave_pn"]
OWN = [("test_solve_draw", "uct_solver"), ("test_solve_draw", "pn_mcts")]
"""That each move is solved once a draw is: these prove it by bounds before that, see below."""


def with_parts_of(preset):
    """The bot's class, with the parts of a preset."""
    config = SearchConfig.preset(preset)
    parts = {name: getattr(config, name) for name in ("proofs", "amaf", "first_play_urgency")}
    return functools.partial(MCTSBot, **parts)


@pytest.mark.full(but=QUICK)
@pytest.mark.parametrize(
    ("name", "preset"), [case for case in itertools.product(NAMES, PRESETS) if case not in OWN]
)
def test_the_stock_bots_own_test_passes_with_the_import_changed(
    name, preset, tmp_path, monkeypatch
):
    if preset != "uct":
        monkeypatch.setattr(mcts, "MCTSBot", with_parts_of(preset))
    module = swapped_module("algorithms/mcts_test.py", tmp_path)
    np.random.seed(1)
    assert not problems_of(module.MctsBotTest(name))


@pytest.mark.parametrize("preset", PRESETS[1:])
def test_a_draw_is_solved_by_bounds_and_the_best_child_draws(preset, monkeypatch):
    """What ``test_solve_draw`` asks, but that moves which are no better may stay open."""
    monkeypatch.setattr(mcts_test, "mcts", mcts)
    monkeypatch.setattr(mcts, "MCTSBot", with_parts_of(preset))
    root, state = mcts_test.search_tic_tac_toe_state("x(1,1) o(0,0) x(2,2)")
    assert root.outcome == [0.0, 0.0]
    assert root.explore_count < 120
    assert all(child.outcome is None or child.outcome[child.player] <= 0 for child in root.children)
    best = root.best_child()
    assert best.outcome == [0.0, 0.0]
    assert state.action_to_string(best.player, best.action) in ("o(0,2)", "o(2,0)")


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_the_stock_agents_own_test_passes_with_the_import_changed(name, tmp_path):
    module = swapped_module("algorithms/mcts_agent_test.py", tmp_path)
    np.random.seed(1)
    assert not problems_of(module.MCTSAgentTest(name))


@pytest.mark.slow
@pytest.mark.full(but=["tic_tac_toe"])
@pytest.mark.parametrize("game", ["tic_tac_toe", "pig(winscore=20)"], ids=["tic_tac_toe", "pig"])
def test_the_stock_example_runs_with_the_import_changed(game, tmp_path):
    program = swapped("examples/mcts.py", tmp_path)
    options = [f"--game={game}", "--seed=1", "--max_simulations=50", "--num_games=2", "--verbose"]
    finished = run_python(program, *options, "--player2=random")
    assert finished.returncode == 0, finished.stderr
    assert "Number of games played: 2" in finished.stdout
