"""The names of all fields of a configuration and its parts, and their owners."""

import functools
from collections.abc import Collection
from typing import Any

from rave_agents.compiler.part_fields import Takes, part_name
from rave_agents.config.part_specs import fields_of, kinds_of, notes_of, plain_type
from rave_agents.game.arguments import synonym_advice, unknown_argument

ALL_FIELDS = "help(rave_agents.SearchConfig)"
"""The place that lists all fields, for messages."""


@functools.cache
def field_types(config: Any) -> dict[str, Any]:
    """The plain types of a configuration class's own fields, by name."""
    return {name: plain_type(annotation) for name, annotation in fields_of(config).items()}


def unknown_field(
    config: Any, what: str, name: str, known: Collection[str], see: str = ALL_FIELDS
) -> str:
    """The message for an unknown name; it names the part that has this field, if any.

    Args:
        config: the configuration's class.
        what: a description for messages, such as ``"parameter of rave"``.
        name: the name.
        known: the names that are allowed.
        see: the place that lists them.
    """
    elsewhere = _owners(config).get(name)
    if elsewhere is None or name in known or synonym_advice(name, known) is not None:
        return unknown_argument(what, name, known, see)
    field, kind = elsewhere
    part = part_name(kind)
    return (
        f"Unknown {what} {name!r}: it belongs to the part {part}. Give that, as in "
        f"{field}={part}({name}=...)."
    )


def _owners(config: Any) -> dict[str, tuple[str, type]]:
    """The field that takes each part's fields, and the part's class."""
    owners: dict[str, tuple[str, type]] = {}
    for kind, field in part_classes(config).items():
        for name in fields_of(kind):
            # The first owner wins: the walk is breadth-first, so it is the least nested part.
            owners.setdefault(name, (field, kind))
    return owners


def part_classes(config: Any) -> dict[type, str]:
    """The classes of all registered parts, and the first field that takes each."""
    # Parts registered by users come and go, so this is not cached, unlike ``field_types``.
    found: dict[type, str] = {}
    waiting: list[type] = [config]
    while waiting:
        for field, annotation in fields_of(waiting.pop(0)).items():
            for note in notes_of(annotation):
                if isinstance(note, Takes):
                    for kind in kinds_of(note).values():
                        if kind not in found:
                            found[kind] = field
                            waiting.append(kind)
    return found
