"""``SearchConfig(selection=...)`` with a formula of the user's own."""

import functools
import math
import os
import pathlib
import subprocess
import sys

import numba
import pytest
from helpers.games import Parallel, RandomEvaluator, RandomRules, random_game
from helpers.spiel import decision
from helpers.trees import dump

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.errors import FormulaError
from rave_agents.search import loop
from rave_agents.search.compiler import JIT_DISABLED

OF_TURNS = [name for name in SearchConfig.preset_names() if not SearchConfig.preset(name).mixes]
"""Presets that search games in which one player moves at a time."""


def tree_of(config, state, *, seed=4, simulations=500, evaluator=None):
    searcher = Searcher(config, seed=seed, evaluator=evaluator)
    searcher.search(state, Limit(simulations=simulations))
    return dump(searcher)


def ucb1(n, q, n_amaf, q_amaf, p, N, c):
    return q + c * math.sqrt(math.log(N) / max(n, 1.0))


def puct(n, q, n_amaf, q_amaf, p, N, c):
    return q + c * p * math.sqrt(N) / (n + 1.0)


def rave(n, q, n_amaf, q_amaf, p, N, c):
    exploration = c * math.sqrt(math.log(N) / max(n, 1.0))
    if n_amaf == 0.0:
        return q + exploration
    beta = n_amaf / (n_amaf + n + 0.01 * n_amaf * n)
    return (1.0 - beta) * q + beta * q_amaf + exploration


BUILT_IN = {
    "ucb1": (ucb1, {"selection": "ucb1", "amaf": "none"}, None),
    "puct": (puct, {"selection": "puct", "amaf": "none"}, RandomEvaluator()),
    "rave": (rave, {"amaf": "node", "rave_schedule": "grave", "grave_bias": 0.01}, None),
    "grave": (rave, {"amaf": "grave", "rave_schedule": "grave", "grave_bias": 0.01}, None),
    "prior": (rave, {"amaf": "node", "rave_schedule": "grave", "grave_bias": 0.01}, None),
}


@pytest.mark.parametrize("fpu", [math.inf, 0.4])
@pytest.mark.parametrize("name", BUILT_IN)
def test_what_computes_the_same_grows_the_same_tree(name, fpu):
    formula, changes, evaluator = BUILT_IN[name]
    if name == "prior":
        changes = {**changes, "amaf_prior_visits": 8.0, "amaf_unvisited": False}
    config = SearchConfig(first_play_urgency=fpu, **changes)
    state = random_game(6, depth=9, chance=0.1)
    built_in = tree_of(config, state, evaluator=evaluator)
    assert len(built_in) > 10
    assert tree_of(config.replace(selection=formula), state, evaluator=evaluator) == built_in


def test_plain_and_compiled_functions_are_taken():
    state = random_game(6, depth=9)
    trees = [
        tree_of(SearchConfig(selection=formula, amaf="node"), state)
        for formula in (rave, numba.njit(rave), numba.njit(fastmath=False)(rave))
    ]
    assert trees[0] == trees[1] == trees[2]


def test_a_lambda_with_a_constant_from_outside_is_taken():
    weight = 0.25
    config = SearchConfig(selection=lambda n, q, n_amaf, q_amaf, p, N, c: q - weight * n)
    tree = tree_of(config, random_game(6, depth=9), simulations=60)
    visits = [row[2] for row in tree[()][2]]
    assert max(visits) - min(visits) <= 4  # n counts above all


def test_division_by_zero_is_no_error(capfd):
    """An edge without visits has 1 / 0 = infinity: each is tried once, and NaN never."""

    def divides(n, q, n_amaf, q_amaf, p, N, c):
        return 1.0 / n + 0.0 * (q_amaf / n_amaf)

    state = random_game(6, depth=9)
    config = SearchConfig(selection=divides, amaf="node", amaf_prior_visits=1.0)
    visits = [row[2] for row in tree_of(config, state, simulations=7)[()][2]]
    assert max(visits) - min(visits) <= 1
    tree_of(config.replace(amaf_prior_visits=0.0), state, simulations=20)
    assert capfd.readouterr() == ("", "")


def test_a_formula_may_return_whole_numbers():
    config = SearchConfig(selection=lambda n, q, n_amaf, q_amaf, p, N, c: -int(n))
    visits = [row[2] for row in tree_of(config, random_game(6, depth=9))[()][2]]
    assert max(visits) - min(visits) <= 1


