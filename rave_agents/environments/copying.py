"""Copies of environments, and equality of observations, rewards and infos.

Many environments pickle and copy themselves by their constructor's arguments, which loses their
current state. ``copied`` pickles and unpickles all objects that they consist of instead, by their
attributes.
"""

import cmath
import collections
import dataclasses
import importlib
import io
import pickle
import random
import types
from collections.abc import Callable, Hashable, Mapping, Set
from typing import Any

import numpy as np

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.generators import torch_attribute
from rave_agents.game.arrays import ArrayAbilities

SHARED_TYPES: tuple[type, ...] = (
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    type,
    random.SystemRandom,
)
"""Types whose instances a copy shares with its original: code, which does not change, and the
system's random numbers, which have no state."""


@dataclasses.dataclass(frozen=True)
class CopyRules:
    """Rules for objects that pickle cannot copy, or copies incorrectly."""

    by_attributes: tuple[type, ...] = ()
    """Types whose instances are copied by their attributes, without a call of the constructor."""
    shared: tuple[type, ...] = ()
    """Types whose instances the copy shares with the original."""
    copiers: Mapping[type, Callable[[Any], Any]] = dataclasses.field(default_factory=dict)
    """Functions that copy instances of types that pickle cannot copy."""
    referred: tuple[type, ...] = ()
    """Types to whose instances functions may refer: nothing in them changes but generators, which
    ``rave_agents.environments.generators`` finds in functions, too."""

    def sharing(self, *types: type) -> "CopyRules":
        """Return these rules for copies that share further types with the original."""
        return dataclasses.replace(self, shared=(*self.shared, *types))

    def copying(self, copiers: Mapping[type, Callable[[Any], Any]]) -> "CopyRules":
        """Return these rules with further functions that copy instances of types."""
        return dataclasses.replace(self, copiers={**copiers, **self.copiers})


def copied(thing: Any, rules: CopyRules, replaced: Mapping[int, Any] | None = None) -> Any:
    """Return a deep copy.

    Args:
        thing: the object to copy.
        rules: rules for objects that pickle cannot copy.
        replaced: replacements for objects inside ``thing``, by the ``id`` of the object.

    Raises:
        Exception: any exception of pickle for an object that it cannot copy.
    """
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, rules, {} if replaced is None else replaced)
    pickler.dump(thing)
    buffer.seek(0)
    return _Unpickler(buffer, pickler.apart).load()


def fingerprint(thing: Any, rules: CopyRules) -> bytes:
    """Return everything that ``copied`` would copy as bytes, to detect changes."""
    buffer = io.BytesIO()
    _Pickler(buffer, rules, {}).dump(thing)
    return buffer.getvalue()


class _Pickler(pickle.Pickler):
    """Pickles all objects but those that are shared, replaced or copied by a function."""

    def __init__(self, file: Any, rules: CopyRules, replaced: Mapping[int, Any]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.apart: list[tuple[Any, Callable[[Any], Any] | None]] = []
        self._numbers: dict[int, int] = {}
        self._rules = rules
        self._replaced = replaced
        self._shared = (*SHARED_TYPES, *rules.shared)
        self._copiers = dict(rules.copiers)
        torch = torch_attribute("Generator")
        if torch is not None:
            self._copiers[torch] = _copied_torch_generator
        self._own = tuple(self._copiers)

    def persistent_id(self, thing: Any) -> int | None:
        # Pickle asks this of every object first; a number replaces the object in the stream.
        if id(thing) in self._replaced:
            return self._number(thing, self._replaced[id(thing)], None)
        if isinstance(thing, types.BuiltinFunctionType) and not isinstance(
            thing.__self__, types.ModuleType
        ):
            return None  # A method of an object, which is copied with it.
        if isinstance(thing, types.FunctionType):
            _check_remembers_nothing(thing, self._rules.referred)
        if isinstance(thing, self._shared):
            return self._number(thing, thing, None)
        if self._own and isinstance(thing, self._own):
            copier = next(f for kind, f in self._copiers.items() if isinstance(thing, kind))
            return self._number(thing, thing, copier)
        return None

    def _number(self, thing: Any, given: Any, copier: Callable[[Any], Any] | None) -> int:
        # One number for each object, so that two references to it stay two references to one copy.
        number = self._numbers.setdefault(id(thing), len(self.apart))
        if number == len(self.apart):
            self.apart.append((given, copier))
        return number

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, self._rules.by_attributes):  # Not by ``__reduce__``, as EzPickle's.
            return (_bare, (type(thing),), vars(thing).copy(), None, None, _set_attributes)
        if isinstance(thing, random.Random) and type(thing) is not random.Random:
            # RandomState's own pickling loses a subclass's attributes.
            state = thing.getstate(), vars(thing).copy()
            return (_bare_generator, (type(thing),), state, None, None, _set_generator)
        return NotImplemented


