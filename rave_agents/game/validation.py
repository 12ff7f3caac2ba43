"""Argument checks: one validator reads the annotations.

A function declares ``games: Annotated[int, Ge(1), Le(100)]`` or ``mode: Literal["fast", "exact"] |
None``; ``@validated`` checks its arguments, ``check_fields`` a dataclass. Numbers,
booleans, names, classes and unions of these are checked. Other annotations, such as protocols and
containers, are for type checkers only.
"""

import dataclasses
import difflib
import enum
import functools
import inspect
import math
import operator
import os
import sys
import types
from collections.abc import Callable, Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from rave_agents.errors import UnknownNameError
from rave_agents.game.arguments import check_arguments, refuse_positional
from rave_agents.game.plain_text import printable, shortened

_P = ParamSpec("_P")
_R = TypeVar("_R")

Count = Annotated[int, Ge(1)]
"""An integer of at least 1."""

Natural = Annotated[int, Ge(0)]
"""An integer of at least 0."""

Positive = Annotated[float, Gt(0)]
"""A finite number above 0."""

NonNegative = Annotated[float, Ge(0)]
"""A finite number of at least 0."""

Seed = Natural | None
"""A seed of random numbers; None for a seed that the system draws."""

NOTHING = "None"
"""How messages name None, which comes last."""

LONGEST_VALUE = 200
"""Characters of a value up to which a message shows all of it."""


_NAMED: dict[Any, str] = {
    str: "a text",
    Mapping: "a dictionary",
    Callable: "a function",
    os.PathLike: "a path",
}
"""Types with a name of their own in messages."""


class Option(NamedTuple):
    """One kind of value that an argument may have."""

    allowed: tuple[str, ...]
    """Alternatives for messages, such as ``an integer from 1 to 10``, or several names."""
    convert: Callable[[Any], Any]
    """Returns the value in its exact type; raises TypeError if it has another type, and ValueError
    if it is out of bounds."""
    names: tuple[str, ...] = ()
    """The names, where it is one of several."""


def checked(label: str, annotation: Any, value: Any, error: type[Exception] | None = None) -> Any:
    """Return a value in the exact type that its annotation names.

    Args:
        label: the argument, for messages.
        annotation: a type, with bounds in ``Annotated``; or a union of these.
        value: the value given. Integers and numbers of other libraries are taken, too.
        error: the exception to raise, in place of those below.

    Raises:
        UnknownNameError: (a ValueError) if it is none of the names allowed.
        TypeError: if it has the wrong type. A bool is neither an integer nor a number.
        ValueError: if it is out of bounds.
    """
    options = options_of(annotation)
    if options is None:
        return value
    wrong: type[Exception] = (
        UnknownNameError if all(option.names for option in options) else TypeError
    )
    # Of several errors the last that has the right type counts: it names the real mistake.
    for option in options:
        try:
            return option.convert(value)
        except TypeError:
            continue
        except ValueError:
            wrong = UnknownNameError if option.names else ValueError
    allowed = _join_alternatives([each for option in options for each in option.allowed])
    names = [name for option in options for name in option.names]
    near = difflib.get_close_matches(str(value).lower(), names, n=3, cutoff=0.5)
    advice = f" Did you mean {_join_alternatives([repr(name) for name in near])}?" if near else ""
    given = shortened(printable(repr(value)), LONGEST_VALUE)
    raise (error or wrong)(f"{label} must be {allowed}, got {given}.{advice}")


