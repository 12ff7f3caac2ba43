"""The key under which machine code is kept: a digest of all that Numba sees of a function.

Numba takes what a function looks up for constants. The walk of ``CacheKey`` looks it up the same
way: from an entry through the functions that it calls, with the bodies of open functions for the
parts in use, to plain values. Bytecode and constants count; docstrings, comments, lines and the
code that only Python runs do not. The modules that make machine code are digested as a whole.

For a user's functions the texts of their files count too, see ``user_modules.py``. What no file
has, such as a notebook's cell, and a value of a kind that the walk does not know, are noted as
``unknown``: such code is compiled once in each process.
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

from rave_agents.compiler.code_objects import (
    attributes_of,
    bytecode_of,
    constants_of,
    globals_of,
    names_of,
)
from rave_agents.compiler.dispatch import KernelFunction, OpenFunction
from rave_agents.compiler.layout import dtype_as_text
from rave_agents.compiler.user_modules import text_of

MOST_FROZEN_BYTES = 10**6
"""Compiled code has a larger array by its address, as it has one that is not contiguous."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), range)
_WRAPPERS: dict[Any, tuple[str, ...]] = {
    classmethod: ("__func__",),
    staticmethod: ("__func__",),
    types.MethodType: ("__func__", "__self__"),
    functools.cached_property: ("func",),
    type(functools.cache(len)): ("__wrapped__",),
    property: ("fget",),
    slice: ("start", "stop", "step"),
}
"""Types that wrap other values, and the attributes that hold these."""


