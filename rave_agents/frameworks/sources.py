"""User objects with their origin, so that worker processes can load them."""

import types
from collections.abc import Mapping
from typing import Any, NamedTuple

import cloudpickle

from rave_agents.config.specs import parse_call, split_call
from rave_agents.errors import UnknownNameError
from rave_agents.game.object_names import (
    ObjectName,
    find_object,
    module_of,
    parse_object_name,
    split_place,
)


class Source(NamedTuple):
    """The origin of a user's object, in a form that can be sent to other processes."""

    value: Any
    """A class, a function or an object."""
    parameters: Mapping[str, Any] = types.MappingProxyType({})
    """Parameters for the class or the function."""
    place: ObjectName | None = None
    """The place of ``value``; None if the object itself is sent."""

    def __reduce__(self) -> Any:
        # A place is enough on this machine, and gives the class that the worker itself imports.
        value = None if self._is_found_there() else self.value
        return _source, (value, dict(self.parameters), self.place)

    def _is_found_there(self) -> bool:
        """True unless user modules are pickled by value now, as for other machines."""
        module = module_of(self.value) or type(self.value).__module__
        return self.place is not None and module not in cloudpickle.list_registry_pickle_by_value()


def _source(value: Any, parameters: dict[str, Any], place: ObjectName | None) -> Source:
    if value is None and place is not None:
        value = find_object(place)
    return Source(value, parameters, place)


def find_source(text: str, what: str, example: str) -> Source:
    """Find what ``module:Name(key=value,...)`` or ``path/to/file.py:Name(...)`` names.

    Args:
        text: the name.
        what: its kind, for messages: ``game`` or ``agent``.
        example: a correct name, for messages.

    Raises:
        UnknownNameError: for a text of another form, or a module, a file or a name that does not
            exist; the message offers the nearest.
    """
    place, call = split_place(text) or ("", text)
    try:
        name, inside = split_call(call, what)
        parameters = {} if inside is None else parse_call(f"{what}({inside})")[1]
    except ValueError as error:
        raise UnknownNameError(f"{text!r} is no {what}'s name: {error}") from error
    located = parse_object_name(f"{place}:{name}", example)
    return Source(find_object(located), parameters, located.absolute())
