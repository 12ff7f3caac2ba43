"""Parts of the user's own: a NamedTuple of numbers whose class implements open functions."""

from collections.abc import Iterable
from typing import Any, get_type_hints

from rave_agents.given import is_integer, is_number
from rave_agents.kernel.dispatch import RENAMED, OpenFunction
from rave_agents.kernel.rules import Greedy, exploration, score
from rave_agents.kernel.runtime import RUNS_AS
from rave_agents.kernel.schedules import beta, blend

_KINDS: dict[str, tuple[OpenFunction[Any, Any], ...]] = {
    "selection": (score, exploration),
    "rave_schedule": (beta, blend),
}
"""The fields that take a part, and the open functions of which the part implements one."""


def is_part(value: object) -> bool:
    """Whether a value is a part of a search, and no name of one."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def checked_part(field: str, value: Any) -> Any:
    """The part with its numbers as its annotations say, refused if it is none.

    Args:
        field: the name of the argument, for messages.
        value: what was given.

    Raises:
        TypeError: if it is no part, none of this kind, or a number of it has the wrong type.
    """
    if not is_part(value):
        raise TypeError(
            f"{field} takes a name or a part of your own, which is an instance of a NamedTuple "
            f"class whose functions are registered with rave_agents.kernel.dispatch.implements: "
            f"got {value!r}."
        )
    kind, opened = type(value), _KINDS[field]
    if not _implements_one(kind, opened):
        names = " or ".join(f.__name__ for f in opened)
        raise TypeError(
            f"{field}: nothing is registered for {kind.__name__}. Write a function under "
            f"@implements({opened[0].__name__}, {kind.__name__}); {field} takes parts that "
            f"implement {names}."
        )
    hints = get_type_hints(type(value))
    numbers = {}
    for name, item in value._asdict().items():
        wanted = hints.get(name)
        if wanted is float and is_number(item):
            numbers[name] = float(item)
        elif wanted is int and is_integer(item):
            numbers[name] = int(item)
        elif wanted in (float, int):
            what = "a number" if wanted is float else "an integer"
            raise TypeError(f"{field}: {type(value).__name__}.{name} must be {what}, got {item!r}.")
        elif not isinstance(item, bool) and not is_part(item):
            raise TypeError(
                f"{field}: {type(value).__name__}.{name} must be a number, True, False or a part, "
                f"got {item!r}; annotate numbers as float or int."
            )
    return value._replace(**numbers)


def check_registered(field: str, value: Any) -> None:
    """Refuse a part whose class implements nothing: it would silently do nothing.

    Raises:
        ValueError: if so. In another process this says that the module which registers its
            functions has not been imported there.
    """
    kind = type(value)
    if not _implements_one(kind, OpenFunction.everyone):
        raise ValueError(
            f"{field}: no function is registered for {kind.__name__} in this process: register "
            "what it does with rave_agents.kernel.dispatch.implements, in a module that other "
            "processes can import if they are to use it."
        )


def _implements_one(kind: type, opened: Iterable[OpenFunction[Any, Any]]) -> bool:
    """Whether a class, or what it runs as, implements one of these; Greedy has nothing to do."""
    classes = (kind, RUNS_AS.get(kind))
    return kind is Greedy or any(c in f.implementations for f in opened for c in classes)


def own_parts(parts: Any) -> tuple[str, ...]:
    """The names of those classes of parts, nested ones included, that are not this package's."""
    if not is_part(parts):
        return ()
    kind = type(parts)
    shipped = kind.__module__.startswith("rave_agents.") and kind not in RENAMED
    own = () if shipped else (kind.__name__,)
    return own + tuple(name for field in parts for name in own_parts(field))
