"""Compilation of an entry of the kernel by Numba, with the bodies of its record's parts.

Loaded when a search is compiled; one that is found on disk needs nothing of this.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.registry import cpu_target
from numba.core.typing.templates import builtin_registry
from numba.extending import intrinsic, overload

from rave_agents.compiler.arrays import LANES, whole_lanes
from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.layout import call_address, count_bits, int32s_at, move_memory
from rave_agents.compiler.lean_typing import resolved_once
from rave_agents.compiler.linking import (
    INNER,
    OPTIONS,
    EntryCompiler,
    expect_number,
    function_type,
    has_addresses,
)
from rave_agents.compiler.machine_code import MachineCode
from rave_agents.compiler.references import RecordReference, copy_of
from rave_agents.compiler.settings import codegen_settings

_types: Any = types

_opened: set[OpenFunction[Any, Any]] = set()


def begin(dispatchers: Iterable[Any]) -> None:
    """Begin to compile code: what was lowered before an edit, or other settings, is not used.

    Args:
        dispatchers: functions that the user has given to Numba, which notices no edit of what they
            look up.
    """
    epoch = OpenFunction.generation, codegen_settings()
    if epoch != RecordReference.epoch:
        RecordReference.epoch = epoch
        for value, kind in builtin_registry.globals:
            if isinstance(value, OpenFunction):
                for template in kind.templates:  # They keep the body for a record of constants.
                    getattr(template, "_impl_cache", {}).clear()
    for dispatcher in dispatchers:
        dispatcher.recompile()
    for opened in OpenFunction.everyone:
        if opened.compiled and opened not in _opened:
            _opened.add(opened)
            _open(opened)


def machine_code(
    function: Callable[..., Any], record: Any, dispatchers: Iterable[Any] = ()
) -> MachineCode:
    """An entry, compiled for records such as this one.

    Args:
        function: the entry.
        record: such a record.
        dispatchers: see ``begin``.
    """
    begin(dispatchers)
    inner = function_type(function).dispatcher
    record_at = copy_of(RecordReference(numba.typeof(record)))

    def entry(address: int, number: int) -> int:
        return inner(record_at(address), number)

    return compiled_entry(entry)


def compiled_entry(entry: Callable[[int, int], int]) -> MachineCode:
    """A function of an address and a number, and all that it calls."""
    signature = types.int64(types.int64, types.int64)
    with resolved_once(cpu_target.typing_context, cpu_target.target_context):
        compiled = numba.njit(signature, pipeline_class=EntryCompiler, **OPTIONS)(entry)
    (result,) = compiled.overloads.values()
    library = result.library
    called = [f.name for f in library._final_module.functions if f.is_declaration]
    externals = tuple(name for name in called if not name.startswith("llvm."))
    compiled_object = library._get_compiled_object()
    fixed = has_addresses(library)
    return MachineCode(result.fndesc.llvm_func_name, externals, compiled_object, fixed)


def _open(opened: OpenFunction[Any, Any]) -> None:

    @overload(opened, jit_options=INNER, strict=False)
    def _compiled(*arguments: Any) -> Any:
        body = opened.body_for(getattr(arguments[0], "instance_class", None))  # type: ignore[arg-type]
        expect_number(body, opened.default)
        return body


@intrinsic
def _call_address(typing_context: Any, address: Any, argument: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = ir.FunctionType(ir.IntType(32), [ir.IntType(64)])
        pointer = builder.inttoptr(arguments[0], function.as_pointer())
        return builder.call(pointer, [arguments[1]])

    return types.int32(types.int64, types.int64), codegen


@overload(call_address, jit_options=INNER, strict=False)
def _call_address_compiled(address: Any, argument: Any) -> Any:
    return lambda address, argument: _call_address(address, argument)  # noqa: PLW0108


@intrinsic
def _int32s_at(typing_context: Any, address: Any) -> Any:
    pointer = _types.CPointer(types.int32)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.IntType(32).as_pointer())

    return pointer(types.int64), codegen


@overload(int32s_at, jit_options=INNER, strict=False)
def _int32s_at_compiled(address: Any) -> Any:
    return lambda address: _int32s_at(address)  # noqa: PLW0108


@intrinsic
def _count_bits(typing_context: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), codegen


@overload(count_bits, jit_options=INNER, strict=False)
def _count_bits_compiled(bits: Any) -> Any:
    return lambda bits: _count_bits(bits)  # noqa: PLW0108


@intrinsic
def _move_memory(typing_context: Any, target: Any, source: Any, size: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.IntType(8).as_pointer()
        places = [builder.inttoptr(each, kind) for each in arguments[:2]]
        cgutils.raw_memmove(builder, *places, arguments[2], 1)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), codegen


@overload(move_memory, jit_options=INNER, strict=False)
def _move_memory_compiled(target: Any, source: Any, size: Any) -> Any:
    return lambda target, source, size: _move_memory(target, source, size)  # noqa: PLW0108


@overload(whole_lanes, jit_options=INNER, strict=False)
def _whole_lanes_compiled(count: Any) -> Any:
    return lambda count: (count + LANES - 1) // LANES * LANES
