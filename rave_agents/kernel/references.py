"""What compiled code makes of a record: a reference, and pointers in the place of its arrays.

A NamedTuple is passed field by field, an array of one dimension in seven words: a search has some
five hundred. So the entry lays its record out in memory once, and passes its address. Once all is
inlined, LLVM sees every field again and keeps it in a register.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    overload,
    register_model,
)

from rave_agents.kernel.pointers import with_pointers

_types: Any = types


class RecordReference(types.Type):
    """The address of a record whose arrays have become pointers."""

    numbers: dict[Any, int] = {}  # noqa: RUF012  (one register for all)

    def __init__(self, record: Any) -> None:
        self.record = record
        self.instance_class = record.instance_class
        # A name of its own for each, and a short one: it is a part of every function's.
        number = self.numbers.setdefault(record, len(self.numbers))
        super().__init__(f"{self.instance_class.__name__}{number}")

    @property
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
            _layout(manager, field)
            if isinstance(field, RecordReference)
            else manager.lookup(field).get_data_type()
            for field in kind.fields
        ]
    )


@infer_getattr
class _ReferenceAttributes(AttributeTemplate):  # type: ignore[misc]
    key = RecordReference

    def generic_resolve(self, kind: RecordReference, name: str) -> Any:
        names = kind.instance_class._fields
        return kind.fields[names.index(name)] if name in names else None


@lower_getattr_generic(RecordReference)
def _get_field(context: Any, builder: Any, kind: RecordReference, value: Any, name: str) -> Any:
    index = kind.instance_class._fields.index(name)
    address = cgutils.gep_inbounds(builder, value, 0, index)
    field = kind.fields[index]
    if isinstance(field, RecordReference):
        return address
    return context.data_model_manager[field].from_data(builder, builder.load(address))


def _store(context: Any, builder: Any, record: Any, value: Any, address: Any) -> None:
    for index, field in enumerate(record.types):
        item = builder.extract_value(value, index)
        place = cgutils.gep_inbounds(builder, address, 0, index)
        if isinstance(field, _types.BaseNamedTuple):
            _store(context, builder, field, item, place)
            continue
        if isinstance(field, _types.Array):
            item = context.make_array(field)(context, builder, item).data
        model = context.data_model_manager[_stored_type(field)]
        builder.store(model.as_data(builder, item), place)


@intrinsic
def _with_pointers(typing_context: Any, record: Any) -> Any:
    kind = RecordReference(record)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        layout = _layout(context.data_model_manager, kind)
        address = cgutils.alloca_once(builder, layout)
        _store(context, builder, record, arguments[0], address)
        return address

    return kind(record), codegen


@overload(with_pointers, strict=False, inline="always")  # What it lays out has to outlive it.
def _with_pointers_compiled(record: Any) -> Any:
    return lambda record: _with_pointers(record)  # noqa: PLW0108