def validated(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Check the arguments of a function or a constructor by their annotations, see ``checked``.

    For an unknown name the error suggests the nearest. Defaults are not checked. A call costs some
    microseconds more: use it for public functions, not in a search's loop.
    """
    parameters = inspect.signature(function).parameters
    kinds = {each.kind for each in parameters.values()}
    known = [
        name
        for name, each in parameters.items()
        if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    by_place = [name for name, each in parameters.items() if each.kind is not each.KEYWORD_ONLY]
    by_name = [name for name in known if name not in by_place]
    refuses_places = bool(by_name) and inspect.Parameter.VAR_POSITIONAL not in kinds
    own = by_place[:1] == ["self"]  # Messages leave it out.
    called = function.__qualname__.removesuffix(".__init__")
    annotations = {
        name: each.annotation
        for name, each in parameters.items()
        if name in known and options_of(each.annotation) is not None
    }

    @functools.wraps(function)
    def checked_call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            check_arguments(f"argument of {called}", kwargs, known)
        if refuses_places:
            refuse_positional(called, args[own:], by_place[own:], by_name)
        given = list(args)
        for index, name in enumerate(by_place[: len(args)]):
            if name in annotations:
                given[index] = checked(name, annotations[name], given[index])
        for name, value in kwargs.items():
            if name in annotations and value is not parameters[name].default:
                kwargs[name] = checked(name, annotations[name], value)
        return function(*given, **kwargs)  # type: ignore[arg-type]

    return checked_call


def check_fields(record: Any) -> None:
    """Check the fields of a dataclass by their annotations, for its ``__post_init__``.

    The fields then have the exact types of their annotations, also in a frozen dataclass.
    """
    kind: Any = type(record)
    for name, annotation in _field_annotations(kind).items():
        object.__setattr__(record, name, checked(name, annotation, getattr(record, name)))


@functools.cache
def _field_annotations(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


# Cached by equality: ``Literal[1]`` and ``Literal[True]`` differ, as typing compares types too.
@functools.lru_cache(1024)
def options_of(annotation: Any) -> tuple[Option, ...] | None:
    """The kinds of values that an annotation allows; None if it cannot be checked."""
    if isinstance(annotation, str):
        raise TypeError(f"The annotation {annotation!r} is text, which checks nothing.")
    if get_origin(annotation) in (Union, types.UnionType):
        found: list[Option] = []
        for member in get_args(annotation):
            options = options_of(member)
            if options is None:
                return None
            found += options
        # None comes last in messages, as in ``1, 2 or None``.
        return tuple(sorted(found, key=lambda option: option.allowed == (NOTHING,)))
    notes: tuple[Any, ...] = ()
    if get_origin(annotation) is Annotated:
        annotation, *rest = get_args(annotation)
        notes = tuple(rest)
    option: Option | None = None
    if get_origin(annotation) is Literal:
        option = _names(get_args(annotation))
    elif annotation is None or annotation is type(None):
        option = Option((NOTHING,), _none)
    elif annotation is bool:
        option = Option(("True", "False"), _truth)
    elif annotation in (int, float):
        option = _number(annotation, notes)
    elif get_origin(annotation) is type:
        option = _class_of(get_args(annotation)[0])
    elif isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        option = _member(annotation)
    elif _is_checkable(annotation):
        kind = get_origin(annotation) or annotation
        option = Option((_describe_type(kind),), functools.partial(_instance, kind))
    return None if option is None else (option,)


def _is_checkable(annotation: Any) -> bool:
    """True if isinstance can check an annotation."""
    if get_origin(annotation) is not None:
        return get_origin(annotation) in _NAMED
    if not isinstance(annotation, type) or annotation in (Any, object, inspect.Parameter.empty):
        return False
    return not is_typeddict(annotation) and not getattr(annotation, "_is_protocol", False)


def _none(value: Any) -> None:
    if value is not None:
        raise TypeError


def _truth(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError
    return bool(value)


def _instance(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _describe_type(kind: type) -> str:
    top, name = kind.__module__.partition(".")[0], kind.__name__
    if top != "builtins" and getattr(sys.modules.get(top), name, None) is kind:
        name = f"{top}.{name}"  # As users import it.
    return _NAMED.get(kind, f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}")


def _names(values: tuple[Any, ...]) -> Option:
    def convert(value: Any) -> Any:
        if type(value) not in {type(each) for each in values}:  # True is no 1.
            raise TypeError
        if value not in values:
            raise ValueError
        return value

    return Option(tuple(map(repr, values)), convert, tuple(str(value) for value in values))


def _member(kind: type[enum.Enum]) -> Option:
    names = tuple(str(each.value) for each in kind)

    def convert(value: Any) -> Any:
        if not isinstance(value, str | kind):
            raise TypeError
        return kind(value)

    return Option(tuple(map(repr, names)), convert, names)


def _class_of(kind: type) -> Option:
    def convert(value: Any) -> Any:
        if not (isinstance(value, type) and issubclass(value, kind)):
            raise TypeError
        return value

    return Option((f"a class of {_describe_type(kind).partition(' ')[2]}",), convert)


def _number(kind: type, notes: tuple[Any, ...]) -> Option:
    low, high, above, below = _bounds(notes)

    def convert(value: Any) -> Any:
        # bool is a subclass of int, and float() parses texts: both would pass unnoticed.
        if isinstance(value, bool | np.bool_ | str):
            raise TypeError
        try:
            number = operator.index(value) if kind is int else float(value)
        except OverflowError:  # An integer that is too large for a float.
            raise ValueError from None
        except (TypeError, ValueError):
            raise TypeError from None
        # Comparisons with NaN are False.
        fits = low < number if above else low <= number
        if not fits or not (number < high if below else number <= high):
            raise ValueError
        return number

    return Option((_describe_number(kind, low, high, above=above, below=below),), convert)


def _bounds(notes: tuple[Any, ...]) -> tuple[float, float, bool, bool]:
    """The bounds, and whether each is exclusive; infinity is, unless stated."""
    low, high, above, below = -math.inf, math.inf, True, True
    for note in notes:
        if isinstance(note, Gt):
            low, above = note.gt, True  # type: ignore[assignment]
        elif isinstance(note, Ge):
            low, above = note.ge, False  # type: ignore[assignment]
        elif isinstance(note, Lt):
            high, below = note.lt, True  # type: ignore[assignment]
        elif isinstance(note, Le):
            high, below = note.le, False  # type: ignore[assignment]
    return low, high, above, below


def _describe_number(kind: type, low: float, high: float, *, above: bool, below: bool) -> str:
    noun = "an integer" if kind is int else "a number"
    if low == -math.inf and high == math.inf:
        return noun if kind is int or not below else "a finite number"
    limits = [_limit(limit) for limit in (low, high) if math.isfinite(limit)]
    if high < math.inf:
        if kind is int:
            return f"{noun} from {limits[0]} to {limits[1]}"
        return f"{noun} in {'(' if above else '['}{limits[0]}, {limits[1]}{')' if below else ']'}"
    if kind is int:
        return f"{noun} of at least {limits[0]}"
    noun = "a finite number" if below else noun
    described = f"{noun} {'above' if above else 'of at least'} {limits[0]}"
    return described if below else f"{described}, or infinity"


def _limit(limit: float) -> str:
    return f"{limit:,.0f}" if limit == round(limit) else f"{limit:g}"


def _join_alternatives(words: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