def _copied_torch_generator(generator: Any) -> Any:
    """Some versions of PyTorch do not pickle their generators."""
    new = type(generator)(device=generator.device)
    new.set_state(generator.get_state())
    return new


def _check_remembers_nothing(function: types.FunctionType, but: tuple[type, ...]) -> None:
    """Refuse a function through which the copy would reach an object of the original."""
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:
            continue  # Empty.
        if isinstance(content, types.FunctionType):
            _check_remembers_nothing(content, but)
        elif not isinstance(content, but) and not _is_unchanging(content):
            raise pickle.PicklingError(
                f"the function {function.__qualname__} refers to an object of type "
                f"{type(content).__name__}, which the copy would have in common with the original"
            )


def _is_unchanging(content: Any) -> bool:
    """True if an object and all that it holds can never change."""
    if type(content) in (tuple, frozenset):
        return all(map(_is_unchanging, content))
    return isinstance(content, _UNCHANGING)


_UNCHANGING = (*SHARED_TYPES, int, float, str, bytes, type(None), np.dtype)


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, apart: list[Any]) -> None:
        super().__init__(file)
        self._apart = apart
        self._made: dict[int, Any] = {}

    def persistent_load(self, number: Any) -> Any:
        thing, copier = self._apart[number]
        if copier is None:
            return thing
        if number not in self._made:
            self._made[number] = copier(thing)
        return self._made[number]


def _bare(kind: type) -> Any:
    return object.__new__(kind)


def _bare_generator(kind: Any) -> Any:
    return kind.__new__(kind)


def _set_generator(thing: Any, state: tuple[Any, dict[str, Any]]) -> None:
    thing.setstate(state[0])
    vars(thing).update(state[1])


def _set_attributes(thing: Any, attributes: dict[str, Any]) -> None:
    vars(thing).update(attributes)


def equal(first: Any, second: Any) -> bool:
    """True if two observations, rewards, masks or infos of any kind are equal.

    NaN equals NaN. Arrays of other libraries and tables are compared by what they contain, other
    objects by ``==``, by their pickles or by their attributes. What cannot be compared counts as
    equal, and nothing is raised.
    """
    return _Comparison().same(first, second)


class _Comparison:
    """One comparison, which assumes that pairs which it has met before are equal."""

    def __init__(self) -> None:
        self._met: set[tuple[int, int]] = set()
        self._kept: list[Any] = []  # A freed object's ``id`` may come again.

    def same(self, first: Any, second: Any) -> bool:
        if first is second:
            return True
        pair = id(first), id(second)
        if pair in self._met:  # A cycle: differences in it are found elsewhere.
            return True
        self._met.add(pair)
        self._kept.append((first, second))
        try:
            return self._compare(first, second)
        except Exception as error:  # From a method of the object itself, or nested too deeply.
            if is_raised_by_handler(error):
                raise
            return True

    def _compare(self, first: Any, second: Any) -> bool:
        if _is_number(first) and _is_number(second):
            return bool(first == second) or (_is_nan(first) and _is_nan(second))
        if isinstance(first, _ARRAYS) or isinstance(second, _ARRAYS):
            return self._arrays(np.asarray(first), np.asarray(second))
        for kind, compare in (
            (Mapping, self._mappings),
            (list | tuple | collections.deque, self._sequences),
            (Set, self._sets),
        ):
            if isinstance(first, kind) and isinstance(second, kind):
                return compare(first, second)
        return type(first) is type(second) and self._objects(first, second)

    def _mappings(self, first: Any, second: Any) -> bool:
        return first.keys() == second.keys() and all(
            self.same(first[key], second[key]) for key in first
        )

    def _sequences(self, first: Any, second: Any) -> bool:
        return len(first) == len(second) and all(map(self.same, first, second))

    def _sets(self, first: Any, second: Any) -> bool:
        return len(first) == len(second) and all(
            any(_Comparison().same(one, other) for other in second) for one in first
        )

    def _arrays(self, first: Any, second: Any) -> bool:
        if first.shape != second.shape or first.dtype != second.dtype:
            return False
        if first.dtype.hasobject:
            return self.same(first.tolist(), second.tolist())
        if first.tobytes() == second.tobytes():
            return True  # NaN included, of any bits; below, 0.0 equals -0.0.
        return bool(np.array_equal(first, second, equal_nan=first.dtype.kind in "fc"))

    def _objects(self, first: Any, second: Any) -> bool:
        if isinstance(first, types.MethodType):
            return first.__func__ is second.__func__
        said = _said_equal(first, second)
        if said:
            return True
        content = _content(first)
        if content is not None:
            return self.same(content, _content(second))
        # A class whose ``==`` says no may still forget to compare what matters; one that
        # inherits ``==`` by identity says nothing at all.
        if said is False and type(first).__eq__ is not _IDENTITY:
            pickles = _pickle(first), _pickle(second)
            if None not in pickles:
                return pickles[0] == pickles[1]
        return self.same(first.__getstate__(), second.__getstate__())


