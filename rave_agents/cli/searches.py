"""The commands about one position or game: search, solve, verify, review, speed."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from rave_agents.analysis.certify import certify
from rave_agents.analysis.expected_value import solve_expected
from rave_agents.analysis.position_analysis import analyse
from rave_agents.analysis.review import review_game
from rave_agents.analysis.solve import solve_position
from rave_agents.arena.arguments import parse_agents, split_games
from rave_agents.arena.bench import run_bench
from rave_agents.certificates.certificate_file import verify_certificate
from rave_agents.cli.options import complete_game
from rave_agents.cli.output import Output, check_writable
from rave_agents.cli.program import command, interrupted, use_current_folder
from rave_agents.cli.terminal import say, show, show_json
from rave_agents.files import written_whole
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import has_chance
from rave_agents.game.notation import position_text
from rave_agents.records.reader import read_game
from rave_agents.results.numbers import counted, whole
from rave_agents.results.progress import Progress, View, shown
from rave_agents.web.review_page import review_page


@command(
    analyse,
    agent={"default": "auto", "help": "An agent, such as 'rave(c=0.2)'."},
    rows={"min": 1},
    player={"min": 0},
)
def search(call: partial[Any], output: Output, *, rows: int = 10) -> None:
    """Show what an agent thinks of a position.

    Options:
        rows: moves in the table.
    """
    output.check()
    found = call()
    board, values, result = position_text(found.state), found.to_dict(), found.result
    if result is not None:
        left_out = len(result.actions) - rows
        below = f"and {counted(left_out, 'more move')}, see --rows" if left_out > 0 else ""
        output.give(result, values, tables=result.tables(rows), above=board, below=below)
        return
    if output.as_json:
        show_json(values)
    else:
        line = f"player {found.player} plays {found.action_name}"
        show(*map(escape, (board.rstrip("\n"), "", line)))
    if output.csv is not None:
        raise ValueError(f"{found.agent} does not search: --csv has no table to write.")


_PROOFS_ALONE = {
    "table": "--table keeps proofs",
    "threads": "--threads search for a proof",
    "evaluator": "--evaluator leads a proof",
}
"""Options of ``solve`` that do not fit games of chance, and why."""


def _solved(call: partial[Any], **more: Any) -> Any:
    """Solve a position: by a proof, or where chance moves by expected values."""
    given = {**call.keywords, **more}
    if not has_chance(as_game(given["game"]).new_initial_state()):
        return solve_position(**given)
    for name, what in _PROOFS_ALONE.items():
        if given.get(name) not in (None, 1):
            raise ValueError(f"{what}, and chance moves in this game.")
    of_proofs = {*_PROOFS_ALONE, "known", "all_replies"}
    return solve_expected(**{name: each for name, each in given.items() if name not in of_proofs})


@command(
    solve_position,
    repetition={},
    all_replies={},
    known="Begin so with a value that is shipped, if there is one.",
    evaluator="A learned value, such as value.npz: begin where it expects most.",
)
def solve(
    call: partial[Any],
    output: Output,
    *,
    certificate: Path | None = None,
    lines: Path | None = None,
) -> None:
    """Prove who wins a position, or show how far the proof came.

    Where chance moves, it finds the return that the player to move can expect. It ends when the
    position is solved, at a limit, or at Ctrl-C, which shows the bounds found by then. The memory
    does not grow: a full table drops the entries that were cheap to find.

    Options:
        certificate: a file to write the proof to, which rave-agents verify checks.
        lines: a file with the moves of a position on each line, after --moves: solve them all.
    """
    if lines is not None:
        for option, given in (("--certificate", certificate), ("--csv", output.csv)):
            if given is not None:
                raise ValueError(f"{option} is of one position, and --lines names several.")
        _solve_lines(call, lines, as_json=output.as_json)
        return
    output.check()
    check_writable(certificate, "--certificate")
    # A kept table may be of a search that looked at the replies that matter alone.
    all_replies = certificate is not None and "table" not in call.keywords
    solution = _solved(call, all_replies=all_replies)
    output.give(solution, above=position_text(solution.state))
    if certificate is not None:
        place = {
            name: call.keywords[name] for name in ("moves", "position") if name in call.keywords
        }
        size = certify(certificate, solution, call.keywords["game"], **place)
        say(f"{escape(str(certificate))} has the proof: {counted(size, 'line')}.")
    if solution.end == "interrupted":
        raise interrupted()


def _solve_lines(call: partial[Any], path: Path, *, as_json: bool) -> None:
    """Solve the position of each line of a file, and print one line for each."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        moves = f"{call.keywords.get('moves', '')} {line.partition('#')[0]}".strip()
        try:
            found = _solved(call, moves=moves)
        except ValueError as error:  # An illegal move: name the line.
            raise ValueError(f"Line {number} of {path}: {error}") from error
        typer.echo(json.dumps(found.to_dict()) if as_json else f"{moves}: {found.summary()}")
        if found.end == "interrupted":
            raise interrupted()


