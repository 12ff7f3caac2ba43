"""Races: the best of several agents in a game, in a given time.

The leader plays pairs of games against the others in turn, each opening from both seats, and who is
proven to be weaker is dropped (``elimination``). All pairs of games between two agents count in
their order, whatever was finished first, so that an agent gains nothing by games that end soon.
"""

import copy
import dataclasses
import itertools
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from rave_agents.agents.named_agents import AgentSpec
from rave_agents.agents.state_agents import make_limit
from rave_agents.arena.candidates import default_agents, varied
from rave_agents.arena.contestants import Contestant, label, named_contestants
from rave_agents.arena.elimination import Elimination
from rave_agents.arena.journal import make_header
from rave_agents.arena.match import (
    checked_match_seed,
    checked_run_options,
    checked_table,
    limited_agent,
    usual_opening_plies,
)
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.plan import MOST_GAMES, Key, Plan, Record
from rave_agents.arena.play import Table
from rave_agents.arena.race_result import RaceError, RaceResult
from rave_agents.arena.record import GameRecord
from rave_agents.arena.run import RunOptions, carry_out
from rave_agents.config.limit import Limit
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.arguments import answers_unknown_arguments
from rave_agents.results.progress import Progress, shown

__all__ = ["RaceError", "RaceResult", "find_best"]

SECONDS = 300.0
"""Seconds of a race by default."""

MOVE_SECONDS = 0.05
"""Seconds a move by default: agents are compared at equal time, and no game takes long."""

_ROUND_SECONDS = 0.5
"""Seconds for which several processes get games at once."""

_TELLING_SECONDS = 0.1
"""Seconds between two reports of progress, at least."""


@answers_unknown_arguments
def find_best(
    game: Any,
    agents: Mapping[str, Any] | Sequence[Any] | None = None,
    *,
    seconds: float = SECONDS,
    simulations: int | None = None,
    move_seconds: float | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    seed: int = 0,
    opening_plies: int | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    output: str | os.PathLike[str] | None = None,
    progress: Progress[RaceResult] = None,
) -> RaceResult:
    """Find the best agent for a game by a race: who is proven to be weaker is dropped early.

    The result's ``sentence`` says which is the best, with its interval, or that no difference was
    found. With 95 % probability all intervals of a race hold at all times: that is the most at
    which the best agent is dropped, or one of several equal ones.

    In games for two players every opening is played from both seats, and agents are compared by
    their scores. In games for more one agent has one seat and the other all others, then the
    reverse, and seats rotate. In games for one player each plays alone from the same start, and
    agents are compared by their returns. Ctrl-C ends the race early: the result then tells the
    standing.

    Args:
        game: the game, for any number of players, or its name; see ``as_game``.
        agents: by name, ``{"new": "rave(c=0.2)", "mine": make_agent}``, or a list: specs, and
            agents of your own, see ``rave_agents.as_agent``. None for one of each kind of
            search agents that can play the game.
        seconds: how long the race may take; a pair of games that has begun is finished, and one is
            played in any case.
        simulations: a move, for an agent whose spec has no limit.
        move_seconds: a move, for an agent whose spec has no limit; 0.05 if ``simulations`` is not
            given either.
        vary: for each varied parameter its values; the agents that take it race with each.
        seed: an integer of at least 0 that decides everything random.
        opening_plies: random moves that each opening starts with; None for 2, or fewer in games
            that so many could end, and for none where players may move at the same time and in
            games for one player.
        jobs: processes of this machine that play at the same time.
        executor: who runs the games in their place, see ``play_match``.
        output: a file that gets every game as it ends. A race goes on from its file, for as many
            seconds again; it may get further agents.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called with the result so far, now and then.

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if an agent that you named cannot play the game, or something cannot
            be sent to other processes.
        TypeError, ValueError: for a value that is not allowed, or if ``output`` is of other games
            or is being written by another process.
        OSError: if ``output`` cannot be read or written.
        VersionsDifferError: if workers of the executor have other versions than this process.
        RaceError: if an agent fails or plays an illegal action; it keeps the finished games.
    """
    started = time.monotonic()
    seconds = Limit(seconds=seconds).seconds or seconds
    options = checked_run_options(jobs, executor, output, None)
    seed = checked_match_seed(seed)
    if simulations is None and move_seconds is None:
        move_seconds = MOVE_SECONDS
    make_limit(simulations, move_seconds)
    loaded = as_game(game)
    named, refused = default_agents(loaded) if agents is None else (agents, {})
    players = {
        name: limited_agent(who, simulations, move_seconds)
        for name, who in varied(named_contestants(named), vary or {}).items()
    }
    if not players or (agents is not None and len(players) < 2):
        raise ValueError(f"A race needs at least two agents, got {len(players)}.")
    plies = _opening_plies(loaded, opening_plies, seed)
    for who in players.values():
        checked_table(loaded, who, who, opening_plies=plies, seed=seed)
    name = game if isinstance(game, str) else loaded.name
    pairings = list(itertools.combinations(players, 2))
    empty = RaceResult(
        game=name,
        agents=tuple(players),
        specs=tuple(map(label, players.values())),
        limit=_limit_text(players, simulations, move_seconds),
        seed=seed,
        players=loaded.num_players,
        matches=tuple(
            MatchResult(game=name, agents=pairing, seed=seed, planned=MOST_GAMES, records=())
            for pairing in pairings
        ),
        elimination=Elimination(len(players), bounded=loaded.num_players > 1),
        refused=refused,
        seconds=0.0,
    )
    settings = {
        "game": name,
        "players": loaded.num_players,
        "agents": {name: label(who) for name, who in players.items()},
        "seed": seed,
        "opening_plies": plies,
    }
    plan = Plan(
        header=make_header("race", settings),
        tables=[
            Table(loaded, (players[one], players[two]), seed=seed, opening_plies=plies)
            for one, two in pairings
        ],
        labels=[{"agents": list(pairing)} for pairing in pairings],
        games=MOST_GAMES,
    )
    with shown(progress) as tell:
        race = _Race(empty, started, seconds, tell)
        finished = carry_out(plan, options, race, lambda: race.rounds(_width(options)))
        result = dataclasses.replace(race.result(), interrupted=not finished)
        if tell is not None:
            tell(result)
    return result


