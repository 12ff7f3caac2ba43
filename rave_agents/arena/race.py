"""Races: find the best of several agents in a game, within a given time.

The leader plays pairs of games against the others in turn, each opening from both seats, and agents
proven weaker are dropped (``elimination``). Pairs of games count in their order, not as they
finish, so quick wins give no advantage.
"""

import copy
import dataclasses
import functools
import itertools
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena.arguments import (
    game_name,
    label,
    limited_agent,
    make_tables,
    named_agents,
    usual_opening_plies,
)
from rave_agents.arena.candidates import default_agents, varied
from rave_agents.arena.elimination import Elimination
from rave_agents.arena.play import Table
from rave_agents.arena.race_result import Race
from rave_agents.arena.result import RunResult, TablesRun
from rave_agents.arena.run import MOST_GAMES, Jobs, Pairing, Plan, RunOptions
from rave_agents.arena.worker import Key
from rave_agents.arena.workers import executor_width
from rave_agents.config.limit import make_limit
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.validation import Natural, Positive, validated
from rave_agents.records.record import GameRecord
from rave_agents.results.progress import Progress

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
    progress: Progress[RunResult] = None,
) -> RunResult:
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
        RunError: if a game fails; it has the result of the games finished before. Other errors are
            those of ``play_match``.
    """
    started = time.monotonic()
    options = RunOptions.of(jobs, executor, output)
    if simulations is None and move_seconds is None:
        move_seconds = MOVE_SECONDS
    make_limit(simulations, move_seconds)
    loaded = as_game(game)
    named, refused = default_agents(loaded) if agents is None else (agents, {})
    players = {
        name: limited_agent(who, simulations, move_seconds)
        for name, who in varied(named_agents(named), vary or {}).items()
    }
    if not players or (agents is not None and len(players) < 2):
        raise ValueError(f"A race needs at least two agents, got {len(players)}.")
    plies = _opening_plies(loaded, opening_plies, seed)
    name = game_name(game, loaded)
    pairs = list(itertools.combinations(players, 2))
    specs = {name: label(who) for name, who in players.items()}
    plan = Plan(
        kind="race",
        settings={
            "game": name,
            "players": loaded.num_players,
            "agents": specs,
            "seed": seed,
            "opening_plies": plies,
        },
        tables=make_tables(
            loaded,
            [(players[one], players[two]) for one, two in pairs],
            seed=seed,
            opening_plies=plies,
        ),
        pairings=[Pairing(name, pair, " against ".join(pair)) for pair in pairs],
        by=("agents",),
        games=[MOST_GAMES] * len(pairs),
    )
    show = functools.partial(
        Race,
        by_name=specs,
        limit=_limit_text(players, simulations, move_seconds),
        players=loaded.num_players,
        refused=refused,
        game=name,
    )
    rule = Elimination(len(players), bounded=loaded.num_players > 1)
    race = _RaceRun(plan, options, progress, show, rule)
    race.started, race.deadline = started, started + seconds
    return race.play(race.rounds)


class _RaceRun(TablesRun):
    """A race that is played: finished games decide who plays next."""

    def __init__(
        self,
        plan: Plan,
        options: RunOptions,
        progress: Progress[RunResult],
        show: Callable[..., Race],
        rule: Elimination,
    ) -> None:
        super().__init__(plan, options, progress, show)
        self._show_race = show
        self._rule = rule
        self.started = time.monotonic()
        self.deadline = math.inf
        self._reported_at = -math.inf
        self._pairs = list(itertools.combinations(range(rule.agents), 2))
        self._played = self._earlier = 0

    def take(self, key: Key, record: GameRecord) -> bool:
        super().take(key, record)
        records = self.records[key.table]
        one, two = self._pairs[key.table]
        evidence = self._rule.evidence(one, two)
        # Pairs count in their order, not as they finish, so quick wins give no advantage.
        while (pair := _pair(records, len(evidence.values))) is not None:
            self._rule.add(one, two, self._value(*pair))
        if self.begun:
            self._played += 1
        else:
            self._earlier += 1
        return False

    def _value(self, first: GameRecord, second: GameRecord) -> float:
        """The first agent's score in a pair of games; in single-player games the difference."""
        if len(first.returns) == 1:
            return first.returns[0] - second.returns[0]
        return (first.score + second.score) / 2

    def report(self) -> None:
        if time.monotonic() - self._reported_at >= _REPORT_SECONDS:
            self._reported_at = time.monotonic()
            super().report()

    def conclude(self) -> RunResult:
        self._reported_at = -math.inf  # The last games may not have been reported.
        self.report()
        return self.result()

    def result(self) -> RunResult:
        show = functools.partial(
            self._show_race,
            elimination=copy.deepcopy(self._rule),  # A result does not change when games go on.
            seconds=time.monotonic() - self.started,
            earlier=self._earlier,
        )
        return dataclasses.replace(super().result(), show=show, games_planned=None)

    def rounds(self) -> Iterator[list[Key]]:
        options = self.options
        width = options.jobs if options.executor is None else executor_width(options.executor)
        began = now = time.monotonic()
        begun = False
        while now < self.deadline or not begun:
            pairs = width
            # Workers idle between rounds: hand out enough pairs to keep them busy for a while.
            if width > 1 and self._played:
                pair_seconds = 2 * width * (now - began) / self._played
                least = min(_ROUND_SECONDS, self.deadline - now)
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
            table = self._pairs.index(pairing)
            # The evidence counts pairs in order, so the next pair is the first one it lacks.
            number = begun.get(table, len(self._rule.evidence(*pairing).values))
            begun[table] = number + 1
            games = (2 * number, 2 * number + 1)
            keys += [Key(table, n) for n in games if n < MOST_GAMES]
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
    # In a short game every opening of two moves may end it.
    for plies in range(usual, 0, -1):
        try:
            Table(game, (AgentSpec("random"),) * 2, seed=seed, opening_plies=plies).opening(0)
        except ValueError:
            continue
        return plies
    return 0


def _limit_text(
    players: Mapping[str, AgentSpec], simulations: int | None, move_seconds: float | None
) -> str:
    given = {"simulations": simulations, "seconds": move_seconds}
    taken = any(
        who.is_named
        and all(who.parameters.get(key) == value for key, value in given.items() if value)
        for who in players.values()
    )
    texts = [f"{simulations:,} simulations"] if simulations is not None else []
    texts += [f"{move_seconds:g} s"] if move_seconds is not None else []
    return f"{' or '.join(texts)} a move" if taken else ""
