"""All that Numba sees of a function, as text: equal for equal machine code, another for any other.

Numba takes what a function looks up for constants: globals, attributes of modules, members of
enums, defaults, cells of closures, and all that these consist of. ``Fingerprint`` looks it up the
same way. A value of a kind that it does not know is told by name alone, and noted: code that looks
it up is not to be kept.
"""

import enum
import functools
import hashlib
import inspect
import os
import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rave_agents.compiler.changes import MISSING, Watched, contents, nothing_watched
from rave_agents.compiler.dispatch import KernelFunction, OpenFunction
from rave_agents.compiler.layout import dtype_as_text
from rave_agents.compiler.looked_up import looked_up

COMPILED_ROOMS = ("compiler", "evaluators", "game", "kernel", "simulate")
"""The rooms of this package whose files are read as a whole, see ``sources.py``."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), range)
_STAND_FOR: dict[Any, tuple[str, ...]] = {
    OpenFunction: ("default",),
    classmethod: ("__func__",),
    staticmethod: ("__func__",),
    types.MethodType: ("__func__", "__self__"),
    functools.partial: ("func", "args", "keywords"),
    functools.cached_property: ("func",),
    property: ("fget",),
    slice: ("start", "stop", "step"),
}
"""Types that wrap other values, and the attributes that hold these."""

MOST_FROZEN_BYTES = 10**6
"""Compiled code has a larger array by its address, as it has one that is not contiguous."""


class Fingerprint:
    """The text of what functions and values are to compiled code."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.unknown: dict[str, str] = {}
        """Values that no text tells exactly: the name that is looked up, and the kind of value."""
        self.names: set[str] = set()
        """All names that the functions may look up in objects."""
        self.parts: dict[type, None] = {}
        """Classes of NamedTuples: functions of the kernel may be chosen by them."""
        self.dispatchers: list[Any] = []
        """Functions that the user has given to Numba."""
        self.watched: Watched = nothing_watched()
        """Objects looked up by code that may change."""
        self.watching: bool = True
        """True if code added now may change: it is not of this package."""
        self._seen: dict[Any, tuple[int, Any]] = {}
        self._contents: dict[int, tuple[Any, str]] = {}
        self._looked_up = ""

    def digest(self) -> str:
        """A short name for the text."""
        return hashlib.sha256("\0".join(self.text).encode(errors="surrogatepass")).hexdigest()[:16]

    def own_functions(self) -> list[types.FunctionType]:
        """The user's own functions among them."""
        return [function for function, *_ in self.watched.functions.values()]

    def note(self, *texts: str) -> None:
        """Add texts of one's own."""
        self.text += texts

    def add(self, value: Any, names: frozenset[str] = frozenset()) -> None:
        """Add a value.

        Args:
            value: a function, or what compiled code has as a constant.
            names: what may be looked up in it, where it is a module or a class.
        """
        kind = type(value)
        if kind in _PLAIN:
            self.note(f"{kind.__name__} {value!r}")
            return
        space = isinstance(value, types.ModuleType | type)
        known = id(value), names if space else None
        if known in self._seen:
            self.note(f"@{self._seen[known][0]}")
            return
        self._seen[known] = len(self._seen), value  # It lives on: no other has its id meanwhile.
        self.note(f"{kind.__module__}.{kind.__qualname__}")
        if not (self._add_code(value) or self._add_namespace(value, names)):
            self._add_constant(value, names)
            # Equal ones may be one object or two: pickled with a function, they become two.
            del self._seen[known]

    def begin(self) -> None:
        """Begin a text as if nothing had been added before."""
        self._seen.clear()

    def add_fields(self, kind: Any) -> None:
        """Add a NamedTuple's fields, which compiled code takes by their places."""
        self.note(f"{kind.__module__}.{kind.__qualname__}{kind._fields}")
        self.look_up(vars(kind), kind, "_fields", kind._fields)

    def look_up(self, mapping: Mapping[str, Any], owner: Any, name: str, value: Any) -> None:
        """Note what a name stands for in a mapping, to watch whether it changes."""
        if self.watching:
            self.watched.names[id(owner), name] = mapping, name, value, owner

    def add_named(self, name: str, value: Any, names: frozenset[str] = frozenset()) -> None:
        """Add a name and what it stands for."""
        outside, self._looked_up = self._looked_up, name
        self.note(name)
        self.add(value, names)
        self._looked_up = outside

    # Code.

    def _add_code(self, value: Any) -> bool:
        """Add what is a function, or stands for one. Returns whether it does."""
        if isinstance(value, types.FunctionType):
            self._add_function(value)
        elif isinstance(value, KernelFunction):
            self.note(str(value.sums_in_any_order))
            self.add(value.py_func)
        elif hasattr(value, "py_func") and hasattr(value, "targetoptions"):  # Numba's own.
            self.dispatchers.append(value)
            self.add(value.targetoptions)
            self.add(value.py_func)
        elif isinstance(value, types.CodeType):
            self._add_bytecode(value)
        elif type(value).__module__ == "numba.core.extending" and hasattr(value, "_defn"):
            self.add(value._defn)
        else:
            known = [names for kind, names in _STAND_FOR.items() if isinstance(value, kind)]
            for name in known[0] if known else ():
                self.add(getattr(value, name))
            return bool(known)
        return True

    def _add_function(self, function: types.FunctionType) -> None:
        self.note(f"{function.__module__}.{function.__qualname__}")
        if is_covered(function.__module__) or _is_librarys(function.__module__):
            return
        outside, self.watching = self.watching, not is_ours(function.__module__)
        code, mapping = function.__code__, function.__globals__
        defaults, by_keyword = function.__defaults__, function.__kwdefaults__
        told = looked_up(code)
        self.names |= told.attributes
        self._add_bytecode(code)
        self.add(defaults, told.attributes)
        self.add(by_keyword, told.attributes)
        for name in sorted(told.globals):
            value = mapping.get(name, MISSING)
            self.look_up(mapping, mapping, name, value)
            if value is not MISSING:
                self.add_named(name, value, told.attributes)
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        for name, cell in cells.items():
            if contents(cell) is not MISSING:
                self.add_named(name, contents(cell), told.attributes)
        if self.watching:
            self.watched.functions[id(function)] = function, code, defaults, by_keyword
            self.watched.cells.update({id(one): (one, contents(one)) for one in cells.values()})
        for overload in _overloads_of(function):
            self.add(overload)
        self.watching = outside

    def _add_bytecode(self, code: types.CodeType) -> None:
        self.note(
            code.co_code.hex(),
            code.co_exceptiontable.hex(),
            repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)),
            repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)),
            str(code.co_flags),
        )
        for constant in looked_up(code).constants:
            self.add(constant)

    # Modules and classes.

    def _add_namespace(self, value: Any, names: frozenset[str]) -> bool:
        """Add what names stand for in a module or a class. Returns whether it is one."""
        if isinstance(value, types.ModuleType):
            if not (_is_librarys(value.__name__) or is_covered(f"{value.__name__}.")):
                self._add_module(value, names)
        elif isinstance(value, type):
            self.note(f"{value.__module__}.{value.__qualname__}")
            if not (_is_librarys(value.__module__) or is_covered(value.__module__)):
                self._add_class(value, names)
        else:
            return False
        return True

    def _add_module(self, module: types.ModuleType, names: frozenset[str]) -> None:
        mapping = vars(module)
        for name in sorted(names):
            found = mapping.get(name, MISSING)
            if found is MISSING and "__getattr__" in mapping:
                found = getattr(module, name, MISSING)
            else:
                self.look_up(mapping, mapping, name, found)
            if found is not MISSING:
                self.add_named(name, found, names)

    def _add_class(self, kind: Any, names: frozenset[str]) -> None:
        told: set[str] = set()
        if isinstance(kind, enum.EnumMeta):
            told.update(kind.__members__)
            self._add_bases(kind)
            members: Mapping[str, Any] = kind.__members__
            for name, member in members.items():
                self.add_named(name, member.value)
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            told.update(kind._fields)
            self.parts[kind] = None
            self.add_fields(kind)
            self.add(kind._field_defaults)
        elif issubclass(kind, BaseException):
            self._add_exception(kind)
            return
        for base in kind.__mro__:
            if not _is_librarys(base.__module__):
                self._add_members(base, names - told)

    def _add_members(self, kind: type, names: frozenset[str]) -> None:
        for name in sorted(names):
            value = vars(kind).get(name, MISSING)
            self.look_up(vars(kind), kind, name, value)
            if value is not MISSING:
                self.add_named(f"{kind.__qualname__}.{name}", value, names)

    def _add_bases(self, kind: type) -> None:
        self.note(*(f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__))

    def _add_exception(self, kind: type) -> None:
        """Add an exception: compiled code has it pickled, that of a script as a whole."""
        for base in kind.__mro__:
            if not _is_librarys(base.__module__):
                for name, value in sorted(vars(base).items()):
                    if isinstance(value, types.FunctionType):
                        self.note(name)
                        self._add_bytecode(value.__code__)
                    elif type(value) in _PLAIN and not name.startswith("__"):
                        self.add_named(name, value)

    # Constants.

    def _add_constant(self, value: Any, names: frozenset[str]) -> None:
        if isinstance(value, enum.Enum):
            self._add_bases(type(value))
            self.note(value.name or "")
            self.add(value.value)
        elif isinstance(value, np.ndarray):
            self._add_array(value)
        elif isinstance(value, np.generic):
            self.note(dtype_as_text(value.dtype), value.tobytes().hex())
        elif isinstance(value, np.dtype):
            self.note(dtype_as_text(value))
        elif isinstance(value, tuple | list):
            self.add(type(value))
            self._add_items(value, names)
        elif isinstance(value, dict | types.MappingProxyType):
            self._add_items([item for pair in value.items() for item in pair], names)
        elif isinstance(value, set | frozenset) and all(type(item) in _PLAIN for item in value):
            self.note(*sorted(f"{type(item).__name__} {item!r}" for item in value))
        elif plain := [kind for kind in type(value).__mro__ if kind in _PLAIN]:
            represented: Any = plain[0].__repr__  # That of its own class may say anything.
            self.note(represented(value))
        elif type(value).__module__ == "numba.core.types.scalars":
            self.note(str(value))
        elif name := _name_in_library(value):
            self.note(name)
        else:
            self._note_unknown(value)

    def _add_items(self, items: Sequence[Any], names: frozenset[str]) -> None:
        self.note(str(len(items)))
        for item in items:
            self.add(item, names)

    def _add_array(self, value: Any) -> None:
        self.note(dtype_as_text(value.dtype), repr((value.shape, value.strides)))
        if value.dtype.hasobject or type(value) not in (np.ndarray, np.recarray, np.memmap):
            self._note_unknown(value)
            return
        if id(value) not in self._contents:
            self._contents[id(value)] = value, hashlib.sha256(value.tobytes()).hexdigest()
        if self.watching and value.nbytes <= MOST_FROZEN_BYTES:
            self.watched.arrays.setdefault(id(value), (value, value.tobytes()))
        self.note(self._contents[id(value)][1])

    def _note_unknown(self, value: Any) -> None:
        kind = type(value)
        self.unknown[self._looked_up] = f"{kind.__module__}.{kind.__qualname__}"


