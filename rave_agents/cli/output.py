"""The forms in which commands give their results, and runs of games."""

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from rich.markup import escape

from rave_agents.arena.dask_cluster import dask_executor
from rave_agents.arena.worker import RunError
from rave_agents.cli.program import interrupted
from rave_agents.cli.terminal import show_json, show_result
from rave_agents.results.result import Result


def check_writable(path: Path | None, option: str) -> None:
    """Raise before a long run the error that writing its file would raise afterwards."""
    if path is None:
        return
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {str(path.parent)!r} for {option}.")
    existed = path.exists()
    path.open("a").close()  # Appending leaves an existing file as it is.
    if not existed:  # A command that fails later must not leave an empty file.
        path.unlink()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Output:
    """A result's table: on the terminal, as JSON, in a file."""

    csv: Path | None = None
    as_json: bool = False

    def check(self) -> None:
        """Refuse files that cannot be written."""
        check_writable(self.csv, "--csv")

    def give(self, result: Result, values: Mapping[str, Any] | None = None, **how: Any) -> None:
        """Print a result and write its files.

        Args:
            result: the result.
            values: those to print as JSON; None for its own.
            **how: see ``show_result``.
        """
        if self.as_json:
            show_json(result.to_dict() if values is None else values)
        else:
            show_result(result, **how)
        self.write(result)

    def write(self, result: Any) -> None:
        """Write the files of a result."""
        if self.csv is not None:
            result.to_csv(self.csv)


@dataclasses.dataclass(frozen=True, kw_only=True)
class GameOutput(Output):
    """The table of a run of games, its picture, and the cluster that plays them."""

    png: Path | None = None
    dask: str | None = None

    def check(self) -> None:
        """See ``Output``."""
        super().check()
        check_writable(self.png, "--png")

    def write(self, result: Any) -> None:
        """See ``Output``."""
        super().write(result)
        if self.png is not None and result.finished:  # Without games there is nothing to draw.
            result.plot().savefig(self.png, format="png", dpi=150, bbox_inches="tight")


@contextlib.contextmanager
def _executor(address: str | None, jobs: int) -> Iterator[Executor | None]:
    if address is None:
        yield None
    else:
        with dask_executor(address, jobs=jobs) as executor:
            yield executor


def play_games(call: partial[Any], output: GameOutput, *, unit: str = "games", **how: Any) -> None:
    """Play a run of games, show and write its result, and end as the run ended.

    A run that fails or is interrupted shows the games it finished.

    Args:
        call: plays the games and shows their progress.
        output: the forms of the result.
        unit: the name of what is finished, for the message of an interrupt.
        **how: see ``show_result``.
    """
    output.check()
    failure: Exception | None = None
    with _executor(output.dask, call.keywords.get("jobs", 1)) as executor:
        try:
            result = call(executor=executor)
        except RunError as error:
            result, failure = error.result, error
    if output.as_json or result.finished:
        output.give(result, **how)
    if failure is not None:
        raise failure
    if result.interrupted:
        of = "" if result.all_planned is None else f" of {result.all_planned}"
        file = call.keywords.get("output")
        advice = "Give --output FILE to be able to go on after a stop."
        if file is not None:
            kept = f"{escape(str(file))} has the finished {unit}"
            advice = f"To go on, run the same command again: {kept}."
        raise interrupted(f"{result.finished}{of} {unit} were finished. {advice}")
