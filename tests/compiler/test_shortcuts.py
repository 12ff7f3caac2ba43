"""Shortcuts through Numba's compiler: they save time, and change no result."""

import itertools
import math

import numba
import numpy as np
import pytest

from rave_agents.compiler import shortcuts
from rave_agents.compiler.linking import OPTIONS, LinkedCompiler


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
