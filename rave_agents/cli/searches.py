"""The commands that search: search, solve, learn, speed, gtp, uci."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from rave_agents.analysis import position_analysis as analysis
from rave_agents.analysis.certify import certify
from rave_agents.analysis.expected_value import ExpectedSolution, solve_expected
from rave_agents.analysis.solve import MEMORY_MB, Solution, solve_position
from rave_agents.arena.bench import EQUAL_TIME_GAMES, ROUND_SECONDS, run_bench
from rave_agents.arena.lists import parse_agents, split_games
from rave_agents.arena.match import limited_agent
from rave_agents.arena.play import warm_up
from rave_agents.arena.thirty_games import THIRTY_GAMES
from rave_agents.cli.completion import complete_agent, complete_game
from rave_agents.cli.program import (
    ClockText,
    Csv,
    Debug,
    GameName,
    Json,
    Moves,
    PositionText,
    Seconds,
    Seed,
    Simulations,
    app,
    check_files,
    check_writable,
    interrupted,
    reported,
    write_files,
)
from rave_agents.cli.terminal import say, show_json, show_result
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import has_chance
from rave_agents.game.notation import position_text
from rave_agents.gtp_engine.engine import Engine
from rave_agents.gtp_engine.serve import serve_standard_streams, serve_uci
from rave_agents.gtp_engine.uci_engine import UciEngine
from rave_agents.results.numbers import counted


@app.command()
@reported
def search(
    game: GameName,
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT", autocompletion=complete_agent, help="An agent, such as 'rave(c=0.2)'."
        ),
    ] = "auto",
    moves: Moves = "",
    position: PositionText = None,
    simulations: Simulations = None,
    seconds: Seconds = None,
    seed: Seed = 0,
    rows: Annotated[int, typer.Option(help="Moves in the table.", min=1)] = 10,
    player: Annotated[
        int,
        typer.Option(help="The player to choose for, where players move at the same time.", min=0),
    ] = 0,
    csv: Csv = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what an agent thinks of a position."""
    check_files(csv)
    found = analysis.analyse(
        game,
        agent,
        moves=moves,
        position=position,
        simulations=simulations,
        seconds=seconds,
        seed=seed,
        player=player,
    )
    if as_json:
        show_json(found.to_dict())
    else:
        left_out = 0 if found.result is None else len(found.result.actions) - rows
        below = f"and {counted(left_out, 'more move')}, see --rows" if left_out > 0 else ""
        show_result(found, found.tables(rows), above=position_text(found.state), below=below)
    write_files(found, csv)


def moves_of_line(moves: str, line: str) -> str:
    """The moves before a line and those on it, without a comment after ``#``."""
    return f"{moves} {line.partition('#')[0]}".strip()


def solve_any(
    game: str, table: Path | None, threads: int, proof: Mapping[str, Any], **given: Any
) -> Solution | ExpectedSolution:
    """Solve a position of a game with chance or without; ``proof`` is for those without."""
    if has_chance(as_game(game).new_initial_state()):
        if table is not None:
            raise ValueError("--table keeps proofs, and chance moves in this game.")
        if threads != 1:
            raise ValueError("--threads search for a proof, and chance moves in this game.")
        if proof["evaluator"] is not None:
            raise ValueError("--evaluator leads a proof, and chance moves in this game.")
        return solve_expected(game, **given)
    return solve_position(game, table=table, threads=threads, **proof, **given)


