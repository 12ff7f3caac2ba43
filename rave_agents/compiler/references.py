"""Representation of a record in compiled code: a reference, and pointers to its arrays.

A NamedTuple is passed field by field, an array of one dimension in seven words: a search has some
five hundred. So an entry gets the address of a record that is laid out in memory, see
``layout.py``, and passes it on. Once all is inlined, LLVM sees every field again.
"""

import functools
import itertools
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

    @functools.cached_property
    def offsets(self) -> list[int]:
        """The words before each field."""
        sizes = [_words_of(field) for field in self.fields]
        return [0, *itertools.accumulate(sizes)][:-1]

    @functools.cached_property
    def words(self) -> int:
        """The words of the record: its fields, and its own address."""
        return sum(map(_words_of, self.fields)) + 1


def _words_of(field: Any) -> int:
    return field.words if isinstance(field, RecordReference) else 1


def _stored_type(field: Any) -> Any:
    if isinstance(field, _types.Array):
        return _types.CPointer(field.dtype)
    if isinstance(field, _types.BaseNamedTuple):
        return RecordReference(field)
    return field


@register_model(RecordReference)
class _ReferenceModel(models.PrimitiveModel):  # type: ignore[misc]
    """A pointer to words: what lies there would be pages of text in every function."""

    def __init__(self, manager: Any, kind: RecordReference) -> None:
        super().__init__(manager, kind, _WORD.as_pointer())


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
    field = kind.fields[index]
    address = _word_at(builder, value, kind.offsets[index])
    if isinstance(field, RecordReference):
        return address
    if field == types.boolean:
        return builder.icmp_unsigned("!=", builder.load(address), _WORD(0))
    model = context.data_model_manager[field]
    return model.from_data(builder, builder.load(_as_pointer(builder, address, model)))


def _word_at(builder: Any, record: Any, offset: int) -> Any:
    return builder.gep(record, [ir.IntType(32)(offset)], inbounds=True) if offset else record


def _as_pointer(builder: Any, address: Any, model: Any) -> Any:
    return builder.bitcast(address, model.get_data_type().as_pointer())


class TupleReference(types.Type):
    """The address of a NamedTuple on the stack: functions take one word, whatever it has."""

    def __init__(self, kept: Any) -> None:
        self.kept = kept
        number = RecordReference.numbers.setdefault(kept, len(RecordReference.numbers))
        super().__init__(f"{kept.instance_class.__name__}{number}")


@register_model(TupleReference)
class _TupleReferenceModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: TupleReference) -> None:
        super().__init__(manager, kind, ir.IntType(8).as_pointer())


@infer_getattr
class _TupleReferenceAttributes(AttributeTemplate):  # type: ignore[misc]
    key = TupleReference

    def generic_resolve(self, kind: TupleReference, name: str) -> Any:
        fields = kind.kept.instance_class._fields
        return kind.kept.types[fields.index(name)] if name in fields else None


@lower_getattr_generic(TupleReference)
def _get_kept(context: Any, builder: Any, kind: TupleReference, value: Any, name: str) -> Any:
    place = kind.kept.instance_class._fields.index(name)
    before, field = (
        context.get_value_type(each)
        for each in (_types.Tuple(kind.kept.types[:place]), kind.kept.types[place])
    )
    offset = context.get_abi_sizeof(before)
    address = builder.gep(value, [ir.IntType(32)(offset)], inbounds=True)
    return builder.load(builder.bitcast(address, field.as_pointer()))


def copy_of(kind: RecordReference) -> Any:
    """A function that copies the record at an address to the stack of its caller.

    LLVM knows that nothing else changes it there, and keeps its fields in registers.
    """

    @intrinsic
    def record_at(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            given = builder.inttoptr(arguments[0], _WORD.as_pointer())
            copied = cgutils.alloca_once(builder, ir.ArrayType(_WORD, kind.words))
            copied = builder.bitcast(copied, _WORD.as_pointer())
            _copy(context, builder, kind, given, copied)
            return copied

        return kind(types.int64), codegen

    return record_at


def _copy(context: Any, builder: Any, kind: RecordReference, source: Any, target: Any) -> None:
    for field, offset in zip(kind.fields, kind.offsets, strict=True):
        places = [_word_at(builder, record, offset) for record in (source, target)]
        if isinstance(field, RecordReference):
            _copy(context, builder, field, *places)
        else:
            if field != types.boolean:
                model = context.data_model_manager[field]
                places = [_as_pointer(builder, place, model) for place in places]
            builder.store(builder.load(places[0]), places[1])
    last = [_word_at(builder, record, kind.words - 1) for record in (source, target)]
    builder.store(builder.load(last[0]), last[1])


def in_memory(builder: Any, kind: Any, value: Any) -> Any:
    """A record where Python has laid it out, for a function that is called; else the value itself.

    If it got the copy's address, LLVM could no longer keep the fields in registers.
    """
    if not isinstance(kind, RecordReference):
        return value
    address = builder.load(_word_at(builder, value, kind.words - 1))
    return builder.inttoptr(address, _WORD.as_pointer())
