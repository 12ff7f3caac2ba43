"""Bodies that only return a constant or an argument: they are typed and lowered, not compiled.

Numba takes some ten milliseconds for every function, however small, and a search calls dozens of
hooks that are empty or return a constant.
"""

import dis
import functools
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

from numba.core import types
from numba.extending import lower_builtin, type_callable

from rave_agents.compiler.dispatch import OpenFunction

_types: Any = types
_CONSTANTS: Any = {
    type(None): types.none,
    bool: types.boolean,
    int: types.int64,
    float: types.float64,
}
_SILENT = {"RESUME", "NOP", "RETURN_VALUE"}
_OF_CONSTANTS = {"LOAD_CONST", "LOAD_SMALL_INT", "RETURN_CONST"}
_OF_ARGUMENTS = {"LOAD_FAST", "LOAD_FAST_BORROW"}


class PlainBody(NamedTuple):
    """Result of a body that does nothing but return it."""

    constant: Any
    """The constant, if ``argument`` is None."""
    argument: int | None
    """The place of the argument."""


@functools.lru_cache(maxsize=1024)
def plain_body(code: CodeType) -> PlainBody | None:
    """Result of a body that does nothing but return it; None if it does more."""
    loads = [each for each in dis.get_instructions(code) if each.opname not in _SILENT]
    if len(loads) != 1:
        return None
    (load,) = loads
    result = load.argval
    if load.opname in _OF_CONSTANTS and type(result) in _CONSTANTS:
        fits = type(result) is not int or -(2**63) <= result < 2**63
        return PlainBody(result, None) if fits else None
    if load.opname in _OF_ARGUMENTS and result in code.co_varnames[: code.co_argcount]:
        return PlainBody(None, code.co_varnames.index(result))
    return None


def give_plain_bodies(opened: OpenFunction[Any, Any]) -> None:
    """Type and lower an open function's plain bodies; Numba asks here before it compiles one."""
    wants_number = opened.default.__annotations__.get("return") in (int, float, bool)
    parameters = inspect.signature(opened.default)

    def plain(arguments: Any) -> PlainBody | None:
        body = opened.body_for(getattr(arguments[0], "instance_class", None))  # type: ignore[arg-type]
        code = getattr(body, "__code__", None)
        return None if code is None else plain_body(code)

    @type_callable(opened)
    def _typed(context: Any) -> Callable[..., Any]:
        def typer(*arguments: Any) -> Any:
            given = plain(arguments)
            if given is None:
                return None
            if given.argument is not None:
                return arguments[given.argument] if given.argument < len(arguments) else None
            refused = given.constant is None and wants_number
            return None if refused else _CONSTANTS[type(given.constant)]

        typer.pysig = parameters  # type: ignore[attr-defined]
        return typer

    @lower_builtin(opened, _types.VarArg(types.Any))
    def _lowered(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        given = plain(signature.args)
        assert given is not None
        if given.argument is not None:
            return values[given.argument]
        if given.constant is None:
            return context.get_dummy_value()
        return context.get_constant(signature.return_type, given.constant)