def test_it_gets_exactly_the_documented_statistics():
    """Each formula is wrong in a visible way, by always the same choice, if its claim is false."""

    def claims(n, q, n_amaf, q_amaf, p, N, c):
        right = n <= N and c == 0.7 and 0.0 <= q_amaf <= 1.0 and 0.0 < p <= 1.0
        right = right and (n > 0.0 or q in (0.0, 5.0)) and (q == 5.0 or 0.0 <= q <= 1.0)
        right = right and (n_amaf >= n) and (n_amaf > 0.0 or q_amaf == 0.0)
        right = right and (q != 5.0 or (n == 0.0 and n_amaf == 0.0))
        return -n if right else 1e9

    config = SearchConfig(
        selection=claims, amaf="node", exploration=0.7, first_play_urgency=5.0, expand_visits=1
    )
    tree = tree_of(config, random_game(6, depth=9))
    for _, _, rows in tree.values():
        visits = [row[2] for row in rows]
        assert not visits or max(visits) - min(visits) <= 1


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (lambda n, q: q, r"takes \(n, q, n_amaf, q_amaf, p, N, c\), but .* takes \(n, q\)"),
        (lambda n, q, n_amaf, q_amaf, p, c, N: q, r"but .* takes \(n, q, n_amaf, q_amaf, p, c, N"),
        (lambda *args: 0.0, "takes"),
        (functools.partial(rave, 1.0), "takes"),
        (abs, "takes"),
        (min, "takes"),
    ],
)
def test_other_parameters_are_refused_when_the_configuration_is_made(formula, message):
    with pytest.raises(ValueError, match=f"selection: .*{message}"):
        SearchConfig(selection=formula)


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_what_cannot_be_compiled_is_refused_with_the_reason():
    def opens_a_file(n, q, n_amaf, q_amaf, p, N, c):
        with open("scores") as lines:
            return float(lines.read())

    def returns_text(n, q, n_amaf, q_amaf, p, N, c):
        return "best"

    for formula in (opens_a_file, returns_text):
        config = SearchConfig(selection=formula)
        with pytest.raises(ValueError, match=f"Numba cannot compile {formula.__name__}: "):
            Searcher(config)


# Formulas that fail.


def raises_always(n, q, n_amaf, q_amaf, p, N, c):
    if n >= 0.0:
        raise ValueError("no score today")
    return q


def raises_late(n, q, n_amaf, q_amaf, p, N, c):
    if N > 40.0 and n > 3.0:
        raise ValueError("too often")
    return q - n


def is_never_a_number(n, q, n_amaf, q_amaf, p, N, c):
    return math.nan


def is_no_number_late(n, q, n_amaf, q_amaf, p, N, c):
    return math.nan if N > 40.0 else q - n


@pytest.mark.parametrize("amaf", ["none", "node"])
@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (raises_always, r"raises_always\(n=0, q=inf, .*N=12.*\) raised ValueError: no score today"),
        (is_never_a_number, "is_never_a_number gave NaN for every action, such as "),
    ],
)
def test_a_formula_that_fails_is_refused_before_the_first_search(formula, message, amaf, capfd):
    with pytest.raises(FormulaError, match=message):
        Searcher(SearchConfig(selection=formula, amaf=amaf))
    assert capfd.readouterr() == ("", "")


def test_the_error_has_the_formulas_own_exception_as_its_cause():
    with pytest.raises(FormulaError) as caught:
        Searcher(SearchConfig(selection=raises_always))
    assert isinstance(caught.value.__cause__, ValueError)
    assert str(caught.value.__cause__) == "no score today"


GAMES_WHERE_IT_FAILS = {
    "in turns": ({}, lambda: random_game(6, depth=9)),
    "grave": ({"amaf": "grave", "tie_tolerance": 0.01}, lambda: random_game(6, depth=9)),
    "with proofs": ({"solver": True}, lambda: random_game(6, depth=12)),
    "at the same time": ({}, lambda: decision("goofspiel(num_cards=5,points_order=descending)")),
    "hidden": ({}, lambda: decision("go_fish")),
}


