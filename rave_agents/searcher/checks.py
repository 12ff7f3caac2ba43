"""Checks of positions, configurations and moves against each other."""

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import OpenFunction
from rave_agents.compiler.runtime import record_of
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.arguments import is_integer
from rave_agents.game.game_state import GameState, PlayerId, is_simultaneous, moving_players
from rave_agents.game.validation import checked
from rave_agents.kernel.declarations import GameTraits, game_refusal

_log = logging.getLogger("rave_agents")


def check_moves(config: SearchConfig, *, simultaneous: bool) -> None:
    """Refuse a configuration that does not fit the game's kind of moves.

    Args:
        config: the configuration.
        simultaneous: True if the game has simultaneous moves.

    Raises:
        UnsupportedGameError: for the solver or proof numbers with simultaneous moves, and for mixed
            strategies without them.
    """
    _check_parts(config, GameTraits(simultaneous=simultaneous))


def _check_parts(config: SearchConfig, game: GameTraits) -> None:
    """Refuse a game if a part, or the record it runs as, refuses it."""
    for part in config.parts:
        kind: Any = type(part)
        refused = _game_refusal_of(kind, OpenFunction.generation)(part, game)
        if refused:
            raise UnsupportedGameError(refused)


@functools.lru_cache(maxsize=1024)
def _game_refusal_of(kind: type, generation: int) -> Callable[..., str]:
    """The implementation of ``game_refusal`` for a part's class, or for the record it runs as."""
    known = kind in game_refusal.implementations
    return game_refusal.body_for(kind if known else record_of(kind) or kind)


def check_hidden(config: SearchConfig, *, simultaneous: bool) -> None:
    """Refuse a configuration that does not fit games with hidden information.

    Args:
        config: the configuration.
        simultaneous: whether players may move at the same time in the game.

    Raises:
        UnsupportedGameError: for the solver or proof numbers, and for simultaneous moves.
    """
    _check_parts(config, GameTraits(determinized=True))
    if simultaneous:
        raise UnsupportedGameError(
            "Games with both simultaneous moves and hidden information cannot be searched."
        )


def is_decision(state: GameState) -> bool:
    """True if one or several players are to move at a state."""
    return not state.is_terminal() and (state.current_player() >= 0 or is_simultaneous(state))


def checked_mover(state: GameState, player: int | None) -> int:
    """The player whose action is chosen at a state; raises if that is not a single player."""
    check_decision(state)
    mover = int(state.current_player())
    player = checked("player", int | None, player)
    if mover >= 0:
        if player is not None and player != mover:
            raise ValueError(f"player must be {mover}, who is to move at this state: got {player}.")
        return mover
    movers = moving_players(state)
    if player is None:
        raise ValueError(
            f"Players move at the same time at this state: pass player, one of {movers}."
        )
    if player not in movers:
        raise ValueError(f"player must be one who has a legal action here, {movers}: got {player}.")
    return int(player)


def checked_path(root: GameState, action: int | Sequence[int]) -> list[int]:
    """An action at the root, or all movers' actions, as a path of the tree."""
    if is_simultaneous(root):
        players = moving_players(root)
        if isinstance(action, int | np.integer) or len(action) != root.num_players():
            raise ValueError(
                "Players move at the same time at the root: give one action of each player, "
                f"{root.num_players()} in all, got {action!r}."
            )
        for player in players:
            legal = root.legal_actions(player)  # type: ignore[call-arg]
            if action[player] not in legal:
                raise ValueError(
                    f"Action {action[player]} of player {player} is not legal at the root; legal "
                    f"are {list(legal)}."
                )
        return [int(action[player]) for player in players]
    chance = root.is_chance_node()
    outcomes = [a for a, _ in root.chance_outcomes()] if chance else []
    legal = outcomes if chance else root.legal_actions()
    if action not in legal:
        raise ValueError(f"Action {action} is not legal at the root; legal are {list(legal)}.")
    return [int(action)]  # type: ignore[arg-type]


def check_decision(state: GameState) -> None:
    """Refuse a state at which no player is to move."""
    player = state.current_player()
    if not is_integer(player):
        raise GameError(f"current_player() must return an integer, got {player!r}.")
    if player == PlayerId.SIMULTANEOUS and StateAbilities(state).apply_actions is None:
        raise GameError(
            "Players move at the same time at this state, but its class has no apply_actions."
        )
    if player == PlayerId.SIMULTANEOUS and not state.is_terminal():
        return
    if state.is_terminal():
        raise ValueError("The game is over at this state: there is nothing to search.")
    if player == PlayerId.CHANCE:
        raise ValueError("Chance moves at this state: apply an outcome, then search.")
    if not 0 <= player < state.num_players():
        raise ValueError(f"No player is to move at this state: current_player() is {player}.")


@functools.cache
def warn_cheating() -> None:
    """Warn once that a search uses hidden information."""
    _log.warning(
        "rave_agents: hidden='see' searches the true state of a game with hidden information: it "
        "SEES WHAT IS HIDDEN from the player, which is cheating. hidden='determinize' does not."
    )


@functools.cache
def warn_one_thread() -> None:
    """Warn once that threads do not help here."""
    _log.warning(
        "rave_agents: this game or evaluator runs in the Python interpreter, where threads would "
        "only wait for each other: one thread searches it."
    )
