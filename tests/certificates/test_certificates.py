"""Certificates: written by whoever knows the answers, and refused unless they prove it."""

import ast
import json
import lzma
import os
import pathlib
import random

import pytest
from helpers.forced import Forced, LoopGame
from helpers.games import Position, WrittenRules
from helpers.random_trees import KINDS, random_tree, tree_state
from typer.testing import CliRunner

from rave_agents.certificates import checker
from rave_agents.certificates.certificate_file import (
    Header,
    read_header,
    read_lines,
    verify_certificate,
)
from rave_agents.certificates.checker import AT_LEAST, AT_MOST, Statement, after
from rave_agents.certificates.writer import write_certificate
from rave_agents.cli import app
from rave_agents.errors import CertificateError
from rave_agents.frameworks.own_games import as_game

PROOFS = int(os.environ.get("RAVE_AGENTS_PROOFS", "5"))
"""Random games of each kind of which what a player can force is certified."""


def written(path, root, name="game", moves=(), endless=None, player=0):
    """The certificate of what a player can force; the lines of its proofs."""
    forced = Forced(root, player, endless)
    header = Header(name, None, tuple(moves), forced.statements())
    answers = [forced.answers(statement) for statement in header.statements]
    return forced, write_certificate(path, header, root, answers)


def lines_of(path):
    return lzma.decompress(path.read_bytes()).decode().splitlines()


def write_lines(path, lines):
    path.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))


def random_position(name, moves, seed):
    """A position after random moves, and these."""
    draw = random.Random(f"{name} {seed}")
    state, played = as_game(name).new_initial_state(), []
    for _ in range(moves):
        action = draw.choice(steps_of(state))
        child = after(state, action)
        if child.is_terminal():
            break
        state, played = child, [*played, action]
    return state, played


def steps_of(state):
    if state.is_chance_node():
        return [outcome for outcome, _ in state.chance_outcomes()]
    return list(state.legal_actions())


GAMES = {
    "tic_tac_toe": 4,
    "nim(pile_sizes=1;2;3)": 1,
    "hex(board_size=3)": 4,
    "connect_four(rows=4,columns=4)": 10,
    "clobber(rows=3,columns=3)": 1,
    "breakthrough(rows=5,columns=3)": 12,
    "dots_and_boxes(num_rows=1,num_cols=2)": 2,
    "mnk(m=3,n=4,k=3)": 6,
    "go(board_size=2,komi=0.5,max_game_length=6)": 1,
    "pig(players=2,winscore=4,horizon=4)": 0,
    "pig(players=3,winscore=3,horizon=4)": 1,
}
"""Games, and the random moves after which little is left."""


@pytest.mark.full(but=["tic_tac_toe", "pig(players=2,winscore=4,horizon=4)"])
@pytest.mark.parametrize("name", GAMES)
def test_proofs_of_games_are_verified(name, tmp_path):
    for seed in range(2):
        root, moves = random_position(name, GAMES[name], seed)
        for player in range(root.num_players()):
            path = tmp_path / "proof.xz"
            forced, lines = written(path, root, name, moves, player=player)
            checked = verify_certificate(path, name)
            assert (checked.lines, checked.header.statements) == (lines, forced.statements())
            assert checked.state.legal_actions() == root.legal_actions()
            assert checked.state.current_player() == root.current_player()


@pytest.mark.full(but=["zero sum", "three, general sum"])
@pytest.mark.parametrize("kind", KINDS)
def test_proofs_of_random_trees_are_verified_and_nothing_better_is(kind, tmp_path):
    path = tmp_path / "proof.xz"
    for seed in range(PROOFS):
        root = tree_state(kind, random_tree(kind, seed))
        if root.is_terminal():
            continue
        player = seed % root.num_players()
        written(path, root, player=player)
        verify_certificate(path, root)
        lines = lines_of(path)[1:]
        more = tuple(
            each._replace(value=each.value + (1e-6 if each.bound == AT_LEAST else -1e-6))
            for each in header_of(path).statements
        )
        write_lines(path, [header_of(path)._replace(statements=more).to_line(), *lines])
        with pytest.raises(CertificateError, match="it shows only"):
            verify_certificate(path, root)


def header_of(path):
    return read_header(read_lines(path))


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("endless", [-1.0, 0.0, 1.0])
def test_proofs_with_loops_are_verified_if_endless_play_counts(players, endless, tmp_path):
    path, loops = tmp_path / "proof.xz", 0
    for seed in range(3 * PROOFS):
        root = LoopGame(seed, players)
        if root.is_terminal():
            continue
        written(path, root, endless=endless)
        verify_certificate(path, root)
        lines = lines_of(path)[1:]
        untold = [each._replace(endless=None) for each in header_of(path).statements]
        write_lines(path, [header_of(path)._replace(statements=(*untold,)).to_line(), *lines])
        if refusal(path, root):
            assert "depends on itself" in refusal(path, root)
            loops += 1
    assert loops >= 3


