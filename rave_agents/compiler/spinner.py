"""A spinner on a terminal, beside the seconds that something takes."""

import contextlib
import functools
from collections.abc import Iterator

from rich.console import Console
from rich.errors import LiveError
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


@functools.cache
def stderr_console() -> Console:
    """The console of standard error, which all displays share: one is drawn below the other."""
    return Console(stderr=True)


@contextlib.contextmanager
def spinning(text: str) -> Iterator[None]:
    """Show a text and the seconds that count up; nothing where another display is shown."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    progress = Progress(*columns, console=stderr_console(), transient=True)
    progress.add_task(text, total=None)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(LiveError):  # Another display is being shown.
            stack.enter_context(progress)
        yield
