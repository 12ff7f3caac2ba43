"""Base of all results: searches, matches, tournaments, sweeps, curves, benches, evaluations."""

import abc
import html
import math
import os
import shutil
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rave_agents.extras import missing
from rave_agents.files import written_whole
from rave_agents.game.plain_text import printable, shortened
from rave_agents.results.tables import Table, csv_text

if TYPE_CHECKING:
    from rave_agents.plots.figures import Picture

_LONGEST = 190
"""Characters of a ``repr``, at most."""


class Result(abc.ABC):
    """Base of results: each is a line, a table, plain values, a picture.

    ``repr()`` is one line and ``str()`` tables that fit the terminal; a notebook shows them as
    HTML. ``to_dict`` gives plain values, ``to_csv`` and ``to_frame`` the same rows with exact
    numbers, and ``plot`` a picture.
    """

    @abc.abstractmethod
    def summary(self) -> str:
        """One line: what it is of, and what came out."""

    @property
    def remarks(self) -> Sequence[str]:
        """Further lines for people, between the summary and the tables."""
        return ()

    @abc.abstractmethod
    def tables(self) -> Sequence[Table]:
        """The tables for people, with rounded numbers."""

    @abc.abstractmethod
    def columns(self) -> dict[str, list[Any]]:
        """The columns of ``to_csv`` and ``to_frame``: exact values by name, one for each row."""

    @abc.abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON: what is infinite or unknown is None."""

    def plot(self) -> "Picture":
        """A picture, a ``matplotlib`` figure; a notebook shows it, ``savefig`` writes it.

        Raises:
            ImportError: without matplotlib.
        """
        from rave_agents.plots.intervals import plot_estimates  # noqa: PLC0415  (slow: matplotlib)

        return plot_estimates(**self._estimates())

    def _estimates(self) -> dict[str, Any]:
        """The arguments of ``plot_estimates``, for results that are drawn by it."""
        raise NotImplementedError(f"{type(self).__name__} has no picture.")

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The rows as CSV; with a path, they are written there too.

        Raises:
            OSError: if the file cannot be written.
        """
        columns = self.columns()
        text = csv_text([list(columns), *zip(*columns.values(), strict=True)])
        if path is not None:
            with written_whole(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        return text

    def to_frame(self) -> Any:
        """The rows as a ``pandas.DataFrame``; what is unknown is not a number there.

        Raises:
            ImportError: without pandas.
        """
        try:
            import pandas  # noqa: PLC0415  (optional: pandas)
        except ImportError as error:
            raise ImportError(missing("to_frame needs", "pandas", "pandas")) from error
        columns = self.columns().items()
        return pandas.DataFrame(
            {name: [math.nan if v is None else v for v in values] for name, values in columns}
        )

    def text(self, width: int | None = None) -> str:
        """The text of ``str()``, with tables of at most this many characters a line.

        Args:
            width: None for the terminal's width (``COLUMNS``, if that is set), or 80 without one.
        """
        if width is None:
            width = shutil.get_terminal_size((80, 24)).columns
        lines = [printable(line) for line in (self.summary(), *self.remarks)]
        tables = [table.text(width) for table in self.tables()]
        return "\n\n".join(["\n".join([*lines, *tables[:1]]), *tables[1:]])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"<{kind}: {shortened(printable(self.summary()), _LONGEST - len(kind))}>"

    def _repr_html_(self) -> str:
        lines = "<br>".join(
            html.escape(printable(line)) for line in (self.summary(), *self.remarks)
        )
        return f"<p>{lines}</p>" + "".join(table.html() for table in self.tables())


class GrowingResult(Result):
    """A result of many games or the like, which grows with each of them."""

    @property
    @abc.abstractmethod
    def finished(self) -> int:
        """Number of finished games."""

    @property
    @abc.abstractmethod
    def all_planned(self) -> int | None:
        """Number of planned games; None where that turns out on the way."""

    @property
    def latest_line(self) -> str:
        """One line on the game that ended last; empty if there is none."""
        return ""


def by_column(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Columns, for ``Result.columns``, of these names and rows of values."""
    rows = list(rows)
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
