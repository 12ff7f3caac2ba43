"""The grammar of specs: ``name(key=value,...)``, as OpenSpiel writes games.

Values are integers, numbers, ``True``, ``False``, ``None`` or else text, which may be a spec again:
``rave(schedule=hand_selected(k=300))``.
"""

import re
from collections.abc import Mapping
from typing import Any

# The greedy ``.*`` reaches to the last parenthesis: ``split`` checks the nesting inside.
_CALL = re.compile(r"\s*((?:[A-Za-z_][\w.]*:)?[A-Za-z_][\w.]*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_BEFORE_A_VALUE = ("", " ", "=", "(", ",")
_CONSTANTS = {"True": True, "true": True, "False": False, "false": False, "None": None}


def parse_call(
    text: str, what: str = "an agent's spec", *, example: str = "rave(simulations=500)"
) -> tuple[str, dict[str, Any]]:
    """Parse ``name`` or ``name(key=value,...)``.

    Args:
        text: what was given.
        what: the kind of text, for messages.
        example: a correct one, for messages.

    Raises:
        ValueError: if the text is not of that form.
    """
    match = _CALL.fullmatch(text)
    if match is None:
        raise ValueError(
            f"Not of the form name or name(key=value,...), as {what} is: {text!r}. For example "
            f"{example}."
        )
    name, inside = match.groups()
    parameters: dict[str, Any] = {}
    for part in split(inside or "", text):
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals or not is_key(key):
            raise ValueError(f"Not of the form key=value in {text!r}: {part.strip()!r}.")
        if key in parameters:
            raise ValueError(f"Given twice in {text!r}: {key!r}.")
        parameters[key] = parse_value(value.strip())
    return name, parameters


def split_call(text: str, what: str) -> tuple[str, str | None]:
    """Split ``name(inside)`` into the name and the text in parentheses, None without any.

    Args:
        text: what was given.
        what: the kind of text, for messages.

    Raises:
        ValueError: if parentheses or quotes do not match, or anything follows the last one.
    """
    name, opened, rest = text.partition("(")
    if not opened:
        if ")" in text:
            raise ValueError(f"Unbalanced parentheses or quotes in {text!r}.")
        return text.strip(), None
    for place, depth in enumerate(_depths(rest, text)):
        if depth == -1:
            behind = rest[place + 1 :].strip()
            if behind:
                more = f" Only one {what} can be given here." if behind[0] in ",;" else ""
                raise ValueError(
                    f"Unexpected {behind!r} after the closing parenthesis of "
                    f"{text[: -len(behind)].strip()!r}.{more}"
                )
            return name.strip(), rest[:place]
    raise ValueError(f"Unbalanced parentheses or quotes in {text!r}.")


def is_key(text: str) -> bool:
    """True if a text names a parameter: a word, or several with dots between them."""
    return all(word.isidentifier() for word in text.split("."))


def parse_values(text: str) -> list[Any]:
    """Parse values separated by commas, each like a parameter's value in a spec.

    Raises:
        ValueError: if one is missing, or parentheses or quotes do not match.
    """
    parts = [part.strip() for part in split(text, text)]
    if not parts or "" in parts:
        raise ValueError(f"A value is missing in {text!r}.")
    return [parse_value(part) for part in parts]


def format_call(name: str, parameters: Mapping[str, Any]) -> str:
    """A spec of this name and these parameters."""
    return f"{name}({format_parameters(parameters)})" if parameters else name


def format_parameters(parameters: Mapping[str, Any]) -> str:
    """The parameters as written between a spec's parentheses."""
    return ",".join(f"{key}={_format(value)}" for key, value in parameters.items())


def split(text: str, whole: str, separators: str = ",") -> list[str]:
    """Split at separators that are in neither quotes nor parentheses.

    Args:
        text: the call.
        whole: the text that contains it, for messages.
        separators: the characters at which it is split.

    Raises:
        ValueError: if parentheses or quotes do not match.
    """
    depths = _depths(text, whole)
    known = [depth for depth in depths if depth is not None]
    if known and (known[-1] != 0 or min(known) < 0):
        raise ValueError(f"Unbalanced parentheses or quotes in {whole!r}.")
    parts, part = [], ""
    for character, depth in zip(text, depths, strict=True):
        if character in separators and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    # An empty text has no parts; after a separator even an empty part counts, as a mistake.
    if part.strip() or parts:
        parts.append(part)
    return parts


def _depths(text: str, whole: str) -> list[int | None]:
    """The open parentheses behind each character; None for those in quotes.

    A single quote begins a quotation only where a value does: file names may have one.

    Raises:
        ValueError: if quotes do not match.
    """
    depths: list[int | None] = []
    depth, quote, before = 0, "", ""
    for character in text:
        if quote:
            depths.append(None)
            quote = "" if character == quote else quote
        # An apostrophe inside a word opens no quotation.
        elif character == '"' or (character == "'" and before in _BEFORE_A_VALUE):
            depths.append(None)
            quote = character
        else:
            depth += (character == "(") - (character == ")")
            depths.append(depth)
        before = character
    if quote:
        raise ValueError(f"Unbalanced parentheses or quotes in {whole!r}.")
    return depths


def parse_value(text: str) -> Any:
    """One value: quotes around a text are left out."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    # int before float: ``3`` stays an integer, and ``inf`` is a float.
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _format(value: Any) -> str:
    text = str(value)
    # A nested spec needs no quotes: its commas are inside parentheses.
    if not isinstance(value, str) or not re.search(r"[,()\s]", text) or _is_call(text):
        return text
    return f'"{text}"'


def _is_call(text: str) -> bool:
    """True if a text reads as a spec, and so needs no quotes."""
    if re.search(r"\s", text):
        return False
    try:
        parse_call(text)
    except ValueError:
        return False
    return True
