"""Compilation of ``Rules`` by Numba; loaded only where a game is compiled.

An object of rules is a value without content: its attributes are constants in the machine code, and
its methods are functions of its class.
"""

import functools
import inspect
from collections.abc import Iterable
from typing import Any

import numba
from numba.core import cgutils, types
from numba.core.typing.templates import (
    AttributeTemplate,
    infer,
    infer_global,
    make_intrinsic_template,
)
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    overload,
    overload_method,
    register_model,
)
from numba.np import numpy_support
from numba.np.arrayobj import make_array

from rave_agents.compiler.linking import OPTIONS, LinkedCompiler, expect_number, function_type
from rave_agents.compiler.lowering import begin, compiled_entry
from rave_agents.compiler.machine_code import MachineCode
from rave_agents.compiler.references import RecordReference, TupleReference
from rave_agents.games.kit import memory, playouts
from rave_agents.games.kit.base_rules import BaseRules

_INNER = {**OPTIONS, "pipeline_class": LinkedCompiler}


class RulesType(types.Type):
    """The type of one object of rules; there is a subclass for each class of rules."""

    def __init__(self, rules: BaseRules, number: int) -> None:
        self.rules = rules
        super().__init__(f"{type(rules).__name__}{number}")

    def constant_of(self, name: str) -> bool | int | float | None:
        """A number that is a constant in compiled code, see ``shortcuts.KnownBranches``."""
        value = getattr(self.rules, name, None)
        return value if isinstance(value, bool | int | float) else None


@functools.cache
def _rules_type_class(kind: Any, epoch: Any) -> type[RulesType]:
    """The class of the types of rules of a class, with its methods opened to Numba."""
    opened = type(f"{kind.__name__}Type", (RulesType,), {})
    register_model(opened)(models.OpaqueModel)

    @infer_getattr
    class _Constants(AttributeTemplate):  # type: ignore[misc]
        key = opened

        def generic_resolve(self, of: RulesType, name: str) -> Any:
            value = getattr(of.rules, name, None)
            return None if value is None or callable(value) else numba.typeof(value)

    @lower_getattr_generic(opened)
    def _constant(context: Any, builder: Any, of: RulesType, value: Any, name: str) -> Any:
        constant = getattr(of.rules, name)
        return context.get_constant_generic(builder, numba.typeof(constant), constant)

    for name in dir(kind):
        method = inspect.getattr_static(kind, name)
        if inspect.isfunction(method) and not name.startswith("__"):
            _open_method(opened, name, method)
    return opened


def _open_method(opened: type[RulesType], name: str, method: Any) -> None:
    def choose(*arguments: Any) -> Any:
        return method

    expect_number(method, getattr(BaseRules, name, method))
    choose.__name__ = choose.__qualname__ = name
    choose.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    overload_method(opened, name, jit_options=_INNER, strict=False)(choose)


def callback_code(function: Any, rules: BaseRules, dispatchers: Iterable[Any] = ()) -> MachineCode:
    """``function(rules, address)``, which gives a status, compiled for these rules.

    Args:
        function: the function.
        rules: the rules.
        dispatchers: see ``lowering.begin``.
    """
    begin(dispatchers)
    of: Any = type(rules)
    kind = _rules_type_class(of, RecordReference.epoch)(rules, next(_numbers))
    inner = function_type(function).dispatcher

    @intrinsic
    def value(typing_context: Any) -> Any:
        return kind(), lambda context, builder, signature, arguments: context.get_dummy_value()

    def entry(address: int, number: int) -> int:
        return inner(value(), address)

    return compiled_entry(entry)


_numbers = iter(range(1_000_000))


def _stands_for(function: Any) -> Any:
    """Make an intrinsic what a function of the interpreter is in compiled code.

    It takes the function's place itself: without reference counts no function returns an array.
    """

    def register(definition: Any) -> Any:
        template = make_intrinsic_template(function, definition, definition.__name__)
        infer(template)
        infer_global(function, types.Function(template))
        return template

    return register


@_stands_for(memory.array_at)
def _array_at(typing_context: Any, address: Any, length: Any, kind: Any) -> Any:
    array = types.Array(kind.dtype, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _array(context, builder, array, arguments[0], arguments[1:2])

    return array(types.int64, types.int64, kind), codegen


@_stands_for(memory.table_at)
def _table_at(typing_context: Any, address: Any, rows: Any, columns: Any, kind: Any) -> Any:
    array = types.Array(kind.dtype, 2, "C")

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _array(context, builder, array, arguments[0], arguments[1:3])

    return array(types.int64, types.int64, types.int64, kind), codegen


@_stands_for(memory.states_at)
def _states_at(typing_context: Any, rules: Any, address: Any) -> Any:
    record = numpy_support.from_dtype(rules.rules.record)
    array = types.Array(record, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        length = context.get_constant(types.intp, memory.RECORDS)
        return _array(context, builder, array, arguments[1], [length])

    return array(rules, types.int64), codegen


@_stands_for(memory.in_memory)
def _in_memory(typing_context: Any, buffers: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kept = cgutils.alloca_once_value(builder, arguments[0])
        return builder.bitcast(kept, cgutils.voidptr_t)

    return TupleReference(buffers)(buffers), codegen


def _array(context: Any, builder: Any, kind: Any, address: Any, lengths: Any) -> Any:
    """An array of the memory at an address, which nobody counts references to."""
    itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides: list[Any] = []
    step = context.get_constant(types.intp, itemsize)
    for length in reversed(lengths):
        strides.insert(0, step)
        step = builder.mul(step, length)
    data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
    count = functools.reduce(builder.mul, lengths)
    size = context.get_constant(types.intp, itemsize)
    made = context.get_constant_null(kind)  # Without an owner.
    for place, part in enumerate((count, size, data)):
        made = builder.insert_value(made, part, place + 2)
    for place, parts in enumerate((lengths, strides)):
        made = builder.insert_value(made, cgutils.pack_array(builder, parts), place + 5)
    return made


@_stands_for(memory.copy_state)
def _copy_state(typing_context: Any, states: Any, source: Any, target: Any) -> Any:
    record = states.dtype

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = make_array(states)(context, builder, arguments[0])
        data = builder.ptrtoint(made.data, cgutils.intp_t)
        size = context.get_constant(types.intp, record.size)
        places = [
            builder.inttoptr(builder.add(data, builder.mul(place, size)), cgutils.voidptr_t)
            for place in arguments[1:]
        ]
        cgutils.raw_memcpy(builder, places[1], places[0], size, 1, align=8 if record.aligned else 1)
        return context.get_dummy_value()

    return types.void(states, types.int64, types.int64), codegen


@_stands_for(memory.count_bits)
def _count_bits(typing_context: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), codegen


@_stands_for(memory.lowest_bit)
def _lowest_bit(typing_context: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.int64(types.uint64), codegen


def _choose_by_rules(function: Any, way_of: Any) -> None:
    """Compile, in a function's place, the way that it chooses by the rules."""

    def choose(rules: Any, *arguments: Any) -> Any:
        return way_of(rules.rules)

    overload(function, jit_options=_INNER, strict=False)(choose)


_choose_by_rules(playouts.play_on, playouts.way_of_playouts)
_choose_by_rules(playouts.play_moves, playouts.way_of_moves)
_choose_by_rules(playouts.take_place, playouts.way_of_drawing)