@app.command()
@reported
def solve(
    game: GameName,
    moves: Moves = "",
    position: PositionText = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds at most.")] = None,
    positions: Annotated[int | None, typer.Option(help="Positions at most.")] = None,
    max_memory_mb: Annotated[float, typer.Option(help="Megabytes for the table.")] = MEMORY_MB,
    threads: Annotated[
        int, typer.Option(help="Threads that search with one table, for compiled and C++ games.")
    ] = 1,
    table: Annotated[
        Path | None,
        typer.Option(help="A file that keeps the table: the next run goes on from there."),
    ] = None,
    evaluator: Annotated[
        str | None,
        typer.Option(help="A learned value, such as value.npz: begin where it expects most."),
    ] = None,
    known: Annotated[
        bool, typer.Option(help="Begin so with a value that is shipped, if there is one.")
    ] = True,
    certificate: Annotated[
        Path | None,
        typer.Option(help="A file to write the proof to, which rave-agents verify checks."),
    ] = None,
    lines: Annotated[
        Path | None,
        typer.Option(
            help="A file with the moves of a position on each line, after --moves: solve them all."
        ),
    ] = None,
    csv: Csv = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Prove who wins a position, or show how far the proof came.

    Where chance moves, it finds the return that the player to move can expect. It ends when the
    position is solved, at a limit, or at Ctrl-C, which shows what is known by then. The memory does
    not grow: a full table drops what was cheap to find.
    """
    given: dict[str, Any]
    proof: dict[str, Any] = {"evaluator": evaluator, "known": known}
    if lines is not None:
        if certificate is not None:
            raise ValueError("--certificate is of one position, and --lines names several.")
        if csv is not None:
            raise ValueError("--csv is of one position, and --lines names several.")
        for number, line in enumerate(lines.read_text(encoding="utf-8").splitlines(), 1):
            told = moves_of_line(moves, line)
            given = {"moves": told, "position": position, "positions": positions}
            given |= {"seconds": seconds, "max_memory_mb": max_memory_mb}
            try:
                found = solve_any(game, table, threads, proof, **given)
            except ValueError as error:
                raise ValueError(f"Line {number} of {lines}: {error}") from error
            typer.echo(json.dumps(found.to_dict()) if as_json else f"{told}: {found.summary()}")
            if found.end == "interrupted":
                raise interrupted()
        return
    check_files(csv)
    if certificate is not None:
        check_writable(certificate, "--certificate")
    given = {"moves": moves, "position": position}
    given |= {"positions": positions, "seconds": seconds, "max_memory_mb": max_memory_mb}
    # A kept table may be of a search that looked at the replies that matter alone.
    proof["all_replies"] = certificate is not None and table is None
    solution = solve_any(game, table, threads, proof, **given)
    if as_json:
        show_json(solution.to_dict())
    else:
        show_result(solution, above=position_text(solution.state))
    write_files(solution, csv)
    if certificate is not None:
        size = certify(certificate, solution, game, moves=moves, position=position)
        say(f"{escape(str(certificate))} has the proof: {counted(size, 'line')}.")
    if solution.end == "interrupted":
        raise interrupted()


@app.command()
@reported
def speed(
    games: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAMES]...", autocompletion=complete_game, help="By default thirty games."
        ),
    ] = None,
    agents: Annotated[
        str,
        typer.Option(
            autocompletion=complete_agent,
            help="Agents to measure, separated by spaces, commas or semicolons.",
        ),
    ] = "uct rave",
    baseline: Annotated[
        str, typer.Option(autocompletion=complete_agent, help="The agent to compare with.")
    ] = "mcts",
    rounds: Annotated[int, typer.Option(help="Measurements of each agent.")] = 5,
    round_seconds: Annotated[
        float, typer.Option(help="Seconds that each takes the slowest agent.")
    ] = ROUND_SECONDS,
    equal_time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Seconds a move of matches against the baseline, which are then played besides.",
        ),
    ] = None,
    equal_time_games: Annotated[
        int, typer.Option(help="Games of each such match.")
    ] = EQUAL_TIME_GAMES,
    peers: Annotated[
        bool,
        typer.Option(help="Measure OpenSpiel's Python bot besides."),
    ] = True,
    seed: Seed = 0,
    csv: Csv = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure simulations per second beside OpenSpiel's C++ MCTSBot."""
    check_files(csv)
    measured = parse_agents(agents)
    specs = list(measured.values()) if isinstance(measured, dict) else measured
    if not specs:
        raise ValueError("--agents names no agent to measure.")
    result = run_bench(
        [game for word in games for game in split_games(word)] if games else THIRTY_GAMES,
        specs,
        baseline=baseline,
        rounds=rounds,
        round_seconds=round_seconds,
        seed=seed,
        equal_time=equal_time,
        equal_time_games=equal_time_games,
        peers=peers,
    )
    if as_json:
        show_json(result.to_dict())
    else:
        show_result(result)
    write_files(result, csv)
    if result.interrupted:
        raise interrupted(f"{len({row.game for row in result.rows})} games were finished.")


EngineSeed = Annotated[int | None, typer.Option(help="Seed of all random numbers.")]


@app.command()
@reported
def gtp(
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            autocompletion=complete_agent,
            help="An agent, such as 'rave(seconds=1)'.",
        ),
    ] = "rave",
    game: Annotated[
        str,
        typer.Option(
            autocompletion=complete_game,
            help="The game, such as 'go(board_size=9)'; controllers may change the size.",
        ),
    ] = "go(board_size=9)",
    simulations: Simulations = None,
    seconds: Seconds = None,
    clock: ClockText = None,
    seed: EngineSeed = None,
    debug: Debug = False,
) -> None:
    """Play by the Go Text Protocol, version 2, on standard input and output."""
    player = limited_agent(agent, simulations, seconds, clock)
    engine = Engine(game, player, seed=seed)
    warm_up(player, engine.position.game)  # Before the controller's clock runs.
    code = serve_standard_streams(engine)
    if code:
        raise typer.Exit(code)


@app.command()
@reported
def uci(
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            autocompletion=complete_agent,
            help="An agent, such as 'auto(seconds=1)'.",
        ),
    ] = "auto",
    game: Annotated[
        str,
        typer.Option(
            autocompletion=complete_game,
            help="The game: chess, shogi, xiangqi, othello, amazons, breakthrough or clobber.",
        ),
    ] = "chess",
    simulations: Simulations = None,
    seconds: Seconds = None,
    clock: ClockText = None,
    seed: EngineSeed = None,
    debug: Debug = False,
) -> None:
    """Play by the Universal Chess Interface on standard input and output.

    It tells what it thinks as info lines: the score in centipawns, or the moves to a proven end.
    """
    player = limited_agent(agent, simulations, seconds, clock)
    code = serve_uci(
        lambda tell: UciEngine(game, player, tell, seed=seed), sys.stdin.buffer, sys.stdout.buffer
    )
    if code:
        raise typer.Exit(code)
