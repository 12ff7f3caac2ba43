"""Output of the program: answers to standard output, all else to standard error."""

import codecs
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from rave_agents.game.plain_text import printable, without_colours
from rave_agents.results.result import Result
from rave_agents.results.tables import Table

_ERRORS = "rave_agents.plain"
_PLAIN = {"∞": "inf", "…": "...", "−": "-", "–": "-", "×": "x", "·": ".", "━": "-", "─": "-"}


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace characters that a stream cannot encode by plain ones."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    encoded = ""
    for character in error.object[error.start : error.end]:
        escaped = character.encode("ascii", "backslashreplace").decode("ascii")
        encoded += _PLAIN.get(character, escaped)
    return encoded, error.end


codecs.register_error(_ERRORS, _plain)


def tolerate_encoding(stream: IO[str]) -> None:
    """Let a stream replace characters that its encoding lacks, instead of raising an error."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None and getattr(stream, "errors", None) in (
        "strict",
        "surrogateescape",
    ):
        reconfigure(errors=_ERRORS)


class _Console(Console):
    """A console that shows names character by character: none of them acts on the terminal."""

    def __init__(self, **options: Any) -> None:
        super().__init__(emoji=False, **options)

    def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
        """See ``Console.render``: all output passes through it."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                text = printable(without_colours(segment.text), lines=True)
                yield Segment(text, segment.style)


def stderr() -> Console:
    """A console for progress, logs and errors."""
    tolerate_encoding(sys.stderr)
    return _Console(stderr=True)


def say(text: str) -> None:
    """Write a line to standard error, which may have Rich's markup."""
    stderr().print(text, soft_wrap=True, highlight=False)


def show(*renderables: Any, soft_wrap: bool = False) -> None:
    """Write what Rich can render to standard output; ``soft_wrap`` keeps long lines whole."""
    tolerate_encoding(sys.stdout)
    console = _Console()
    for renderable in renderables:
        console.print(renderable, highlight=False, soft_wrap=soft_wrap)


def show_result(
    result: Result,
    tables: Sequence[Table] | None = None,
    *,
    above: str = "",
    below: str = "",
    summary_last: bool = False,
) -> None:
    """Write a result to standard output: lines, and tables that fit the terminal.

    Args:
        result: the result.
        tables: those in place of its own.
        above: lines before it, such as a board.
        below: a line after it.
        summary_last: whether the summary comes last, as one line if no terminal shows it.
    """
    tolerate_encoding(sys.stdout)
    console = _Console(highlight=False)
    if above:
        console.print(Text(above.rstrip("\n")), "", sep="\n")
    for line in (*([] if summary_last else [result.summary()]), *result.remarks):
        console.print(Text(line))
    for table in result.tables() if tables is None else tables:
        console.print("", Text(table.text(console.width)), sep="\n", soft_wrap=True)
    if below:
        console.print(Text(below))
    if summary_last:
        console.print("", Text(result.summary()), sep="\n", soft_wrap=not console.is_terminal)


def show_json(value: Mapping[str, Any]) -> None:
    """Write one line of strict JSON in ASCII to standard output."""
    line = json.dumps(_strict(value), allow_nan=False)
    # JSON leaves DEL as it is, on which a terminal may act.
    sys.stdout.write(line.replace("\x7f", "\\u007f") + "\n")
    sys.stdout.flush()


def _strict(value: Any) -> Any:
    """The value with None for numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_strict(item) for item in value]
    return value
