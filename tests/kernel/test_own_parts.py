"""``SearchConfig(selection=...)`` and ``rave_schedule=...`` with parts of the user's own."""

import inspect
import math
import os
import pathlib
import pickle
import subprocess
import sys
from typing import NamedTuple

import pytest
from helpers.games import Parallel, RandomEvaluator, RandomRules, random_game
from helpers.spiel import decision
from helpers.trees import check_tree, dump

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.errors import FormulaError
from rave_agents.kernel.dispatch import JIT_DISABLED, implements
from rave_agents.kernel.rules import UCB1, UCB1Tuned, exploration, score
from rave_agents.kernel.schedules import GraveBias, HandSelected, beta
from rave_agents.kernel.strategies import RegretMatching


def tree_of(config, state, *, seed=4, simulations=500, evaluator=None):
    searcher = Searcher(config, seed=seed, evaluator=evaluator)
    searcher.search(state, Limit(simulations=simulations))
    return dump(searcher)


# An own rule and an own schedule: all that a user writes.


class OwnUCB1(NamedTuple):
    """UCB1 once more."""

    c: float = 0.5


@implements(exploration, OwnUCB1)
def own_ucb1(rule, node, edge):
    return rule.c * math.sqrt(math.log(node.N) / max(edge.n, 1.0))


class OwnSchedule(NamedTuple):
    """The hand-selected schedule once more."""

    k: float = 50.0


@implements(beta, OwnSchedule)
def own_schedule(schedule, n, n_amaf):
    return math.sqrt(schedule.k / (3.0 * n + schedule.k))


class OwnScore(NamedTuple):
    """The whole score: PUCT."""

    c: float = 0.5


@implements(score, OwnScore)
def own_score(rule, amaf, node, edge):
    return edge.q + rule.c * edge.p * math.sqrt(node.N) / (edge.n + 1.0)


@pytest.mark.parametrize(
    ("part", "function"),
    [(OwnUCB1, own_ucb1), (OwnSchedule, own_schedule), (OwnScore, own_score)],
)
def test_a_part_takes_ten_lines(part, function):
    lines = [*inspect.getsource(part).splitlines(), *inspect.getsource(function).splitlines()]
    assert len([line for line in lines if line.strip()]) <= 10


SAME = {
    "rule": ({"selection": OwnUCB1(0.5)}, {}, None),
    "rule and proofs": ({"selection": OwnUCB1(0.5), "solver": True}, {"solver": True}, None),
    "score": ({"selection": OwnScore(0.5)}, {"selection": "puct"}, RandomEvaluator()),
    "schedule": (
        {"amaf": "node", "rave_schedule": OwnSchedule(50.0)},
        {"amaf": "node", "rave_schedule": "hand_selected", "rave_k": 50.0},
        None,
    ),
    "both": (
        {"amaf": "grave", "selection": OwnUCB1(0.5), "rave_schedule": OwnSchedule(50.0)},
        {"amaf": "grave", "rave_schedule": "hand_selected", "rave_k": 50.0},
        None,
    ),
}


@pytest.mark.parametrize("fpu", [math.inf, 0.4])
@pytest.mark.parametrize("name", SAME)
def test_what_computes_the_same_grows_the_same_tree(name, fpu):
    own, built_in, evaluator = SAME[name]
    shared = SearchConfig(exploration=0.5, first_play_urgency=fpu)
    state = random_game(6, depth=9, chance=0.1, whole=False)
    expected = tree_of(shared.replace(**built_in), state, evaluator=evaluator)
    found = tree_of(shared.replace(**own), state, evaluator=evaluator)
    assert len(expected) > 10
    assert found == expected


@pytest.mark.parametrize("spec", ["goofspiel(num_cards=5,points_order=descending)", "go_fish"])
def test_own_parts_search_simultaneous_and_hidden_games(spec):
    state, shared = decision(spec), {"amaf": "node", "exploration": 0.5}
    parts = {"selection": OwnUCB1(0.5), "rave_schedule": OwnSchedule(50.0)}
    built_in = {"rave_schedule": "hand_selected", "rave_k": 50.0, "simultaneous_exploration": 0.5}
    results = [
        Searcher(SearchConfig(**shared, **changes), seed=2).search(
            state, Limit(simulations=300), player=0
        )
        for changes in (parts, built_in)
    ]
    assert results[0].actions == results[1].actions


def test_built_in_parts_are_taken_too():
    state = random_game(6, depth=9)
    for part, name in ((UCB1(0.5), "ucb1"), (UCB1Tuned(0.5), "ucb1_tuned")):
        config = SearchConfig(selection=part, exploration=0.5)
        assert tree_of(config, state) == tree_of(config.replace(selection=name), state)


def test_another_number_of_a_part_compiles_nothing_and_counts():
    state = random_game(6, depth=9)
    trees = [tree_of(SearchConfig(selection=OwnUCB1(c)), state) for c in (0.1, 2)]
    assert trees[0] != trees[1]


# What is refused when the configuration is made.


class Unregistered(NamedTuple):
    c: float = 0.5


