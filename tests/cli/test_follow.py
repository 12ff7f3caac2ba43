"""Commands take their options from the signatures and docstrings of the functions they call."""

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from rave_agents.cli.follow import follow

MOST_PIPS = 7


def deal(
    game: Any,
    player: str = "me",
    *,
    pips: int | None = None,
    share: Annotated[float, "of all"] | None = 0.5,
    file: str | Path | None = None,
    is_open: bool = False,
    mixed: bool = True,
    moves: str | Sequence[int] = "",
    progress: bool | None = None,
) -> dict[str, Any]:
    """Deal cards.

    Args:
        game: the game, see ``as_game``.
        player: the dealer of ``game``.
        pips: the most pips; None for ``MOST_PIPS``. With ``is_open`` more
            than ``"a few"``.
        share: see ``other``.
        file: a file; None for none.
        is_open: True if the cards are shown.
        mixed: see ``other``.
        progress: a function.

    Raises:
        ValueError: never.
    """
    return {"game": game, "player": player, "pips": pips, "file": file, "is_open": is_open}


def other(share: float) -> None:
    """Share.

    Args:
        share: the share of [all] cards.
    """


@dataclasses.dataclass(frozen=True)
class Bundle:
    """Options that commands share.

    Args:
        as_json: print JSON.
    """

    as_json: bool = False


CHANGES = {
    "progress": {},
    "mixed": {"default": False, "help": "Mixed."},
    "as_json": {"option": "--json"},
}


@pytest.fixture
def program(monkeypatch):
    """Runs the command; returns its output, and what it was called with."""
    monkeypatch.setenv("COLUMNS", "200")
    app, calls = typer.Typer(), []

    @app.command()
    @follow(deal, other, changes=CHANGES)
    def command(call: partial[Any], bundle: Bundle, *, moves: list[str] | None = None) -> None:
        """Deal.

        Options:
            moves: moves to play.
        """
        calls.append((call.keywords, bundle, moves))

    def run(*arguments):
        return CliRunner().invoke(app, arguments), calls

    return run


def test_help_is_that_of_the_docstring_in_the_command_lines_words(program):
    lines = " ".join(program("--help")[0].output.replace("│", " ").split())
    for text in (
        "* GAME <str> The game. [required]",
        "PLAYER <str> The dealer of GAME. [default: me]",
        "--pips <int> The most pips; by default 7. With --is-open more than 'a few'.",
        "--share <float> The share of [all] cards. [default: 0.5]",
        "--file <path> A file.",
        "--is-open <bool> The cards are shown.",
        "--mixed <bool> Mixed.",
        "--json <bool> Print JSON.",
        "Moves to play.",
    ):
        assert text in lines
    assert "--progress" not in lines
    assert "--no-" not in lines
    assert "Options:" not in lines


def test_a_command_passes_on_what_was_given_and_no_more(program):
    _, calls = program("hex")
    assert calls == [({"game": "hex", "mixed": False}, Bundle(), None)]
    calls.clear()
    program("hex", "you", "--pips", "3", "--is-open", "--file", "a", "--json", "--moves", "1")
    given = {"game": "hex", "player": "you", "pips": 3, "is_open": True, "file": Path("a")}
    assert calls == [({**given, "mixed": False}, Bundle(as_json=True), ["1"])]


def test_a_value_of_another_type_is_refused(program):
    result, calls = program("hex", "--pips", "many")
    assert result.exit_code == 2
    assert "--pips" in result.output
    assert not calls
