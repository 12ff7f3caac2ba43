"""A spinner on a terminal, beside the seconds that something takes."""

import contextlib
import functools
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.errors import LiveError
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TimeElapsedColumn
from rich.text import Text


@functools.cache
def stderr_console() -> Console:
    """The console of standard error, which all displays share: one is drawn below the other."""
    return Console(stderr=True)


class _TextSoFar(ProgressColumn):
    """A text, and what is done."""

    def __init__(self, done: Callable[[], str]) -> None:
        super().__init__()
        self._done = done

    def render(self, task: Task) -> Text:
        """The text as it is now."""
        return Text(task.description + self._done())


@contextlib.contextmanager
def spinning(text: str, done: Callable[[], str] = str) -> Iterator[None]:
    """Show a text, what is done, and the seconds; nothing where another display is shown."""
    columns = SpinnerColumn(), _TextSoFar(done), TimeElapsedColumn()
    progress = Progress(*columns, console=stderr_console(), transient=True)
    progress.add_task(text, total=None)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(LiveError):  # Another display is being shown.
            stack.enter_context(progress)
        yield
