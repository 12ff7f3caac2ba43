"""Equality, and keys, of observations and infos of any kind."""

import collections
import dataclasses
import decimal
import threading
import types
import weakref

import numpy as np
import pytest

from rave_agents.environments.copying import equal, hashable


class Plain:
    def __init__(self, x):
        self.x = x


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Raises(Plain):
    def __eq__(self, other):
        raise RuntimeError("not to be compared")

    __hash__ = None


class Refuses(Plain):
    def __eq__(self, other):
        return NotImplemented

    __hash__ = None


class AnswersInArrays(Plain):
    def __eq__(self, other):
        return np.array([True, False])

    __hash__ = None


class NeverEqual(Plain):
    def __eq__(self, other):
        return False

    __hash__ = None


class Locked(NeverEqual):
    def __init__(self, x):
        super().__init__(x)
        self.lock = threading.Lock()


class Tensor:
    """An array of another library: no truth value, no NumPy array where it has a gradient."""

    def __init__(self, values, gradient=False):
        self.values, self.gradient = list(values), gradient

    def __array__(self, dtype=None, copy=None):
        if self.gradient:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return np.array(self.values, dtype)

    def tolist(self):
        return self.values

    def __eq__(self, other):
        return Tensor(np.array(self.values) == np.array(other.values))

    def __bool__(self):
        raise RuntimeError("Boolean value of Tensor is ambiguous")

    def __hash__(self):
        return id(self)


class Table(Tensor):
    """A table of another library, with names of its columns."""

    def __init__(self, values, columns):
        super().__init__(values)
        self.columns = columns


@dataclasses.dataclass
class Data:
    x: object


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object


Named = collections.namedtuple("Named", "x")

KINDS = {
    "list": lambda v: [v, "a", None],
    "set": lambda v: {v, "b"},
    "deque": lambda v: collections.deque([np.array([v, 1]), 2]),
    "flat": lambda v: np.array([v, 2]).flat,
    "nan": lambda v: [v, float("nan"), np.float32("nan"), complex("nan"), decimal.Decimal("nan")],
    "array with nan": lambda v: np.array([v, np.nan]),
    "array of objects": lambda v: np.array([v, {"a": np.arange(2)}, None], object),
    "structured array": lambda v: np.array([(v, 2.0)], [("a", int), ("b", float)]),
    "time": lambda v: np.datetime64("nat") if v < 0 else np.datetime64(v, "s"),
    "zero-dimensional array": np.array,
    "nested": lambda v: {"a": ({"b": [np.arange(3), v]},)},
    "mapping": lambda v: types.MappingProxyType({"a": np.array([v, 2])}),
    "plain object": lambda v: Plain(np.array([v, 2])),
    "object with slots": lambda v: Slotted(np.array([v, 2])),
    "dataclass": lambda v: Data(np.array([v, 2])),
    "frozen dataclass": lambda v: Frozen(np.array([v, 2])),
    "named tuple": lambda v: Named(np.array([v, 2])),
    "== raises": Raises,
    "== is not implemented": Refuses,
    "== gives an array": AnswersInArrays,
    "== is never true": NeverEqual,
    "== is never true, and pickle fails": Locked,
    "tensor": lambda v: Tensor([v, 2]),
    "tensor with a gradient": lambda v: Tensor([v, 2], gradient=True),
    "table": lambda v: Table([v, 2], ["a", "b"]),
    "columns": lambda v: Table([1, 2], ["a", f"b{v}"]),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_things_are_equal_by_what_they_contain(make):
    assert equal(make(1), make(1))
    assert not equal(make(1), make(3))
    assert equal({"info": [make(1)]}, {"info": [make(1)]})
    assert not equal({"info": [make(1)]}, {"info": [make(3)]})


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_keys_are_equal_for_equal_things(make):
    hash(hashable(make(1)))
    assert hashable(make(1)) != hashable(make(3))
    if make not in (KINDS["nan"], KINDS["== is never true, and pickle fails"]):
        assert hashable(make(1)) == hashable(make(1))


def test_what_cannot_be_compared_counts_as_equal():
    one, two = Plain(1), Plain(1)
    assert equal([threading.Lock(), weakref.ref(one)], [threading.Lock(), weakref.ref(two)])
    assert equal((n for n in range(3)), (n for n in range(3)))
    assert equal(one.__init__, two.__init__)


def test_objects_that_refer_to_each_other_are_compared():
    def ring(x):
        first, second = Plain(x), Plain(x)
        first.other, second.other = second, first
        first.again, second.again = second, first
        return first

    assert equal(ring(1), ring(1))
    assert not equal(ring(1), ring(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "kind"),
    [
        ("torch", "tensor"),
        ("jax.numpy", "array"),
        ("pandas", "Series"),
        ("pandas", "DataFrame"),
        ("pandas", "Index"),
        ("polars", "Series"),
        ("polars", "DataFrame"),
    ],
)
def test_things_of_other_libraries_are_compared(library, kind):
    make = getattr(pytest.importorskip(library), kind)
    one, same, other = (make([float("nan"), x]) for x in (1.0, 1.0, 2.0))
    assert equal(one, same)
    assert not equal(one, other)
    assert hashable(one) == hashable(same) != hashable(other)
