"""Simulations per second compared with a baseline, by default OpenSpiel's C++ MCTSBot.

Times of different machines and runs are not comparable, ratios within one run are. So in every
round each agent in turn searches the same position with the same number of simulations and a fresh
tree, and a ratio is that of the two medians over the rounds. Much slower peers of other programs
use as many simulations as fit into a round.
"""

import dataclasses
import functools
import statistics
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rave_agents.agents.named_agents import AgentSpec, as_agent, make_agent
from rave_agents.arena.bench_result import BenchResult, BenchRow
from rave_agents.arena.contestants import counts_simulations
from rave_agents.arena.match import play_match
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.play import warm_up
from rave_agents.arena.thirty_games import THIRTY_GAMES
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import GameState
from rave_agents.game.validation import Count, Natural, Positive, validated
from rave_agents.records.openings import initial_decision
from rave_agents.results.progress import Progress, shown

DEFAULT_AGENTS = ("uct", "rave")
"""The agents to measure."""

BASELINE = "mcts"
"""The baseline agent."""

PEERS = ("mcts_py",)
"""Agents of other programs, also measured in the games they can play."""

ROUND_SECONDS = 0.2
"""Target duration of a round of the slowest agent, in seconds."""

EQUAL_TIME_GAMES = 20
"""Number of games of a match at equal time."""

_FIRST_SIMULATIONS = 100
"""Initial number of simulations of the calibration."""

_FEWEST = 2
"""Minimum simulations of a round: with one, OpenSpiel's Python bot cannot choose a move."""


@validated
def run_bench(
    games: Sequence[Any] = THIRTY_GAMES,
    agents: Sequence[str] = DEFAULT_AGENTS,
    *,
    baseline: str = BASELINE,
    rounds: Count = 5,
    seed: Natural = 0,
    round_seconds: Positive = ROUND_SECONDS,
    equal_time: Positive | None = None,
    equal_time_games: Count = EQUAL_TIME_GAMES,
    peers: bool = True,
    progress: Progress[BenchResult] = None,
) -> BenchResult:
    """Measure simulations per second from the first position of each game.

    Chance outcomes before the first decision are drawn. Creating agents, compiling and loading code
    are not measured. An agent that proves the game early is measured by the simulations it ran, and
    a fast one searches repeatedly until half of the round's time is used. Ctrl-C ends the run,
    keeping finished games.

    Args:
        games: games or their names, see ``as_game``.
        agents: specs of agents that count simulations; limits in specs are kept.
        baseline: the spec of the baseline.
        rounds: number of measurements per agent, at least 1.
        seed: an integer of at least 0, for everything random.
        round_seconds: target seconds of a round for the slowest agent.
        equal_time: seconds per move of an additional match against the baseline, per agent and
            game. None for no matches.
        equal_time_games: games of such a match, at least 1.
        peers: True to measure OpenSpiel's Python bot as well, in the games it can play.
        progress: None for a display in a terminal or notebook, False for none, True for a display
            in any case; or a function, called with the result so far after each game's calibration,
            every round and every game at equal time.

    Raises:
        UnknownNameError: for an unknown game, agent or parameter.
        UnsupportedGameError: if an agent cannot play a game.
        TypeError, ValueError: for an invalid value, or an agent that has no simulations.
    """
    plan = _checked_plan(
        agents, baseline, rounds, seed, round_seconds, equal_time, equal_time_games
    )
    loaded = [as_game(game) for game in games]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Whether AMAF misleads does not matter for speed.
        for game in loaded:
            for spec in plan.specs:
                make_agent(spec, game, 0)
    planned = len(loaded) * plan.steps_per_game
    result = BenchResult(rows=(), baseline=baseline, all_planned=planned)
    with shown(progress) as report:
        for asked, game in zip(games, loaded, strict=True):
            name = asked if isinstance(asked, str) else game.name
            begun = dataclasses.replace(result, game=name)
            report_steps = (
                None if report is None else functools.partial(_report_steps, report, begun)
            )
            try:
                rows = _rows(name, game, plan, _peers_of(game, plan) if peers else [], report_steps)
            except KeyboardInterrupt:
                return dataclasses.replace(result, interrupted=True)
            result = dataclasses.replace(
                result,
                rows=(*result.rows, *rows),
                finished=result.finished + plan.steps_per_game,
            )
    return result


class _Plan(NamedTuple):
    """Arguments of a run, checked."""

    specs: list[AgentSpec]
    """The baseline, and the agents."""
    rounds: int
    seed: int
    round_seconds: float
    equal_time: float | None
    equal_time_games: int

    @property
    def steps_per_game(self) -> int:
        """Rounds, and games at equal time."""
        matches = 0 if self.equal_time is None else len(self.specs) - 1
        return self.rounds + matches * self.equal_time_games


