"""Sweeps and curves: matches of an agent by the values of its parameters, or by its limit.

All matches of a game use the same openings and seeds, and games are played round-robin over them,
so that load on the machine affects all alike.
"""

import functools
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, agent_type, as_agent
from rave_agents.arena.arguments import (
    game_name,
    limited_agent,
    load_games,
    load_match_game,
    make_tables,
)
from rave_agents.arena.grid import Curve, Grid, plain_values
from rave_agents.arena.result import RunResult, TablesRun
from rave_agents.arena.run import GameCount, Jobs, Pairing, Plan, RunOptions, Shard
from rave_agents.config.limit import make_limit
from rave_agents.config.specs import format_call, format_parameters, is_key, parse_values
from rave_agents.game.validation import Natural, validated
from rave_agents.results.progress import Progress


@validated
def run_sweep(
    game: Any,
    agent: Any,
    opponent: Any,
    vary: Mapping[str, Sequence[Any]],
    *,
    games: GameCount = 100,
    simulations: int | None = None,
    seconds: float | None = None,
    seed: Natural = 0,
    opening_plies: Natural | None = None,
    jobs: Jobs = 1,
    output: str | os.PathLike[str] | None = None,
    forfeit: bool = False,
    progress: Progress[RunResult] = None,
    executor: Executor | None = None,
    shard: Shard | str | None = None,
) -> RunResult:
    """Play a match for every combination of values of an agent's parameters.

    Ctrl-C ends the run early: the result then holds the finished games, and is not ``complete``.

    Args:
        game: a two-player game or its name, such as ``"hex(board_size=9)"``, see ``as_game``; a
            list of them, or names in one text, separated by commas.
        agent: the agent to vary, without the varied parameters: a spec, or a class or function that
            takes them, see ``as_agent``.
        opponent: the opponent of all cells, see ``as_agent``.
        vary: the values of each varied parameter.
        games: the number of games per cell (a combination in one game), at least 1. If it is odd,
            the last opening is played once.
        simulations: simulations per move, for agents whose spec has no limit; 1,000 if ``seconds``
            is not given either.
        seconds: seconds per move, for agents whose spec has no limit.
        seed: an integer of at least 0, the seed of everything random.
        opening_plies: number of random moves of each opening, see ``play_match``.
        jobs: number of worker processes.
        output: a file that records every game as it ends (see ``journal``). Games already in it are
            not played again, so a sweep may grow by games per cell, values and games.
        forfeit: True if a GTP program that fails to play loses its games, see ``play_match``.
        progress: a display, or a function of the result so far, see ``play_match``.
        executor: runs the games instead of ``jobs`` processes, see ``play_match``.
        shard: a part such as ``"3/40"``: play only these games.

    Raises:
        RunError: if a game fails; it has the result of the games finished before. Other errors are
            those of ``play_match``.
    """
    options = RunOptions.of(jobs, executor, output, shard)
    loaded = load_games(game)
    base, other = as_agent(agent), as_agent(opponent)
    grid = _grid(base, vary)
    specs = [limited_agent(base.with_parameters(values), simulations, seconds) for values in grid]
    limited = limited_agent(other, simulations, seconds)
    tables, pairings = [], []
    for name, each in loaded.items():
        tables += make_tables(
            each,
            [(spec, limited) for spec in specs],
            seed=seed,
            opening_plies=opening_plies,
            forfeit=forfeit,
        )
        for values, spec in zip(grid, specs, strict=True):
            parameters = plain_values(values)
            cell = format_parameters(parameters)
            where = cell if len(loaded) == 1 else f"{name}, {cell}"
            agents = str(spec), str(limited)
            pairings.append(Pairing(name, agents, where, {"parameters": parameters}))
    limit = make_limit(simulations, seconds)
    plan = Plan(
        kind="sweep",
        settings={
            "game": list(loaded),
            "agent": str(base),
            "opponent": str(other),
            "vary": plain_values(vary),
            "games": games,
            "simulations": limit.simulations,
            "seconds": limit.seconds,
            "seed": seed,
            "opening_plies": opening_plies,
        },
        tables=tables,
        pairings=pairings,
        by=("game", "parameters"),
        games=[games] * len(tables),
    )
    shared = {key: value for key, value in specs[0].parameters.items() if key not in grid[0]}
    varied = format_call(specs[0].name.partition("(")[0], shared)
    show = functools.partial(Grid, agent=varied, values=tuple(grid * len(loaded)))
    return TablesRun(plan, options, progress, show).play()


