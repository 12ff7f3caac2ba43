"""Matches: two agents, one game, many openings, each played from both seats.

The result of a match does not depend on the executor that plays its games, see ``plan``.
"""

import dataclasses
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Le

from rave_agents.agents.named_agents import LIMITS, AgentSpec, agent_type, as_agent
from rave_agents.agents.state_agents import DEFAULT_SIMULATIONS, limit_and_clock
from rave_agents.arena.contestants import Contestant, make_contestant
from rave_agents.arena.journal import make_header
from rave_agents.arena.match_result import MatchError, MatchResult
from rave_agents.arena.plan import MOST_GAMES, Key, Plan, Record, Shard
from rave_agents.arena.play import Table
from rave_agents.arena.referee import checked_referee
from rave_agents.arena.run import RunOptions, carry_out
from rave_agents.arena.sprt import Sprt
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game, is_dealt
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import has_simultaneous_moves
from rave_agents.game.notation import Moves
from rave_agents.game.validation import Natural, validated
from rave_agents.records.positions import moves_to, set_up
from rave_agents.records.record import GameRecord
from rave_agents.records.sgf import SgfFolder
from rave_agents.results.progress import Progress, shown
from rave_agents.searcher.clock import Clock

__all__ = ["MatchError", "MatchResult", "limited_spec", "play_match"]

Games = Annotated[int, Ge(1), Le(MOST_GAMES)]
"""A number of games."""

Jobs = Annotated[int, Ge(1), Le(1_000)]
"""A number of worker processes; the maximum catches typing errors."""

DEFAULT_GAMES, MOST_TEST_GAMES = 100, 100_000
"""Default number of games of a match, and maximum with a sequential test."""

OPENING_PLIES = 2
"""Default number of random opening moves in games with alternating moves."""


@validated
def play_match(
    game: Any,
    first: Any,
    second: Any,
    *,
    games: Games | None = None,
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
    seed: Natural = 0,
    opening_plies: Natural | None = None,
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
    jobs: Jobs = 1,
    sgf: str | Path | None = None,
    referee: AgentSpec | str | None = None,
    forfeit: bool = False,
    progress: Progress[MatchResult] = None,
    sprt: Sprt | str | None = None,
    executor: Executor | None = None,
    output: str | os.PathLike[str] | None = None,
    shard: Shard | str | None = None,
) -> MatchResult:
    """Play a match between two agents.

    Ctrl-C ends the run early: the result then holds the finished games, and is not ``complete``.

    Args:
        game: a two-player game or its name: ``"hex(board_size=9)"``, ``"./nim.py:Nim"``; see
            ``as_game``.
        first: the first agent: a spec such as ``"rave(simulations=500)"``, or a custom agent, see
            ``rave_agents.as_agent``.
        second: the second agent.
        games: the number of games, at least 1; None for 100, or for at most 100,000 with ``sprt``.
            If it is odd, the last opening is played once.
        simulations: simulations per move, for agents whose spec has no limit; 1,000 if ``seconds``
            is not given either.
        seconds: seconds per move, for agents whose spec has no limit.
        clock: the time per side and game, such as ``"60+1"``, instead of ``seconds``; a side that
            runs out of time loses, even if its spec has a limit.
        seed: an integer of at least 0, the seed of everything random.
        opening_plies: number of random moves of each opening; None for 2, and for 0 with
            simultaneous moves, where random moves could decide the game. Chance outcomes in between
            are drawn and not counted.
        moves: moves at the start of all games, before the random ones, a text or a sequence of
            actions; ``opening_plies`` is then 0 by default.
        position: the position at the start of all games, before ``moves``; see
            ``rave_agents.records.positions.set_up``. It must be reachable by moves, since agents
            receive these.
        jobs: number of worker processes.
        sgf: a folder for an SGF file of every finished game. A folder with games of another match
            is refused.
        referee: the spec of a GTP program, such as ``gtp(command="gnugo --mode gtp")``, that checks
            every move and decides the result of finished games.
        forfeit: True if a GTP program that cannot be started, fails before its first move of a
            game, repeats its input or floods its output loses that game; otherwise it ends the
            match with an error. A program that fails later loses that game in any case.
        progress: None for a display in a terminal or notebook, False for none, True for a display
            in any case; or a function, called with the result so far before the first and after
            every game.
        sprt: a sequential test that ends the match as soon as complete pairs, in order, decide it:
            ``"0,5"`` tests whether the first agent is stronger by 5 (normalized) Elo points, or by
            0.
        executor: runs the games instead of ``jobs`` processes: any ``concurrent.futures.Executor``,
            such as a Dask client's. The game and the agents are pickled by value.
        output: a file that records every game as it ends, before ``progress`` is called. Games
            already in it are not played again; with more ``games`` than before, the match continues
            as if it had been started with them.
        shard: a part such as ``"3/40"``: play only these games.

    Raises:
        UnknownNameError: for an unknown game, agent or parameter.
        UnsupportedGameError: if the game is not a two-player game, an agent cannot play it, or it
            cannot be sent to other processes.
        TypeError, ValueError: for an invalid value, if no opening can be found, or if ``output``
            belongs to other games or is in use by another process.
        OSError: if ``output`` cannot be read or written.
        VersionsDifferError: if the executor's workers have other versions than this process.
        MatchError: if an agent fails or plays an illegal action; it holds the finished games.
    """
    test = Sprt.parse(sprt) if isinstance(sprt, str) else sprt
    games = (DEFAULT_GAMES if test is None else MOST_TEST_GAMES) if games is None else games
    options = checked_run_options(jobs, executor, output, shard)
    loaded = load_match_game(game)
    agents = (
        limited_agent(first, simulations, seconds, clock),
        limited_agent(second, simulations, seconds, clock),
    )
    start = _start(loaded, moves, position)
    plies = 0 if start and opening_plies is None else opening_plies
    table = checked_table(loaded, *agents, opening_plies=plies, seed=seed, start=start)
    table = dataclasses.replace(table, forfeit=forfeit)
    if clock is not None:
        table = dataclasses.replace(table, clock=str(Clock.parse(clock)))
    if referee is not None:
        spec = AgentSpec.parse(referee) if isinstance(referee, str) else referee
        table = dataclasses.replace(table, referee=checked_referee(spec, loaded))
    result = MatchResult(
        game=game if isinstance(game, str) else loaded.name,
        agents=(str(agents[0]), str(agents[1])),
        seed=seed,
        planned=games,
        records=(),
        sprt=test,
    )
    folder = None if sgf is None else SgfFolder(sgf, loaded, result.agents, _event(result, table))
    return _played(result, table, options, progress, folder)


