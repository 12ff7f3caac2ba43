"""Sweeps: an agent with every combination of some parameters' values, against one opponent.

Each combination is a cell of a grid and plays a match, in each of the games. All cells in one game
start from the same openings with the same seeds, and the first game of every cell is played before
the second one: what happens to the machine meanwhile happens to all. A game's result depends on its
cell, its number and the seed alone (if the agents' limits are simulations), so a sweep may stop and
go on at any game.
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
    checked_count,
    checked_match_seed,
    checked_run_options,
    checked_table,
    limited_agent,
)
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.plan import MOST_GAMES, Plan, Shard
from rave_agents.arena.run import ResultCollector, carry_out
from rave_agents.arena.sweep_result import SweepCell, SweepError, SweepResult, plain_values
from rave_agents.config.specs import format_call, is_key, parse_values
from rave_agents.game.arguments import answers_unknown_arguments
from rave_agents.results.progress import Progress, shown

__all__ = ["SweepCell", "SweepError", "SweepResult", "parse_vary", "run_sweep"]


@answers_unknown_arguments
def run_sweep(
    game: Any,
    agent: Any,
    opponent: Any,
    vary: Mapping[str, Sequence[Any]],
    *,
    games: int = 100,
    simulations: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    opening_plies: int | None = None,
    jobs: int = 1,
    output: str | os.PathLike[str] | None = None,
    forfeit: bool = False,
    progress: Progress[SweepResult] = None,
    executor: Executor | None = None,
    shard: Shard | str | None = None,
) -> SweepResult:
    """Play a match for every combination of values of an agent's parameters.

    Ctrl-C ends it early: the result then holds the games that were finished, and is not
    ``complete``.

    Args:
        game: a game for two players or its name, such as ``"hex(board_size=9)"``, see ``as_game``;
            a list of them, or names in one text, separated by commas.
        agent: the agent to vary, which leaves the varied parameters open: a spec, or a class or a
            function of your own that takes them, see ``as_agent``.
        opponent: the agent that all cells play against, see ``as_agent``.
        vary: for each varied parameter its values.
        games: how many games a cell, which is a combination in one game, at least 1. Of an odd
            number the last opening is played once.
        simulations: a move, for an agent whose spec has no limit; 1,000 if ``seconds`` is not given
            either.
        seconds: a move, for an agent whose spec has no limit.
        seed: an integer of at least 0 that decides everything random.
        opening_plies: random moves that each opening starts with, see ``run_match``.
        jobs: processes that play at the same time.
        output: a file that gets every game as it ends (see ``journal``). Games that it has already
            are not played again: a sweep may grow by games a cell, by values and by games.
        forfeit: whether a GTP program that does not play at all loses its games, see
            ``play_match``.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called before the first and after every game with the
            result so far.
        executor: who runs the games in place of ``jobs`` processes, see ``play_match``.
        shard: such as ``"3/40"``: play only this part of the games.

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if the game is not for two players or an agent cannot play it.
        TypeError, ValueError: for a value that is not allowed, if no opening can be found, or if
            ``output`` is of another sweep or is being written by another process.
        OSError: if ``output`` cannot be read or written.
        SweepError: if an agent fails or plays an illegal action; it keeps the finished games.
    """
    options = checked_run_options(jobs, executor, output, shard)
    checked_count("games", games, 1, MOST_GAMES)
    seed = checked_match_seed(seed)
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
    with shown(progress) as tell:
        collector = ResultCollector(empty, tell, SweepError)
        finished = carry_out(plan, options, collector)
    return dataclasses.replace(collector.result, interrupted=not finished)


def parse_vary(texts: Iterable[str]) -> dict[str, list[Any]]:
    """The grid that texts of the form ``key=value,value,...`` describe.

    Raises:
        ValueError: if one is not of that form, or a key is given twice.
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
