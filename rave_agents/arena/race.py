"""Races: find the best of several agents in a game, within a given time.

The leader plays pairs of games against the others in turn, each opening from both seats, and agents
proven weaker are dropped (``elimination``). Pairs of games count in their order, not as they
finish, so quick wins give no advantage.
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
    Jobs,
    checked_run_options,
    checked_table,
    limited_agent,
    usual_opening_plies,
)
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.plan import MOST_GAMES, Key, Plan, Record
from rave_agents.arena.play import Table
from rave_agents.arena.race_result import RaceError, RaceResult
from rave_agents.arena.run import RunOptions, carry_out
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.validation import Natural, Positive, validated
from rave_agents.records.record import GameRecord
from rave_agents.results.progress import Progress, shown

__all__ = ["RaceError", "RaceResult", "find_best"]

SECONDS = 300.0
"""Default seconds of a race."""

MOVE_SECONDS = 0.05
"""Default seconds per move: agents are compared at equal time, and games stay short."""

_ROUND_SECONDS = 0.5
"""Seconds of play handed out to several processes at once."""

_REPORT_SECONDS = 0.1
"""Minimum seconds between two progress reports."""


@validated
def find_best(
    game: Any,
    agents: Mapping[str, Any] | Sequence[Any] | None = None,
    *,
    seconds: Positive = SECONDS,
    simulations: int | None = None,
    move_seconds: Positive | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    seed: Natural = 0,
    opening_plies: Natural | None = None,
    jobs: Jobs = 1,
    executor: Executor | None = None,
    output: str | os.PathLike[str] | None = None,
    progress: Progress[RaceResult] = None,
) -> RaceResult:
    """Find the best agent for a game by a race that drops agents proven weaker early.

    The result's ``sentence`` names the best agent with its interval, or says that no difference was
    found. With 95 % probability all intervals of a race hold at all times, so the best agent (or
    one of several equals) is dropped with a probability of at most 5 %.

    In two-player games every opening is played from both seats, and agents are compared by scores.
    With more players one agent has one seat and the other all others, then the reverse, and seats
    rotate. In single-player games each plays alone from the same start, and agents are compared by
    returns. Ctrl-C ends the race early with the current standings.

    Args:
        game: the game, for any number of players, or its name; see ``as_game``.
        agents: a dictionary by name, ``{"new": "rave(c=0.2)", "mine": make_agent}``, or a list, of
            specs and custom agents, see ``rave_agents.as_agent``. None for one of each kind of
            search agent that can play the game.
        seconds: the time for the race; a started pair of games is finished, and at least one is
            played.
        simulations: simulations per move, for agents whose spec has no limit.
        move_seconds: seconds per move, for agents whose spec has no limit; 0.05 if ``simulations``
            is not given either.
        vary: the values of each varied parameter; agents that take it race with each value.
        seed: an integer of at least 0, the seed of everything random.
        opening_plies: number of random moves of each opening; None for 2, fewer if that could end
            the game, and 0 with simultaneous moves and in single-player games.
        jobs: number of local worker processes.
        executor: runs the games instead of local processes, see ``play_match``.
        output: a file that records every game as it ends. A race continues from its file for
            ``seconds`` more; agents may be added.
        progress: None for a display in a terminal or notebook, False for none, True for a display
            in any case; or a function, called with the result so far from time to time.

    Raises:
        UnknownNameError: for an unknown game, agent or parameter.
        UnsupportedGameError: if a named agent cannot play the game, or something cannot be sent to
            other processes.
        TypeError, ValueError: for an invalid value, or if ``output`` belongs to other games or is
            in use by another process.
        OSError: if ``output`` cannot be read or written.
        VersionsDifferError: if the executor's workers have other versions than this process.
        RaceError: if an agent fails or plays an illegal action; it holds the finished games.
    """
    started = time.monotonic()
    options = checked_run_options(jobs, executor, output, None)
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
    with shown(progress) as report:
        race = _Race(empty, started, seconds, report)
        finished = carry_out(plan, options, race, lambda: race.rounds(_width(options)))
        result = dataclasses.replace(race.result(), interrupted=not finished)
        if report is not None:
            report(result)
    return result


class _Race:
    """A running race: collects finished games and chooses the next ones."""

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
        self._reported_at = -math.inf
        self._began = False
        self._rule = empty.elimination
        self._pairings = list(itertools.combinations(range(len(empty.agents)), 2))
        self._records: list[dict[int, GameRecord]] = [{} for _ in self._pairings]
        self._latest: tuple[int, GameRecord] | None = None
        self._played = self._earlier = 0

    def take(self, key: Key, record: Record) -> bool:
        """Add a finished game, and the pairs that it completes."""
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
            self.report()
        else:
            self._earlier += 1
        return False

    def _value(self, first: GameRecord, second: GameRecord) -> float:
        """The first agent's score in a pair of games; in single-player games the difference."""
        if self._empty.players == 1:
            return first.returns[0] - second.returns[0]
        return (first.score + second.score) / 2

    def report(self) -> None:
        """Report the result, at limited frequency."""
        self._began = True
        now = time.monotonic()
        if self._progress is not None and now - self._reported_at >= _REPORT_SECONDS:
            self._reported_at = now
            self._progress(self.result())

    def fail(self, key: Key | None, message: str) -> RaceError:
        """Make the error for a failed game; it holds the finished games."""
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
        """Yield rounds of games, at least one, until the race is decided or time is up.

        Args:
            width: the number of games played at the same time.
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
    """Random opening moves: the given number, or the default if the game is long enough."""
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
    """The limit given to agents, as text; empty if none of them took it."""
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
