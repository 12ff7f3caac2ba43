"""Finds an environment's random number generators, and seeds, saves and restores them.

Generators are those of Python, NumPy and PyTorch. Generators *inside* an environment are copied
with it. Generators *outside*, which belong to the program, a module or a class, are not: the search
sets their state before it draws from them and restores it afterwards.
"""

import collections
import contextlib
import functools
import gc
import pickle
import random
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.game.arrays import ArrayAbilities

_NUMPY: tuple[type, ...] = (np.random.Generator, np.random.BitGenerator, np.random.RandomState)

FRAMEWORKS = frozenset(
    ["numpy", "gymnasium", "pettingzoo", "pyspiel", "open_spiel", "shimmy", "_pytest"]
)
"""Packages whose classes are not searched for generators outside of environments.

Pytest lets an ``assert`` of a test module call it, and from there everything can be reached.
"""


def torch_attribute(name: str) -> Any:
    """An attribute of the module torch; None if that is not imported."""
    torch = sys.modules.get("torch")
    return None if torch is None else vars(torch).get(name)


def generator_types() -> tuple[type, ...]:
    """The types of generators, PyTorch's included if it is imported."""
    own = torch_attribute("Generator")
    return (*_NUMPY, random.Random, *([own] if isinstance(own, type) else ()))


MOST_OBJECTS = 100_000
"""Largest number of objects that one search for generators visits."""


class Found(NamedTuple):
    """A generator and where it was found."""

    name: str
    """Its place and type, such as ``dealer.rng (numpy.random.Generator)``."""
    generator: Any
    """The generator itself."""


class Generators(NamedTuple):
    """The generators of an environment."""

    inside: tuple[Found, ...]
    """Generators that the environment owns."""
    outside: tuple[Found, ...]
    """Generators of the program, and of the modules, classes and functions that it uses."""


def find_generators(
    thing: Any, shared: tuple[type, ...] = (), *, make_missing: bool = False
) -> Generators:
    """Find the generators that an environment can draw from.

    Args:
        thing: the environment; its attributes, slots, containers and bound methods are searched
            recursively. Generators with a common source are listed once.
        shared: types of objects that are not searched.
        make_missing: whether to create the generators that Gymnasium's environments and spaces
            create on first use. ``thing`` must then belong to the caller.
    """
    walk = _Walk(shared, make_missing)
    for found in global_generators():
        walk.note(found.generator, found.name, outside=True)
    walk.go(thing)
    return Generators(tuple(walk.inside.values()), tuple(walk.outside.values()))


def global_generators() -> tuple[Found, ...]:
    """The generators behind the functions of ``random``, ``numpy.random`` and ``torch``."""
    found = [
        Found("the module random", random._inst),
        Found("the module numpy.random", np.random.mtrand._rand),
    ]
    own = torch_attribute("default_generator")
    if own is not None:
        found.append(Found("the module torch", own))
    return tuple(found)


