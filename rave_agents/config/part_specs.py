"""Parts of a search as their users write them: checked, named and written by their classes.

A part's class is its documentation, its validation and its spec. The class ``HandSelected`` is
``hand_selected`` in a spec, its fields are the parameters there, their annotations say what they
take, see ``compiler/part_fields.py``.
"""

import dataclasses
import functools
import inspect
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.part_fields import Takes, part_name
from rave_agents.compiler.runtime import IMPLEMENTERS_RUN_AS, RUNS_AS, implements_any
from rave_agents.config.specs import format_call, parse_call
from rave_agents.errors import FormulaError, UnknownNameError
from rave_agents.game import validation
from rave_agents.game.arguments import check_names, unknown_name
from rave_agents.game.object_names import find_object, parse_object_name, place_of, split_place

Part = Any
"""A part of a search: a NamedTuple whose class implements open functions of the kernel."""


def is_part(value: object) -> bool:
    """True if a value is a part of a search, rather than the name of one."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def part_spec(part: Part) -> str:
    """The spec of a part: its name, and the fields that differ from the class's defaults.

    Your own part is written as ``module:name``.
    """
    kind = type(part)
    defaults = kind._field_defaults
    changed = {
        name: value
        for name, value in part._asdict().items()
        if name not in defaults or identity(value) != identity(defaults[name])
    }
    of_module = is_own(kind) and kind.__module__ != "__main__"
    # No other process can import ``__main__``: a script's part is known by its bare name.
    name = f"{place_of(kind)}:{kind.__qualname__}" if of_module else part_name(kind)
    return format_call(name, {key: plain(value) for key, value in changed.items()})


def plain(value: Any) -> Any:
    """The spec of a part; other values unchanged."""
    return part_spec(value) if is_part(value) else value


def identity(value: Any) -> Any:
    """A key for comparing values; for parts it includes their classes."""
    return (type(value), *map(identity, value)) if is_part(value) else value


def kinds_of(takes: Takes) -> dict[str, type]:
    """All registered classes that a field takes, by their names in specs."""
    kinds = dict.fromkeys(takes.classes)
    inverse: dict[type, list[type]] = {}
    # A part may run as another record: functions are registered for that, users name the part.
    for kind, record in RUNS_AS.items():
        inverse.setdefault(record, []).append(kind)
    # A part that a user has registered is taken, too, if it implements one of these functions.
    for opened in takes.opened:
        for registered in opened.implementations:
            if registered not in IMPLEMENTERS_RUN_AS.values():
                kinds.update(dict.fromkeys(inverse.get(registered, [registered])))
    names: dict[str, type] = {}
    for kind in kinds:
        name = part_name(kind)
        # A user's class never hides a shipped part; of two user classes the later one wins, so
        # that a notebook cell can be run again.
        if not is_own(kind) or name not in names or is_own(names[name]):
            names[name] = kind
    return names


@functools.cache
def fields_of(kind: type) -> dict[str, Any]:
    """The annotations of a class's fields, in their order."""
    hints = get_type_hints(kind, include_extras=True)
    if dataclasses.is_dataclass(kind):
        return {field.name: hints.get(field.name) for field in dataclasses.fields(kind)}
    return {name: hints.get(name) for name in kind._fields}  # type: ignore[attr-defined]


def checked(label: str, annotation: Any, value: Any) -> Any:
    """A value in the exact type that its annotation names, such as float or a part's class.

    Args:
        label: the name of the argument, for messages.
        annotation: the field's annotation.
        value: what was given; a part may be given as its spec.

    Raises:
        UnknownNameError: (a ValueError) for the name of a part that does not exist.
        TypeError: if it has the wrong type.
        ValueError: if it is not allowed.
    """
    notes = notes_of(annotation)
    takes = next((note for note in notes if isinstance(note, Takes)), None)
    if takes is not None:
        return _checked_part(label, takes, value)
    if notes or annotation in (int, float, bool) or get_origin(annotation) is Literal:
        if isinstance(value, str) and value in ("inf", "-inf"):  # As specs write it.
            value = float(value)
        return validation.checked(label, annotation, value)
    if is_part(value):
        return type(value)(*_checked_fields(label, type(value), value._asdict()))
    # Unannotated fields of user parts: a bare number would change the record's compiled type.
    if isinstance(value, bool):
        return value
    raise TypeError(
        f"{label} must be a number, True, False or a part, got {value!r}; annotate numbers as "
        "float or int."
    )


def notes_of(annotation: Any) -> tuple[Any, ...]:
    """What ``Annotated`` says of a type; empty for a plain type."""
    notes: tuple[Any, ...] = getattr(annotation, "__metadata__", ())
    return notes


def plain_type(annotation: Any) -> Any:
    """The type that a field takes, without bounds; a part may be given as its spec."""
    notes = notes_of(annotation)
    if any(isinstance(note, Takes) for note in notes):
        return str | tuple
    return get_args(annotation)[0] if notes else annotation


