"""Certificates that anybody may have written, which name a game or are damaged."""

import json
import lzma

import numpy as np
import pytest
from helpers.forced import Forced
from typer.testing import CliRunner

from rave_agents.analysis.solve import solve_position
from rave_agents.certificates.certificate_file import Header, verify_certificate
from rave_agents.certificates.checker import AT_LEAST, Statement
from rave_agents.certificates.writer import write_certificate
from rave_agents.cli import app
from rave_agents.errors import CertificateError
from rave_agents.frameworks.own_games import as_game

STATEMENT = '{"player": 0, "bound": "at least", "value": 1.0}'


def put(path, *lines):
    path.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))


def first_line(game="tic_tac_toe", position="null", moves="[]", statements=f"[{STATEMENT}]"):
    return (
        f'{{"format": "rave-agents certificate 1", "game": {json.dumps(game)}, "position": '
        f'{position}, "moves": {moves}, "statements": {statements}}}'
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "proof.xz"


@pytest.mark.parametrize(
    "line",
    [
        first_line(statements=f"[{STATEMENT.replace('1.0', '9' * 400)}]"),
        first_line(statements=f"[{STATEMENT.replace('1.0', '-' + '9' * 300)}]"),
        first_line(statements=f"[{STATEMENT.replace('1.0', '1e999')}]"),
        first_line(statements=f"[{STATEMENT.replace('1.0', 'NaN')}]"),
        first_line(statements=f"[{STATEMENT.replace('1.0', '-Infinity')}]"),
        first_line(statements=f"[{STATEMENT.replace(': 0', ': ' + '9' * 200)}]"),
        first_line(statements=f'[{STATEMENT[:-1]}, "value": 0.0}}]'),
        first_line(moves=f"[{'9' * 5000}]"),
        first_line(moves="[" * 100_000),
        first_line(position="[" * 900 + "]" * 900),
        first_line(game="tic_tac_toe", position='"\\ud800"'),
        first_line()[:-1] + ', "game": "nim"}',
        first_line() + first_line(),
    ],
)
def test_a_first_line_that_json_or_a_search_cannot_take_is_refused(line, path):
    put(path, line, "?", "end")
    with pytest.raises(CertificateError) as refused:
        verify_certificate(path, "tic_tac_toe")
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 500


@pytest.mark.slow
@pytest.mark.full(but=["connect_four(rows=100000,columns=100000)"])
@pytest.mark.parametrize(
    "game",
    [
        "mnk(m=100000,n=100000,k=3)",
        "y(board_size=50000)",
        "hex(board_size=100000)",
        "connect_four(rows=100000,columns=100000)",
        "oware(num_houses_per_player=1000000000)",
        "blotto(coins=60,fields=12)",
        "connect_four(rows=99999999999999999999)",
        "pettingzoo:go_v5(board_size=100000)",
    ],
)
def test_a_game_that_takes_too_much_is_refused(game, path):
    put(path, first_line(game), "?", "end")
    with pytest.raises(CertificateError):
        verify_certificate(path)


@pytest.mark.full
def test_millions_of_equal_lines_in_a_small_file_are_refused_in_time(path):
    statement = STATEMENT.replace(": 0", ": 1")
    header = first_line("mnk(m=3000,n=3000,k=3)", statements=f"[{statement}]")
    put(path, header, "*9000000", *["?"] * 9_000_000)
    assert path.stat().st_size < 10_000
    with pytest.raises(CertificateError, match="too much time or memory"):
        verify_certificate(path)


def test_a_position_that_is_none_is_refused(path):
    for game, position in (("chess", "8/8/8/8/8/8/8/8 w - - 0 1"), ("tic_tac_toe", "\x1b]0;x\x07")):
        put(path, first_line(game, position=json.dumps(position)), "?", "end")
        with pytest.raises(CertificateError, match="has no position") as refused:
            verify_certificate(path, game)
        assert str(refused.value).isprintable()


@pytest.mark.slow
def test_the_game_that_was_checked_is_named(path):
    """The file claims another game: its rules are not asked."""
    nim = as_game("nim(pile_sizes=1;1;1)")
    forced = Forced(nim.new_initial_state(), 0)
    header = Header("chess", None, (), forced.statements())
    answers = [forced.answers(statement) for statement in header.statements]
    write_certificate(path, header, nim.new_initial_state(), answers)
    verified = verify_certificate(path, nim)
    assert (verified.header.game, verified.named) == (nim.name, "chess")
    done = CliRunner().invoke(app, ["verify", str(path), "nim(pile_sizes=1;1;1)", "--json"])
    told = json.loads(done.stdout)
    assert (told["game"], told["named"]) == ("nim(pile_sizes=1;1;1)", "chess")
    done = CliRunner().invoke(app, ["verify", str(path), "nim(pile_sizes=1;1;1)"])
    assert "nim(pile_sizes=1;1;1): verified" in done.stdout
    with pytest.raises(CertificateError):
        verify_certificate(path)


@pytest.mark.slow
def test_a_file_of_another_kind_is_told_to_be_none(tmp_path):
    def refusal(name):
        done = CliRunner().invoke(app, ["verify", str(tmp_path / name)])
        assert (done.exit_code, done.stdout) == (2, "")
        return " ".join(done.stderr.split())

    (tmp_path / "text.txt").write_text("x\u00e9\n")
    (tmp_path / "empty.xz").touch()
    (tmp_path / "other.xz").write_bytes(lzma.compress(b"[]\n"))
    (tmp_path / "picture").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    solve_position("tic_tac_toe", positions=10, table=tmp_path / "table", progress=False)
    np.savez(tmp_path / "value.npz", weights=np.zeros(3))
    for name, kind in {
        "text.txt": "it is a text file",
        "empty.xz": "it is empty",
        "other.xz": "its first line does not name a game and statements",
        "picture": "it is a file of another kind",
        "table": "it is a table of solve --table",
        "value.npz": "it is a zip archive, as files of learned values and networks are",
    }.items():
        told = refusal(name)
        assert f"{name}' is not a certificate as written by solve --certificate: {kind}." in told
    assert "No such file" in refusal("missing.xz")
    assert "[Errno" not in refusal("missing.xz")
    assert "is a folder" in refusal(".")


def test_a_value_may_have_any_size_of_a_float(path):
    statement = Statement(0, AT_LEAST, -1e308)
    put(path, Header("tic_tac_toe", None, (), (statement,)).to_line(), "?", "end")
    assert verify_certificate(path, "tic_tac_toe").lines == 1
