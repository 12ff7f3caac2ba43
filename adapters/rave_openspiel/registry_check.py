"""Self-test of a newly compiled registration library, which runs in a process of its own.

``python -m rave_openspiel.registry_check LIBRARY`` exits with status 0 if OpenSpiel loads and plays
a Python bot by its name, and passes on its exceptions.
"""

import pathlib
import sys
from collections.abc import Mapping
from typing import Any

import pyspiel

from rave_openspiel.bot_type import Bot
from rave_openspiel.registry import Registrar

NAME = "rave_openspiel_check"

PARAMETERS: dict[str, int | float | str | bool] = {
    "whole": -3,
    "real": 0.1,
    "text": "a, b",
    "truth": True,
}


class FirstMoveBot(Bot):
    """Plays the first legal action, which must not be 2."""

    def restart(self) -> None:
        """Do nothing: there is nothing to forget."""

    def step(self, state: pyspiel.State) -> int:
        """Return the first legal action."""
        action = int(state.legal_actions()[0])
        if action == 2:
            raise LookupError("as expected")
        return action


def check(path: pathlib.Path) -> None:
    """Check that OpenSpiel's registry returns the bots that Python makes.

    Raises:
        AssertionError: if it does not; the message says where.
    """
    # A game within a game, whose parameters must pass through C++ unharmed.
    game = pyspiel.load_game("misere(game=tic_tac_toe())")
    calls = []

    def make(
        name: str, asked: pyspiel.Game, player: int, parameters: Mapping[str, Any]
    ) -> pyspiel.Bot:
        if not parameters:
            raise KeyError(name)
        calls.append((name, str(asked), player, parameters))
        return FirstMoveBot()

    registrar = Registrar(path, make)
    registrar.add(NAME)
    assert NAME in pyspiel.registered_bots(), "the name is not registered"
    assert NAME in pyspiel.bots_that_can_play_game(game, 1), "the game is refused"
    refused = pyspiel.load_game("tarok")
    assert NAME not in pyspiel.bots_that_can_play_game(refused), "no game is refused"
    bots = [pyspiel.load_bot(NAME, game, player, PARAMETERS) for player in (0, 1)]
    assert calls == [(NAME, str(game), player, PARAMETERS) for player in (0, 1)], f"{calls}"
    state = game.new_initial_state()
    _check_raises(LookupError, lambda: pyspiel.evaluate_bots(state, bots, 0))
    assert state.history() == [0, 1], f"played {state.history()}"
    _check_raises(KeyError, lambda: pyspiel.load_bot(NAME, game, 0))
    bots.clear()
    assert not registrar.held, "bots are kept"


def _check_raises(kind: type[Exception], call: Any) -> None:
    try:
        call()
    except kind:
        return
    raise AssertionError(f"no {kind.__name__} was raised")


if __name__ == "__main__":
    check(pathlib.Path(sys.argv[1]))
