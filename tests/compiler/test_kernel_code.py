"""The kernel's own rules: narrow functions, and no part that may be missing."""

import ast
import ctypes
import pathlib
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import rave_agents.kernel
from rave_agents.compiler.dispatch import KernelFunction, OpenFunction, kernel, not_inlined
from rave_agents.compiler.entry import entry
from rave_agents.compiler.layout import call_address, laid_out
from rave_agents.kernel.amaf.views import NoAmaf
from rave_agents.kernel.amaf.winning_moves import weighted_win_rate
from rave_agents.kernel.loop import is_due
from rave_agents.kernel.tree import Tree, add_node
from rave_agents.simulate.random_stream import random_below, random_unit, random_word
from rave_agents.tree.storage import allocated

FOLDER = pathlib.Path(rave_agents.kernel.__file__).parent
FILES = sorted(FOLDER.glob("*.py"))
PYTHON_ONLY = {"lowering", "linking", "references", "cache", "compiling", "calls", "dispatch"}
"""What no search is compiled from."""


def functions(path):
    tree = ast.parse(path.read_text())
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def parameters(function):
    arguments = function.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


COMPILED = [path for path in FILES if path.stem not in PYTHON_ONLY]


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.stem)
def test_no_function_takes_more_than_six_parameters(path):
    wide = {f.name: len(parameters(f)) for f in functions(path) if len(parameters(f)) > 6}
    assert wide == {}


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.stem)
def test_no_part_is_asked_whether_it_is_there(path):
    compared = [
        f.name
        for f in functions(path)
        for node in ast.walk(f)
        if isinstance(node, ast.Compare)
        and any(isinstance(operand, ast.Constant) and operand.value is None
                for operand in node.comparators)
    ]  # fmt: skip
    assert compared == []


class Inner(NamedTuple):
    counts: np.ndarray
    step: int


class Outer(NamedTuple):
    scale: float
    inner: Inner


@kernel
@not_inlined
def add_all(inner, times):
    for _ in range(times):
        inner.counts[0] += inner.step
    return inner.counts[0]


@kernel
@not_inlined
def add_to_inner(outer, times):
    return add_all(outer.inner, times) * int(outer.scale)


@entry("a test")
def add_twice(outer, times):
    first = add_to_inner(outer, times)
    return first + add_all(outer.inner, times)


@pytest.mark.compiled
def test_a_function_that_is_called_sees_the_records_of_its_caller():
    counts = np.zeros(1, np.int64)
    assert add_twice(Outer(10.0, Inner(counts, 3)), 2) == 6 * 10 + 12
    assert counts[0] == 12


def test_each_record_in_memory_ends_with_its_own_address():
    _, placed = laid_out(Outer(1.0, Inner(np.zeros(1, np.int64), 3)))
    first = ctypes.addressof(placed)
    assert list(placed)[3:5] == [first + 8, first]


@pytest.mark.compiled
def test_kernel_functions_are_plain_functions_when_python_calls_them():
    assert isinstance(add_node, KernelFunction)
    stream = np.array([1, 2, 3, 4], np.int64)
    assert random_word(stream) == 641
    assert 0 <= random_below(stream, 7) < 7
    assert 0.0 <= random_unit(stream) < 1.0
    assert weighted_win_rate(6.0, 3.0, 117.0) == 0.5 / 39
    settings = SimpleNamespace(may_expand=True, expand_visits=2)
    assert not is_due(SimpleNamespace(settings=settings, amaf=NoAmaf()), 1, 0)
    tree = allocated(Tree, dict.fromkeys(range(10), 5))
    assert [add_node(tree, 0, 0, 3), add_node(tree, 1, 0, 2)] == [0, 1]
    assert tree.used[:2].tolist() == [2, 5]


def test_kernel_functions_raise_what_python_raises():
    tree = allocated(Tree, dict.fromkeys(range(10), 1))
    add_node(tree, 0, 0, 1)
    with pytest.raises(IndexError):
        add_node(tree, 0, 0, 1)
    with pytest.raises(TypeError):
        random_below(np.ones(4, np.int64))
    with pytest.raises(AttributeError):
        is_due(SimpleNamespace(), 1, 0)
    for opened in OpenFunction.everyone:
        with pytest.raises((TypeError, IndexError)):
            opened()
    with pytest.raises(TypeError):
        call_address("address", 0)
