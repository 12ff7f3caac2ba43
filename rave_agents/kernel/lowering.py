"""What Numba has to know: how the kernel's functions are compiled, and kept between processes.

Loaded when the first search is compiled, or taken from the cache.
"""

import functools
import hashlib
import pathlib
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numba
from numba.core import types
from numba.extending import intrinsic, overload

from rave_agents.kernel import references as _references  # noqa: F401  (it registers types)
from rave_agents.kernel.cache import choose_cache_directory
from rave_agents.kernel.calls import call_address
from rave_agents.kernel.compiling import kept
from rave_agents.kernel.dispatch import RENAMED, OpenFunction
from rave_agents.kernel.linking import LinkedCompiler

# The kernel allocates nothing and returns no array: its caller holds what it works on. Without
# Numba's reference counts, which are atomic, it is a third faster.
_OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False, "error_model": "numpy"}
_INNER = {
    **_OPTIONS,
    "forceinline": True,
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
    "pipeline_class": LinkedCompiler,
}

_MAIN = "main_"
_HOME = sys.modules[__name__]
_opened: set[OpenFunction[Any, Any]] = set()


def function_type(function: Callable[..., Any]) -> Any:
    """The Numba type of a function that is compiled into its callers."""
    return types.Dispatcher(_compiled_into_callers(function))


@functools.cache
def _compiled_into_callers(function: Callable[..., Any]) -> Any:
    return numba.njit(**_INNER)(function)  # Kept: its type refers to it weakly.


def compiled_entry(function: Callable[..., Any], classes: Iterable[type]) -> Callable[..., Any]:
    """A function of the kernel, compiled for records of these classes and kept on disk.

    Numba's own cache notices a change in the file of the function, but not in those of the
    functions that it calls. So the folder is named after the sources of them all: a change anywhere
    compiles anew, and never runs old code.
    """
    _open_all()
    _name_classes(classes)
    directory = choose_cache_directory("kernel") / _sources_hash(classes)
    return kept(directory, lambda cache: numba.njit(**_OPTIONS, cache=cache)(function))


def _open_all() -> None:
    """Tell Numba of the open functions that it does not know yet."""
    for opened in OpenFunction.everyone:
        if opened not in _opened:
            _opened.add(opened)
            _open(opened)


def _open(opened: OpenFunction[Any, Any]) -> None:
    @overload(opened, jit_options=_INNER, strict=False)
    def _compiled(*arguments: Any) -> Any:
        return opened.body_for(getattr(arguments[0], "instance_class", None))  # type: ignore[arg-type]


def _own_sources() -> list[pathlib.Path]:
    return sorted(pathlib.Path(__file__).parent.rglob("*.py"))


def _sources_hash(classes: Iterable[type]) -> str:
    """A name for the sources of the kernel and of what others implement for these classes."""
    digest = hashlib.sha256(f"{numba.__version__} {platform.python_version()}".encode())
    for path in _own_sources():
        digest.update(path.read_bytes())
    for text in _others_sources(classes):
        digest.update(text.encode())
    return digest.hexdigest()[:16]


def _others_sources(classes: Iterable[type]) -> list[str]:
    """What tells the implementations, for these classes, that are not the kernel's own."""
    texts = []
    own = __name__.rpartition(".")[0] + "."
    for opened in OpenFunction.everyone:
        for part in dict.fromkeys(classes):
            body = opened.implementations.get(part)
            if body is not None and not body.__module__.startswith(own):
                text = " ".join(_told_of(body, set()))
                texts.append(f"{opened.default.__name__} {part.__qualname__} {text}")
    return sorted(texts)


def _told_of(function: Any, seen: set[Any]) -> Iterator[str]:
    """What a function does, wherever it was written: its code, and all that it calls.

    A file's date or text would not do: there is none for a cell of a notebook, and a helper may
    lie in another file.
    """
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if code is None or function in seen:
        yield repr(function) if isinstance(function, int | float | str | tuple) else ""
        return
    seen.add(function)
    yield from _told_of_code(code)
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    known = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
    for name in sorted({*code.co_names, *code.co_freevars} & known.keys()):
        yield from (name, *_told_of(known[name], seen))


def _told_of_code(code: Any) -> Iterator[str]:
    yield from (code.co_code.hex(), repr(code.co_names), repr(code.co_varnames))
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from _told_of_code(constant)
        else:
            yield repr(constant)


def _name_classes(classes: Iterable[type]) -> None:
    """Give the classes of ``__main__`` a name by which the cache finds them in another process."""
    for part in classes:
        if part.__module__ == "__main__":
            part.__module__, part.__qualname__ = __name__, _MAIN + part.__name__
            setattr(_HOME, part.__qualname__, part)
            RENAMED.add(part)


def __getattr__(name: str) -> Any:
    """A script's class under its other name, in a process that has not compiled it."""
    if name.startswith(_MAIN):
        return getattr(sys.modules["__main__"], name.removeprefix(_MAIN))
    raise AttributeError(name)


@intrinsic
def _call_address(typing_context: Any, address: Any, argument: Any) -> Any:
    from llvmlite import ir  # noqa: PLC0415

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = ir.FunctionType(ir.IntType(32), [ir.IntType(64)])
        pointer = builder.inttoptr(arguments[0], function.as_pointer())
        return builder.call(pointer, [arguments[1]])

    return types.int32(types.int64, types.int64), codegen


@overload(call_address, strict=False)
def _call_address_compiled(address: Any, argument: Any) -> Any:
    return lambda address, argument: _call_address(address, argument)  # noqa: PLW0108