@pytest.mark.parametrize("kind", GAMES_WHERE_IT_FAILS)
@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (raises_late, r"raises_late\(n=.*\) raised ValueError: too often"),
        (is_no_number_late, "is_no_number_late gave NaN for every action of a position"),
    ],
)
def test_a_formula_that_fails_during_a_search_ends_it_with_the_tree_whole(
    formula, message, kind, capfd
):
    changes, make_state = GAMES_WHERE_IT_FAILS[kind]
    state = make_state()
    searcher = Searcher(SearchConfig(selection=formula, **changes), seed=1)
    for _ in range(2):
        with pytest.raises(FormulaError, match=message):
            searcher.search(state, Limit(simulations=3000), player=0)
        result = searcher.result()
        assert 40 <= result.simulations < 3000
        assert result.root_visits == result.simulations
        assert sum(row.visits for row in result.actions) == result.simulations - 1
    assert capfd.readouterr() == ("", "")


def test_a_formula_that_fails_in_one_of_several_threads_ends_the_search(capfd):
    config = SearchConfig(selection=raises_late, threads=3)
    searcher = Searcher(config, seed=1)
    with pytest.raises(FormulaError, match="raises_late"):
        searcher.search(Parallel(RandomRules(6, depth=9)), Limit(simulations=30_000))
    assert capfd.readouterr() == ("", "")


def test_a_formula_that_once_failed_serves_another_search():
    state = random_game(6, depth=9)
    searcher = Searcher(SearchConfig(selection=raises_late), seed=1)
    with pytest.raises(FormulaError):
        searcher.search(state, Limit(simulations=3000))
    other = Searcher(searcher.config, seed=2)
    assert other.search(state, Limit(simulations=30)).simulations == 30


def test_a_formula_may_have_no_score_for_some_actions():
    def only_visited_or_credited(n, q, n_amaf, q_amaf, p, N, c):
        return 0.0 / n if n_amaf == 0.0 else q_amaf / n_amaf

    config = SearchConfig(selection=only_visited_or_credited, amaf="node")
    assert tree_of(config, random_game(6, depth=9), simulations=50)


def test_an_unknown_name_is_still_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"Unknown selection 'ucb'\. Did you mean 'ucb1'"):
        SearchConfig(selection="ucb")


def test_a_formula_is_no_plain_value():
    with pytest.raises(ValueError, match="selection is a formula"):
        SearchConfig(selection=rave).to_dict()


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_no_formula_compiles_the_loop_anew():
    state = random_game(2, depth=6)
    for name in OF_TURNS:
        tree_of(SearchConfig.preset(name), state, simulations=20)
    before = len(loop.run.signatures)
    tree_of(SearchConfig(selection=rave, amaf="grave"), state, simulations=20)
    assert len(loop.run.signatures) == before


def test_it_works_in_the_interpreter():
    program = (
        "from rave_agents import Limit, SearchConfig, Searcher\n"
        "from rave_agents.errors import FormulaError\n"
        "from rave_agents.search.compiler import JIT_DISABLED\n"
        "from helpers.games import random_game\n"
        "assert JIT_DISABLED\n"
        "def least_visited(n, q, n_amaf, q_amaf, p, N, c):\n"
        "    return -n\n"
        "def divides(n, q, n_amaf, q_amaf, p, N, c):\n"
        "    return q + 1.0 / n\n"
        "def raises_late(n, q, n_amaf, q_amaf, p, N, c):\n"
        "    if N > 40.0:\n"
        "        raise ValueError('too often')\n"
        "    return -n\n"
        "state = random_game(6, depth=9)\n"
        "searcher = Searcher(SearchConfig(selection=least_visited), seed=1)\n"
        "result = searcher.search(state, Limit(simulations=50))\n"
        "searcher = Searcher(searcher.config.replace(selection=divides), seed=1)\n"
        "searcher.search(state, Limit(simulations=50))\n"
        "searcher = Searcher(searcher.config.replace(selection=raises_late), seed=1)\n"
        "try:\n"
        "    searcher.search(state, Limit(simulations=500))\n"
        "except FormulaError as error:\n"
        "    assert 'raised ValueError: too often' in str(error), error\n"
        "assert searcher.result().simulations == 41\n"
        "visits = [row.visits for row in result.actions]\n"
        "assert max(visits) - min(visits) <= 1, visits\n"
    )
    tests = str(pathlib.Path(__file__).parents[1])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
