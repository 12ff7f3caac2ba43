"""Tournaments: round robin or gauntlet, on any number of games.

All pairings play the same openings of a game, each from both seats.
"""

import functools
import os
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from inspect import signature
from pathlib import Path
from typing import Any

from rave_agents.agents.named_agents import as_agent
from rave_agents.arena.arguments import (
    label,
    limited_agent,
    load_games,
    make_tables,
    named_agents,
)
from rave_agents.arena.result import RunResult, TablesRun
from rave_agents.arena.run import GameCount, Jobs, Pairing, Plan, RunOptions, Shard
from rave_agents.arena.standings import Standings
from rave_agents.game.arguments import check_arguments, unknown_name
from rave_agents.game.validation import Natural, validated
from rave_agents.records.header import pairings_of
from rave_agents.results.progress import Progress
from rave_agents.searcher.clock import Clock

OF_THE_MACHINE = ("jobs", "executor", "output", "shard", "progress")
"""Arguments of ``play_tournament`` that a file of settings does not have."""


@validated
def play_tournament(
    games: Any,
    agents: Mapping[str, Any] | Sequence[Any] | str,
    *,
    games_per_pairing: GameCount = 20,
    gauntlet: str | Sequence[str] = (),
    anchor: str | None = None,
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
    seed: Natural = 0,
    opening_plies: Natural | None = None,
    forfeit: bool = False,
    jobs: Jobs = 1,
    executor: Executor | None = None,
    output: str | os.PathLike[str] | None = None,
    shard: Shard | str | None = None,
    progress: Progress[RunResult] = None,
) -> RunResult:
    """Let agents play against each other, and rate them.

    Ctrl-C ends the run early: the result then holds the finished games. With limits of simulations,
    the result does not depend on the executor or on interruptions.

    Args:
        games: a two-player game or its name, such as ``"hex(board_size=9)"``, see ``as_game``; a
            list of them, or names in one text, separated by commas.
        agents: at least two agents, by name, ``{"new": "rave(c=0.2)", "mine": make_agent}``, or in
            a list: specs, also of programs (``gtp(command=...)``), and custom agents, see
            ``rave_agents.as_agent``; or specs in one text, separated by spaces: ``"auto rave
            new=rave(c=0.2)"``.
        games_per_pairing: the number of games that each pair of agents plays on each game. If it is
            odd, the last opening is played once.
        gauntlet: the names of agents that play all others, which then do not play among themselves;
            empty for a round robin.
        anchor: the agent with rating 0; None for ratings that average 0.
        simulations: simulations per move, for agents whose spec has no limit; 1,000 if ``seconds``
            is not given either.
        seconds: seconds per move, for agents whose spec has no limit.
        clock: the time per side and game, such as ``"60+1"``, see ``play_match``.
        seed: an integer of at least 0, the seed of everything random.
        opening_plies: number of random moves of each opening, see ``play_match``.
        forfeit: True if a program that fails to play loses its games, see ``play_match``.
        jobs: number of local worker processes.
        executor: runs the games instead of local processes, see ``play_match``.
        output: a file that records every game as it ends, before ``progress`` is called. Games
            already in it are not played again, so a tournament may grow by games, agents and games
            per pairing.
        shard: a part such as ``"3/40"``: play only these games.
        progress: a display, or a function of the result so far, see ``play_match``.

    Raises:
        RunError: if a game fails; it has the result of the games finished before. Other errors are
            those of ``play_match``.
    """
    options = RunOptions.of(jobs, executor, output, shard)
    players = {
        name: limited_agent(who, simulations, seconds, clock)
        for name, who in named_agents(agents).items()
    }
    loaded = load_games(games)
    challengers = [gauntlet] if isinstance(gauntlet, str) else list(gauntlet)
    pairs = _pairs(tuple(players), challengers)
    if anchor is not None and anchor not in players:
        raise ValueError(unknown_name("anchor", anchor, players))
    parsed_clock = None if clock is None else Clock.parse(clock)
    tables, pairings = [], []
    for name, game in loaded.items():
        tables += make_tables(
            game,
            [(players[one], players[two]) for one, two in pairs],
            seed=seed,
            opening_plies=opening_plies,
            clock=parsed_clock,
            forfeit=forfeit,
        )
        pairings += [
            Pairing(name, (one, two), f"{name}, {one} against {two}") for one, two in pairs
        ]
    specs = {name: label(who) for name, who in players.items()}
    plan = Plan(
        kind="tournament",
        settings={
            "games": list(loaded),
            "agents": specs,
            "games_per_pairing": games_per_pairing,
            "gauntlet": challengers,
            "anchor": anchor,
            "clock": clock,
            "seed": seed,
            "opening_plies": opening_plies,
            "forfeit": forfeit,
        },
        tables=tables,
        pairings=pairings,
        by=("game", "agents"),
        games=[games_per_pairing] * len(tables),
    )
    show = functools.partial(Standings, by_name=specs, anchor=anchor)
    return TablesRun(plan, options, progress, show).play()


def _pairs(names: Sequence[str], challengers: Sequence[str]) -> list[tuple[str, str]]:
    if len(names) < 2:
        raise ValueError(f"A tournament needs at least two agents, got {len(names)}.")
    for name in challengers:
        if name not in names:
            raise ValueError(unknown_name("agent of the gauntlet", name, names))
    pairs = pairings_of(names, challengers)
    if not pairs:
        raise ValueError("The gauntlet has all agents, so that none is left to play against.")
    return pairs


def read_tournament(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arguments of ``play_tournament`` in a TOML file.

    An agent of the file is a spec, or ``"module:name"`` for a custom agent.

    Raises:
        ValueError: if it is not TOML, has an unknown key, or lacks games or agents.
        OSError: if it cannot be read.
    """
    try:
        settings = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not TOML: {error}") from error
    known = [name for name in signature(play_tournament).parameters if name not in OF_THE_MACHINE]
    check_arguments(f"setting in {path}", settings, known, ValueError)
    for name in ("games", "agents"):
        if name not in settings:
            raise ValueError(f"{path} lacks {name}.")
    agents = settings["agents"]
    if isinstance(agents, Mapping):
        settings["agents"] = {name: _agent(name, agent) for name, agent in agents.items()}
    return settings


def _agent(name: str, agent: Any) -> Any:
    if isinstance(agent, str):
        return as_agent(agent, name)
    given = agent.get("python") if isinstance(agent, Mapping) else None
    advice = f' Write it as a text: {name} = "{given}".' if isinstance(given, str) else ""
    raise ValueError(f'The agent {name!r} must be a spec or "module:name", got {agent!r}.{advice}')
