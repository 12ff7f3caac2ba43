"""Learning into a file: written after every round, with checks of strength and a curve."""

import contextlib
import dataclasses
import importlib
import os
import pathlib
import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

from rave_agents.agents.named_agents import agent_types
from rave_agents.analysis.learn import Learned, learn, learning_view, seconds_of
from rave_agents.arena.dask_cluster import dask_executor
from rave_agents.arena.match import play_match
from rave_agents.arena.statistics import MatchScore, finite
from rave_agents.extras import missing
from rave_agents.game.arguments import is_integer
from rave_agents.knowledge.linear_value import LinearValue
from rave_agents.results.numbers import counted
from rave_agents.results.progress import Progress, shown
from rave_agents.results.result import Result
from rave_agents.results.tables import Column, Table

CHECK_SIMULATIONS = 100
"""Simulations a move in checks of strength."""

PATIENCE = 2
"""Rounds in a row without gain after which learning ends."""

FRAMEWORKS_BOT = "mcts"
"""OpenSpiel's bot, which values are compared with where it plays the game."""


@dataclasses.dataclass(frozen=True)
class Check:
    """Strength after a round, at ``CHECK_SIMULATIONS`` a move."""

    learned: Learned
    """The progress by then."""
    beginning: MatchScore
    """Against the same search without a value, as learning began."""
    before: MatchScore | None
    """Against the value of the round before; None if nothing was learned before."""
    mcts: MatchScore | None
    """Against OpenSpiel's bot; None where it does not play."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class LearningResult(Result):
    """The outcome of learning into a file. Its rows are the checks of strength."""

    game: str
    """The game."""
    output: str
    """The file that has the value."""
    learned: Learned
    """The progress at the end."""
    checks: tuple[Check, ...]
    """The checks of strength, from the first round to the last."""

    def summary(self) -> str:
        """The game, what it took, and the file."""
        learned = self.learned
        told = f"{counted(learned.games, 'game')}, {counted(learned.positions, 'position')}"
        return (
            f"{self.game}: {told}, {learned.seconds:.0f} s: {self.output} has the value; give it "
            f"as evaluator={self.output}."
        )

    def tables(self) -> list[Table]:
        """Scores of the checks with their intervals."""
        if not self.checks:
            return []
        columns = [
            Column("seconds", [f"{check.learned.seconds:.0f}" for check in self.checks]),
            Column("games", [f"{check.learned.games:,}" for check in self.checks]),
        ]
        columns += [
            Column(f"against {name}", [_told(getattr(check, name)) for check in self.checks])
            for name in OPPONENTS
        ]
        return [Table(columns, title=f"Scores at {CHECK_SIMULATIONS} simulations a move")]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each check."""
        found: dict[str, list[Any]] = {
            "seconds": [check.learned.seconds for check in self.checks],
            "games": [check.learned.games for check in self.checks],
        }
        for name in OPPONENTS:
            scores = [getattr(check, name) for check in self.checks]
            found[name] = [None if each is None else each.score for each in scores]
            found[f"{name}_elo"] = [None if each is None else finite(each.elo) for each in scores]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        learned = {name: finite(value) for name, value in self.learned._asdict().items()}
        checks = [
            {
                **{name: finite(value) for name, value in check.learned._asdict().items()},
                **{name: _plain(getattr(check, name)) for name in OPPONENTS},
            }
            for check in self.checks
        ]
        return {"game": self.game, "output": self.output, **learned, "checks": checks}

    def _estimates(self) -> dict[str, Any]:
        rows = [
            (f"{check.learned.seconds / 60.0:.1f} min", each.score, each.interval)
            for check in self.checks
            for each in [check.beginning]
        ]
        return {"estimates": rows, "label": "score against the beginning", "level": 0.5}


OPPONENTS = ("beginning", "before", "mcts")
"""Opponents of a check."""


def _told(score: MatchScore | None) -> str:
    if score is None:
        return "-"
    low, high = score.interval
    return f"{score.score:.2f} [{low:.2f}, {high:.2f}]"


def _plain(score: MatchScore | None) -> dict[str, Any] | None:
    return None if score is None else score.to_dict()