def _start(game: Game, moves: Moves, position: str | os.PathLike[str] | None) -> tuple[int, ...]:
    """The actions that lead to the starting position of all games.

    Raises:
        ValueError: if games cannot start from it.
    """
    if isinstance(moves, str) and not moves and position is None:
        return ()
    if is_dealt(game):
        raise ValueError(f"{game.name} draws chance itself: its games must start at the beginning.")
    begun = set_up(game, moves, position)
    if begun.state.is_terminal():
        raise ValueError(f"The game is over there: the returns are {list(begun.state.returns())}.")
    return moves_to(game, begun)


def _event(result: MatchResult, table: Table) -> str:
    """The match in words, with everything that determines its games."""
    one, two = result.agents
    options = {"clock": table.clock, "referee": table.referee, "forfeit": table.forfeit or None}
    given = [f"{name} {value}" for name, value in options.items() if value is not None]
    plies = f"{table.opening_plies} opening plies"
    if table.start:
        plies += f" after {' '.join(map(str, table.start))}"
    return ", ".join([f"{result.game}: {one} against {two}", f"seed {result.seed}", plies, *given])


def _played(
    result: MatchResult,
    table: Table,
    options: RunOptions,
    progress: Progress[MatchResult],
    folder: SgfFolder | None,
) -> MatchResult:
    settings = {
        "game": result.game,
        "agents": list(result.agents),
        "games": result.planned,
        "seed": result.seed,
        "opening_plies": table.opening_plies,
        "clock": table.clock,
        "referee": None if table.referee is None else str(table.referee),
        "forfeit": table.forfeit,
        **({"start": list(table.start)} if table.start else {}),
        "sprt": None if result.sprt is None else dataclasses.asdict(result.sprt),
    }
    header = make_header("match", settings)
    plan = Plan(header=header, tables=[table], labels=[{}], games=result.planned)
    numbers = [key.number for key in plan.keys(options.shard)] if folder is not None else []
    with shown(progress) as report:
        collector = _ResultCollector(result, report, folder, numbers)
        finished = carry_out(plan, options, collector)
    return dataclasses.replace(collector.result(), interrupted=not finished)


