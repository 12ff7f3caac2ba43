"""Mistakes in formulas of a user's own: what is told of them, and where."""

import inspect
import linecache
import math
from typing import NamedTuple

import pytest
from helpers.games import random_game

from rave_agents import FormulaError, GameError, Limit, SearchConfig, Searcher
from rave_agents.games.hex import Hex
from rave_agents.games.kit import machine
from rave_agents.games.kit.values import judged_rules
from rave_agents.parts import NodeAmaf, beta, implements, kernel, position_value

pytestmark = pytest.mark.compiled


@kernel
def shown(n):
    print(n)
    return n


@kernel
def weighted(n):
    return n * weight  # noqa: F821


def prints(schedule, n, n_amaf):
    print(n)
    return 0.5


def prints_in_a_helper(schedule, n, n_amaf):
    return shown(0.5)


def lacks_a_field(schedule, n, n_amaf):
    return schedule.kk / (n + schedule.k)


def lacks_a_name(schedule, n, n_amaf):
    return weighted(n)


def gives_too_many_arguments(schedule, n, n_amaf):
    return math.sqrt(n, n_amaf)


def makes_a_dictionary(schedule, n, n_amaf):
    weights = {0: 1.0}
    return weights[0]


def returns_nothing(schedule, n, n_amaf):
    schedule.k / (n + schedule.k)


class Attacking(NamedTuple):
    weight: float = 0.1


@implements(position_value, Attacking)
def attacking(value, rules, state, returns):
    returns[0] = value.weight * state.stones


def search_with(body):
    """Search with a schedule of one's own, whose ``beta`` has this body."""

    class Wrong(NamedTuple):
        k: float = 50.0

    implements(beta, Wrong)(body)
    searcher = Searcher(SearchConfig(amaf=NodeAmaf(Wrong())), seed=1)
    return searcher.search(random_game(6, depth=9), Limit(simulations=50))


def place_of(function, source):
    """File and line of the line of a function that begins like this."""
    lines, first = inspect.getsourcelines(function)
    (place,) = (place for place, line in enumerate(lines) if line.strip().startswith(source))
    return f'File "{inspect.getsourcefile(function)}", line {first + place}'


@pytest.mark.parametrize("body", [prints, prints_in_a_helper])
def test_print_in_a_formula_is_refused_with_its_line(body, capfd):
    printing = shown.py_func if body is prints_in_a_helper else body
    with pytest.raises(FormulaError, match="Wrong: Compiled code cannot call print") as caught:
        search_with(body)
    assert place_of(printing, "print(n)") in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.full
@pytest.mark.parametrize(
    ("body", "source", "reason"),
    [
        (lacks_a_field, "return", r"Unknown field of Wrong 'kk'\. Did you mean 'k'"),
        (lacks_a_name, "return", "name 'weight' is not defined"),
        (gives_too_many_arguments, "return", r"cannot do this: sqrt\(float64, float64\)"),
        (makes_a_dictionary, "", "makes no lists, dictionaries"),
        (returns_nothing, "def", "returns None, where a number is needed"),
    ],
)
def test_a_mistake_in_a_formula_is_told_with_its_line(body, source, reason):
    with pytest.raises(FormulaError, match=reason) as caught:
        search_with(body)
    told = str(caught.value)
    assert "Numba cannot compile the search with Wrong" in told
    if source:
        assert place_of(weighted.py_func if body is lacks_a_name else body, source) in told
    assert len(told.splitlines()) <= 10


def test_a_formula_of_a_notebooks_cell_has_its_line():
    source = "def body(schedule, n, n_amaf):\n    print(n)\n    return 0.5\n"
    linecache.cache["<cell 4>"] = len(source), None, source.splitlines(keepends=True), "<cell 4>"
    cell = {"__name__": "__main__"}
    exec(compile(source, "<cell 4>", "exec"), cell)
    with pytest.raises(FormulaError, match=r'File "<cell 4>", line 2, in body\n    print\(n\)'):
        search_with(cell["body"])


def test_a_body_with_too_few_parameters_is_refused_as_it_is_registered():
    with pytest.raises(TypeError, match=r"beta takes 3 arguments, \(schedule, n, n_amaf\): 2 here"):

        @implements(beta, Attacking)
        def body(schedule, n):
            return 0.5


def test_a_mistake_in_a_value_function_is_told_with_its_line():
    judged = judged_rules(Attacking(), Hex(num_cols=3, num_rows=3))
    with pytest.raises(GameError, match="Unknown field of the record 'stones'") as caught:
        machine.prepare(judged.rules)
    assert place_of(attacking, "returns[0]") in str(caught.value)