class _Rounds:
    """The rounds of learning into a file: each is written and checked."""

    def __init__(self, game: Any, output: pathlib.Path, games: int, seed: int) -> None:
        self._game, self._output, self._games, self._seed = game, output, games, seed
        self.made = ""
        """A line for the file, of how it was learned."""
        self.last = Learned(0, 0, float("nan"), 0.0)
        """The progress so far."""
        self.checks: list[Check] = []
        self._before: LinearValue | None = None
        self._without_gain = 0

    def take(self, value: LinearValue) -> bool:
        """Write a round's value, and check its strength. Returns whether learning is to go on."""
        value.made = self.made
        value.save(self._output)
        if self._games == 0:
            return True
        before, self._before = self._before, value
        mcts = None
        if FRAMEWORKS_BOT in agent_types():
            with contextlib.suppress(ValueError):  # A game that is not OpenSpiel's.
                mcts = self._score(FRAMEWORKS_BOT)
        earlier = None
        if before is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "before.npz")
                before.save(path)
                earlier = self._score(_spec(path))
        self.checks.append(Check(self.last, self._score(_spec(None)), earlier, mcts))
        gained = earlier is None or earlier.score > 0.5
        self._without_gain = 0 if gained else self._without_gain + 1
        return self._without_gain < PATIENCE

    def _score(self, other: str) -> MatchScore:
        return play_match(
            self._game,
            _spec(self._output.resolve()),
            other,
            games=self._games,
            simulations=CHECK_SIMULATIONS,
            seed=self._seed,
            progress=False,
        ).score


def learn_to_file(
    game: Any,
    output: str | os.PathLike[str],
    *,
    minutes: float | None = None,
    games: int | None = None,
    rounds: int = 5,
    simulations: int = 200,
    jobs: int = 1,
    dask: str | None = None,
    start: str | os.PathLike[str] | None = None,
    checks: int = 0,
    tensorboard: str | os.PathLike[str] | None = None,
    made: str = "",
    seed: int = 0,
    progress: Progress[Learned] = None,
) -> LearningResult:
    """Learn a value of a game, and write it after every round.

    Args:
        game: see ``learn``, as all that is not told here.
        output: the file.
        minutes: see ``learn``.
        games: see ``learn``.
        rounds: how often the file is written, and its strength checked.
        simulations: see ``learn``.
        jobs: processes that play.
        dask: the address of a Dask scheduler in their place, or ``"local"``; None for none.
        start: a file to go on from.
        checks: games of each check of strength; 0 for none. Learning ends early once ``PATIENCE``
            rounds in a row have brought nothing.
        tensorboard: a folder of TensorBoard's to write to; None for none.
        made: a line for the file, of how it was learned.
        seed: decides everything random.
        progress: see ``learn``.

    Raises:
        ValueError: for a number that is not allowed, or if something is not installed.
    """
    if not is_integer(checks) or checks < 0:
        raise ValueError(f"checks must be a number of games, at least 0, got {checks!r}.")
    rounds_played = _Rounds(game, pathlib.Path(output), checks, seed)
    rounds_played.made = made
    writer = None if tensorboard is None else _writer(tensorboard)
    view = learning_view(games, seconds_of(minutes, games))
    with _workers(dask, jobs) as executor, shown(progress, view) as tell:

        def note(learned: Learned) -> None:
            rounds_played.last = learned
            if tell is not None:
                tell(learned)

        def take(value: LinearValue) -> bool:
            goes_on = rounds_played.take(value)
            if writer is not None:
                last = rounds_played.last
                writer.add_scalar("loss", last.loss, last.games)
                for check in rounds_played.checks[-1:]:
                    writer.add_scalar("score", check.beginning.score, last.games)
                writer.flush()
            return goes_on

        learn(
            game,
            minutes=minutes,
            games=games,
            rounds=rounds,
            simulations=simulations,
            jobs=jobs,
            executor=executor,
            start=start,
            seed=seed,
            progress=note,
            fitted=take,
        )
    return LearningResult(
        game=str(game),
        output=os.fspath(output),
        learned=rounds_played.last,
        checks=tuple(rounds_played.checks),
    )


@contextlib.contextmanager
def _workers(dask: str | None, jobs: int) -> Iterator[Executor | None]:
    """The executor of a Dask cluster; None for this machine's processes."""
    if dask is None:
        yield None
        return
    with dask_executor(dask, jobs=jobs) as executor:
        yield executor


def _spec(path: str | os.PathLike[str] | None) -> str:
    """The agent that plays checks, with a file or without."""
    return "uct(c=0.2)" if path is None else f'uct(c=0.2,evaluator="{os.fspath(path)}")'


def _writer(folder: str | os.PathLike[str]) -> Any:
    """TensorBoard's writer, of PyTorch or of tensorboardX."""
    for module in ("torch.utils.tensorboard", "tensorboardX"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(module).SummaryWriter(os.fspath(folder))
    raise ValueError(missing("--tensorboard needs", "tensorboard", "tensorboardX"))
