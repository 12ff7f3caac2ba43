"""Base class of all results: searches, matches, tournaments, sweeps, curves, evaluations."""

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
"""Maximum characters of a ``repr``."""


class Tabular(abc.ABC):
    """What a result says: a line, tables, columns and plain values."""

    @abc.abstractmethod
    def summary(self) -> str:
        """One line: the subject and the outcome."""

    @property
    def remarks(self) -> Sequence[str]:
        """Further lines between the summary and the tables."""
        return ()

    @abc.abstractmethod
    def tables(self) -> Sequence[Table]:
        """The tables to print, with rounded numbers."""

    @abc.abstractmethod
    def columns(self) -> dict[str, list[Any]]:
        """The columns of ``to_csv`` and ``to_frame``: exact values by name, one per row."""

    @abc.abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; infinite and unknown ones are None."""


class Result(Tabular):
    """Base class of results: each has a summary line, tables, plain values and a picture.

    ``repr()`` is one line, ``str()`` has tables that fit the terminal, and notebooks show HTML.
    ``to_dict`` returns plain values, ``to_csv`` and ``to_frame`` the rows with exact numbers, and
    ``plot`` a picture.
    """

    def plot(self) -> "Picture":
        """A picture, a ``matplotlib`` figure; a notebook shows it, ``savefig`` writes it.

        Raises:
            ImportError: without matplotlib.
        """
        from rave_agents.plots.intervals import plot_estimates  # noqa: PLC0415  (slow: matplotlib)

        return plot_estimates(**self._estimates())

    def _estimates(self) -> dict[str, Any]:
        """The arguments of ``plot_estimates``, for results drawn by it."""
        raise NotImplementedError(f"{type(self).__name__} has no picture.")

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The rows as CSV; with a path, also written to that file.

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
        """The rows as a ``pandas.DataFrame``; unknown values are NaN.

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
            width: None for the terminal's width (``COLUMNS`` if set), or 80 without a terminal.
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
    """A result that grows with every game (or similar unit) of a run."""

    @property
    @abc.abstractmethod
    def finished(self) -> int:
        """Number of finished games."""

    @property
    @abc.abstractmethod
    def all_planned(self) -> int | None:
        """Number of planned games; None if it is not known in advance."""

    @property
    def latest_line(self) -> str:
        """One line on the latest finished game; empty if there is none."""
        return ""


def by_column(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Columns for ``Result.columns``, from names and rows of values."""
    rows = list(rows)
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
