"""Pictures of results: what is drawn where."""

import re
import subprocess
import sys

import pyspiel
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, Rectangle

from rave_agents import Limit, SearchConfig, Searcher, UnsupportedGameError
from rave_agents.plots.board import find_board
from rave_agents.plots.board_svg import STYLE
from rave_agents.plots.curves import Curve, action_curves, plot_curves
from rave_agents.plots.tree_plot import plot_tree


def search(spec, preset="rave", moves=(), simulations=100, **options):
    state = pyspiel.load_game(spec).new_initial_state()
    for move in moves:
        state.apply_action(move)
    return Searcher(SearchConfig.preset(preset), seed=1).search(
        state, Limit(simulations=simulations), **options
    )


def panels(picture):
    """The panels that have a title, by it."""
    return {axes.get_title(): axes for axes in picture.axes if axes.get_title()}


def texts_at(axes):
    return {text.get_position(): text.get_text() for text in axes.texts}


def by_gid(axes, start):
    return {
        patch.get_gid(): patch for patch in axes.patches if str(patch.get_gid()).startswith(start)
    }


def test_the_number_of_each_action_stands_on_its_cell():
    result = search("tic_tac_toe", moves=[4])
    written = texts_at(panels(result.plot())["visits"])
    board = find_board(result.state)
    for row in (row for row in result.actions if row.visits > 0):
        cell = board.cells[board.places[row.action].target]
        assert written[cell.x, cell.y] == str(row.visits)


def test_stones_stand_on_their_cells_in_their_players_colours():
    axes = panels(search("tic_tac_toe", moves=[4, 0]).plot())["visits"]
    stones = [p for p in axes.patches if isinstance(p, Circle) and not p.get_gid()]
    drawn = {stone.center: to_hex(stone.get_facecolor()) for stone in stones}
    first, second = re.findall(r"--b[01]:(#\w+)", STYLE)[:2]
    assert drawn == {(1.0, -1.0): first, (0.0, 0.0): second}


def test_the_chosen_action_has_a_ring_in_every_panel():
    result = search("hex(board_size=4)")
    for axes in panels(result.plot()).values():
        assert list(by_gid(axes, "chosen")) == [f"chosen {result.action}"]


@pytest.mark.slow
def test_amaf_values_are_shown_where_there_are_any():
    assert "AMAF value" in panels(search("hex(board_size=4)").plot())
    assert "AMAF value" not in panels(search("hex(board_size=4)", "uct").plot())


def test_what_is_proven_is_written_with_its_distance():
    moves = [0, 3, 1, 4]  # x wins by 2
    result = search("tic_tac_toe", "uct_solver", moves, 200)
    axes = panels(result.plot())["proven outcome"]
    cell = find_board(result.state).cells[2]
    assert texts_at(axes)[cell.x, cell.y] == "+1\nin 1"
    assert "proven outcome" not in panels(search("hex(board_size=4)", "uct").plot())


def test_moves_of_pieces_are_arrows():
    result = search("breakthrough(rows=6,columns=5)")
    axes = panels(result.plot("visits"))["visits"]
    arrows = by_gid(axes, "move")
    assert f"move {result.action}" in arrows
    assert len(arrows) <= 8


def test_a_pass_is_written_below_the_board():
    axes = panels(search("go(board_size=4)").plot("prior"))["prior"]
    assert "B PASS: .06" in [text.get_text() for text in axes.texts]  # 1 of 17


@pytest.mark.full(but=1)
@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("nim(pile_sizes=41;1)", {}),
        ("kuhn_poker", {}),
        ("goofspiel(imp_info=False,num_cards=4,points_order=descending)", {"player": 0}),
    ],
)
def test_games_without_a_board_are_drawn_as_bars(spec, options):
    moves = [0, 1] if spec == "kuhn_poker" else []
    result = search(spec, "uct", moves, **options)
    axes = panels(result.plot())["visits"]
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [bar.get_width() for bar in bars] == [row.visits for row in result.ranked_actions[:20]]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0] == result.action_name(result.action)
    with pytest.raises(UnsupportedGameError):
        result.plot(board=True)


