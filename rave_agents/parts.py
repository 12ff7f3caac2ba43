"""Parts of the user's own: a NamedTuple of numbers whose class implements open functions."""

from typing import Any, get_type_hints

from rave_agents.given import is_integer, is_number
from rave_agents.kernel.dispatch import OpenFunction


def is_part(value: object) -> bool:
    """Whether a value is a part of a search, and no name of one."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def checked_part(field: str, value: Any) -> Any:
    """The part with its numbers as its annotations say, refused if it is none.

    Args:
        field: the name of the argument, for messages.
        value: what was given.

    Raises:
        TypeError: if it is no part, or a number of it has the wrong type.
    """
    if not is_part(value):
        raise TypeError(
            f"{field} takes a name or a part of your own, which is an instance of a NamedTuple "
            f"class whose functions are registered with rave_agents.kernel.dispatch.implements: "
            f"got {value!r}."
        )
    check_registered(field, value)
    hints = get_type_hints(type(value))
    numbers = {}
    for name, item in value._asdict().items():
        kind = hints.get(name)
        if kind is float and is_number(item):
            numbers[name] = float(item)
        elif kind is int and is_integer(item):
            numbers[name] = int(item)
        elif kind in (float, int):
            what = "a number" if kind is float else "an integer"
            raise TypeError(f"{field}: {type(value).__name__}.{name} must be {what}, got {item!r}.")
    return value._replace(**numbers)


def check_registered(field: str, value: Any) -> None:
    """Refuse a part whose class implements nothing: it would silently do nothing.

    Raises:
        ValueError: if so. In another process this says that the module which registers its
            functions has not been imported there.
    """
    kind = type(value)
    if not any(kind in opened.implementations for opened in OpenFunction.everyone):
        raise ValueError(
            f"{field}: no function is registered for {kind.__name__} in this process: register "
            "what it does with rave_agents.kernel.dispatch.implements, in a module that other "
            "processes can import if they are to use it."
        )


def own_parts(parts: Any) -> tuple[str, ...]:
    """The names of those classes of parts, nested ones included, that are not this package's."""
    if not is_part(parts):
        return ()
    module = type(parts).__module__
    own = () if module.startswith("rave_agents.") else (type(parts).__name__,)
    return own + tuple(name for field in parts for name in own_parts(field))