def _checked_part(label: str, takes: Takes, value: Any) -> Part:
    if isinstance(value, str):
        value = _part_of_spec(label, takes, value)
    if not is_part(value):
        example = next(iter(kinds_of(takes)), "a part")
        raise TypeError(
            f"{label} takes a part of the search, or its spec such as {example!r}; a part of your "
            "own is an instance of a NamedTuple class whose functions are registered with "
            f"rave_agents.parts.implements: got {value!r}."
        )
    kind = type(value)
    if not _is_taken(takes, kind):
        raise TypeError(_not_taken(label, takes, kind))
    if kind.__module__ == "__main__" and kinds_of(takes).get(part_name(kind), kind) is not kind:
        raise ValueError(
            f"{label}: {part_name(kind)!r} is a part of this package: give {kind.__name__} another "
            "name."
        )
    part = kind(*_checked_fields(label, kind, value._asdict()))
    conflict = getattr(part, "conflict", None)
    if conflict is not None and conflict():
        raise ValueError(f"{label}: {conflict()}")
    return part


def _checked_fields(label: str, kind: type, values: dict[str, Any]) -> list[Any]:
    fields = fields_of(kind)
    return [checked(f"{label}.{name}", fields[name], item) for name, item in values.items()]


def _is_taken(takes: Takes, kind: type) -> bool:
    return kind in takes.classes or implements_any(kind, takes.opened)


def takes_part(annotation: Any, part: Part) -> bool:
    """True if a field with this annotation takes a part."""
    takes = next(note for note in get_args(annotation) if isinstance(note, Takes))
    return _is_taken(takes, type(part))


def _not_taken(label: str, takes: Takes, kind: type) -> str:
    known = ", ".join(kinds_of(takes))
    if not (takes.opened and is_own(kind)) or implements_any(kind, tuple(OpenFunction.everyone)):
        return f"{label} takes one of the parts {known}, not {part_name(kind)}."
    names = " or ".join(opened.__name__ for opened in takes.opened)
    return (
        f"{label}: nothing is registered for {kind.__name__} in this process. Write a function "
        f"under @implements({takes.opened[0].__name__}, {kind.__name__}); {label} takes parts that "
        f"implement {names}, and {known}."
    )


def _part_of_spec(label: str, takes: Takes, text: str) -> Part:
    """The part that a spec describes: ``hand_selected(k=300)``, or one of a module of your own."""
    kind: Any
    place, called = split_place(text) or ("", text)
    name, given = parse_call(called, label, example="hand_selected(k=300)")
    module, _, plain_name = name.rpartition(".")
    if place:
        name = f"{place}:{name}"
        try:
            kind = find_object(parse_object_name(name, "my_module:MyPart"))
        except UnknownNameError as error:
            raise UnknownNameError(f"{label}: {error}") from error
    elif module:
        raise UnknownNameError(
            f"{label}: a part of your own is written with a colon, {module}:{plain_name}, got "
            f"{text!r}."
        )
    else:
        kinds = kinds_of(takes)
        if name not in kinds:
            raise UnknownNameError(unknown_name(label, name, kinds))
        kind = kinds[name]
    is_class = inspect.isclass(kind)
    if not (is_class and hasattr(kind, "_fields")):
        raise TypeError(
            f"{label}: {name!r} is not a part of a search: a part is a NamedTuple class."
        )
    check_names(f"parameter of {name}", given, kind._fields, UnknownNameError)
    missing = [key for key in kind._fields if key not in {**kind._field_defaults, **given}]
    if missing:
        raise TypeError(f"{label}: {name} needs {missing[0]}, such as {name}({missing[0]}=1).")
    return kind(**given)


def is_own(kind: type) -> bool:
    """True if a class is the user's own rather than this package's."""
    return not kind.__module__.startswith("rave_agents.")


def call_part(opened: OpenFunction[Any, Any], part: Part, *arguments: Any) -> Any:
    """Call an open function that Python runs.

    Raises:
        FormulaError: if a user's part raises.
    """
    try:
        return opened.implementations.get(type(part), opened.default)(part, *arguments)
    except Exception as error:
        if not is_own(type(part)):
            raise
        raise part_raised(part, opened, error) from error


def part_raised(part: Part, opened: OpenFunction[Any, Any], error: Exception) -> FormulaError:
    """The error for a user's part whose open function raised."""
    message = f"{type(part).__name__}: {opened.__name__} raised {type(error).__name__}: {error}"
    return FormulaError(f"{message}{raised_at(error)}")


def raised_at(error: BaseException) -> str:
    """The file and line where a formula raised, for a message; compiled code adds a note."""
    if notes := getattr(error, "__notes__", None):
        return f" ({notes[-1]})"
    # The user's innermost frame: ours around it say nothing about their mistake.
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    return f" (line {frames[-1].lineno} of {frames[-1].filename})" if frames else ""


def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(Path(__file__).parents[1])


def own_parts(parts: Any) -> tuple[str, ...]:
    """The names of the user's classes among parts, nested ones included."""
    if not is_part(parts):
        return ()
    kind = type(parts)
    own = (kind.__name__,) if is_own(kind) else ()
    return own + tuple(name for field in parts for name in own_parts(field))


def places_in(part: Part, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], type]]:
    """The path and the owner of each field of a part, and of the parts in it."""
    for name, value in zip(part._fields, part, strict=True):
        yield (*path, name), type(part)
        if is_part(value):
            yield from places_in(value, (*path, name))


def with_field(part: Part, path: tuple[str, ...], value: Any, label: str) -> Part:
    """A part with the field at a path changed."""
    name, *inner = path
    if inner:
        value = with_field(part._asdict()[name], tuple(inner), value, label)
    else:
        kind: Any = type(part)
        value = checked(label, fields_of(kind)[name], value)
    return part._replace(**{name: value})
