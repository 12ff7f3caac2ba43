"""Shortcuts through Numba's compiler: they save time, and change no result."""

import itertools
import math

import numba
import numpy as np
import pytest
from helpers.games import random_game

from rave_agents import Limit, Searcher
from rave_agents.compiler import shortcuts
from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.linking import OPTIONS, LinkedCompiler
from rave_agents.compiler.plain_bodies import PlainBody, plain_body


def nothing(part, depth):
    """Nothing."""


def second(part, depth):
    return depth


def one(part, depth):
    """One."""
    return 1.0


def sum_of(part, depth):
    return depth + 1


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (nothing, PlainBody(None, None)),
        (second, PlainBody(None, 1)),
        (one, PlainBody(1.0, None)),
        (sum_of, None),
        (lambda part: 2**70, None),
        (lambda part: part.depth, None),
    ],
)
def test_a_body_is_plain_that_only_returns_a_constant_or_an_argument(body, found):
    assert plain_body(body.__code__) == found


@pytest.mark.compiled
@pytest.mark.full
def test_no_hook_that_does_nothing_is_compiled(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(OpenFunction, "generation", OpenFunction.generation + 1)
    compile_one, functions = LinkedCompiler.compile_extra, []
    monkeypatch.setattr(
        LinkedCompiler,
        "compile_extra",
        lambda self, function: functions.append(function) or compile_one(self, function),
    )
    Searcher(seed=1).search(random_game(1), Limit(simulations=10))
    assert functions
    defaults = {opened.default for opened in OpenFunction.everyone}
    assert not [each for each in functions if each in defaults and plain_body(each.__code__)]


def several(a, b):
    return max(a, b), min(a, b), max(b, a), min(b, a), max(b, 2, a)


def wholes(a, b):
    return int(a), int(b)


NUMBERS = [1, -2, True, 2.5, -0.0, 0.0, np.int8(-3), np.uint8(200), np.uint64(5)]


@pytest.mark.full
@pytest.mark.parametrize(
    ("function", "numbers"), [(several, [*NUMBERS, math.nan]), (wholes, NUMBERS)]
)
def test_instructions_give_what_numba_and_python_give(function, numbers, monkeypatch):
    numbas = numba.njit(function)
    monkeypatch.setattr(function, "__module__", "rave_agents.own")
    linked = numba.njit(**OPTIONS, pipeline_class=LinkedCompiler)(function)
    replace, replaced = shortcuts._instruction, []
    monkeypatch.setattr(
        shortcuts, "_instruction", lambda called: replaced.append(called) or replace(called)
    )

    @numba.njit
    def ours(a, b):
        return linked(a, b)

    for given in itertools.product(numbers, (7, 1.5)):
        assert repr(ours(*given)) == repr(numbas(*given)), given
        assert np.array_equal(ours(*given), function(*given), equal_nan=True), given
    assert int in replaced or {max, min} <= set(replaced)