def refusal(path, root):
    """The message of a refusal; empty if the certificate is right."""
    try:
        verify_certificate(path, root)
    except CertificateError as error:
        return str(error)
    return ""


def test_answers_that_lead_back_are_not_written(tmp_path):
    root = LoopGame(0)
    root.ways, root.mover = [[1, 2], [0], []], [0, 0, 0]
    root.end[2] = [1.0, -1.0]
    header = Header("loops", None, (), (Statement(0, AT_LEAST, 1.0),))
    with pytest.raises(CertificateError, match="lead back"):
        write_certificate(tmp_path / "proof.xz", header, root, [lambda state: 1 - state.at])
    assert not (tmp_path / "proof.xz").exists()
    write_certificate(tmp_path / "proof.xz", header, root, [lambda state: 2])
    assert verify_certificate(tmp_path / "proof.xz", root).lines == 2


def test_every_changed_byte_is_refused(tmp_path):
    path = tmp_path / "proof.xz"
    written(path, *with_name(*random_position("tic_tac_toe", 5, 1)))
    good = path.read_bytes()
    for place, byte in enumerate(good):
        path.write_bytes(good[:place] + bytes([byte ^ (1 + place % 255)]) + good[place + 1 :])
        with pytest.raises(CertificateError):
            verify_certificate(path, "tic_tac_toe")
    for bad in (good[:-1], good + b"\0", good + good, b""):
        path.write_bytes(bad)
        with pytest.raises(CertificateError):
            verify_certificate(path, "tic_tac_toe")


def with_name(root, moves, name="tic_tac_toe"):
    return root, name, moves


@pytest.mark.slow
@pytest.mark.full(but=["tic_tac_toe"])
@pytest.mark.parametrize("name", ["tic_tac_toe", "pig(players=2,winscore=3,horizon=3)"])
def test_every_missing_reply_and_line_out_of_place_is_refused(name, tmp_path):
    path = tmp_path / "proof.xz"
    root, moves = random_position(name, min(5, GAMES.get(name, 0) + 1), 3)
    written(path, root, name, moves)
    header, *lines = lines_of(path)
    for place, line in enumerate(lines):
        for other in ([], [line, line], ["*2"], ["=0"], ["end"], ["x"], ["007"]):
            if other not in (
                [line],
                [line.removesuffix("-")],
            ):  # Kept longer, it is the same proof.
                write_lines(path, [header, *lines[:place], *other, *lines[place + 1 :]])
                with pytest.raises(CertificateError):
                    verify_certificate(path, name)
    for place in range(1, len(lines) + 1):
        write_lines(path, [header, *lines[:-place]])
        with pytest.raises(CertificateError):
            verify_certificate(path, name)


@pytest.mark.slow
def test_wrong_answers_are_refused(tmp_path):
    """The walk is whole, but a move is not the best one."""
    path, refused = tmp_path / "proof.xz", 0
    for seed in range(20):
        root = tree_state("zero sum", random_tree("zero sum", seed))
        forced = Forced(root, 0)
        for statement in forced.statements():
            other = AT_MOST if statement.bound == AT_LEAST else AT_LEAST
            worst = forced.answers(statement._replace(bound=other))
            write_certificate(path, Header("tree", None, (), (statement,)), root, [worst])
            if forced.walked_value(worst, statement) == statement.value:
                verify_certificate(path, root)
                continue
            refused += 1
            with pytest.raises(CertificateError, match="it shows only"):
                verify_certificate(path, root)
    assert refused > 20


def test_a_position_that_is_another_is_refused(tmp_path):
    root = LoopGame(0)
    root.ways, root.mover = [[1, 2], [3], [4], [], []], [1, 0, 0, 0, 0]
    root.end[3], root.end[4] = [1.0, -1.0], [-1.0, 1.0]
    header = Header("loops", None, (), (Statement(0, AT_LEAST, 1.0),)).to_line()
    write_lines(tmp_path / "proof.xz", [header, "*2", "3+", ".", "=0-", "end"])
    with pytest.raises(CertificateError, match="position 0 differs"):
        verify_certificate(tmp_path / "proof.xz", root)