def parse_vary(texts: Iterable[str]) -> dict[str, list[Any]]:
    """Parse a grid from texts of the form ``key=value,value,...``.

    Raises:
        ValueError: for another form, or a key given twice.
    """
    vary: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        key = key.strip()
        if not equals or not is_key(key) or not values.strip():
            raise ValueError(
                f"Not of the form KEY=VALUE,VALUE,...: {text!r}. For example k=100,300,1000."
            )
        if key in vary:
            raise ValueError(f"Varied twice: {key!r}. Give all its values at once.")
        vary[key] = parse_values(values)
    return vary


def _grid(base: AgentSpec, vary: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    if not vary:
        raise ValueError("A sweep varies at least one parameter.")
    # Check the names with one value of each, before thousands of games are planned.
    first = {k: v[0] for k, v in vary.items() if v and not isinstance(v, str)}
    given = {**base.parameters, **dict.fromkeys(vary), **first}
    if base.is_named:
        agent_type(base.name).check_parameters(base.name, given)
    for key, values in vary.items():
        if key in base.parameters:
            raise ValueError(f"{base} sets {key!r} already, so it cannot vary.")
        if isinstance(values, str) or not values:
            raise ValueError(f"{key!r} needs a list of values, got {values!r}.")
        for index, value in enumerate(values):
            if value in values[:index]:
                raise ValueError(f"{key!r} has the value {value!r} twice.")
    return [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]


@validated
def run_scaling(
    game: Any,
    agent: Any,
    against: Any,
    *,
    simulations: Sequence[int] = (),
    seconds: Sequence[float] = (),
    games: GameCount = 100,
    seed: Natural = 0,
    opening_plies: Natural | None = None,
    forfeit: bool = False,
    jobs: Jobs = 1,
    executor: Executor | None = None,
    output: str | os.PathLike[str] | None = None,
    shard: Shard | str | None = None,
    progress: Progress[RunResult] = None,
) -> RunResult:
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
        progress: a display, or a function of the result so far, see ``play_match``.

    Raises:
        RunError: if a game fails; it has the result of the games finished before. Other errors are
            those of ``play_match``.
    """
    options = RunOptions.of(jobs, executor, output, shard)
    loaded = load_match_game(game)
    base = as_agent(agent)
    unit, limits = _limits(simulations, seconds)
    for given in ("simulations", "seconds", "clock"):
        if given in base.parameters:
            raise ValueError(f"{base} sets {given!r} already, so its limit cannot vary.")
    if not base.takes(unit):
        raise ValueError(f"{base} takes no {unit}, so its limit cannot vary.")
    opponents = _opponents(against)
    name = game_name(game, loaded)
    specs = [_with_limit(base, unit, limit) for limit in limits]
    pairs = [(spec, other) for other in opponents for spec in specs]
    tables = make_tables(loaded, pairs, seed=seed, opening_plies=opening_plies, forfeit=forfeit)
    pairings = [Pairing(name, (str(one), str(two)), str(one)) for one, two in pairs]
    plan = Plan(
        kind="scaling",
        settings={
            "game": name,
            "agent": str(base),
            "against": list(map(str, opponents)),
            unit: limits,
            "games": games,
            "seed": seed,
            "opening_plies": tables[0].opening_plies,
            "forfeit": forfeit,
        },
        tables=tables,
        pairings=pairings,
        by=("agents",),
        games=[games] * len(tables),
    )
    values = tuple({unit: limit} for limit in limits) * len(opponents)
    show = functools.partial(Curve, agent=str(base), values=values)
    return TablesRun(plan, options, progress, show).play()


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


def _with_limit(base: AgentSpec, unit: str, limit: float) -> AgentSpec:
    if base.is_named:
        limits: dict[str, Any] = {unit: limit}  # As in a match, so that the games are the same.
        return limited_agent(base, **limits)
    return base.with_parameters({unit: limit})


def _opponents(against: Any) -> list[AgentSpec]:
    given = against if isinstance(against, list | tuple) else [against]
    opponents = [limited_agent(other) for other in given]
    names = list(map(str, opponents))
    if not names or len(set(names)) < len(names):
        raise ValueError(f"against needs opponents that differ, got {names}.")
    return opponents
