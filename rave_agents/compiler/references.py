"""Representation of a record in compiled code: a reference, and pointers to its arrays.

A NamedTuple is passed field by field, an array of one dimension in seven words: a search has some
five hundred. So an entry gets the address of a record that is laid out in memory, see
``layout.py``, and passes it on. Once all is inlined, LLVM sees every field again.
"""

import functools
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
)

from rave_agents.game.arguments import unknown_name

_types: Any = types

_WORD = ir.IntType(64)


class RecordReference(types.Type):
    """The address of a record whose arrays have become pointers."""

    epoch: Any = None
    """The compilation that code is lowered for now, see ``lowering.begin``."""
    numbers: dict[Any, int] = {}  # noqa: RUF012  (one register for all)

    def __init__(self, record: Any) -> None:
        self.record = record
        self.instance_class: Any = record.instance_class
        # A name of its own for each, and a short one: it is a part of every function's.
        key = self.epoch, record
        number = self.numbers.setdefault(key, len(self.numbers))
        super().__init__(f"{self.instance_class.__name__}{number}")

    @functools.cached_property
    def fields(self) -> list[Any]:
        """The types of the fields as they lie in memory."""
        return [_stored_type(field) for field in self.record.types]


def _stored_type(field: Any) -> Any:
    if isinstance(field, _types.Array):
        return _types.CPointer(field.dtype)
    if isinstance(field, _types.BaseNamedTuple):
        return RecordReference(field)
    return field


@register_model(RecordReference)
class _ReferenceModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: RecordReference) -> None:
        super().__init__(manager, kind, _layout(manager, kind).as_pointer())


def _layout(manager: Any, kind: RecordReference) -> Any:
    """The record as a structure in memory, records in it included."""
    return ir.LiteralStructType(
        [
            _layout(manager, field) if isinstance(field, RecordReference) else _word(manager, field)
            for field in kind.fields
        ]
    )


def _word(manager: Any, field: Any) -> Any:
    """The word that a field that is no record takes in memory."""
    return _WORD if field == types.boolean else manager.lookup(field).get_data_type()


@infer_getattr
class _ReferenceAttributes(AttributeTemplate):  # type: ignore[misc]
    key = RecordReference

    def generic_resolve(self, kind: RecordReference, name: str) -> Any:
        names = kind.instance_class._fields
        if name not in names:
            raise TypingError(unknown_name(f"field of {kind.instance_class.__name__}", name, names))
        return kind.fields[names.index(name)]


@lower_getattr_generic(RecordReference)
def _get_field(context: Any, builder: Any, kind: RecordReference, value: Any, name: str) -> Any:
    index = kind.instance_class._fields.index(name)
    address = cgutils.gep_inbounds(builder, value, 0, index)
    field = kind.fields[index]
    if isinstance(field, RecordReference):
        return address
    stored = builder.load(address)
    if field == types.boolean:
        return builder.icmp_unsigned("!=", stored, _WORD(0))
    return context.data_model_manager[field].from_data(builder, stored)


def copy_of(kind: RecordReference) -> Any:
    """A function that copies the record at an address to the stack of its caller.

    LLVM knows that nothing else changes it there, and keeps its fields in registers.
    """

    @intrinsic
    def record_at(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            layout = _layout(context.data_model_manager, kind)
            given = builder.inttoptr(arguments[0], layout.as_pointer())
            copied = cgutils.alloca_once(builder, layout)
            _copy(builder, kind, given, copied)
            return copied

        return kind(types.int64), codegen

    return record_at


def _copy(builder: Any, kind: RecordReference, source: Any, target: Any) -> None:
    for index, field in enumerate(kind.fields):
        places = [cgutils.gep_inbounds(builder, record, 0, index) for record in (source, target)]
        if isinstance(field, RecordReference):
            _copy(builder, field, *places)
        else:
            builder.store(builder.load(places[0]), places[1])