class _ResultCollector:
    """The finished games of a match."""

    def __init__(
        self,
        empty: MatchResult,
        progress: Callable[[MatchResult], object] | None,
        folder: SgfFolder | None,
        numbers: Sequence[int],
    ) -> None:
        self._empty = empty
        self._progress = progress
        self._folder, self._numbers = folder, numbers
        self._records: dict[int, GameRecord] = {}
        self._counts = [0] * 5
        self._pairs = 0
        self._began = self._decided = False

    def take(self, key: Key, record: Record) -> bool:
        assert isinstance(record, GameRecord)
        if self._decided:
            return True
        self._records[key.number] = record
        self._decided = self._is_decided()
        if self._began:
            if self._folder is not None:
                self._folder.save(record)
            self.report()
        return self._decided

    def _is_decided(self) -> bool:
        """True if the test has ended, counting pairs in their order, not as they finish."""
        sprt = self._empty.sprt
        while sprt is not None and self._records.keys() >= {2 * self._pairs, 2 * self._pairs + 1}:
            scores = [self._records[2 * self._pairs + game].score for game in (0, 1)]
            self._counts[round(2 * sum(scores))] += 1
            self._pairs += 1
            if sprt.verdict(self._counts) is not None:
                self._records = {n: r for n, r in self._records.items() if n < 2 * self._pairs}
                return True
        return False

    def report(self) -> None:
        if self._folder is not None and not self._began:
            self._folder.begin(self._records, self._numbers)
        self._began = True
        if self._progress is not None:
            self._progress(self.result())

    def result(self) -> MatchResult:
        return self._empty.plus(*self._records.values())

    def fail(self, key: Key | None, message: str) -> MatchError:
        return MatchError(message, self.result())


def load_match_game(game: Any) -> Game:
    """Load a game by its name, or wrap an object.

    Raises:
        UnknownNameError: for an unknown name.
        UnsupportedGameError: if it is not a two-player game.
    """
    loaded = as_game(game)
    if loaded.num_players != 2:
        raise UnsupportedGameError(
            f"A match needs a game for two players; {loaded.name} has {loaded.num_players}."
        )
    return loaded


def checked_table(
    game: Game,
    first: Contestant,
    second: Contestant,
    *,
    opening_plies: int | None,
    seed: int,
    start: tuple[int, ...] = (),
) -> Table:
    """Check a table: make both agents for every seat and draw an opening; returns the agents.

    Raises:
        UnknownNameError: for an unknown agent or parameter.
        UnsupportedGameError: if an agent cannot play the game.
        TypeError, ValueError: for an invalid value, or if no opening can be found.
    """
    plies = usual_opening_plies(game, opening_plies)
    for who in (first, second):
        if isinstance(who, AgentSpec):
            for seat in range(game.num_players):
                make_contestant(who, game, seat, 0)
    table = Table(game, (first, second), seed=seed, opening_plies=plies, start=start)
    table.fixture(0)
    return table


def checked_run_options(
    jobs: int,
    executor: Executor | None,
    output: str | os.PathLike[str] | None,
    shard: Shard | str | None,
) -> RunOptions:
    """Check the options of a run.

    Raises:
        TypeError, ValueError: for an invalid value.
    """
    if shard is not None and output is None:
        raise ValueError("A shard needs output: a file to be merged with the other shards' files.")
    part = Shard.parse(shard) if isinstance(shard, str) else shard
    return RunOptions(jobs=jobs, executor=executor, output=output, shard=part)


def usual_opening_plies(game: Game, opening_plies: int | None) -> int:
    """Number of random opening moves: the given number or the default."""
    if opening_plies is not None:
        return opening_plies
    return 0 if has_simultaneous_moves(game.new_initial_state()) else OPENING_PLIES


def limited_agent(
    agent: Any, simulations: int | None, seconds: float | None, clock: str | None = None
) -> Contestant:
    """Coerce an agent to a contestant; a spec gets these limits, see ``limited_spec``."""
    who = as_agent(agent)
    if isinstance(who, AgentSpec):
        return limited_spec(who, simulations, seconds, clock)
    return who


def limited_spec(
    spec: AgentSpec | str,
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
) -> AgentSpec:
    """Add these limits to a spec, if it has none and its agent takes them.

    Args:
        spec: an agent's spec.
        simulations: simulations per move; 1,000 if none of the limits is given.
        seconds: seconds per move.
        clock: see ``rave_agents.searcher.clock.Clock.parse``.

    Raises:
        UnknownNameError: for an agent that does not exist.
        TypeError, ValueError: for an invalid limit, or if the agent takes limits but none of these:
            it would silently use its default.
    """
    parsed = AgentSpec.parse(spec) if isinstance(spec, str) else spec
    limit, parsed_clock = limit_and_clock(simulations, seconds, clock)
    limits = {
        "simulations": None if limit is None else limit.simulations,
        "seconds": None if limit is None else limit.seconds,
        "clock": None if parsed_clock is None else str(parsed_clock),
    }
    given = {name: value for name, value in limits.items() if value is not None}
    known = agent_type(parsed.name).parameters.keys()
    takes = {"simulations", "seconds"} & known
    asked = (simulations, seconds, clock) != (None, None, None)
    if asked and takes and not LIMITS & known & (given.keys() | parsed.parameters.keys()):
        own = min(takes)
        example = DEFAULT_SIMULATIONS if own == "simulations" else 1.0
        raise ValueError(
            f"{parsed.name} takes no {' or '.join(given)}; put a limit into its spec, such as "
            f"{parsed.name}({own}={example})."
        )
    return parsed.with_defaults(given)