class Mistyped(NamedTuple):
    c: float = 0.5
    visits: int = 3
    name: str = "x"


@implements(exploration, Mistyped)
def _mistyped(rule, node, edge):
    return 0.0


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("selection", lambda n, q: q, "takes a name or a part of your own"),
        ("selection", OwnUCB1, "takes a name or a part of your own"),
        ("selection", (0.5,), "takes a name or a part of your own"),
        ("rave_schedule", 0.5, "takes a name or a part of your own"),
        ("selection", Unregistered(), "nothing is registered for Unregistered"),
        ("rave_schedule", Unregistered(), "nothing is registered for Unregistered"),
        ("selection", HandSelected(), "takes parts that implement score or exploration"),
        ("selection", RegretMatching(), "takes parts that implement score or exploration"),
        ("rave_schedule", OwnUCB1(), "takes parts that implement beta or blend"),
        ("selection", OwnUCB1("1"), r"OwnUCB1\.c must be a number, got '1'"),
        ("selection", Mistyped(visits=2.5), r"Mistyped\.visits must be an integer, got 2\.5"),
        ("selection", Mistyped(), r"Mistyped\.name must be a number, True, False or a part"),
    ],
)
def test_wrong_kinds_are_refused_when_the_configuration_is_made(field, value, message):
    with pytest.raises(TypeError, match=f"{field}.*{message}"):
        SearchConfig(**{field: value})


def test_implements_takes_open_functions_and_parts():
    with pytest.raises(TypeError, match="takes an open function"):
        implements(math.sqrt, OwnUCB1)
    with pytest.raises(TypeError, match="a NamedTuple"):
        implements(exploration, dict)


def test_whole_numbers_are_taken_for_real_ones():
    taken = SearchConfig(selection=OwnUCB1(2)).selection
    assert taken == OwnUCB1(2.0)
    assert type(taken.c) is float


def test_an_unknown_name_is_still_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"Unknown selection 'ucb'\. Did you mean 'ucb1'"):
        SearchConfig(selection="ucb")


def test_a_part_is_no_plain_value():
    with pytest.raises(ValueError, match="selection is a part of your own"):
        SearchConfig(selection=OwnUCB1()).to_dict()


def test_a_configuration_with_parts_can_be_pickled():
    config = SearchConfig(amaf="node", selection=OwnUCB1(0.3), rave_schedule=GraveBias(0.1))
    assert pickle.loads(pickle.dumps(config)) == config


# What Numba cannot compile.


class OpensAFile(NamedTuple):
    c: float = 0.5


@implements(exploration, OpensAFile)
def _opens_a_file(rule, node, edge):
    with open("scores") as lines:
        return float(lines.read())


class UsesAnUnknownName(NamedTuple):
    c: float = 0.5


@implements(beta, UsesAnUnknownName)
def _uses_an_unknown_name(schedule, n, n_amaf):
    return schedule.d / n  # There is no d.


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize(
    "changes",
    [{"selection": OpensAFile()}, {"amaf": "node", "rave_schedule": UsesAnUnknownName()}],
)
def test_what_cannot_be_compiled_is_refused_in_a_few_lines(changes):
    name = type(list(changes.values())[-1]).__name__
    searcher = Searcher(SearchConfig(**changes))
    with pytest.raises(ValueError, match=f"Numba cannot compile the search with {name}") as caught:
        searcher.search(random_game(1), Limit(simulations=10))
    assert len(str(caught.value).splitlines()) <= 12


# Parts that fail.


class RaisesLate(NamedTuple):
    c: float = 0.5


@implements(score, RaisesLate)
def _raises_late(rule, amaf, node, edge):
    if node.N > 40.0 and edge.n > 3.0:
        raise ValueError("too often")
    return edge.q - edge.n


class IsNoNumberLate(NamedTuple):
    c: float = 0.5


@implements(score, IsNoNumberLate)
def _is_no_number_late(rule, amaf, node, edge):
    return math.nan if node.N > 40.0 else edge.q - edge.n


class ScheduleOfNothing(NamedTuple):
    after: float = 40.0


@implements(beta, ScheduleOfNothing)
def _schedule_of_nothing(schedule, n, n_amaf):
    return math.nan


class RaisingSchedule(NamedTuple):
    after: float = 3.0


@implements(beta, RaisingSchedule)
def _raising_schedule(schedule, n, n_amaf):
    if n > schedule.after:
        raise ValueError("too often")
    return 0.5


GAMES_WHERE_IT_FAILS = {
    "in turns": ({}, lambda: random_game(6, depth=9)),
    "grave": ({"amaf": "grave", "tie_tolerance": 0.01}, lambda: random_game(6, depth=9)),
    "with proofs": ({"solver": True}, lambda: random_game(6, depth=12)),
    "at the same time": ({}, lambda: decision("goofspiel(num_cards=5,points_order=descending)")),
    "hidden": ({}, lambda: decision("go_fish")),
}


