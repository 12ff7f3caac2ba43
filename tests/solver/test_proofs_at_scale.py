"""A sample of ``examples/check_proofs.py``: proofs against every line of play, and certificates."""

import pytest
from helpers.examples import load_example

from rave_agents.certificates.certificate_file import Header
from rave_agents.certificates.checker import AT_LEAST, Statement

ROWS = [
    "tic_tac_toe",
    "tic_tac_toe, OpenSpiel's states",
    "breakthrough(rows=5,columns=3)",
    "misere(game=mnk(m=3,n=4,k=3))",
    "trees: alone",
    "trees: win, draw, loss",
    "trees: three, general sum",
    "loops: 1 players, by states",
    "loops: 2 players, by rules",
    "loops: 3 players, by rules",
    "graphs",
    "graphs without keys",
]


@pytest.mark.full(but=["loops: 1 players, by states"])
@pytest.mark.parametrize("row", ROWS)
def test_proofs_are_right_and_certificates_hold_nothing_else(row, monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "compiled")  # The example writes to it.
    example = load_example("check_proofs")
    assert example.check_row(row, 20) == (20, [])


def test_a_reply_is_cut_out_with_all_that_follows_it():
    example = load_example("check_proofs")
    header = Header("game", None, (), (Statement(0, AT_LEAST, 1.0),)).to_line()
    lines = [header, "*2", "3", ".", "*1", ".", "end"]

    class First:
        """Draws the first of all, and never changes a number of replies."""

        def choice(self, places):
            return places[0]

        def randrange(self, count):
            return 0

        def random(self):
            return 0.9

    assert example.without_reply(lines, First()) == [header, "*2", "*1", ".", "end"]


def test_a_wrong_value_is_told(tmp_path):
    """The check fails for a truth that is not the solver's."""
    example = load_example("check_proofs")
    task = next(example.of_graphs(0, keyed=True))
    prover = example.Prover(tmp_path / "proof.xz", "0")
    assert prover.check(task) == []
    assert "the value is" in prover.check(task._replace(value=task.value + 1))[0]


def test_a_checker_that_takes_all_is_told(tmp_path, monkeypatch):
    example = load_example("check_proofs")
    monkeypatch.setattr(example, "verify_certificate", lambda path, game: None)
    task = next(example.of_graphs(0, keyed=True))
    found = example.Prover(tmp_path / "proof.xz", "0").check(task)
    assert [each.split(",")[0] for each in found][1:3] == ["a reply is missing", "more is claimed"]
