"""A spinner on a terminal, beside the seconds that something takes."""

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.errors import LiveError
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


@contextlib.contextmanager
def spinning(text: str) -> Iterator[None]:
    """Show a text and the seconds that count up; nothing where another display is shown."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.add_task(text, total=None)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(LiveError):  # Another display is being shown.
            stack.enter_context(progress)
        yield
