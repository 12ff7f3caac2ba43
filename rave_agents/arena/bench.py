"""Simulations per second beside a baseline, by default OpenSpiel's C++ MCTSBot.

Times of different machines and runs do not compare, ratios of one run do. So in every round each
agent searches the same position in turn, with the same number of simulations and a fresh tree, as
at the beginning of another game, and a ratio is that of two medians over the rounds.
"""

import dataclasses
import functools
import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rave_agents.agents.named_agents import AgentSpec, as_agent, make_agent
from rave_agents.arena.contestants import counts_simulations
from rave_agents.arena.match import checked_count, checked_match_seed
from rave_agents.arena.openings import initial_decision
from rave_agents.arena.play import warm_up
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.arguments import answers_unknown_arguments
from rave_agents.game.game_state import GameState
from rave_agents.results.numbers import counted, whole
from rave_agents.results.progress import Progress, shown
from rave_agents.results.result import GrowingResult, by_column
from rave_agents.results.tables import Column, Table

DEFAULT_GAMES = (
    "tic_tac_toe",
    "connect_four",
    "go(board_size=9)",
    "hex(board_size=11)",
    "breakthrough",
    "othello",
    "clobber",
    "y(board_size=9)",
    "havannah(board_size=8)",
    "lines_of_action",
    "amazons",
    "pentago",
)
"""OpenSpiel's games with short and long playouts, few and many actions."""

DEFAULT_AGENTS = ("uct", "rave")
"""The agents that are measured."""

BASELINE = "mcts"
"""The agent that they are measured against."""

ROUND_SECONDS = 0.2
"""Target duration of a round of the slowest agent, in seconds."""

