"""Matches: two agents, one game, many openings, each played from both seats.

A match comes out the same whatever engine plays its games, see ``plan``.
"""

import dataclasses
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from rave_agents.agents.named_agents import LIMITS, AgentSpec, agent_type, as_agent
from rave_agents.agents.state_agents import DEFAULT_SIMULATIONS, limit_and_clock
from rave_agents.arena.contestants import Contestant, make_contestant
from rave_agents.arena.journal import make_header
from rave_agents.arena.match_result import MatchError, MatchResult
from rave_agents.arena.plan import MOST_GAMES, Key, Plan, Record, Shard
from rave_agents.arena.play import Table
from rave_agents.arena.positions import moves_to, set_up
from rave_agents.arena.record import GameRecord
from rave_agents.arena.referee import checked_referee
from rave_agents.arena.run import RunOptions, carry_out
from rave_agents.arena.sgf import SgfFolder
from rave_agents.arena.sprt import Sprt
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game, is_dealt
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.arguments import answers_unknown_arguments, checked_seed
from rave_agents.game.game_state import has_simultaneous_moves
from rave_agents.game.notation import Moves
from rave_agents.results.progress import Progress, shown
from rave_agents.searcher.clock import Clock

__all__ = ["MatchError", "MatchResult", "limited_spec", "play_match"]

MOST_JOBS = 1_000
"""Processes that play games: more are a slip."""

DEFAULT_GAMES, MOST_TEST_GAMES = 100, 100_000
"""Games of a match by default, and at most of one with a sequential test."""

OPENING_PLIES = 2
"""Random moves at the start of games of turns, by default."""