class _Walk:
    """Visits objects and everything they refer to, each object once."""

    def __init__(self, shared: tuple[type, ...], make_missing: bool) -> None:
        self._make_missing = make_missing
        self.inside: dict[int, Found] = {}
        self.outside: dict[int, Found] = {}
        self._skipped = (*_PLAIN, *shared)
        self._kinds = generator_types()
        self._seen: dict[int, Any] = {}
        self._classes: set[type] = set()

    def note(self, generator: Any, path: str, *, outside: bool) -> None:
        # Two ``Generator`` objects over one bit generator draw from one source of numbers.
        core = id(_core(generator))
        if core in self.inside or core in self.outside:
            return
        kind = type(generator)
        module = kind.__module__.partition("._")[0]
        name = path if path.startswith("the module") else f"{path} ({module}.{kind.__qualname__})"
        (self.outside if outside else self.inside)[core] = Found(name, generator)

    def go(self, thing: Any) -> None:
        # A stack of its own: environments nest deeper than Python may recurse.
        stack = [("", thing, False)]
        while stack and len(self._seen) < MOST_OBJECTS:
            path, item, outside = stack.pop()
            if isinstance(item, self._skipped) or id(item) in self._seen:
                continue
            self._seen[id(item)] = item  # Kept alive, so that no other object gets its id.
            if "outside_generators" in vars(type(item)):  # A replay's stage is not searched.
                for found in item.outside_generators:
                    self.outside.setdefault(id(_core(found.generator)), found)
            if isinstance(item, self._kinds):
                self.note(item, path or "itself", outside=outside)
                continue
            children: list[tuple[str, Any, bool]] = []
            try:
                children.extend(self._children(item, path, outside))
            except Exception as error:  # Objects that cannot be inspected are skipped.
                if is_raised_by_handler(error):
                    raise
            stack.extend(reversed(children))  # So they are visited in their order.

    def _children(self, item: Any, path: str, outside: bool) -> Iterator[tuple[str, Any, bool]]:
        if isinstance(item, np.ndarray):
            if item.dtype.hasobject:
                yield from ((f"{path}[{i}]", one, outside) for i, one in enumerate(item.flat))
            return
        if isinstance(item, types.FunctionType):
            yield from ((name, one, True) for name, one in _remembered(item))
            return
        if isinstance(item, dict):
            for key, value in list(item.items()):
                yield f"{path}[{key!r}]", value, outside
                yield f"a key of {path}", key, outside
        elif isinstance(item, list | tuple | set | frozenset | collections.deque):
            yield from ((f"{path}[{i}]", one, outside) for i, one in enumerate(item))
        attributes = attributes_of(item)
        for name, value in attributes:
            found = value
            if name == "_np_random" and value is None and self._make_missing and not outside:
                found = item._np_random = np.random.Generator(np.random.PCG64(0))
            yield (f"{path}.{name}" if path else name), found, outside
        # Objects of compiled types show no attributes, but the collector knows what they hold.
        if not attributes and not isinstance(item, _CONTAINERS):
            yield from ((f"{path}.…", one, outside) for one in gc.get_referents(item))
        yield from self._of_class(type(item))

    def _of_class(self, kind: type) -> Iterator[tuple[str, Any, bool]]:
        """Variables outside of the instances that the functions of a class use."""
        for base in kind.__mro__:
            if base in self._classes or _is_of_framework(base.__module__):
                continue
            self._classes.add(base)
            for name, value in list(vars(base).items()):
                function = _plain_function(value)
                if isinstance(function, types.FunctionType):
                    yield from ((place, one, True) for place, one in _remembered(function))
                elif _may_hold_generators(value):
                    yield f"{base.__qualname__}.{name}", value, True


_PLAIN: tuple[type, ...] = (
    str,
    bytes,
    bytearray,
    int,
    float,
    complex,
    type(None),
    type,
    types.ModuleType,
    types.CodeType,
    types.FrameType,
    np.generic,
    np.dtype,
    range,
    property,
)

_CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque)


def _is_of_framework(module: str) -> bool:
    root = module.partition(".")[0]
    return root in sys.stdlib_module_names or root in FRAMEWORKS


def attributes_of(item: Any) -> list[tuple[str, Any]]:
    """The attributes of an object: in its dictionary, its slots, or bound by a method."""
    found = list(getattr(item, "__dict__", {}).items())
    for base in type(item).__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in ("__dict__", "__weakref__"):
                continue
            full = f"_{base.__name__.lstrip('_')}{name}" if _is_private(name) else name
            with contextlib.suppress(AttributeError):
                found.append((name, object.__getattribute__(item, full)))
    if isinstance(item, functools.partial):
        found += [("func", item.func), ("args", item.args), ("keywords", item.keywords)]
    elif isinstance(item, types.MethodType):
        found += [("__self__", item.__self__), ("__func__", item.__func__)]
    elif isinstance(item, types.BuiltinFunctionType):
        found.append(("__self__", item.__self__))
    return found


def _may_hold_generators(value: Any) -> bool:
    """True if a variable of a module, a class or a function may hold a generator."""
    if isinstance(value, (*generator_types(), *_CONTAINERS, types.MethodType)):
        return True
    if isinstance(value, types.BuiltinFunctionType):
        return not isinstance(value.__self__, types.ModuleType | None)
    if isinstance(value, (*_PLAIN, types.FunctionType)) or not hasattr(value, "__dict__"):
        return False
    return hasattr(value, "_np_random") or not _is_of_framework(type(value).__module__)


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _plain_function(value: Any) -> Any:
    if isinstance(value, staticmethod | classmethod):
        return value.__func__
    return value.fget if isinstance(value, property) else getattr(value, "__wrapped__", value)


