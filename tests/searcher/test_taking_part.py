"""The table of what takes part in each search: every row is what ``last_result`` reports."""

import pathlib

import pyspiel
import pytest
import rave_openspiel
from rave_openspiel import mcts

from rave_agents import Limit, SearchConfig, Searcher, as_game, make_agent
from rave_agents.parts import Transpositions

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "reference" / "taking_part.md"
GAMES = ("connect_four", "hex(board_size=5)", "oshi_zumo(coins=6,size=1)")
NONE = "-"
BOTS = {
    "CppMCTSBot": lambda game: rave_openspiel.CppMCTSBot(
        game, pyspiel.RandomRolloutEvaluator(1, 1), 1.4, 60, 100, True, 1, False
    ),
    "MCTSBot": lambda game: rave_openspiel.MCTSBot(game, 1.4, 60, mcts.RandomRolloutEvaluator(1)),
    "MCTSBot with solve=False": lambda game: rave_openspiel.MCTSBot(
        game, 1.4, 60, mcts.RandomRolloutEvaluator(1), solve=False
    ),
    "MCTSBot with your evaluator": lambda game: rave_openspiel.MCTSBot(
        game, 1.4, 60, mcts.RandomRolloutEvaluator(1, max_length=3)
    ),
    "MCTSBot with known=True": lambda game: rave_openspiel.MCTSBot(
        game, 1.4, 60, mcts.RandomRolloutEvaluator(1), known=True
    ),
}
AGENTS = (*SearchConfig.preset_names(), "auto(known=False)", "rave(playouts=sensible_playouts)")


def rows_of_the_page():
    rows = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            rows[name.replace("`", "")] = cells
    return rows


def cell(name, game_name):
    """What took part, as the table has it; ``-`` where the agent refuses the game."""
    game = as_game(game_name)
    try:
        if name in BOTS:
            bot = BOTS[name](game.game)
            bot.step(game.game.new_initial_state())
            result = bot.last_result
        else:
            agent = make_agent(name, game, 0, seed=1, simulations=60)
            agent.step(game.new_initial_state())
            result = agent.last_result
    except ValueError:
        return NONE
    return ", ".join(result.took_part)


@pytest.fixture
def on_rules(monkeypatch):
    monkeypatch.delenv("RAVE_AGENTS_GAMES", raising=False)


def test_the_table_has_every_agent_and_bot():
    assert list(rows_of_the_page()) == [*AGENTS, *BOTS]


@pytest.mark.slow
@pytest.mark.full(but=["auto", "rave", "MCTSBot"])
@pytest.mark.parametrize("name", [*AGENTS, *BOTS])
def test_a_row_of_the_table_is_what_the_result_reports(name, on_rules):
    assert rows_of_the_page()[name] == [cell(name, game) for game in GAMES]


def test_what_is_reported_agrees_with_the_other_figures(on_rules):
    """The list of parts names nothing that the statistics deny."""
    game = as_game("connect_four")
    for name in ("auto", "uct", "rave_pn"):
        agent = make_agent(name, game, 0, seed=1, simulations=60)
        agent.step(game.new_initial_state())
        result = agent.last_result
        assert ("learned value" in result.took_part) == (result.known is not None)
        assert ("proof numbers" in result.took_part) == (result.proof_number is not None)
        amaf = any(row.amaf_visits > 0 for row in result.actions)
        assert ("AMAF" in result.took_part) == amaf


def test_the_endgame_solver_and_transpositions_are_reported(on_rules):
    state = as_game("tic_tac_toe").new_initial_state()
    for action in (4, 0, 8):
        state.apply_action(action)
    solved = Searcher(SearchConfig.preset("auto"), seed=1).search(state, Limit(simulations=200))
    assert solved.solver_positions > 0
    assert "endgame solver" in solved.took_part
    config = SearchConfig(transpositions=Transpositions())
    shared = Searcher(config, seed=1).search(state, Limit(simulations=20))
    assert "transpositions" in shared.took_part


def test_nothing_takes_part_without_a_search():
    state = as_game("tic_tac_toe").new_initial_state()
    for action in (0, 4, 1, 2, 6, 3, 5, 8):
        state.apply_action(action)
    assert Searcher(seed=1).search(state, Limit(simulations=10)).took_part == ()