def _checked_plan(
    agents: Sequence[Any],
    baseline: Any,
    rounds: int,
    seed: int,
    round_seconds: float,
    equal_time: float | None,
    equal_time_games: int,
) -> _Plan:
    specs = [_counting_spec(spec) for spec in (baseline, *agents)]
    return _Plan(specs, rounds, seed, round_seconds, equal_time, equal_time_games)


def _counting_spec(spec: Any) -> AgentSpec:
    asked = as_agent(spec)
    if not isinstance(asked, AgentSpec) or not counts_simulations(asked):
        raise ValueError(f"{asked.name} has no simulations that could be counted.")
    return asked


def _peers_of(game: Game, plan: _Plan) -> list[AgentSpec]:
    """The peers that can play the game and are not among the agents."""
    asked = {spec.name for spec in plan.specs}
    found = []
    for spec in (AgentSpec.parse(name) for name in PEERS if name not in asked):
        try:
            make_agent(spec, game, 0)
        except (UnsupportedGameError, UnknownNameError):
            continue
        found.append(spec)
    return found


def _report_steps(report: Callable[[BenchResult], object], begun: BenchResult, steps: int) -> None:
    """Report the result with some steps of the current game."""
    report(dataclasses.replace(begun, finished=begun.finished + steps))


def _rows(
    name: str,
    game: Game,
    plan: _Plan,
    peers: Sequence[AgentSpec],
    report: Callable[[int], None] | None,
) -> list[BenchRow]:
    """Measure the agents and peers on one game, and play its matches."""
    base, *speeds = _measure(game, plan, peers, report)
    rows = []
    for number, (spec, speed) in enumerate(zip([*plan.specs[1:], *peers], speeds, strict=True)):
        match = None
        if plan.equal_time is not None and spec not in peers:
            done = plan.rounds + number * plan.equal_time_games
            match = play_match(
                game,
                spec,
                plan.specs[0],
                games=plan.equal_time_games,
                seconds=plan.equal_time,
                seed=plan.seed,
                progress=False if report is None else _counted_from(done, report),
            )
            if match.interrupted:
                raise KeyboardInterrupt
        rows.append(
            BenchRow(
                game=name,
                agent=str(spec),
                simulations_per_second=speed,
                baseline_simulations_per_second=base,
                match=match,
            )
        )
    return rows


def _counted_from(done: int, report: Callable[[int], None]) -> Callable[[MatchResult], None]:
    """Progress of a match that starts after ``done`` steps of its game."""
    return lambda match: report(done + match.finished)


class _Position(NamedTuple):
    """The position that all agents search."""

    game: Game
    state: GameState


def _measure(
    game: Game,
    plan: _Plan,
    peers: Sequence[AgentSpec],
    report: Callable[[int], None] | None,
) -> list[float]:
    """Median simulations per second of each agent on one game; the first is the baseline."""
    position = _Position(game, initial_decision(game, plan.seed))
    if position.state.is_terminal():
        raise ValueError(f"{game.name} is over before the first move: nothing to measure.")
    for spec in plan.specs:
        warm_up(spec, game)
    simulations = min(_calibrate(position, spec, plan) for spec in plan.specs)
    # OpenSpiel's Python bot takes at least 2.
    fewer = [max(2, min(simulations, _calibrate(position, spec, plan))) for spec in peers]
    if report is not None:
        report(0)
    specs = [*plan.specs, *peers]
    counts = [simulations] * len(plan.specs) + fewer
    agents = [_agent(position, *each, plan.seed) for each in zip(specs, counts, strict=True)]
    speeds: list[list[float]] = [[] for _ in specs]
    for number in range(plan.rounds):
        for spec, agent, measured in zip(specs, agents, speeds, strict=True):
            measured.append(_round(position, spec, agent, plan.round_seconds))
        if report is not None:
            report(number + 1)
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


def _calibrate(position: _Position, spec: AgentSpec, plan: _Plan) -> int:
    """Find the number of simulations that takes the agent one round's seconds.

    If a proof ends the search earlier, it is the number of the proof's simulations, which rounds
    repeat.
    """
    simulations = _FIRST_SIMULATIONS
    while True:
        agent = _agent(position, spec, simulations, plan.seed)
        agent.step(position.state)
        effort = agent.effort
        if effort.simulations < simulations:
            return max(_FEWEST, effort.simulations)
        if effort.seconds > plan.round_seconds / 4:
            return max(_FEWEST, round(simulations * plan.round_seconds / effort.seconds))
        simulations *= 2


def _agent(position: _Position, spec: AgentSpec, simulations: int, seed: int) -> Agent:
    """Make an agent with this limit of simulations, unless its spec has its own."""
    limited = spec.with_defaults({"simulations": simulations, "seed": seed})
    return make_agent(limited, position.game, max(0, int(position.state.current_player())))