@pytest.mark.parametrize("kind", GAMES_WHERE_IT_FAILS)
@pytest.mark.parametrize(
    ("part", "message"),
    [
        (RaisesLate(), "RaisesLate.* raised ValueError: too often"),
        (IsNoNumberLate(), "IsNoNumberLate gave NaN for every action of a position"),
    ],
)
def test_a_rule_that_fails_ends_the_search_with_the_tree_whole(part, message, kind, capfd):
    changes, make_state = GAMES_WHERE_IT_FAILS[kind]
    state = make_state()
    searcher = Searcher(SearchConfig(selection=part, **changes), seed=1)
    for _ in range(2):
        with pytest.raises(FormulaError, match=message):
            searcher.search(state, Limit(simulations=3000), player=0)
        result = searcher.result()
        assert 40 <= result.simulations < 3000
        assert result.root_visits == result.simulations
        assert sum(row.visits for row in result.actions) == result.simulations - 1
        if kind == "in turns":
            check_tree(searcher)
    searcher.config = SearchConfig()
    assert searcher.search(random_game(1), Limit(simulations=30)).simulations == 30
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (RaisingSchedule(), "RaisingSchedule.* raised ValueError: too often"),
        (ScheduleOfNothing(), "ScheduleOfNothing gave NaN for every action"),
    ],
)
def test_a_schedule_that_fails_ends_the_search_with_the_tree_whole(part, message):
    searcher = Searcher(SearchConfig(amaf="node", rave_schedule=part), seed=1)
    with pytest.raises(FormulaError, match=message):
        searcher.search(random_game(6, depth=9), Limit(simulations=3000))
    check_tree(searcher)
    result = searcher.result()
    assert 1 <= result.root_visits == result.simulations < 3000


def test_the_error_has_the_parts_own_exception_as_its_cause():
    searcher = Searcher(SearchConfig(selection=RaisesLate()), seed=1)
    with pytest.raises(FormulaError) as caught:
        searcher.search(random_game(6, depth=9), Limit(simulations=3000))
    assert isinstance(caught.value.__cause__, ValueError)
    assert str(caught.value.__cause__) == "too often"


def test_a_part_that_fails_in_one_of_several_threads_ends_the_search(capfd):
    searcher = Searcher(SearchConfig(selection=RaisesLate(), threads=3), seed=1)
    with pytest.raises(FormulaError, match="RaisesLate"):
        searcher.search(Parallel(RandomRules(6, depth=9)), Limit(simulations=30_000))
    assert capfd.readouterr() == ("", "")


class OnlyCredited(NamedTuple):
    c: float = 0.5


@implements(score, OnlyCredited)
def _only_credited(rule, amaf, node, edge):
    return 0.0 / edge.n if edge.n_amaf == 0.0 else edge.q_amaf


@pytest.mark.skipif(JIT_DISABLED, reason="Python divides otherwise")
def test_a_rule_may_have_no_score_for_some_actions():
    """0 / 0 is NaN, and no error, as in all of the kernel."""
    config = SearchConfig(selection=OnlyCredited(), amaf="node")
    assert tree_of(config, random_game(6, depth=9), simulations=50)


# Scripts.

SCRIPT = """
import logging, math
from typing import NamedTuple
from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.errors import FormulaError
from rave_agents.kernel.dispatch import implements
from rave_agents.kernel.rules import score
from helpers.games import random_game

class Least(NamedTuple):
    sign: float = 1.0

@implements(score, Least)
def least(rule, amaf, node, edge):
    if node.N > 400.0:
        raise ValueError("too often")
    return SIGN * rule.sign * edge.n

searcher = Searcher(SearchConfig(selection=Least()), seed=1)
result = searcher.search(random_game(6, depth=9), Limit(simulations=50))
visits = [row.visits for row in result.actions]
print(max(visits) - min(visits) <= 1)
try:
    searcher.search(random_game(6, depth=9), Limit(simulations=500))
except FormulaError as error:
    print(error)
import pickle
print(pickle.loads(pickle.dumps(searcher.config)) == searcher.config)
"""


def run_script(path, text, **environment):
    path.write_text(text)
    tests = str(pathlib.Path(__file__).parents[1])
    paths = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", str(path)],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_parts_of_a_script_are_cached_and_compiled_anew_when_it_is_edited(tmp_path):
    script, cache = tmp_path / "script.py", {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    told = "True\nLeast: the search raised ValueError: too often\nTrue\n"
    first = run_script(script, SCRIPT.replace("SIGN", "-1.0"), **cache)
    assert (first.returncode, first.stdout) == (0, told), first.stderr
    assert "compiling the search" in first.stderr
    again = run_script(script, SCRIPT.replace("SIGN", "-1.0"), **cache)
    assert (again.returncode, again.stdout, again.stderr) == (0, told, "")
    edited = run_script(script, SCRIPT.replace("SIGN", "1.0"), **cache)
    assert (edited.returncode, edited.stdout) == (0, told.replace("True", "False", 1))
    assert "compiling the search" in edited.stderr


def test_parts_of_a_script_work_in_the_interpreter(tmp_path):
    done = run_script(tmp_path / "script.py", SCRIPT.replace("SIGN", "-1.0"), NUMBA_DISABLE_JIT="1")
    told = "True\nLeast: the search raised ValueError: too often\nTrue\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, told, "")
