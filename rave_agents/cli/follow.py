"""Commands whose options follow the signature of the function that they call.

The signature gives the options' names, types and defaults, the section ``Args`` of the docstring
their help. A command writes down only what differs.
"""

import dataclasses
import functools
import inspect
import os
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

_ENTRY = re.compile(r"^    (\w+): (.*\n(?:(?:     .*)?\n)*)", re.MULTILINE)
_REFERENCE = re.compile(r"[,;:]? ?\(?\bsee ``[^`]+``\)?|; None for none")


def entries_of(function: Callable[..., Any]) -> dict[str, str]:
    """The section ``Args`` of a Google-style docstring: its texts by the parameters' names."""
    _, _, rest = (inspect.getdoc(function) or "").partition("\nArgs:\n")
    section = re.split(r"^\S", rest, maxsplit=1, flags=re.MULTILINE)[0]
    return {name: " ".join(text.split()) for name, text in _ENTRY.findall(f"{section}\n")}


def help_of(entry: str, written: Mapping[str, str]) -> str:
    """The help of an option.

    Args:
        entry: its text in a docstring; references to Python's objects are dropped.
        written: how the command line writes each parameter, such as ``--opening-plies``.
    """
    text = _REFERENCE.sub("", entry).replace(". None for", ". By default")
    text = text.replace("None for", "by default").removeprefix("True to ")
    text = re.sub(r"``(\w+)``", lambda found: written.get(found[1], found[1]), text)
    text = text.replace("``", "").replace('"', "'").strip()
    return escape(f"{text[:1].upper()}{text[1:].rstrip('.')}.") if text else ""


def kind_of(hint: Any) -> Any:
    """The type that an option is read as: the most special one that a type hint allows."""
    while typing.get_origin(hint) is Annotated:
        hint = typing.get_args(hint)[0]
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    allowed = typing.get_args(hint) if is_union else (hint,)
    if any(each is Path or typing.get_origin(each) is os.PathLike for each in allowed):
        return Path
    return next((each for each in (bool, float, int) if each in allowed), str)


def _written(each: inspect.Parameter, name: object) -> str:
    """How the command line writes a parameter: ``--opening-plies``, or ``GAME``."""
    if isinstance(name, str):
        return name.partition("/")[0]
    is_option = each.kind is each.KEYWORD_ONLY
    return f"--{each.name.replace('_', '-')}" if is_option else each.name.upper()


def _followed(each: inspect.Parameter, hint: Any, keywords: dict[str, Any]) -> inspect.Parameter:
    """The parameter of a command for one of the function that it calls."""
    kind, default = keywords.pop("kind", kind_of(hint)), keywords.pop("default", each.default)
    name = keywords.pop("option", None)
    info: Any = typer.Argument
    if name is not None or each.kind is each.KEYWORD_ONLY:
        if default is False:
            name = _written(each, name)  # Without a name Typer adds --no-NAME.
        info = typer.Option if name is None else functools.partial(typer.Option, name)
    else:
        keywords.setdefault("metavar", each.name.upper())
    annotation: Any = Annotated[kind | None if default is None else kind, info(**keywords)]
    return each.replace(kind=each.KEYWORD_ONLY, default=default, annotation=annotation)


def _expanded(command: Callable[..., Any], bundles: dict[str, Any]) -> Iterator[inspect.Parameter]:
    """The options of a command's own, with those that dataclasses bundle."""
    hints = typing.get_type_hints(command, include_extras=True)
    for name, each in inspect.signature(command).parameters.items():
        hint = hints.get(name)
        if dataclasses.is_dataclass(hint):
            bundles[name] = hint
            yield from _expanded(bundles[name].__init__, {})
        elif typing.get_origin(hint) is Annotated:
            yield each.replace(kind=each.KEYWORD_ONLY, annotation=hint)


def follow(
    function: Callable[..., Any],
    *others: Callable[..., Any],
    changes: Mapping[str, Mapping[str, Any]],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of the function that it calls.

    The command's first parameter takes that function as a ``functools.partial`` with the values
    that the user gave. Its other parameters are options of its own (``Annotated``), or dataclasses
    of options; one with a name of the function's replaces that one, and the command passes it on.

    Args:
        function: the function that the command calls.
        *others: functions whose docstrings have the entries to which that of ``function`` refers.
        changes: by parameter, keywords of ``typer.Option`` that differ, together with ``kind``, the
            type, ``option``, the option's name, and ``default``; empty for one without an option.
    """
    entries: dict[str, str] = {}
    for each in (*reversed(others), function):
        own = entries_of(each)
        entries |= {name: own[name] for name in own if not own[name].startswith("see ``")}
    hints, names = typing.get_type_hints(function), inspect.unwrap(function).__globals__
    parameters = inspect.signature(function).parameters

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        bundles: dict[str, Any] = {}
        own = {each.name: each for each in _expanded(command, bundles)}
        # Docstrings name constants of their module, such as ``MATCH_GAMES``: show their values.
        written = {n: str(v) for n, v in names.items() if n.isupper() and type(v) is int}
        written |= {n: _written(p, changes.get(n, {}).get("option")) for n, p in parameters.items()}
        for name, each in own.items():
            written[name] = _written(each, getattr(each.annotation.__metadata__[0], "default", 0))
        options = {}
        for name, each in parameters.items():
            if name not in own and changes.get(name) != {}:
                text = help_of(entries.get(name, ""), written)
                keywords = {"help": text, **changes.get(name, {})}
                options[name] = _followed(each, hints[name], keywords)
        # Arguments keep the order in which the function takes them.
        ordered = {n: {**own, **options}[n] for n in parameters if n in own or n in options} | own

        @functools.wraps(command)
        def run(context: typer.Context, **values: Any) -> None:
            given = {}
            for name, each in options.items():
                value, source = values.pop(name), context.get_parameter_source(name)
                asked = source is not None and source.name != "DEFAULT"
                if asked or each.default != parameters[name].default:
                    given[name] = value
            for name, bundle in bundles.items():
                fields = [field.name for field in dataclasses.fields(bundle)]
                values[name] = bundle(**{field: values.pop(field) for field in fields})
            command(functools.partial(function, **given), **values)

        at = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        run.__signature__ = inspect.Signature([at, *ordered.values()])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in (at, *ordered.values())}
        return run

    return decorate