def code_as_text(function: Any) -> str:
    """A function's code, and that of all it calls, as text: equal for equal code."""
    found = Fingerprint()
    found.add(function)
    return "\0".join(found.text)


def is_ours(module: str | None) -> bool:
    """True if a module is of this package."""
    return module is not None and module.startswith("rave_agents.")


def is_covered(module: str | None) -> bool:
    """True if a module's file is read as a whole."""
    package, _, rest = (module or "").partition(".")
    return package == "rave_agents" and rest.partition(".")[0] in COMPILED_ROOMS


@functools.lru_cache(maxsize=1024)
def _is_librarys(name: str | None) -> bool:
    """True if a module is of Python's, NumPy's or Numba's own, which nobody edits.

    The user may have a module with the name of one of Python's.
    """
    top = (name or "").partition(".")[0]
    if top in {"builtins", "numpy", "numba", "llvmlite"}:
        return True
    if top not in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(top), "__file__", None)
    return file is None or (file.startswith(_PYTHON) and "site-packages" not in file)


_PYTHON = os.path.dirname(os.__file__)


def _name_in_library(value: Any) -> str:
    """The name by which a library has a value; empty if it has none."""
    name = getattr(value, "__name__", None)
    for module in (getattr(value, "__module__", None), "numpy"):
        known = isinstance(name, str) and isinstance(module, str) and _is_librarys(module)
        if known and getattr(sys.modules.get(str(module)), str(name), None) is value:
            return f"{module}.{name}"
    return ""


def _overloads_of(function: Any) -> Iterable[Any]:
    """The user's functions that Numba compiles in the place of a function."""
    templates = sys.modules.get("numba.core.typing.templates")
    if templates is None:
        return []
    registered = templates.builtin_registry.globals
    kinds = _by_identity(len(registered)).get(id(function), ())
    found = [getattr(one, "_overload_func", None) for kind in kinds for one in kind.templates]
    return [overload for overload in found if inspect.isfunction(overload)]


@functools.lru_cache(maxsize=1)
def _by_identity(length: int) -> dict[int, list[Any]]:
    """Types of functions that Numba knows, by their identity, for a quick look-up."""
    found: dict[int, list[Any]] = {}
    for value, kind in sys.modules["numba.core.typing.templates"].builtin_registry.globals[:length]:
        if hasattr(kind, "templates"):
            found.setdefault(id(value), []).append(kind)
    return found