def test_bars_can_be_asked_for_where_there_is_a_board():
    result = search("tic_tac_toe")
    axes = panels(result.plot("visits", board=False))["visits"]
    assert axes.get_yticklabels()[0].get_text() == result.action_name(result.action)


def test_a_result_without_simulations_is_drawn():
    result = search("tic_tac_toe", moves=[0, 1, 2, 4, 3, 5, 7, 6])
    assert result.forced
    assert panels(result.plot())


def test_infinite_proof_numbers_are_left_out():
    result = search("tic_tac_toe", "pn_mcts", [0, 3, 1, 4], 50)
    assert panels(result.plot("proof_number", "disproof_number"))


def test_an_unknown_quantity_gets_a_hint():
    with pytest.raises(ValueError, match="Did you mean 'visits'"):
        search("tic_tac_toe").plot("visit")


@pytest.mark.slow
def test_a_notebook_shows_the_picture():
    assert search("tic_tac_toe").plot()._repr_png_().startswith(b"\x89PNG")


@pytest.mark.full
def test_without_matplotlib_the_extra_is_named_and_all_else_works():
    script = """
import sys
sys.modules["matplotlib"] = None
import pyspiel
from rave_agents import Limit, SearchConfig, Searcher
state = pyspiel.load_game("tic_tac_toe").new_initial_state()
result = Searcher(SearchConfig.preset("uct"), seed=1).search(state, Limit(simulations=10))
str(result)
try:
    result.plot()
except ImportError as error:
    print(error)
"""
    finished = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert "pip install 'matplotlib" in finished.stdout, finished.stderr


def test_the_tree_shows_the_most_visited_actions():
    from rave_openspiel import RaveBot

    game = pyspiel.load_game("hex(board_size=4)")
    state = game.new_initial_state()
    root = RaveBot(game, simulations=300, seed=1).mcts_search(state)
    axes = plot_tree(root, state, depth=2, width=2).axes[0]
    best = sorted(root.children, key=lambda child: -child.explore_count)[:2]
    first = [text.get_text() for text in axes.texts if text.get_gid() == "node 1"]
    assert [text.split("\n")[:2] for text in first] == [
        [state.action_to_string(0, child.action), str(child.explore_count)] for child in best
    ]
    assert len(axes.texts) == 1 + 2 + 4
    assert state.history() == []


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"width": 0}])
def test_a_tree_of_no_depth_or_width_is_refused(wrong):
    with pytest.raises(ValueError, match="at least 1"):
        plot_tree(None, None, **wrong)


def test_curves_are_drawn_over_simulations_with_their_intervals():
    curve = Curve([10, 100], [0.4, 0.6], [0.3, 0.5], [0.5, 0.7])
    axes = plot_curves({"rave": curve}, label="score", level=0.5).axes[0]
    assert list(axes.lines[0].get_xdata()) == [10, 100]
    assert list(axes.lines[0].get_ydata()) == [0.4, 0.6]
    assert axes.get_xlabel() == "simulations"
    assert len(axes.collections) == 1


def test_a_curve_with_a_missing_value_is_refused():
    with pytest.raises(ValueError, match="'rave'"):
        plot_curves({"rave": Curve([1, 2], [0.5])})


def test_shares_of_visits_come_from_results_of_one_position():
    results = [search("hex(board_size=4)", simulations=n) for n in (50, 200)]
    curves = action_curves(results, actions=2)
    best = results[-1].action_name(results[-1].action)
    visits = {row.action: row.visits for row in results[-1].actions}
    share = visits[results[-1].action] / sum(visits.values())
    assert next(iter(curves)) == best
    assert curves[best].simulations == (50, 200)
    assert curves[best].values[-1] == pytest.approx(share)
    with pytest.raises(ValueError, match="empty"):
        action_curves([])


def test_bars_are_drawn_where_most_actions_go_nowhere_on_the_board():
    result = search("cursor_go(board_size=5)", "uct", simulations=20)
    axes = panels(result.plot("visits"))["visits"]
    assert axes.get_yticklabels()[0].get_text() == result.action_name(result.action)
    assert not panels(result.plot("visits", board=True))["visits"].axison
