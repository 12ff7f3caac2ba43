"""Rows of results: what a row has is written once, for the table, for CSV and for JSON."""

import dataclasses
import operator
from collections.abc import Callable, Sequence
from typing import Any

from rave_agents.results.numbers import finite
from rave_agents.results.tables import Column


@dataclasses.dataclass(frozen=True)
class Field:
    """A value that each row has."""

    name: str
    """Its name in CSV and JSON; empty if only the table has it."""
    path: str
    """The row's attribute, such as ``score.wins``."""
    header: str | None = None
    """The header of its column in the table; None if the table does not have it."""
    text: Callable[[Any], str] = str
    """The cell's text."""
    rank: int = 0
    """See ``Column.rank``."""
    is_text: bool = False
    """True for names: aligned to the left."""
    json_name: str | None = None
    """Its name in JSON if that differs; empty if JSON does not have it."""

    def column(self, rows: Sequence[Any]) -> Column:
        """The column of the table."""
        cells = [self.text(value) for value in map(operator.attrgetter(self.path), rows)]
        return Column(self.header or "", cells, text=self.is_text, rank=self.rank)

    def exact(self, rows: Sequence[Any]) -> dict[str, list[Any]]:
        """The columns for CSV, with exact numbers."""
        return {self.name: list(map(operator.attrgetter(self.path), rows))} if self.name else {}

    def plain(self, row: Any) -> dict[str, Any]:
        """The values for strict JSON; infinite and unknown numbers are None."""
        name = self.name if self.json_name is None else self.json_name
        return {name: finite(operator.attrgetter(self.path)(row))} if name else {}


@dataclasses.dataclass(frozen=True)
class Interval(Field):
    """A 95 % interval: two columns for CSV, named ``low`` and ``high`` after its prefix."""

    def exact(self, rows: Sequence[Any]) -> dict[str, list[Any]]:
        """The columns of both ends."""
        pairs = list(map(operator.attrgetter(self.path), rows))
        ends = {"low": [low for low, _ in pairs], "high": [high for _, high in pairs]}
        return {f"{self.name}{end}": values for end, values in ends.items()}

    def plain(self, row: Any) -> dict[str, Any]:
        """Both ends in a list."""
        name = f"{self.name}ci95" if self.json_name is None else self.json_name
        return {name: [finite(end) for end in operator.attrgetter(self.path)(row)]}


def table_columns(fields: Sequence[Field], rows: Sequence[Any]) -> list[Column]:
    """The columns of a table of rows."""
    return [field.column(rows) for field in fields if field.header is not None]


def exact_columns(fields: Sequence[Field], rows: Sequence[Any]) -> dict[str, list[Any]]:
    """The columns for ``Result.columns``: exact values by name."""
    return {name: values for field in fields for name, values in field.exact(rows).items()}


def plain_row(fields: Sequence[Field], row: Any) -> dict[str, Any]:
    """The values of a row for strict JSON."""
    return {name: value for field in fields for name, value in field.plain(row).items()}
