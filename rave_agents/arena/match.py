"""Matches: two agents, one game, many openings, each played from both seats."""

import dataclasses
import os
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena.arguments import (
    game_name,
    limited_agent,
    load_match_game,
    make_tables,
)
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.play import Table
from rave_agents.arena.referee import referee_program
from rave_agents.arena.run import GameCount, Jobs, Pairing, Plan, Run, RunOptions, Shard
from rave_agents.arena.sprt import Sprt
from rave_agents.arena.worker import Key
from rave_agents.frameworks.adapters import Game, is_dealt
from rave_agents.game.notation import Moves
from rave_agents.game.validation import Natural, validated
from rave_agents.records.positions import moves_to, set_up
from rave_agents.records.record import GameRecord
from rave_agents.records.sgf import SgfFolder
from rave_agents.results.progress import Progress
from rave_agents.searcher.clock import Clock

DEFAULT_GAMES, MOST_TEST_GAMES = 100, 100_000
"""Default number of games of a match, and maximum with a sequential test."""


@validated
def play_match(
    game: Any,
    first: Any,
    second: Any,
    *,
    games: GameCount | None = None,
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
        RunError: if an agent fails or plays an illegal action; it holds the finished games.
    """
    test = Sprt.parse(sprt) if isinstance(sprt, str) else sprt
    checker = AgentSpec.parse(referee) if isinstance(referee, str) else referee
    if games is None:
        games = DEFAULT_GAMES if test is None else MOST_TEST_GAMES
    options = RunOptions.of(jobs, executor, output, shard)
    loaded = load_match_game(game)
    start = _start(loaded, moves, position)
    agents = (
        limited_agent(first, simulations, seconds, clock),
        limited_agent(second, simulations, seconds, clock),
    )
    (table,) = make_tables(
        loaded,
        [agents],
        seed=seed,
        opening_plies=0 if start and opening_plies is None else opening_plies,
        clock=None if clock is None else Clock.parse(clock),
        referee=checker,
        forfeit=forfeit,
        start=start,
    )
    if checker is not None:
        referee_program(checker, loaded)
    pairing = Pairing(game_name(game, loaded), (str(table.agents[0]), str(table.agents[1])))
    settings = {
        "game": pairing.game,
        "agents": list(pairing.agents),
        "games": games,
        "seed": seed,
        "opening_plies": table.opening_plies,
        "clock": None if table.clock is None else str(table.clock),
        "referee": None if table.referee is None else str(table.referee),
        "forfeit": forfeit,
        **({"start": list(start)} if start else {}),
        "sprt": None if test is None else dataclasses.asdict(test),
    }
    plan = Plan(
        kind="match",
        settings=settings,
        tables=[table],
        pairings=[pairing],
        by=(),
        games=[games],
    )
    folder = None
    if sgf is not None:
        one, two = pairing.agents
        folder = SgfFolder(sgf, loaded, (one, two), _event(pairing, table))
    return _MatchRun(plan, options, progress, test, folder).play()


class _MatchRun(Run[MatchResult]):
    """A match that is played: it may end by a test, and may save its games in a folder."""

    def __init__(
        self,
        plan: Plan,
        options: RunOptions,
        progress: Progress[MatchResult],
        sprt: Sprt | None = None,
        folder: SgfFolder | None = None,
    ) -> None:
        super().__init__(plan, options, progress)
        self._sprt = sprt
        self._folder = folder
        self._counts = [0] * 5
        self._pairs = 0
        self._decided = False

    def begin(self) -> None:
        if self._folder is not None:
            numbers = [key.number for key in self.plan.keys(self.options.shard)]
            self._folder.begin(self.records[0], numbers)

    def take(self, key: Key, record: GameRecord) -> bool:
        if not self._decided:
            super().take(key, record)
            self._count_pairs()
            if self.begun and self._folder is not None:
                self._folder.save(record)
        return self._decided

    def _count_pairs(self) -> None:
        """Count complete pairs until the test is decided: in their order, not as they finish.

        Otherwise quick wins would count first.
        """
        records = self.records[0]
        while self._sprt is not None and not self._decided:
            one, two = (records.get(2 * self._pairs + game) for game in (0, 1))
            if one is None or two is None:
                return
            self._counts[round(2 * (one.score + two.score))] += 1
            self._pairs += 1
            if self._sprt.verdict(self._counts) is not None:
                self._decided = True
                # Games of later pairs that finished early do not belong to the test.
                self.records[0] = {n: r for n, r in records.items() if n < 2 * self._pairs}
                self._changed.add(0)

    def result(self) -> MatchResult:
        pairing = self.plan.pairings[0]
        return MatchResult(
            game=pairing.game,
            agents=(pairing.agents[0], pairing.agents[1]),
            seed=self.plan.settings["seed"],
            planned=self.plan.games[0],
            records=self.games()[0],
            sprt=self._sprt,
            latest=None if self.latest is None else self.latest[1],
            interrupted=self.interrupted,
        )


def _start(game: Game, moves: Moves, position: str | os.PathLike[str] | None) -> tuple[int, ...]:
    """The actions that lead to the starting position of all games.

    Raises:
        ValueError: if games cannot start from it.
    """
    # Also for games that cannot be set up, such as those that deal by themselves.
    if isinstance(moves, str) and not moves and position is None:
        return ()
    if is_dealt(game):
        raise ValueError(f"{game.name} draws chance itself: its games must start at the beginning.")
    begun = set_up(game, moves, position)
    if begun.state.is_terminal():
        raise ValueError(f"The game is over there: the returns are {list(begun.state.returns())}.")
    return moves_to(game, begun)


def _event(pairing: Pairing, table: Table) -> str:
    """The match in words, with everything that determines its games."""
    one, two = pairing.agents
    options = {"clock": table.clock, "referee": table.referee, "forfeit": table.forfeit or None}
    given = [f"{name} {value}" for name, value in options.items() if value is not None]
    plies = f"{table.opening_plies} opening plies"
    if table.start:
        plies += f" after {' '.join(map(str, table.start))}"
    return ", ".join([f"{pairing.game}: {one} against {two}", f"seed {table.seed}", plies, *given])
