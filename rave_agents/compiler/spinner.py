"""A spinner with a text and the elapsed seconds, on a terminal."""

import contextlib
import functools
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.errors import LiveError
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TimeElapsedColumn
from rich.text import Text


@functools.cache
def stderr_console() -> Console:
    """The console of standard error, shared by all displays, so that none overwrites another."""
    return Console(stderr=True)


class _TextSoFar(ProgressColumn):
    """A text, followed by the progress."""

    def __init__(self, done: Callable[[], str]) -> None:
        super().__init__()
        self._done = done

    def render(self, task: Task) -> Text:
        return Text(task.description + self._done())


@contextlib.contextmanager
def spinning(text: str, done: Callable[[], str] = str) -> Iterator[None]:
    """Show a text, the progress and the seconds; nothing while another display is active."""
    columns = SpinnerColumn(), _TextSoFar(done), TimeElapsedColumn()
    progress = Progress(*columns, console=stderr_console(), transient=True)
    progress.add_task(text, total=None)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(LiveError):  # Another display is being shown.
            stack.enter_context(progress)
        yield
