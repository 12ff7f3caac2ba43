"""Curves: an agent's strength over its simulations or seconds per move.

The agent plays a match with every limit against the same opponents, from the same openings.
"""

import dataclasses
import math
import os
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any, Self

from rave_agents.agents.named_agents import AnyAgent, as_agent
from rave_agents.agents.own_agents import OwnAgent
from rave_agents.arena.contestants import Contestant
from rave_agents.arena.journal import make_header
from rave_agents.arena.match import (
    Games,
    Jobs,
    checked_run_options,
    checked_table,
    limited_agent,
    limited_spec,
    load_match_game,
)
from rave_agents.arena.match_result import MatchResult, score_columns, score_values
from rave_agents.arena.matches_result import MatchesResult
from rave_agents.arena.plan import Plan, Shard
from rave_agents.arena.run import ResultCollector, carry_out
from rave_agents.arena.worker import UnfinishedError
from rave_agents.game.validation import Natural, validated
from rave_agents.records.record import GameRecord
from rave_agents.results.numbers import played
from rave_agents.results.progress import Progress, shown
from rave_agents.results.tables import Column, Table


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScalingPoint:
    """One limit against one opponent."""

    limit: float
    """Simulations or seconds per move."""
    opponent: str
    """The opponent's spec with its limit."""
    match: MatchResult
    """The finished games; the agent with this limit is the first one."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class ScalingResult(MatchesResult):
    """The finished games by limit and opponent, from the view of the limited agent."""

    game: str
    """The game, as given."""
    agent: str
    """The agent's spec without a limit."""
    unit: str
    """``simulations`` or ``seconds`` per move."""
    seed: int
    """The seed of everything random."""
    planned: int
    """Planned games for each point."""
    points: tuple[ScalingPoint, ...]
    """Opponent by opponent, the limits in the order given."""

    @property
    def all_matches(self) -> Sequence[MatchResult]:
        """The matches, in the order of their indices."""
        return tuple(point.match for point in self.points)

    @property
    def all_planned(self) -> int:
        """Number of planned games over all points."""
        return self.planned * len(self.points)

    def name_of(self, index: int) -> str:
        """The name of the point with this index, for messages."""
        return self.points[index].match.agents[0]

    def plus(self, index: int, *records: GameRecord) -> Self:
        """The result with more finished games of the point with this index."""
        points = list(self.points)
        match = points[index].match.plus(*records)
        points[index] = dataclasses.replace(points[index], match=match)
        latest = (index, records[-1]) if records else self.latest
        return dataclasses.replace(self, points=tuple(points), latest=latest)

    def summary(self) -> str:
        """The agent, its unit of effort, the game and the number of finished games."""
        games = played(self.finished, self.all_planned, "game")
        return f"{self.agent} by {self.unit} a move, {self.game}, {games}, seed {self.seed}"

    def tables(self) -> list[Table]:
        """A row per point."""
        columns = [
            Column("against", [point.opponent for point in self.points], text=True),
            Column(self.unit, [f"{point.limit:g}" for point in self.points]),
        ]
        return [Table([*columns, *score_columns([point.match for point in self.points])], keys=2)]

    def columns(self) -> dict[str, list[Any]]:
        """A row per point."""
        return {
            "opponent": [point.opponent for point in self.points],
            self.unit: [point.limit for point in self.points],
            **score_values([point.match for point in self.points]),
        }

    def curves(self) -> dict[str, tuple[list[float], list[float], list[float], list[float]]]:
        """Curves of each opponent: limits, Elo differences, low and high ends of their intervals.

        Infinite values, where all games were won or lost, become NaN.
        """
        curves: dict[str, tuple[list[float], list[float], list[float], list[float]]] = {}
        for point in sorted(self.points, key=lambda point: point.limit):
            low, high = point.match.elo_interval
            numbers = (point.limit, point.match.score.elo, low, high)
            for column, number in zip(
                curves.setdefault(point.opponent, ([], [], [], [])), numbers, strict=True
            ):
                column.append(number if math.isfinite(number) else math.nan)
        return curves

    def plot(self) -> Any:
        """A picture of the curves, a ``matplotlib`` figure.

        Raises:
            ImportError: without matplotlib (the extra ``plot``).
        """
        from rave_agents.plots import curves, figures  # noqa: PLC0415  (slow: matplotlib)

        drawn = {f"against {name}": curves.Curve(*curve) for name, curve in self.curves().items()}
        picture = curves.plot_curves(drawn, label="Elo difference", level=0.0)
        axes = picture.axes[0]
        title = figures.literal(f"{self.agent}, {self.game}")
        axes.set(xlabel=f"{self.unit} a move", title=title)
        return picture

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON; infinite and unknown ones are None."""
        return {
            "game": self.game,
            "agent": self.agent,
            "unit": self.unit,
            "seed": self.seed,
            "games": self.planned,
            "rows": [
                {
                    self.unit: point.limit,
                    "opponent": point.opponent,
                    **point.match.score_to_dict(),
                }
                for point in self.points
            ],
        }


class ScalingError(UnfinishedError[ScalingResult]):
    """A game failed; the message names the point, the game, the seat and the agent."""


@validated
def run_scaling(
    game: Any,
    agent: Any,
    against: Any,
    *,
    simulations: Sequence[int] = (),
    seconds: Sequence[float] = (),
    games: Games = 100,
    seed: Natural = 0,
    opening_plies: Natural | None = None,
    forfeit: bool = False,
    jobs: Jobs = 1,
    executor: Executor | None = None,
    output: str | os.PathLike[str] | None = None,
    shard: Shard | str | None = None,
    progress: Progress[ScalingResult] = None,
) -> ScalingResult:
    """Play a match with every limit of an agent against each opponent.

    Ctrl-C ends the run early: the result then holds the finished games.

    Args:
        game: a two-player game or its name, such as ``"hex(board_size=9)"``; see ``as_game``.
        agent: the agent without a limit: a spec, or a class or function that takes ``simulations``
            or ``seconds``, see ``as_agent``.
        against: an opponent or a list of them, see ``play_match``. Opponents whose spec has no
            limit use 1,000 simulations per move.
        simulations: the limits in simulations per move.
        seconds: the limits in seconds per move, instead of ``simulations``.
        games: the number of games per limit and opponent, at least 1.
        seed: an integer of at least 0, the seed of everything random.
        opening_plies: number of random moves of each opening, see ``play_match``.
        forfeit: True if a program that fails to play loses its games, see ``play_match``.
        jobs: number of local worker processes.
        executor: runs the games instead of local processes, see ``play_match``.
        output: a file that records every game as it ends; games already in it are not played again,
            so a curve may grow by games, limits and opponents.
        shard: a part such as ``"3/40"``: play only these games.
        progress: None for a display in a terminal or notebook, False for none, True for a display
            in any case; or a function, called with the result so far before the first and after
            every game.

    Raises:
        UnknownNameError: for an unknown game, agent or parameter.
        UnsupportedGameError: if the game is not a two-player game, an agent cannot play it, or it
            cannot be sent to other processes.
        TypeError, ValueError: for an invalid value, if no opening can be found, or if ``output``
            belongs to other games or is in use by another process.
        OSError: if ``output`` cannot be read or written.
        ScalingError: if an agent fails or plays an illegal action; it holds the finished games.
    """
    options = checked_run_options(jobs, executor, output, shard)
    loaded = load_match_game(game)
    base = as_agent(agent)
    unit, limits = _limits(simulations, seconds)
    specs = [_limited(base, unit, limit) for limit in limits]
    opponents = _opponents(against)
    pairs = [(spec, other) for other in opponents for spec in specs]
    tables = [
        checked_table(loaded, spec, other, opening_plies=opening_plies, seed=seed)
        for spec, other in pairs
    ]
    name = game if isinstance(game, str) else loaded.name
    points = [
        ScalingPoint(
            limit=limits[index % len(limits)],
            opponent=str(other),
            match=MatchResult(
                game=name, agents=(str(spec), str(other)), seed=seed, planned=games, records=()
            ),
        )
        for index, (spec, other) in enumerate(pairs)
    ]
    empty = ScalingResult(
        game=name, agent=str(base), unit=unit, seed=seed, planned=games, points=tuple(points)
    )
    settings = {
        "game": name,
        "agent": str(base),
        "against": list(map(str, opponents)),
        unit: limits,
        "games": games,
        "seed": seed,
        "opening_plies": tables[0].opening_plies,
        "forfeit": forfeit,
    }
    plan = Plan(
        header=make_header("scaling", settings),
        tables=[dataclasses.replace(table, forfeit=forfeit) for table in tables],
        labels=[{"agents": list(point.match.agents)} for point in points],
        games=games,
    )
    with shown(progress) as report:
        collector = ResultCollector(empty, report, ScalingError)
        finished = carry_out(plan, options, collector)
    return dataclasses.replace(collector.result, interrupted=not finished)


def _limits(
    simulations: Sequence[int], seconds: Sequence[float]
) -> tuple[str, list[int] | list[float]]:
    if bool(simulations) == bool(seconds):
        raise ValueError("A curve is over simulations or over seconds: pass one of the two.")
    unit = "simulations" if simulations else "seconds"
    limits: list[Any] = list(simulations or seconds)
    for limit in limits:
        if limits.count(limit) > 1:
            raise ValueError(f"{unit} has {limit} twice.")
    return unit, limits


def _limited(base: AnyAgent, unit: str, limit: float) -> Contestant:
    for other in ("simulations", "seconds", "clock"):
        if other in base.parameters:
            raise ValueError(f"{base} sets {other!r} already, so its limit cannot vary.")
    if not base.takes(unit):
        raise ValueError(f"{base} takes no {unit}, so its limit cannot vary.")
    if isinstance(base, OwnAgent):
        return base.with_parameters({unit: limit})
    return limited_spec(base, **{unit: limit})  # type: ignore[arg-type]


def _opponents(against: Any) -> list[Contestant]:
    given = against if isinstance(against, list | tuple) else [against]
    opponents = [limited_agent(other, None, None) for other in given]
    names = list(map(str, opponents))
    if not names or len(set(names)) < len(names):
        raise ValueError(f"against needs opponents that differ, got {names}.")
    return opponents
