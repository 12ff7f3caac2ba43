"""Certificates that anybody may have written: refused in a sentence, or checked."""

import json
import lzma
import subprocess
import sys

import pytest

from rave_agents.analysis.certify import certify
from rave_agents.analysis.solve import solve_position
from rave_agents.certificates.certificate_file import verify_certificate
from rave_agents.errors import CertificateError, RaveAgentsError

HEAD = (
    '{"format": "rave-agents certificate 1", "game": "%s", "position": null, "moves": %s, '
    '"statements": [{"player": 0, "bound": "at least", "value": %s}]}\n?\nend\n'
)


def certificate(folder, game="tic_tac_toe", moves="[]", value="1.0"):
    path = folder / "certificate"
    path.write_bytes(lzma.compress((HEAD % (game, moves, value)).encode()))
    return path


@pytest.mark.full(but=2)
@pytest.mark.parametrize(
    "header", [{"value": "9" * 400}, {"moves": "[" + "9" * 5000 + "]"}, {"moves": "[" * 100_000}]
)
def test_huge_numbers_and_nested_values_are_refused(tmp_path, header):
    with pytest.raises(CertificateError):
        verify_certificate(certificate(tmp_path, **header))


@pytest.mark.full(but=1)
@pytest.mark.parametrize(
    "game",
    [
        "connect_four(rows=100000,columns=100000)",
        "mnk(m=100000,n=100000,k=3)",
        "oware(num_houses_per_player=1000000000)",
    ],
)
def test_a_game_that_takes_too_much_is_refused(tmp_path, game):
    command = [sys.executable, "-m", "rave_agents", "verify", str(certificate(tmp_path, game))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot be made" in " ".join(done.stderr.split())


def test_a_game_of_no_framework_is_refused(tmp_path):
    with pytest.raises(RaveAgentsError):
        verify_certificate(certificate(tmp_path, "./own.py:Game"))


def test_what_was_checked_is_the_game_that_was_given(tmp_path):
    path, game = tmp_path / "certificate", "nim(pile_sizes=1;1;1)"
    certify(path, solve_position(game, progress=False, max_memory_mb=1), game)
    first, rest = lzma.decompress(path.read_bytes()).decode().split("\n", 1)
    claim = json.dumps(json.loads(first) | {"game": "chess"})
    path.write_bytes(lzma.compress(f"{claim}\n{rest}".encode()))
    assert verify_certificate(path, game).header.game == game
