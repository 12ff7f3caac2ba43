"""Declarations of parts: a user's own says how long its arrays live, what it needs and reports."""

import copy
import math
from typing import Annotated, NamedTuple

import pyspiel
import pytest
from helpers.spiel import begun
from helpers.trees import dump, search_tree

from rave_agents import FormulaError, Limit, SearchConfig, Searcher, UnsupportedGameError
from rave_agents.parts import (
    FLOAT,
    INT,
    UCB1,
    Array,
    Axis,
    Kept,
    NodeAmaf,
    Rows,
    UCB1Tuned,
    WinningMoves,
    becomes,
    begin_search,
    copy_edge,
    count_value,
    exploration,
    game_refusal,
    implements,
    needs_simulations,
    node_term,
    on_backup,
    one,
    refusal,
    report_moves,
    report_root,
    runs_as,
)
from rave_agents.tree.storage import declared_arrays


class Watched(NamedTuple):
    """UCB1 that counts simulations, and keeps what each edge got last."""

    c: float = 0.5
    threads: int = 8


@runs_as(Watched)
class Counts(NamedTuple):
    options: Watched
    latest: Annotated[Array, Rows(Axis.EDGE, FLOAT, fill=-1.0)]
    of_game: Annotated[Array, one(INT)]
    of_root: Annotated[Array, one(INT, kept=Kept.ROOT)]
    of_search: Annotated[Array, one(INT, kept=Kept.SEARCH)]
    wanted: Annotated[Array, one(FLOAT, kept=Kept.SEARCH)]


@implements(node_term, Counts)
def _log(rule, N, edges):
    return math.log(N)


@implements(exploration, Counts)
def _explored(rule, node, edge):
    return rule.options.c * math.sqrt(node.term / max(edge.n, 1.0))


@implements(count_value, Counts)
def _keep_latest(rule, edge, value):
    rule.latest[edge] = value


@implements(copy_edge, Counts)
def _copy(rule, old, new):
    rule.latest[new] = rule.latest[old]


@implements(on_backup, Counts)
def _count(rule, search, depth, nodes):
    rule.of_game[0] += 1
    rule.of_root[0] += 1
    rule.of_search[0] += 1


@implements(begin_search, Counts)
def _note_wanted(rule, search, simulations, random):
    rule.wanted[0] = simulations


@implements(report_root, Counts)
def _report(rule, search):
    counts = {name: getattr(rule, name)[0] for name in ("of_game", "of_root", "of_search")}
    return {**counts, "wanted": rule.wanted[0], "c": rule.options.c}


@implements(report_moves, Counts)
def _report_moves(rule, search, node, edges):
    return {"latest": rule.latest[edges.start : edges.stop]}


@implements(refusal, Watched)
def _refusal(rule, config):
    few = config.threads <= rule.threads
    return "" if few else f"watched takes at most {rule.threads} threads, got {config.threads}."


@implements(needs_simulations, Watched)
def _needs_simulations(rule):
    return True


@implements(game_refusal, Watched)
def _game_refusal(rule, game):
    return "watched sees all that there is." if game.determinized else ""


CONFIG = SearchConfig(rule=Watched(), simultaneous=UCB1(3.0))


def start(name="tic_tac_toe"):
    return pyspiel.load_game(name).new_initial_state()


def counted(result):
    return {name: result.reports[name] for name in ("of_game", "of_root", "of_search")}


def test_arrays_live_as_long_as_they_say():
    searcher, state = Searcher(CONFIG, seed=1), start()
    result = searcher.search(state, Limit(simulations=60))
    assert counted(result) == {"of_game": 60, "of_root": 60, "of_search": 60}
    result = searcher.search(state, Limit(simulations=20), moves=[])
    assert counted(result) == {"of_game": 80, "of_root": 80, "of_search": 20}
    state.apply_action(result.action)
    result = searcher.search(state, Limit(simulations=30), moves=[result.action])
    assert counted(result) == {"of_game": 110, "of_root": 30, "of_search": 30}
    result = searcher.search(start(), Limit(simulations=10))  # Another tree of the same game.
    assert counted(result) == {"of_game": 120, "of_root": 10, "of_search": 10}
    searcher.reset()
    result = searcher.search(start(), Limit(simulations=5))
    assert counted(result) == {"of_game": 5, "of_root": 5, "of_search": 5}


def test_rows_go_with_their_edges():
    searcher = Searcher(CONFIG, seed=1)
    before = searcher.search(start(), Limit(simulations=200))
    tree = search_tree(searcher)
    child = int(tree.arrays.edge_child[before.action])
    first, count = tree.arrays.node_first_edge[child], tree.arrays.node_edge_count[child]
    kept = tree.running.rule.latest[first : first + count].tolist()
    searcher.advance(before.action)
    assert search_tree(searcher).running.rule.latest[:count].tolist() == kept
    assert any(value >= 0.0 for value in kept)