class CacheKey:
    """The text that identifies functions and values for compiled code.

    Args:
        classes: of the parts in use, whose bodies of open functions count.
        only_users: True for a key of the user's own functions, as they are now in this process.
    """

    def __init__(self, classes: Iterable[type] = (), *, only_users: bool = False) -> None:
        self.text: list[str] = []
        self.unknown: dict[str, str] = {}
        """Names that are looked up, and why the text does not identify what they stand for."""
        self.names: set[str] = set()
        """All names that the functions may look up in objects."""
        self.dispatchers: list[Any] = []
        """Functions that the user has given to Numba."""
        self.own_functions: list[types.FunctionType] = []
        """The user's own functions, in the order in which they were met."""
        self._only_users = only_users
        self._classes = dict.fromkeys(classes)
        self._opened: dict[OpenFunction[Any, Any], None] = {}
        self._texts: set[str] = set()
        self._objects: list[Any] = []
        self._seen: dict[Any, tuple[int, Any]] = {}
        self._looked_up = ""

    def digest(self) -> str:
        """A short name for the text."""
        digest = hashlib.sha256("\0".join(self.text).encode(errors="surrogatepass"))
        digest.update(" ".join(sorted(self._texts)).encode())
        return digest.hexdigest()[:16]

    def identity(self) -> tuple[str, ...]:
        """What identifies the code in this process, for as long as the key lives."""
        return self.digest(), *(str(id(value)) for value in self._objects)

    def reasons(self) -> list[str]:
        """Why no other process can know the code again, in words."""
        grouped: dict[str, list[str]] = {}
        for name, reason in self.unknown.items():
            grouped.setdefault(reason, []).append(name)
        return [
            f"{', '.join(names[:3])}{' and others' if names[3:] else ''}: {reason}"
            for reason, names in grouped.items()
        ]

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
            self.text.append(f"{kind.__name__} {value!r}")
            return
        known: Any = id(value)
        if isinstance(value, types.ModuleType | type) and not isinstance(value, enum.EnumMeta):
            known = known, names
        if known in self._seen:
            self.text.append(f"@{self._seen[known][0]}")
            return
        self._seen[known] = len(self.text), value  # It lives on: no other has its id meanwhile.
        self.text.append(f"{kind.__module__}.{kind.__qualname__}")
        if not (self._add_code(value) or self._add_namespace(value, names)):
            self._add_constant(value, names)
            # Equal ones may be one object or two: pickled with a function, they become two.
            del self._seen[known]

    def add_named(self, name: str, value: Any, names: frozenset[str] = frozenset()) -> None:
        """Add a name and what it stands for."""
        outside, self._looked_up = self._looked_up, name
        self.text.append(name)
        self.add(value, names)
        self._looked_up = outside

    def add_bodies(self) -> None:
        """Add the bodies that open functions have for the classes in use, and the fields of these.

        Compiled code takes fields by their places.
        """
        done = set()
        while waiting := [
            (opened, kind)
            for opened in self._opened
            for kind in self._classes
            if kind in opened.implementations and (opened, kind) not in done
        ]:
            done.update(waiting)
            for opened, kind in waiting:
                self.add(opened)
                self.add_named(kind.__qualname__, opened.implementations[kind])
        for kind in self._classes:
            self.note(f"{kind.__module__}.{kind.__qualname__}{getattr(kind, '_fields', ())}")

    # Code.

    def _add_code(self, value: Any) -> bool:
        """Add a function, or an object that wraps one. Returns whether it is such."""
        if isinstance(value, types.FunctionType):
            self._add_function(value)
        elif isinstance(value, KernelFunction):
            self.note(str(value.sums_in_any_order))
            self.add(value.py_func)
        elif isinstance(value, OpenFunction):
            if value.compiled:
                self._opened[value] = None
                self.add(value.default)
        elif hasattr(value, "py_func") and hasattr(value, "targetoptions"):  # Numba's own.
            self.dispatchers.append(value)
            self.add(value.targetoptions)
            self.add(value.py_func)
        elif isinstance(value, types.CodeType):
            self._add_bytecode(value)
        elif type(value).__module__ == "numba.core.extending" and hasattr(value, "_defn"):
            self.add(value._defn)
        else:
            wrapped = [names for kind, names in _WRAPPERS.items() if isinstance(value, kind)]
            for name in wrapped[0] if wrapped else ():
                self.add(getattr(value, name))
            return bool(wrapped)
        return True

    def _add_function(self, function: types.FunctionType) -> None:
        module, code, mapping = function.__module__, function.__code__, function.__globals__
        self.text.append(f"{module}.{function.__qualname__}")
        own = not is_ours(module)
        if _is_librarys(module) or (self._only_users and not own):
            return
        attributes = attributes_of(code)
        self.names |= attributes
        if own:
            self._add_users(function)
            names: Iterable[str] = globals_of(code)
        else:
            names = names_of(code)  # Attributes too, which costs little: its globals stay.
        self._add_bytecode(code)
        if function.__defaults__ or function.__kwdefaults__:
            self.add(function.__defaults__, attributes)
            self.add(function.__kwdefaults__, attributes)
        for name in names:
            if name in mapping:
                self.add_named(name, mapping[name], attributes)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                self.add_named(name, cell.cell_contents, attributes)
            except ValueError:
                self.note(name)  # An empty cell.
        for overload in _overloads_of(function) if own else ():
            self.add(overload)

    def _add_users(self, function: types.FunctionType) -> None:
        self.own_functions.append(function)
        if self._only_users:
            return
        text = text_of(function.__code__)
        if text is not None:
            self._texts.add(hashlib.sha256(text).hexdigest())
            return
        file = function.__code__.co_filename
        edited = f"edited since {file} was imported"
        reason = edited if os.path.isfile(file) else "defined in no file"
        self.unknown[function.__qualname__] = reason

    def _add_bytecode(self, code: types.CodeType) -> None:
        self.text += bytecode_of(code)
        for constant in constants_of(code):
            self.add(constant)

    # Modules and classes.

    def _add_namespace(self, value: Any, names: frozenset[str]) -> bool:
        """Add what names stand for in a module or a class. Returns whether it is one."""
        if isinstance(value, types.ModuleType):
            self.text.append(value.__name__)
            if not _is_librarys(value.__name__):
                self._add_module(value, names)
        elif isinstance(value, type):
            self.text.append(f"{value.__module__}.{value.__qualname__}")
            if not _is_librarys(value.__module__):
                self._add_class(value, names)
        else:
            return False
        return True

    def _add_module(self, module: types.ModuleType, names: frozenset[str]) -> None:
        mapping = vars(module)
        for name in sorted(names):
            if name in mapping:
                self.add_named(name, mapping[name], names)
            elif "__getattr__" in mapping and hasattr(module, name):
                self.add_named(name, getattr(module, name), names)

    def _add_class(self, kind: Any, names: frozenset[str]) -> None:
        if isinstance(kind, enum.EnumMeta):
            self._add_bases(kind)
            members: Mapping[str, Any] = kind.__members__
            for name, member in members.items():
                self.add_named(name, member.value)
            return
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self._classes[kind] = None
            self.note(repr(kind._fields))
            self.add(kind._field_defaults)
            names -= {*kind._fields}
        for base in kind.__mro__:
            if not _is_librarys(base.__module__):
                for name in sorted(names & vars(base).keys()):
                    self.add_named(f"{base.__qualname__}.{name}", vars(base)[name], names)

    def _add_bases(self, kind: type) -> None:
        self.note(*(f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__))

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
            self._add_unknown(value)

    def _add_items(self, items: Sequence[Any], names: frozenset[str]) -> None:
        self.note(str(len(items)))
        for item in items:
            self.add(item, names)

    def _add_array(self, value: Any) -> None:
        self.note(dtype_as_text(value.dtype), repr((value.shape, value.strides)))
        if value.dtype.hasobject or type(value) not in (np.ndarray, np.recarray, np.memmap):
            self._add_unknown(value)
        elif self._only_users and value.nbytes > MOST_FROZEN_BYTES:
            self._objects.append(value)  # Compiled code sees its content as it is.
        else:
            self.note(hashlib.sha256(value.tobytes()).hexdigest())

    def _add_unknown(self, value: Any) -> None:
        kind = type(value)
        self._objects.append(value)
        self.unknown[self._looked_up] = f"of unknown content ({kind.__module__}.{kind.__name__})"


def digest_of_function(function: Any) -> str:
    """A digest of a function and of the user's functions that it calls: equal for equal code."""
    key = CacheKey(only_users=True)
    key.add(function)
    return key.digest()


def is_ours(module: str | None) -> bool:
    """True if a module is of this package."""
    return module is not None and module.startswith("rave_agents.")


# Libraries.


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
    name = getattr(value, "__name__", None)
    for module in (getattr(value, "__module__", None), "numpy"):
        known = isinstance(name, str) and isinstance(module, str) and _is_librarys(module)
        if known and getattr(sys.modules.get(str(module)), str(name), None) is value:
            return f"{module}.{name}"
    return ""


def _overloads_of(function: Any) -> list[Any]:
    """The user's functions that Numba compiles in the place of a function."""
    templates = sys.modules.get("numba.core.typing.templates")
    registered = templates.builtin_registry.globals if templates is not None else ()
    kinds = [kind for value, kind in registered if value is function and hasattr(kind, "templates")]
    found = [getattr(one, "_overload_func", None) for kind in kinds for one in kind.templates]
    return [overload for overload in found if inspect.isfunction(overload)]
