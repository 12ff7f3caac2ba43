"""Tables of the solver are used with the rules that they were made by, and with no others."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.own_games import subtraction
from helpers.processes import run_python

from rave_agents import as_game
from rave_agents.analysis.solve import solve_position
from rave_agents.frameworks.rules_digest import rules_digest
from rave_agents.solver.table_file import DIGEST

WIN = "[-1.0, 1.0] if self.player == 0"
GAME = Path(subtraction.__file__).read_text()
GAME = f"from worth import win\n{GAME.replace(WIN, 'win() if self.player == 0')}"
WORTH = "def win():\n    return [-1.0, 1.0]\n"


class Hidden(subtraction.Subtraction):
    """The game of sticks, with a rule that neither its name nor its keys tell."""

    def __init__(self, sticks=4, sign=1.0):
        super().__init__(sticks)
        self._sign = sign

    def clone(self):
        other = type(self)(self.sticks, self._sign)
        other.player = self.player
        return other

    def returns(self):
        return [self._sign * each for each in super().returns()]

    def utility_sum(self):
        return 0.0


def solve(game, table, **options):
    return solve_position(game, table=table, max_memory_mb=1, progress=False, **options)


def solve_file(folder):
    """Solve the game of a file with a table, in a process of its own; returns what it prints."""
    command = "solve", "./sticks.py:Subtraction", "--max-memory-mb", "1", "--table", "kept"
    done = run_python("-m", "rave_agents", *command, cwd=folder)
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.full(but=2)
@pytest.mark.parametrize("edited", [None, "sticks.py", "worth.py"])
def test_a_table_is_refused_once_the_modules_of_its_game_were_edited(tmp_path, edited):
    (tmp_path / "sticks.py").write_text(GAME)
    (tmp_path / "worth.py").write_text(WORTH)
    assert "player 0 can force 1" in solve_file(tmp_path)
    if edited is None:
        assert "player 0 can force 1" in solve_file(tmp_path)
    else:
        old = (tmp_path / edited).read_text()
        (tmp_path / edited).write_text(old.replace("[-1.0, 1.0]", "[0.5, 0.0]").replace("7", "8"))
        assert "was made by other rules" in " ".join(solve_file(tmp_path).split())


def test_a_table_is_refused_for_an_object_of_other_content(tmp_path):
    path = tmp_path / "kept"
    first = solve(Hidden(), path)
    assert solve(Hidden(), path).positions == 0 < first.positions
    with pytest.raises(ValueError, match="was made by other rules"):
        solve(Hidden(sign=-1.0), path)


@pytest.mark.parametrize("value", ["[" * 10**5, "1" + "0" * 400, '"many"', "1e999"])
def test_a_forged_table_is_refused(tmp_path, value):
    path = tmp_path / "kept"
    solve(Hidden(), path)
    title, head, rest = path.read_bytes()[:-DIGEST].split(b"\n", 2)
    head = re.sub(rb'"words": \d+', b'"words": ' + value.encode(), head)
    content = b"\n".join([title, head, rest])
    path.write_bytes(content + hashlib.blake2b(content, digest_size=DIGEST).digest())
    with pytest.raises(ValueError, match="second line cannot be read"):
        solve(Hidden(), path)


def test_no_table_is_kept_for_rules_that_cannot_be_determined(tmp_path):
    class Local(Hidden):
        pass

    with pytest.raises(ValueError, match=r"No table can be kept .*Define the game in a file"):
        solve(Local(), tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.slow
def test_no_table_is_kept_for_a_class_of_a_notebook(tmp_path):
    (tmp_path / "worth.py").write_text(WORTH)
    program = GAME + (
        "from rave_agents.analysis.solve import solve_position\n"
        "try:\n"
        "    solve_position(Subtraction(), table='kept', max_memory_mb=1)\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "the module __main__ has no file" in done.stdout


def test_positions_without_keys_are_told_apart_in_a_table(tmp_path):
    path = tmp_path / "kept"
    for moves in ([], [0], [1], [0, 0]):
        alone = solve_position(Hidden(5), moves=moves, max_memory_mb=1, progress=False)
        assert solve(Hidden(5), path, moves=moves).value == alone.value


@pytest.mark.parametrize("name", ["tic_tac_toe", "python_tic_tac_toe", "pettingzoo:tictactoe_v3"])
def test_the_rules_of_a_framework_have_the_same_digest_after_a_search(name):
    game = as_game(name)
    before = rules_digest(game)
    solve_position(game, positions=20, max_memory_mb=1, progress=False)
    assert rules_digest(as_game(name)) == before
