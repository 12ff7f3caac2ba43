"""How Numba compiles an entry of the kernel, with the bodies of its record's parts.

Loaded when a search is compiled; one that is found on disk needs nothing of this.
"""

import functools
from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.extending import intrinsic, overload

from rave_agents.compiler.calls import call_address
from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.linking import LinkedCompiler
from rave_agents.compiler.machine_code import MachineCode
from rave_agents.compiler.references import RecordReference, copy_of

# The kernel allocates nothing and returns no array: its caller holds what it works on. Without
# Numba's reference counts, which are atomic, it is a third faster.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
}
_INNER = {**_OPTIONS, "forceinline": True, "pipeline_class": LinkedCompiler}

_opened: set[OpenFunction[Any, Any]] = set()


def function_type(function: Callable[..., Any], sums_in_any_order: bool = False) -> Any:
    """The Numba type of a function that is compiled into its callers."""
    return types.Dispatcher(_compiled_into_callers(function, sums_in_any_order))


@functools.cache
def _compiled_into_callers(function: Callable[..., Any], sums_in_any_order: bool = False) -> Any:
    fastmath = {"reassoc"} if sums_in_any_order else False
    return numba.njit(**_INNER, fastmath=fastmath)(function)  # Kept: its type refers to it weakly.


def machine_code(function: Callable[..., Any], record: Any) -> MachineCode:
    """An entry, compiled for records such as this one."""
    _open_all()
    inner = _compiled_into_callers(function)
    record_at = copy_of(RecordReference(numba.typeof(record)))

    def entry(address: int, number: int) -> int:
        return inner(record_at(address), number)

    compiled = numba.njit(types.int64(types.int64, types.int64), **_OPTIONS)(entry)
    (result,) = compiled.overloads.values()
    called = [f.name for f in result.library._final_module.functions if f.is_declaration]
    externals = tuple(name for name in called if not name.startswith("llvm."))
    compiled_object = result.library._get_compiled_object()
    return MachineCode(result.fndesc.llvm_func_name, externals, compiled_object)


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