_ARRAYS = np.ndarray | np.generic
_IDENTITY: Any = object.__eq__
_BY_IDENTITY: Any = object.__hash__


def _said_equal(first: Any, second: Any) -> bool | None:
    """The answer of ``==``; None if it raises, or gives neither True nor False."""
    try:
        said = first == second
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        return None
    return bool(said) if isinstance(said, bool | np.bool_) else None


def _content(thing: Any) -> list[Any] | None:
    """The content of an array or a table of another library; None for any other object."""
    if not hasattr(type(thing), "__array__"):
        return None
    try:
        array = np.asarray(thing)
        if array.dtype.hasobject and not array.ndim:
            return None  # Not an array, in spite of its method.
    except Exception as error:  # Such as one on another device, or with a gradient.
        if is_raised_by_handler(error):
            raise
        try:
            array = thing.tolist()
        except Exception as again:
            if is_raised_by_handler(again):
                raise
            return None
    labels = ArrayAbilities(thing).index, ArrayAbilities(thing).columns
    return [array, *(label for label in labels if not callable(label))]


def _pickle(thing: Any) -> bytes | None:
    try:
        return pickle.dumps(thing)
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        return None


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | complex | np.inexact) and cmath.isnan(value)


_NUMBERS = int | float | complex | np.number | np.bool_


def hashable(observation: Any) -> Hashable:
    """Return a key for an observation: keys are equal exactly if the observations are.

    Arrays become their bytes, those of other libraries too; dictionaries, lists, tuples and sets
    are converted recursively, other objects without a hash by value are pickled.
    """
    if isinstance(observation, Mapping):
        return tuple((key, hashable(value)) for key, value in observation.items())
    if isinstance(observation, list | tuple | collections.deque):
        return tuple(map(hashable, observation))
    if isinstance(observation, np.ndarray):
        if observation.dtype.hasobject:
            return hashable(observation.tolist())
        return observation.shape, observation.dtype.str, observation.tobytes()
    if isinstance(observation, _PLAIN):
        return observation
    return _hashable_object(observation)


_PLAIN = _NUMBERS | str | bytes | None


def _hashable_object(thing: Any) -> Hashable:
    if isinstance(thing, Set):
        return frozenset(map(hashable, thing))
    content = _content(thing)
    if content is not None:
        return hashable(content)
    if type(thing).__hash__ is not _BY_IDENTITY:
        try:
            hash(thing)
        except Exception as error:
            if is_raised_by_handler(error):
                raise
            pass
        else:
            return thing  # type: ignore[no-any-return]
    pickled = _pickle(thing)
    return repr(thing) if pickled is None else pickled


def pygame_types() -> tuple[type | None, tuple[type, ...]]:
    """The type of pygame's surfaces, and those of its clocks and fonts; None without pygame."""
    try:
        pygame = importlib.import_module("pygame")
    except ImportError:
        return None, ()
    found = [type(pygame.time.Clock())]
    for module in ("pygame.font", "pygame.freetype"):
        try:
            kind = vars(importlib.import_module(module)).get("Font")
        except ImportError:
            continue  # Not built into every pygame.
        if isinstance(kind, type):
            found.append(kind)
    return pygame.Surface, tuple(found)