def test_reports_stand_in_the_result():
    result = Searcher(CONFIG, seed=1).search(start(), Limit(simulations=50))
    assert result.reports["wanted"] == 50
    assert result.reports["c"] == 0.5
    assert len(result.action_reports["latest"]) == len(result.actions) == 9
    assert set(result.action_reports["latest"]) <= {0.0, 0.5, 1.0}
    told = result.to_dict()
    assert told["reports"] == result.reports
    assert told["action_reports"]["latest"] == list(result.action_reports["latest"])
    assert result.tables()[0].rows[0][-1] == "latest"
    assert "of_search 50.000" in str(result)


def test_a_result_without_own_parts_reports_nothing_more():
    result = Searcher(SearchConfig.preset("auto"), seed=1).search(start(), Limit(simulations=20))
    assert result.reports == {}
    assert result.action_reports == {}


def test_reports_of_several_trees_are_their_mean():
    searcher = Searcher(CONFIG.replace(threads=2), seed=1)
    result = searcher.search(start(), Limit(simulations=60))
    assert result.reports["of_search"] == 30
    assert len(result.action_reports["latest"]) == 9


def test_a_copy_goes_on_with_what_is_kept():
    searcher = Searcher(CONFIG, seed=1)
    searcher.search(start(), Limit(simulations=40))
    both = [copy.copy(searcher), searcher]
    results = [one_of.search(start(), Limit(simulations=10), moves=[]) for one_of in both]
    counts = {"of_game": 50, "of_root": 50, "of_search": 10}
    assert [counted(result) for result in results] == [counts, counts]


def test_what_a_part_refuses_is_refused_in_its_words():
    with pytest.raises(ValueError, match=r"watched takes at most 1 threads, got 2\."):
        CONFIG.replace(rule=Watched(threads=1)).replace(threads=2)
    with pytest.raises(UnsupportedGameError, match="watched sees all"):
        Searcher(CONFIG, seed=1).search(begun("kuhn_poker"), Limit(simulations=5))
    with pytest.raises(ValueError, match=r"rule=watched .* give simulations"):
        Searcher(CONFIG, seed=1).search(start(), Limit(seconds=0.01))


class Turns(NamedTuple):
    """UCB1 in games of chance, the greedy choice elsewhere."""

    c: float = 0.5


@implements(exploration, Turns)
def _turned(rule, node, edge):
    raise AssertionError("it has become another")


@implements(becomes, Turns)
def _becomes(rule, game):
    return UCB1(rule.c) if game.chance else UCB1(0.0)


@pytest.mark.parametrize(("name", "c"), [("pig", 0.5), ("tic_tac_toe", 0.0)])
def test_a_part_becomes_another_in_a_game(name, c):
    trees = []
    for rule in (Turns(), UCB1(c)):
        searcher = Searcher(SearchConfig(rule=rule), seed=1)
        searcher.search(start(name), Limit(simulations=40))
        trees.append(dump(searcher))
    assert trees[0] == trees[1]


class Told(NamedTuple):
    """A schedule that reports what it is given to report."""

    what: int = 0


@runs_as(Told)
class Telling(NamedTuple):
    options: Told


@implements(exploration, Telling)
def _nothing(rule, node, edge):
    return 0.0


@implements(report_root, Telling)
def _tell(rule, search):
    if rule.options.what == 1:
        raise KeyError("what")
    return {"figure": "many" if rule.options.what == 2 else 1}


@implements(report_moves, Telling)
def _tell_moves(rule, search, node, edges):
    return {"figures": [1.0]} if rule.options.what == 3 else {}


@implements(becomes, Told)
def _tell_becomes(rule, game):
    return 7 if rule.what == 4 else rule


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (1, "Telling: report_root raised KeyError"),
        (2, "'figure' as a number, got 'many'"),
        (3, "'figures' for each of 9 actions, got 1"),
        (4, "Told: becomes must return a part, got 7"),
    ],
)
def test_a_wrong_answer_is_refused(what, message):
    searcher = Searcher(SearchConfig(rule=Told(what)), seed=1)
    with pytest.raises(FormulaError, match=message):
        searcher.search(start(), Limit(simulations=5))


@pytest.mark.full(but=2)
@pytest.mark.parametrize(
    ("place", "part"), [("amaf", NodeAmaf(winning=WinningMoves())), ("rule", UCB1Tuned())]
)
def test_an_edge_that_is_copied_takes_all_of_its_statistics_along(place, part):
    searcher = Searcher(SearchConfig(amaf=NodeAmaf()).replace(**{place: part}), seed=1)
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    result = searcher.search(state, Limit(simulations=100))
    record = getattr(search_tree(searcher).running, place)
    own = [array for array, rows in declared_arrays(record) if rows.axis is Axis.EDGE]
    most = max(range(len(result.actions)), key=lambda row: result.actions[row].visits)
    for array in own:
        assert array[most] != array[-1]
    copy_edge(record, most, len(own[0]) - 1)
    for array in own:
        assert array[-1] == array[most]