@command(
    verify_certificate,
    path={"metavar": "FILE", "help": "The certificate, of solve --certificate."},
    game="The game in place of the one that the file names, needed for one of your own.",
)
def verify(call: partial[Any], *, as_json: bool = False) -> None:
    """Check a certificate: the proof of a position's value, by the rules of the game alone.

    It prints the proven statements, and ends with exit code 2 if the file does not prove it.
    """
    if "game" in call.keywords:
        use_current_folder()
    verified = call()
    header, board = verified.header, position_text(verified.state)
    if as_json:
        statements = [statement._asdict() for statement in header.statements]
        found = {"named": verified.named, "board": board, "statements": statements}
        show_json({**header._asdict(), **found, "lines": verified.lines, "verified": True})
        return
    moves = f" after {counted(len(header.moves), 'move')}" if header.moves else ""
    start = "" if header.position is None else f" from {header.position}"
    line = f"{header.game}{start}{moves}: verified by {whole(verified.lines)} lines"
    shown_lines = [board.rstrip("\n"), "", line, *(f"  {each}" for each in header.statements)]
    show(*map(escape, shown_lines))


@command(
    review_game,
    actions={"metavar": "FILE"},
    agent="An agent that searches.",
    number={"min": 1},
    start={},
)
def review(
    call: partial[Any], output: Output, actions: Path, *, html: Path | None = None, number: int = 1
) -> None:
    """Review a game: the mistakes, what was expected, and why.

    Ctrl-C ends it and shows the moves reviewed by then.

    Options:
        actions: a game: SGF, PGN, a list of moves, or a file of games (--number).
        html: write the review as one page into this file.
        number: the number of the game, from 1, in a file of games.
    """
    game = as_game(call.keywords["game"])
    start, moves = read_game(game, actions, number)
    output.check()
    check_writable(html, "--html")
    automatic: Progress[tuple[int, int]] = None
    with shown(automatic, _view) as report:
        progress = None if report is None else lambda done, planned: report((done, planned))
        found = call(game=game, actions=moves, start=start, progress=progress)
    if html is not None:
        with written_whole(html, "w", encoding="utf-8") as written:
            written.write(review_page(found))
        say(f"{html} has the review.")
    output.give(found)
    if found.interrupted:
        raise interrupted("the last moves are not reviewed.")


def _view(progress: tuple[int, int]) -> View:
    done, planned = progress
    return View(done, planned, "positions", lambda width: "")


@command(run_bench, games={"metavar": "[GAMES]...", "autocompletion": complete_game})
def speed(
    call: partial[Any],
    output: Output,
    games: list[str] | None = None,
    *,
    agents: str = "uct rave",
) -> None:
    """Measure simulations per second, and compare with OpenSpiel's C++ MCTSBot.

    Options:
        games: by default thirty games.
        agents: agents to measure, separated by spaces, commas or semicolons.
    """
    output.check()
    measured = parse_agents(agents)
    specs = list(measured.values()) if isinstance(measured, dict) else measured
    if not specs:
        raise ValueError("--agents names no agent to measure.")
    if games:
        call.keywords["games"] = [game for word in games for game in split_games(word)]
    result = call(agents=specs)
    output.give(result)
    if result.interrupted:
        raise interrupted(f"{len({row.game for row in result.rows})} games were finished.")
