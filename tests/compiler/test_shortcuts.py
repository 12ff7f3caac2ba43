"""Shortcuts through Numba's compiler: they save time, and change no result."""

import itertools
import math
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core import base, event, ir, types
from numba.core.compiler import run_frontend
from numba.core.registry import cpu_target

from rave_agents.compiler import lean_typing, shortcuts
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


def operations(a, b):
    return a + b, a - b, a * b, a == b, a != b, a < b, a <= b, a > b, a >= b


def operations_on_bits(a, b):
    return a & b, a | b, a ^ b


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("function", "numbers"),
    [
        (operations, [3, -4, 2**62, True, 2.5, math.nan, np.uint64(5), np.int8(-3)]),
        (operations_on_bits, [6, -4, True, np.uint64(5)]),
    ],
)
def test_operations_give_what_numba_and_python_give(function, numbers):
    numbas = numba.njit(function)
    linked = numba.njit(**OPTIONS, pipeline_class=LinkedCompiler)(function)

    @numba.njit
    def ours(a, b):
        return linked(a, b)

    for a, b in itertools.product(numbers, numbers):
        assert repr(ours(a, b)) == repr(numbas(a, b)), (a, b)


@pytest.mark.compiled
def test_numba_is_as_before_once_an_entry_is_compiled():
    contexts = cpu_target.typing_context, cpu_target.target_context
    before = [dict(vars(owner)) for owner in (*contexts, event, base)]
    with lean_typing.resolved_once(*contexts):
        assert event.broadcast is not before[2]["broadcast"]
        numba.njit("int64(int64)")(lambda number: number + 1)
    for owner, names in zip((*contexts, event, base), before, strict=True):
        assert vars(owner).keys() == names.keys()
    assert event.broadcast is before[2]["broadcast"]
    with pytest.raises(ZeroDivisionError), lean_typing.resolved_once(*contexts):
        raise ZeroDivisionError
    assert "refresh" not in vars(contexts[0])


def loops_and_items(numbers, table, count):
    total = 0.0
    for place in range(count):
        total += numbers[place] * table[place % 2, -1]
    for place in range(1, count, 2):
        numbers[-place] += 1.0
    for place in range(count, 0, -1):
        table[-1, place % 3] -= numbers[place - 1]
    for _ in range(count, 1):
        total += 100.0
    return total + numbers[0] + table.shape[1]


def test_short_lowering_of_loops_and_items_gives_what_python_gives(monkeypatch):
    monkeypatch.setattr(loops_and_items, "__module__", "rave_agents.own")
    linked = numba.njit(**OPTIONS, pipeline_class=LinkedCompiler)(loops_and_items)

    @numba.njit
    def ours(numbers, table, count):
        return linked(numbers, table, count)

    for count in (0, 1, 5):
        given = [(np.arange(1.0, 7.0), np.arange(6.0).reshape(2, 3)) for _ in range(2)]
        assert ours(*given[0], count) == loops_and_items(*given[1], count)
        assert all(map(np.array_equal, *given))


class Stated(types.Type):
    def constant_of(self, name):
        return {"is_checked": False, "players": 2}.get(name)


def checked(rules, action):
    if rules.is_checked and action < 0:
        return -1
    if not rules.players > 1:
        return -2
    return 3 if rules.unknown else 4


def test_what_constants_rule_out_is_left_out():
    state = SimpleNamespace(func_ir=run_frontend(checked), args=(Stated("stated"), types.int64))
    assert shortcuts.KnownBranches().run_pass(state)
    constants = {
        one.value.value
        for block in state.func_ir.blocks.values()
        for one in block.find_insts(ir.Assign)
        if isinstance(one.value, ir.Const)
    }
    assert {3, 4} <= constants
    assert not {-1, -2} & constants
