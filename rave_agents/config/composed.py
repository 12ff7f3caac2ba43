"""A record composed of parts; fields are set by name, at any depth."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from rave_agents.compiler.dispatch import records_of
from rave_agents.config.field_names import ALL_FIELDS, field_types, unknown_field
from rave_agents.config.part_specs import (
    Part,
    fields_of,
    identity,
    is_part,
    places_in,
    plain,
    plain_type,
    with_field,
)
from rave_agents.game.arguments import check_arguments


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Composed:
    """Named fields; some take parts, which may hold further parts.

    A subclass is a frozen dataclass; its annotations say what each field takes.
    """

    # A static checker sees the fields themselves; at run time ``__new__`` runs before the
    # dataclass's ``__init__``, whose own error would not suggest the nearest name.
    if not TYPE_CHECKING:

        def __new__(cls, **fields: Any) -> Self:
            """Refuse unknown fields, and suggest the nearest."""
            for name in fields:
                if name not in cls.field_names():
                    raise TypeError(
                        unknown_field(cls, f"{cls.__name__} field", name, cls.field_names())
                    )
            return super().__new__(cls)

    # Parts are NamedTuples, which compare equal across classes: equality must look at the class.
    def __eq__(self, other: object) -> bool:
        """True if the other has the same parts, of the same classes, and the same numbers."""
        return isinstance(other, Composed) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        return tuple(identity(vars(self)[name]) for name in self.field_names())

    @functools.cached_property
    def parts(self) -> tuple[Part, ...]:
        """All parts, those in other parts included."""
        return tuple(part for name in self.field_names() for part in records_of(vars(self)[name]))

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, its own or those of its parts.

        A field of a part is given by its name, ``schedule="hand_selected"`` or ``c=0.7``, or by its
        place, ``**{"schedule.bias": 0.05}``, which is needed where two parts of different classes
        have a field of this name.

        Raises:
            UnknownNameError: (a ValueError) for the name of a part that does not exist.
            ValueError: if a value is not allowed.
            TypeError: if a field does not exist or a value has the wrong type.
        """
        changed = self._with_parts(changes)
        for name, value in changes.items():
            if name in self.field_names():
                continue
            if not changed._places(name):
                raise TypeError(changed._unknown(f"{type(self).__name__} field", name))
            # ``_with_parts`` has set the parts, which are specs or tuples.
            if not isinstance(value, str | tuple):
                changed = changed._with_inner(name, value)
        return changed

    def _with_parts(self, changes: Mapping[str, Any]) -> Self:
        own = {name: value for name, value in changes.items() if name in self.field_names()}
        changed = self._with_own(own)
        # Parts first: they bring the fields that the other names belong to.
        for name, value in changes.items():
            if name not in own and isinstance(value, str | tuple) and changed._places(name):
                changed = changed._with_inner(name, value)
        return changed

    def _with_own(self, changes: Mapping[str, Any]) -> Self:
        return dataclasses.replace(self, **changes) if changes else self

    def _with_inner(self, name: str, value: Any) -> Self:
        places = self._places(name)
        # Equal classes share the change, as ``c`` of both rules; others need their place.
        if len(set(places.values())) > 1:
            where = " or ".join(".".join(path) for path in places)
            raise ValueError(f"Several parts have a field {name!r}: say {where}.")
        changed = self
        for field, *inner in places:
            part = with_field(vars(changed)[field], tuple(inner), value, name)
            changed = dataclasses.replace(changed, **{field: part})
        return changed

    def _places(self, name: str) -> dict[tuple[str, ...], type]:
        """The paths of fields in use with this name or end of a path, and their owners."""
        words = tuple(name.split("."))
        # A suffix is enough: ``schedule.bias`` means ``amaf.schedule.bias``.
        return {path: owner for path, owner in self.inner_fields() if path[-len(words) :] == words}

    def inner_fields(self) -> list[tuple[tuple[str, ...], type]]:
        """The fields of all parts in use: the path to each, and the class of its owner."""
        parts = {name: vars(self)[name] for name in self.field_names()}
        return [
            place
            for name, part in parts.items()
            if is_part(part)
            for place in places_in(part, (name,))
        ]

    def check_changes(
        self,
        what: str,
        changes: Mapping[str, Any],
        others: tuple[str, ...] = (),
        error: type[Exception] = TypeError,
        see: str = "",
    ) -> None:
        """Refuse changes that ``replace`` does not know, with the nearest names.

        Args:
            what: a description for messages, such as ``"parameter of rave"``.
            changes: by name.
            others: other allowed names.
            error: what to raise.
            see: where all names are listed, for the message.

        Raises:
            error: for such a name.
        """
        known = (*others, *self.field_names())
        # Ask the changed record: a new part may own the fields named next to it.
        changed = self._with_parts(changes)
        for name in changes:
            if name not in known and not changed._places(name):
                raise error(changed._unknown(what, name, others, see))

    def takes(self, name: str, changes: Mapping[str, Any]) -> bool:
        """True if ``replace`` takes a name next to these changes: a field, or one of a part."""
        if name in self.field_names():
            return True
        return bool(self._with_parts(changes)._places(name))

    def _unknown(
        self, what: str, name: str, others: tuple[str, ...] = (), see: str = ALL_FIELDS
    ) -> str:
        """The message for an unknown field, of this record or its parts."""
        inner = {path[-1] for path, _ in self.inner_fields()}
        known = {*others, *self.field_names(), *inner}
        return unknown_field(type(self), what, name, known, see)

    @classmethod
    @functools.cache
    def field_names(cls) -> tuple[str, ...]:
        """The names of all fields."""
        return tuple(field.name for field in dataclasses.fields(cls))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and booleans, which ``from_dict`` takes back; parts as specs.

        A part of your own needs a module that can be imported to be taken back elsewhere.
        """
        return {name: plain(vars(self)[name]) for name in self.field_names()}

    def changes_from(self, other: "Composed") -> dict[str, Any]:
        """The fields that differ from another configuration's, as ``to_dict`` writes them."""
        return {
            name: value
            for name, value in self.to_dict().items()
            if identity(vars(self)[name]) != identity(vars(other)[name])
        }

    def parts_in_use(self) -> dict[str, Any]:
        """The fields of all parts by their places, such as ``amaf.schedule.bias``, as specs."""
        found: dict[str, Any] = {}
        for path, _ in self.inner_fields():
            found[".".join(path)] = plain(functools.reduce(getattr, path, self))
        return found

    def parameters(self) -> dict[str, tuple[Any, Any]]:
        """The names that ``replace`` takes without a place: value as a spec, and type.

        Names that parts of different classes share are left out: they need their places.
        """
        config: Any = type(self)
        found = {
            name: (plain(vars(self)[name]), kind) for name, kind in field_types(config).items()
        }
        for path, owner in self.inner_fields():
            name = path[-1]
            if name not in found and len(set(self._places(name).values())) == 1:
                value = plain(functools.reduce(getattr, path, self))
                found[name] = value, plain_type(fields_of(owner)[name])
        return found

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The configuration that ``to_dict`` wrote; missing fields keep their defaults.

        Raises:
            ValueError: if a value is not allowed.
            TypeError: if a field does not exist or a value has the wrong type.
        """
        check_arguments(f"{cls.__name__} field", values, cls.field_names())
        return cls(**values)