class _Race:
    """A race that is being run: it collects games and draws up the next ones."""

    def __init__(
        self,
        empty: RaceResult,
        started: float,
        seconds: float,
        progress: Callable[[RaceResult], object] | None,
    ) -> None:
        self._empty = empty
        self._progress = progress
        self._started, self._deadline = started, started + seconds
        self._told = -math.inf
        self._began = False
        self._rule = empty.elimination
        self._pairings = list(itertools.combinations(range(len(empty.agents)), 2))
        self._records: list[dict[int, GameRecord]] = [{} for _ in self._pairings]
        self._latest: tuple[int, GameRecord] | None = None
        self._played = self._earlier = 0

    def take(self, key: Key, record: Record) -> bool:
        """Add a finished game, and the pairs that are whole with it."""
        assert isinstance(record, GameRecord)
        records = self._records[key.table]
        records[key.number] = record
        self._latest = key.table, record
        one, two = self._pairings[key.table]
        evidence = self._rule.evidence(one, two)
        while (pair := _pair(records, len(evidence.values))) is not None:
            self._rule.add(one, two, self._value(*pair))
        if self._began:
            self._played += 1
            self.tell()
        else:
            self._earlier += 1
        return False

    def _value(self, first: GameRecord, second: GameRecord) -> float:
        """The first agent's score in a pair of games, or for one player its return less."""
        if self._empty.players == 1:
            return first.returns[0] - second.returns[0]
        return (first.score + second.score) / 2

    def tell(self) -> None:
        """Tell of the result, from now on now and then."""
        self._began = True
        now = time.monotonic()
        if self._progress is not None and now - self._told >= _TELLING_SECONDS:
            self._told = now
            self._progress(self.result())

    def fail(self, key: Key | None, message: str) -> RaceError:
        """Make the error for a game that failed; it keeps what is finished."""
        agents = "" if key is None else " against ".join(self._empty.matches[key.table].agents)
        return RaceError(f"{agents}: {message}" if agents else message, self.result())

    def result(self) -> RaceResult:
        """The result so far."""
        matches = (
            match.plus(*records.values()) if records else match
            for match, records in zip(self._empty.matches, self._records, strict=True)
        )
        return dataclasses.replace(
            self._empty,
            matches=tuple(matches),
            elimination=copy.deepcopy(self._rule),
            seconds=time.monotonic() - self._started,
            earlier=self._earlier,
            latest=self._latest,
        )

    def rounds(self, width: int) -> Iterator[list[Key]]:
        """Yield rounds of games, one at least, until all is decided or time is up.

        Args:
            width: how many games are played at the same time.
        """
        began = now = time.monotonic()
        begun = False
        while now < self._deadline or not begun:
            pairs = width
            if width > 1 and self._played:
                pair_seconds = 2 * width * (now - began) / self._played
                least = min(_ROUND_SECONDS, self._deadline - now)
                pairs *= max(1, min(100, int(least / pair_seconds)))
            keys = self._next_keys(pairs)
            if not keys:
                return
            yield keys
            begun, now = True, time.monotonic()

    def _next_keys(self, pairs: int) -> list[Key]:
        keys: list[Key] = []
        begun: dict[int, int] = {}
        for pairing in self._rule.next_pairings(pairs):
            table = self._pairings.index(pairing)
            records = self._records[table]
            number = begun.get(table, len(self._rule.evidence(*pairing).values))
            begun[table] = number + 1
            games = (2 * number, 2 * number + 1)
            keys += [Key(table, n) for n in games if n not in records and n < MOST_GAMES]
        return keys


def _pair(records: Mapping[int, GameRecord], number: int) -> tuple[GameRecord, GameRecord] | None:
    """The two games of a pair; None unless both are finished."""
    first, second = records.get(2 * number), records.get(2 * number + 1)
    return None if first is None or second is None else (first, second)


def _opening_plies(game: Game, given: int | None, seed: int) -> int:
    """Random moves at the start: the given number, or as many of the usual as a game has."""
    if given is not None:
        return given
    usual = 0 if game.num_players == 1 else usual_opening_plies(game, None)
    for plies in range(usual, 0, -1):
        try:
            Table(game, (AgentSpec("random"),) * 2, seed=seed, opening_plies=plies).fixture(0)
        except ValueError:
            continue
        return plies
    return 0


def _limit_text(
    players: Mapping[str, Contestant], simulations: int | None, move_seconds: float | None
) -> str:
    """The limit that agents were given, for people; empty if none of them took it."""
    given = {"simulations": simulations, "seconds": move_seconds}
    taken = any(
        isinstance(who, AgentSpec)
        and all(who.parameters.get(key) == value for key, value in given.items() if value)
        for who in players.values()
    )
    texts = [f"{simulations:,} simulations"] if simulations is not None else []
    texts += [f"{move_seconds:g} s"] if move_seconds is not None else []
    return f"{' or '.join(texts)} a move" if taken else ""


def _width(options: RunOptions) -> int:
    if options.executor is None:
        return options.jobs
    return int(getattr(options.executor, "_max_workers", None) or os.cpu_count() or 1)