_FIRST_SIMULATIONS = 100
"""Simulations with which the calibration starts."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class BenchRow:
    """One agent on one game."""

    game: str
    """The game as it was asked for."""
    agent: str
    """The agent's spec."""
    simulations_per_second: float
    """Median over the rounds."""
    baseline_simulations_per_second: float
    """The baseline's median over the same rounds."""

    @property
    def ratio(self) -> float:
        """Simulations of the agent for each simulation of the baseline in the same time."""
        return self.simulations_per_second / self.baseline_simulations_per_second


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class BenchResult(GrowingResult):
    """All agents on all games of one run."""

    rows: tuple[BenchRow, ...]
    """Game by game."""
    baseline: str = BASELINE
    """The agent that they were measured against."""
    finished: int = 0
    """Number of finished rounds, all games together."""
    all_planned: int = 0
    """Number of planned rounds."""
    game: str = ""
    """The game that is being measured; empty at the end."""
    interrupted: bool = False
    """True if Ctrl-C ended it: then the rows are those of the games finished before."""

    @functools.cached_property
    def geometric_mean(self) -> dict[str, float]:
        """Geometric mean of each agent's ratios over the games."""
        ratios: dict[str, list[float]] = {}
        for row in self.rows:
            ratios.setdefault(row.agent, []).append(row.ratio)
        return {agent: statistics.geometric_mean(values) for agent, values in ratios.items()}

    @property
    def latest_line(self) -> str:
        """The game that is being measured; empty at the end."""
        return self.game

    def summary(self) -> str:
        """The games, and each agent's geometric mean."""
        games = counted(len({row.game for row in self.rows}), "game")
        means = (f"{agent} {ratio:.2f}" for agent, ratio in self.geometric_mean.items())
        line = f"simulations a second beside {self.baseline}, {games}"
        return f"{line}: {', '.join(means)}" if self.rows else line

    def tables(self) -> list[Table]:
        """A row for each game and agent, and the geometric means."""
        means = self.geometric_mean.items()
        speeds = [whole(row.simulations_per_second) for row in self.rows]
        baseline = [whole(row.baseline_simulations_per_second) for row in self.rows]
        ratios = [
            f"{ratio:.2f}" for ratio in (*(row.ratio for row in self.rows), *dict(means).values())
        ]
        empty = [""] * len(means)
        columns = [
            Column(
                "game",
                [*(row.game for row in self.rows), *(["geometric mean"] * len(means))],
                text=True,
            ),
            Column("agent", [*(row.agent for row in self.rows), *dict(means)], text=True),
            Column("agent's", speeds + empty),
            Column("baseline's", baseline + empty, rank=1),
            Column("ratio", ratios),
        ]
        return [Table(columns, keys=2)]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each game and agent."""
        names = ("game", "agent", "simulations_per_second", "baseline_simulations_per_second")
        return by_column(
            (*names, "ratio"),
            [tuple(getattr(row, name) for name in (*names, "ratio")) for row in self.rows],
        )

    def _estimates(self) -> dict[str, Any]:
        estimates = [(f"{row.game}, {row.agent}", row.ratio) for row in self.rows]
        label = f"simulations for each one of {self.baseline}"
        return {"estimates": estimates, "label": label, "level": 1.0}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        rows = [
            {
                "game": row.game,
                "agent": row.agent,
                "simulations_per_second": row.simulations_per_second,
                "mctsbot_simulations_per_second": row.baseline_simulations_per_second,
                "ratio": row.ratio,
            }
            for row in self.rows
        ]
        return {"rows": rows, "geometric_mean": self.geometric_mean}


@answers_unknown_arguments
def run_bench(
    games: Sequence[Any] = DEFAULT_GAMES,
    agents: Sequence[str] = DEFAULT_AGENTS,
    *,
    baseline: str = BASELINE,
    rounds: int = 5,
    seed: int = 0,
    round_seconds: float = ROUND_SECONDS,
    progress: Progress[BenchResult] = None,
) -> BenchResult:
    """Measure simulations per second from the first position of each game.

    Chance moves before the first decision are drawn. Building agents, compiling and loading code
    are not measured. An agent that proves the game early is measured by what it really ran, and a
    fast one searches again until half the seconds of a round are used. Ctrl-C ends the run with the
    games that are finished.

    Args:
        games: games or their names, see ``as_game``.
        agents: specs of agents that count simulations; a limit of their own is kept.
        baseline: the spec that they are compared with.
        rounds: how often each agent is measured, at least 1.
        seed: an integer of at least 0, for everything random.
        round_seconds: seconds that a round is to take the slowest agent.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called after each game's calibration and after every
            round with the result so far.

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if an agent cannot play a game.
        TypeError, ValueError: for a value that is not allowed, or an agent that has no simulations.
    """
    checked_count("rounds", rounds, 1)
    seed = checked_match_seed(seed)
    if not 0 < round_seconds < math.inf:
        raise ValueError(f"round_seconds must be a finite number above 0, got {round_seconds!r}.")
    specs = [_counting_spec(spec) for spec in (baseline, *agents)]
    loaded = [as_game(game) for game in games]
    for game in loaded:
        for spec in specs:
            make_agent(spec, game, 0)
    result = BenchResult(rows=(), baseline=baseline, all_planned=rounds * len(loaded))
    with shown(progress) as tell:
        for asked, game in zip(games, loaded, strict=True):
            name = asked if isinstance(asked, str) else game.name
            begun = dataclasses.replace(result, game=name)
            told = None if tell is None else functools.partial(_tell, tell, begun)
            try:
                base, *speeds = _measure(
                    game, specs, rounds=rounds, seed=seed, round_seconds=round_seconds, tell=told
                )
            except KeyboardInterrupt:
                return dataclasses.replace(result, interrupted=True)
            rows = tuple(
                BenchRow(
                    game=name,
                    agent=agent,
                    simulations_per_second=speed,
                    baseline_simulations_per_second=base,
                )
                for agent, speed in zip(agents, speeds, strict=True)
            )
            finished = result.finished + rounds
            result = dataclasses.replace(result, rows=result.rows + rows, finished=finished)
    return result


def _tell(tell: Callable[[BenchResult], object], begun: BenchResult, rounds: int) -> None:
    """Tell of the result with some rounds of the game that has begun."""
    tell(dataclasses.replace(begun, finished=begun.finished + rounds))


class _Position(NamedTuple):
    """The position that all agents search."""

    game: Game
    state: GameState


def _counting_spec(spec: Any) -> AgentSpec:
    asked = as_agent(spec)
    if not isinstance(asked, AgentSpec) or not counts_simulations(asked):
        raise ValueError(f"{asked.name} has no simulations that could be counted.")
    return asked


def _measure(
    game: Game,
    specs: Sequence[AgentSpec],
    *,
    rounds: int,
    seed: int,
    round_seconds: float,
    tell: Callable[[int], None] | None,
) -> list[float]:
    """Median simulations per second of each agent on one game; the first is the baseline."""
    position = _Position(game, initial_decision(game, seed))
    if position.state.is_terminal():
        raise ValueError(f"{game.name} is over before the first move: nothing can be measured.")
    for spec in specs:
        warm_up(spec, game)
    simulations = min(_calibrate(position, spec, seed, round_seconds) for spec in specs)
    if tell is not None:
        tell(0)
    speeds: list[list[float]] = [[] for _ in specs]
    agents = [_agent(position, spec, simulations, seed) for spec in specs]
    for number in range(rounds):
        for spec, agent, measured in zip(specs, agents, speeds, strict=True):
            measured.append(_round(position, spec, agent, round_seconds))
        if tell is not None:
            tell(number + 1)
    return [statistics.median(measured) for measured in speeds]


def _round(position: _Position, spec: AgentSpec, agent: Agent, round_seconds: float) -> float:
    """Simulations per second of one agent in one round."""
    before = agent.effort
    while True:
        agent.restart()
        agent.step(position.state)
        done = agent.effort.simulations - before.simulations
        seconds = agent.effort.seconds - before.seconds
        if seconds >= round_seconds / 2:
            break
    if done == 0:
        raise ValueError(
            f"{spec} ran no simulations on {position.game.name}: its first move is forced."
        )
    return done / seconds


def _calibrate(position: _Position, spec: AgentSpec, seed: int, round_seconds: float) -> int:
    """Find out how many simulations take the agent the seconds of a round.

    If a proof ends the search before, these are the simulations of the proof: rounds repeat it.
    """
    simulations = _FIRST_SIMULATIONS
    while True:
        agent = _agent(position, spec, simulations, seed)
        agent.step(position.state)
        effort = agent.effort
        if effort.simulations < simulations:
            return max(1, effort.simulations)
        if effort.seconds > round_seconds / 4:
            return max(1, round(simulations * round_seconds / effort.seconds))
        simulations *= 2


def _agent(position: _Position, spec: AgentSpec, simulations: int, seed: int) -> Agent:
    """Make an agent with this limit of simulations, unless its spec has one."""
    limited = spec.with_defaults({"simulations": simulations, "seed": seed})
    return make_agent(limited, position.game, max(0, int(position.state.current_player())))