def _remembered(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Outside variables that a function uses, or a function that it calls in its own package."""
    stack, seen = [function], {function}
    while stack:
        one = stack.pop()
        inner = list(_names_and_values(one))
        for name, value in inner:
            called = _plain_function(value)
            if isinstance(called, types.FunctionType):
                root = called.__module__ and not _is_of_framework(called.__module__)
                if root and called not in seen:
                    seen.add(called)
                    stack.append(called)
            elif _may_hold_generators(value):
                yield f"{one.__module__}.{name}", value


def _names_and_values(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The global and enclosing variables that a function names, and its defaults."""
    codes = [function.__code__]
    names: list[str] = []
    while codes:
        code = codes.pop()
        names += code.co_names
        codes += [const for const in code.co_consts if isinstance(const, types.CodeType)]
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, types.ModuleType):
            if not _is_of_framework(value.__name__):
                yield from ((f"{name}.{n}", vars(value)[n]) for n in names if n in vars(value))
        elif value is not None:
            yield name, value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            yield name, cell.cell_contents
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    yield from ((f"{function.__name__}()", value) for value in defaults)


def _core(generator: Any) -> Any:
    """The source of a generator's numbers, which several generators may share."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator
    if isinstance(generator, np.random.RandomState):
        return generator._bit_generator
    return generator


def saved(generator: Any) -> Any:
    """Return the state of a generator, for ``restore``; None if it has none."""
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)  # The half-used normal numbers, too.
    if isinstance(generator, _NUMPY):
        return _core(generator).state
    if isinstance(generator, random.Random):
        try:
            state = generator.getstate()
        except NotImplementedError:  # The system's generator.
            return None
        plain = type(generator) is random.Random
        return state, None if plain else vars(generator).copy()
    return generator.get_state()


def restore(generator: Any, state: Any) -> None:
    """Set a generator to a state from ``saved``."""
    if state is None:
        return
    if isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    elif isinstance(generator, _NUMPY):
        _core(generator).state = state
    elif isinstance(generator, random.Random):
        generator.setstate(state[0])
        if state[1] is not None:
            vars(generator).clear()
            vars(generator).update(state[1])
    else:
        generator.set_state(state)


def state_bytes(generator: Any) -> bytes:
    """Return the state of a generator as bytes, to compare states."""
    state = saved(generator)
    if ArrayAbilities(state).numpy is not None:  # PyTorch's; pickled, it has its address in it.
        return bytes(state.numpy().tobytes())
    try:
        return pickle.dumps(state)
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        return repr(state).encode()


def same_state(first: Any, second: Any) -> bool:
    """True if two states from ``saved`` are equal."""
    if isinstance(first, dict):
        return all(same_state(value, second[name]) for name, value in first.items())
    if isinstance(first, np.ndarray) or ArrayAbilities(first).numpy is not None:
        return np.array_equal(first, second)
    return bool(first == second)


def reseed(generator: Any, seed: int) -> None:
    """Seed a generator."""
    if isinstance(generator, _NUMPY):
        core = _core(generator)
        # In place: others may hold this bit generator.
        core.state = type(core)(np.random.SeedSequence(seed)).state
        if isinstance(generator, np.random.RandomState) and isinstance(core, np.random.MT19937):
            generator.set_state({**generator.get_state(legacy=False), "has_gauss": 0})
    elif isinstance(generator, random.Random):
        generator.seed(seed)
    else:
        generator.manual_seed(seed % 2**63)


def reseed_inside(env: Any, seeds: np.random.Generator) -> None:
    """Seed all generators inside an environment."""
    for found in find_generators(env, make_missing=True).inside:
        reseed(found.generator, int(seeds.integers(2**63)))


def fixed(found: Iterable[Found]) -> list[str]:
    """Names of the generators that cannot be reseeded; the system's generator never counts."""
    names = []
    for name, generator in found:
        before = saved(generator)
        if before is None:
            continue
        # Two seeds must give two states: a generator that ignores its seed stays as it is.
        states = set()
        try:
            for seed in (1, 2):
                reseed(generator, seed)
                states.add(state_bytes(generator))
        except Exception as error:
            if is_raised_by_handler(error):
                raise
            states.clear()
        finally:
            restore(generator, before)
        if len(states) < 2:
            names.append(name)
    return names