def test_what_is_not_looked_into_counts_as_the_worst(tmp_path):
    root, path = LoopGame(0), tmp_path / "proof.xz"
    root.ways, root.mover = [[1, 2], [2], []], [0, 0, 0]
    root.end[2] = [0.0, 0.0]
    for value, fits in ((-1.0, True), (-0.9, False)):
        header = Header("loops", None, (), (Statement(0, AT_LEAST, value),)).to_line()
        write_lines(path, [header, "1", "?", "end"])
        if fits:
            verify_certificate(path, root)
        else:
            with pytest.raises(CertificateError, match="it shows only -1"):
                verify_certificate(path, root)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kuhn_poker", "has hidden information"),
        ("matrix_rps", "same time"),
        ("./nim.py:Nim", "only games .* pass the game in addition to the file"),
        ("no_such_game", "only games"),
    ],
)
def test_games_that_prove_nothing_are_refused(name, message, tmp_path):
    statement = Statement(0, AT_MOST, 1.0)
    write_lines(tmp_path / "proof.xz", [Header(name, None, (), (statement,)).to_line(), "*3"])
    with pytest.raises(ValueError, match=message):
        verify_certificate(tmp_path / "proof.xz")


@pytest.mark.parametrize(
    "line",
    [
        *("", "{}", "[]", "nothing", '{"format": "rave-agents certificate 2"}', "[" * 5000),
        Header("tic_tac_toe", None, (), ()).to_line(),
        Header(3, None, (), (Statement(0, AT_LEAST, 1.0),)).to_line(),
        Header("tic_tac_toe", None, ("0",), (Statement(0, AT_LEAST, 1.0),)).to_line(),
        Header("tic_tac_toe", None, (9,), (Statement(0, AT_LEAST, 1.0),)).to_line(),
        Header("tic_tac_toe", "x..", (), (Statement(0, AT_LEAST, 1.0),)).to_line(),
        Header("tic_tac_toe", None, (), (Statement(2, AT_LEAST, -1.0),)).to_line(),
        Header("tic_tac_toe", None, (), (Statement(0, "about", -1.0),)).to_line(),
        Header("tic_tac_toe", None, (), (Statement(0, AT_LEAST, float("nan")),)).to_line(),
        Header("tic_tac_toe", None, (), (Statement(0, AT_LEAST, -1.0, "1"),)).to_line(),
    ],
)
def test_headers_that_are_none_are_refused(line, tmp_path):
    write_lines(tmp_path / "proof.xz", [line, "?", "end"])
    with pytest.raises(CertificateError):
        verify_certificate(tmp_path / "proof.xz")


def test_a_line_without_end_is_refused(tmp_path):
    path = tmp_path / "proof.xz"
    path.write_bytes(lzma.compress(b"9" * 2**21, preset=0))
    with pytest.raises(CertificateError, match="a line is too long"):
        verify_certificate(path)


def test_long_games_are_checked(tmp_path):
    """The walk is as deep as the game is long."""
    root, length = LoopGame(0, places=2), 5_000
    root.ways = [[place + 1] for place in range(length)] + [[]]
    root.mover = [0, 1] * length
    root.end = {length: [1.0, -1.0]}
    header = Header("loops", None, (), (Statement(0, AT_LEAST, 1.0),))
    write_certificate(tmp_path / "proof.xz", header, root, [lambda state: state.at + 1])
    assert verify_certificate(tmp_path / "proof.xz", root).lines == length + 1


def test_the_checker_knows_a_position_alone():
    source = pathlib.Path(checker.__file__).read_text(encoding="utf-8")
    imported = {
        node.module
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("rave_agents")
    }
    assert imported == {
        "rave_agents.errors",
        "rave_agents.game.abilities",
        "rave_agents.game.game_state",
    }


@pytest.mark.slow
def test_the_command_says_what_is_proven(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    root, moves = random_position("tic_tac_toe", 4, 1)
    path = tmp_path / "proof.xz"
    forced, lines = written(path, root, "tic_tac_toe", moves)
    run = CliRunner().invoke
    shown = run(app, ["verify", str(path)])
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.startswith(str(root))
    assert f"tic_tac_toe after 4 moves: verified by {lines} lines" in shown.stdout
    for statement in forced.statements():
        assert str(statement) in shown.stdout
    told = json.loads(run(app, ["verify", str(path), "tic_tac_toe", "--json"]).stdout)
    assert (told["verified"], told["moves"], told["lines"]) == (True, moves, lines)
    assert told["statements"][0]["value"] == forced.value
    path.write_bytes(path.read_bytes()[:-4])
    refused = run(app, ["verify", str(path)])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "cut off" in refused.stderr
    assert "No such file" in run(app, ["verify", str(tmp_path / "none.xz")]).stderr


def test_where_nothing_tells_positions_apart_none_is_another_again():
    class Unknown(Position):
        def position_key(self):
            return None

    root = Unknown(WrittenRules({(): (1, [0, 1]), (0,): [1.0, 0.0], (1,): [0.0, 1.0]}))
    with pytest.raises(CertificateError, match="position 0 differs"):
        checker.check_statement(iter(["*2", ".+", "=0", "end"]), root, Statement(0, AT_LEAST, 1.0))