@answers_unknown_arguments
def play_match(
    game: Any,
    first: Any,
    second: Any,
    *,
    games: int | None = None,
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
    seed: int = 0,
    opening_plies: int | None = None,
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
    jobs: int = 1,
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

    Ctrl-C ends it early: the result then holds the games that were finished, and is not
    ``complete``.

    Args:
        game: a game for two players, or its name: ``"hex(board_size=9)"``, ``"./nim.py:Nim"``; see
            ``as_game`` for all that it may be.
        first: the first agent: a spec such as ``"rave(simulations=500)"``, or one of your own, see
            ``rave_agents.as_agent``.
        second: the second agent.
        games: how many games, at least 1; None for 100, or with ``sprt`` for 100,000 at most. Of
            an odd number the last opening is played once.
        simulations: a move, for an agent whose spec has no limit; 1,000 if ``seconds`` is not given
            either.
        seconds: a move, for an agent whose spec has no limit.
        clock: the time that each side has for a game, such as ``"60+1"``, in place of ``seconds``;
            who oversteps it loses, whatever limit its spec has.
        seed: an integer of at least 0 that decides everything random.
        opening_plies: random moves that each opening starts with; None for 2, and for none where
            players may move at the same time: what they would waste blindly could decide the game.
            Chance outcomes between them are drawn by their probabilities and not counted.
        moves: moves that all games begin with, before those, a text or a sequence of actions;
            ``opening_plies`` is then 0 by default.
        position: the position that all games begin at, before ``moves``; see
            ``rave_agents.arena.positions.set_up``. Moves must lead to it: agents are told of them.
        jobs: processes that play at the same time.
        sgf: a folder that gets every finished game as an SGF file. One that has games of another
            match is refused.
        referee: the spec of a GTP program, such as ``gtp(command="gnugo --mode gtp")``, that checks
            every move and, at a game's end, has the last word on its result.
        forfeit: whether a GTP program that cannot be started, fails before its first move of a
            game, repeats its input or floods its output loses that game; otherwise it ends the
            match with an error. One that fails later in a game loses that game in any case.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called before the first and after every game with the
            result so far.
        sprt: a sequential test that ends the match as soon as its whole pairs, in their order,
            tell the answer: ``"0,5"`` asks whether the first agent is 5 (normalized) Elo points
            stronger, or 0.
        executor: who runs the games in place of ``jobs`` processes: any
            ``concurrent.futures.Executor``, such as that of a Dask client. The game and the agents
            travel by value.
        output: a file that gets every game as it ends, before ``progress`` sees it. Games that it
            has already are not played again; with more ``games`` than it was begun with, the match
            goes on as if it had been begun with them.
        shard: such as ``"3/40"``: play only this part of the games.

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if the game is not for two players or an agent cannot play it; or if
            it cannot be sent to other processes.
        TypeError, ValueError: for a value that is not allowed, if no opening can be found, or if
            ``output`` is of other games or is being written by another process.
        OSError: if ``output`` cannot be read or written.
        VersionsDifferError: if workers of the executor have other versions than this process.
        MatchError: if an agent fails or plays an illegal action; it keeps the finished games.
    """
    test = Sprt.parse(sprt) if isinstance(sprt, str) else sprt
    games = (DEFAULT_GAMES if test is None else MOST_TEST_GAMES) if games is None else games
    checked_count("games", games, 1, MOST_GAMES)
    options = checked_run_options(jobs, executor, output, shard)
    seed = checked_match_seed(seed)
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
    """The actions that lead to where all games begin.

    Raises:
        ValueError: if it is no position at which games can begin.
    """
    if isinstance(moves, str) and not moves and position is None:
        return ()
    if is_dealt(game):
        raise ValueError(f"{game.name} draws chance itself: its games begin at the beginning.")
    begun = set_up(game, moves, position)
    if begun.state.is_terminal():
        raise ValueError(f"The game is over: the returns are {list(begun.state.returns())}.")
    return moves_to(game, begun)


def _event(result: MatchResult, table: Table) -> str:
    """The match in words: everything that decides its games."""
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
    with shown(progress) as tell:
        collector = _ResultCollector(result, tell, folder, numbers)
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
            self.tell()
        return self._decided

    def _is_decided(self) -> bool:
        """True if the test has ended, by the pairs in their order, whatever was finished first."""
        sprt = self._empty.sprt
        while sprt is not None and self._records.keys() >= {2 * self._pairs, 2 * self._pairs + 1}:
            scores = [self._records[2 * self._pairs + game].score for game in (0, 1)]
            self._counts[round(2 * sum(scores))] += 1
            self._pairs += 1
            if sprt.verdict(self._counts) is not None:
                self._records = {n: r for n, r in self._records.items() if n < 2 * self._pairs}
                return True
        return False

    def tell(self) -> None:
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
    """The game, loaded by its name or wrapped if need be.

    Raises:
        UnknownNameError: for a name that does not exist.
        UnsupportedGameError: if it is not for two players.
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
    """The two agents at a table, after each was made for every seat, and an opening drawn.

    Raises:
        UnknownNameError: for an agent or a parameter that does not exist.
        UnsupportedGameError: if an agent cannot play the game.
        TypeError, ValueError: for a value that is not allowed, or if no opening can be found.
    """
    plies = usual_opening_plies(game, opening_plies)
    checked_count("opening_plies", plies, 0)
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
        TypeError, ValueError: for a value that is not allowed.
    """
    checked_count("jobs", jobs, 1, MOST_JOBS)
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"executor must be a concurrent.futures.Executor, got {executor!r}.")
    if shard is not None and output is None:
        raise ValueError("A shard needs output: the file that is merged with those of the others.")
    part = Shard.parse(shard) if isinstance(shard, str) else shard
    return RunOptions(jobs=jobs, executor=executor, output=output, shard=part)


def usual_opening_plies(game: Game, opening_plies: int | None) -> int:
    """Number of random moves at the start of games: the given number, or the usual one."""
    if opening_plies is not None:
        return opening_plies
    return 0 if has_simultaneous_moves(game.new_initial_state()) else OPENING_PLIES


def limited_agent(
    agent: Any, simulations: int | None, seconds: float | None, clock: str | None = None
) -> Contestant:
    """Coerce an agent to a contestant; a spec gets these limits as by ``limited_spec``."""
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
    """Put these limits into a spec, if it has none of its own and its agent takes them.

    Args:
        spec: an agent's spec.
        simulations: a move; 1,000 if neither ``seconds`` nor ``clock`` is given either.
        seconds: a move.
        clock: see ``rave_agents.searcher.clock.Clock.parse``.

    Raises:
        UnknownNameError: for an agent that does not exist.
        TypeError, ValueError: for a limit that is not allowed, or if the agent takes limits but
            none of those given: it would think with its own default, unnoticed.
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
            f"{parsed.name} takes no {' or '.join(given)}; give it a limit of its own, such as "
            f"{parsed.name}({own}={example})."
        )
    return parsed.with_defaults(given)


def checked_count(name: str, value: int, least: int, most: float = math.inf) -> None:
    """Raise TypeError or ValueError unless the value is an integer of these bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}.")
    if value > most:
        raise ValueError(f"{name} must be at most {most:,}, got {value}.")


def checked_match_seed(seed: int) -> int:
    """Return the seed, or raise TypeError or ValueError: None is no seed here."""
    checked = checked_seed(seed)
    if checked is None:
        raise TypeError("A match needs a seed, an integer of at least 0.")
    return checked
