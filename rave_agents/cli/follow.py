"""Commands whose options follow signatures and docstrings.

The options of a command are the parameters of the function that it calls, and its own. Docstrings
give the help: the section ``Args`` of the function, and ``Options`` of the command.
"""

import dataclasses
import functools
import inspect
import os
import re
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

_SECTION = re.compile(r"\n(?:Args|Options):\n")
_ENTRY = re.compile(r"^    (\w+): (.*\n(?:(?:     .*)?\n)*)", re.MULTILINE)
_REFERENCE = re.compile(r"[,;:]? ?\(?\bsee ``[^`]+``\)?|; None for none")


def entries_of(documented: Any) -> dict[str, str]:
    """The section ``Args`` or ``Options`` of a docstring: its texts by the parameters' names."""
    _, *sections = _SECTION.split(inspect.getdoc(documented) or "")
    section = re.split(r"^\S", "".join(sections), maxsplit=1, flags=re.MULTILINE)[0]
    found = _ENTRY.findall(f"{section}\n")
    return {name: " ".join(text.split()) for name, text in found if not text.startswith("see ``")}


def help_of(entry: str, written: Mapping[str, str]) -> str:
    """The help of an option.

    Args:
        entry: its text in a docstring; references to Python's objects are dropped.
        written: how the command line writes each parameter, such as ``--opening-plies``.
    """
    # A terminal knows no None, True or ``as_game``: say what they mean, or leave them out.
    text = _REFERENCE.sub("", entry).replace(". None for", ". By default")
    text = re.sub("^True (to|if) ", "", text.replace("None for", "by default"))
    text = re.sub(r"``(\w+)``", lambda found: written.get(found[1], found[1]), text)
    text = text.replace("``", "").replace('"', "'").strip()
    return escape(f"{text[:1].upper()}{text[1:].rstrip('.')}.") if text else ""


def kind_of(hint: Any) -> Any:
    """The type that an option is read as: the most special one that a type hint allows."""
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    allowed = typing.get_args(hint) if is_union else (hint,)
    if any(each is Path or typing.get_origin(each) is os.PathLike for each in allowed):
        return Path
    lists = [each for each in allowed if typing.get_origin(each) is list]
    return next((each for each in (*lists, bool, float, int) if each in allowed), str)


def _written(each: inspect.Parameter, name: str | None) -> str:
    """How the command line writes a parameter: ``--opening-plies``, or ``GAME``."""
    option = f"--{each.name.replace('_', '-')}"
    usual = option if each.kind is each.KEYWORD_ONLY else each.name.upper()
    return usual if name is None else name.partition("/")[0]


def _followed(each: inspect.Parameter, keywords: dict[str, Any]) -> inspect.Parameter:
    """The command line's form of a parameter."""
    kind = keywords.pop("kind", kind_of(each.annotation))
    default, name = keywords.pop("default", each.default), keywords.pop("option", None)
    info: Any
    if name is None and each.kind is not each.KEYWORD_ONLY:
        info = typer.Argument(**{"metavar": each.name.upper(), **keywords})
    else:  # Without a name, Typer adds --no-NAME to a flag.
        names = [name or _written(each, None)] if name or default is False else []
        info = typer.Option(*names, **keywords)
    annotation: Any = Annotated[kind | None if default is None else kind, info]
    return each.replace(kind=each.KEYWORD_ONLY, default=default, annotation=annotation)


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters of a function by name; the annotation is the type of the option."""
    called: Any = function.__init__ if isinstance(function, type) else function  # type: ignore[misc]
    hints = typing.get_type_hints(called)
    return {
        name: each.replace(annotation=hints[name])
        for name, each in inspect.signature(function).parameters.items()
        if name in hints
    }


def follow(
    function: Callable[..., Any] | None,
    *others: Callable[..., Any],
    changes: Mapping[str, Mapping[str, Any]],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a function into a command with options.

    Its parameter ``call`` takes the function that it calls as a ``functools.partial``, with the
    values that the user gave. Its other parameters are options of its own, or dataclasses of
    options. One with a name of the called function's replaces that one, and is not in ``call``.

    Args:
        function: the function that the command calls; None for a command without ``call``.
        *others: functions whose docstrings have the entries to which that of ``function`` refers.
        changes: by parameter, keywords of ``typer.Option`` together with ``kind``, the type,
            ``option``, the option's name, and ``default``; empty for one without an option.
    """
    called = {} if function is None else _parameters(function)
    names = {} if function is None else inspect.unwrap(function).__globals__

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = _parameters(command)
        own.pop("call", None)
        bundles = {n: own[n].annotation for n in own if dataclasses.is_dataclass(own[n].annotation)}
        own = {name: each for name, each in own.items() if name not in bundles}
        for bundle in bundles.values():
            own |= _parameters(bundle)
        documented = [*others[::-1], *bundles.values(), function, command]
        entries = {name: text for each in documented for name, text in entries_of(each).items()}
        # Arguments keep the order in which the function takes them.
        every = {n: each for n, each in (called | own).items() if changes.get(n) != {}}
        # Docstrings name constants of their module, such as ``MATCH_GAMES``: show values.
        written = {n: str(v) for n, v in names.items() if n.isupper() and type(v) is int}
        written |= {n: _written(p, changes.get(n, {}).get("option")) for n, p in every.items()}
        options = []
        for name, each in every.items():
            keywords = {"help": help_of(entries.get(name, ""), written), **changes.get(name, {})}
            options.append(_followed(each, keywords))

        @functools.wraps(command)
        def run(context: typer.Context, **values: Any) -> None:
            given = {}
            for name in [each.name for each in options if each.name not in own]:
                value, source = values.pop(name), context.get_parameter_source(name)
                if "DEFAULT" not in str(source) or value != called[name].default:
                    given[name] = value
            for name, bundle in bundles.items():
                fields = [field.name for field in dataclasses.fields(bundle)]
                values[name] = bundle(**{field: values.pop(field) for field in fields})
            if function is not None:
                values["call"] = functools.partial(function, **given)
            command(**values)

        at = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        run.__doc__ = _SECTION.split(inspect.getdoc(command) or "")[0]
        run.__signature__ = inspect.Signature([at, *options])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in (at, *options)}
        return run

    return decorate
