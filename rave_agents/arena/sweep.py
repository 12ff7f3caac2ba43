"""Sweeps: every combination of an agent's parameter values against one opponent.

Each combination is a cell of a grid and plays a match in each game. All cells of a game use the
same openings and seeds, and games are played round-robin over cells, so that load on the machine
affects all cells alike. With limits of simulations, a game's result depends only on its cell, its
number and the seed, so a sweep may be stopped and continued at any game.
"""

import dataclasses
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, AnyAgent, agent_type, as_agent
from rave_agents.agents.state_agents import make_limit
from rave_agents.arena.contestants import Contestant
from rave_agents.arena.journal import make_header
from rave_agents.arena.lists import load_games
from rave_agents.arena.match import (
    Games,
    Jobs,
    checked_run_options,
    checked_table,
    limited_agent,
)
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.plan import Plan, Shard
from rave_agents.arena.run import ResultCollector, carry_out
from rave_agents.arena.sweep_result import SweepCell, SweepError, SweepResult, plain_values
from rave_agents.config.specs import format_call, is_key, parse_values
from rave_agents.game.validation import Natural, validated
from rave_agents.results.progress import Progress, shown

__all__ = ["SweepCell", "SweepError", "SweepResult", "parse_vary", "run_sweep"]


@validated
def run_sweep(
    game: Any,
    agent: Any,
    opponent: Any,
    vary: Mapping[str, Sequence[Any]],
    *,
    games: Games = 100,
    simulations: int | None = None,
    seconds: float | None = None,
    seed: Natural = 0,
    opening_plies: Natural | None = None,
    jobs: Jobs = 1,
    output: str | os.PathLike[str] | None = None,
    forfeit: bool = False,
    progress: Progress[SweepResult] = None,
    executor: Executor | None = None,
    shard: Shard | str | None = None,
) -> SweepResult:
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
        progress: None for a display in a terminal or notebook, False for none, True for a display
            in any case; or a function, called with the result so far before the first and after
            every game.
        executor: runs the games instead of ``jobs`` processes, see ``play_match``.
        shard: a part such as ``"3/40"``: play only these games.

    Raises:
        UnknownNameError: for an unknown game, agent or parameter.
        UnsupportedGameError: if the game is not a two-player game or an agent cannot play it.
        TypeError, ValueError: for an invalid value, if no opening can be found, or if ``output`` is
            of another sweep or is being written by another process.
        OSError: if ``output`` cannot be read or written.
        SweepError: if an agent fails or plays an illegal action; it holds the finished games.
    """
    options = checked_run_options(jobs, executor, output, shard)
    loaded = load_games(game)
    base, other = as_agent(agent), as_agent(opponent)
    grid = _grid(base, vary)
    specs = [limited_agent(base.with_parameters(values), simulations, seconds) for values in grid]
    limited = limited_agent(other, simulations, seconds)
    tables = [
        checked_table(each, spec, limited, opening_plies=opening_plies, seed=seed)
        for each in loaded.values()
        for spec in specs
    ]
    empty = _nothing_played(tuple(loaded), grid, specs, limited, seed=seed, games=games)
    limit = make_limit(simulations, seconds)
    settings = {
        "game": list(loaded),
        "agent": str(base),
        "opponent": str(other),
        "vary": plain_values(vary),
        "games": games,
        "simulations": limit.simulations,
        "seconds": limit.seconds,
        "seed": seed,
        "opening_plies": opening_plies,
    }
    labels = [
        {"game": name, "parameters": plain_values(values)} for name in loaded for values in grid
    ]
    plan = Plan(
        header=make_header("sweep", settings),
        tables=[dataclasses.replace(table, forfeit=forfeit) for table in tables],
        labels=labels,
        games=games,
    )
    with shown(progress) as report:
        collector = ResultCollector(empty, report, SweepError)
        finished = carry_out(plan, options, collector)
    return dataclasses.replace(collector.result, interrupted=not finished)


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


def _grid(base: AnyAgent, vary: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All combinations of the values, those of the last key varying fastest."""
    if not vary:
        raise ValueError("A sweep varies at least one parameter.")
    first = {k: v[0] for k, v in vary.items() if v and not isinstance(v, str)}
    given = {**base.parameters, **dict.fromkeys(vary), **first}
    if isinstance(base, AgentSpec):
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


def _nothing_played(
    names: tuple[str, ...],
    grid: Sequence[dict[str, Any]],
    specs: Sequence[Contestant],
    opponent: Contestant,
    *,
    seed: int,
    games: int,
) -> SweepResult:
    shared = {key: value for key, value in specs[0].parameters.items() if key not in grid[0]}

    def match(name: str, spec: Contestant) -> MatchResult:
        agents = (str(spec), str(opponent))
        return MatchResult(game=name, agents=agents, seed=seed, planned=games, records=())

    return SweepResult(
        games=names,
        agent=format_call(specs[0].name.partition("(")[0], shared),
        opponent=str(opponent),
        seed=seed,
        planned=games,
        cells=tuple(
            SweepCell(parameters=values, match=match(name, spec))
            for name in names
            for values, spec in zip(grid, specs, strict=True)
        ),
    )
