"""Moves as people write them: by the name that the game prints, or by number."""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rave_agents.game.abilities import StateAbilities
from rave_agents.game.arguments import is_integer
from rave_agents.game.game_state import (
    GameState,
    apply_path,
    is_simultaneous,
    legal_actions_of,
    moving_players,
)

Moves = str | Sequence[int | str]
"""Moves as users give them: a text, or a sequence of actions and names, see ``apply_moves``."""

_SEPARATORS = re.compile(r"^[\s,;]+")
_WORD_END = re.compile(r"[\s;]|,(?![^\s(]*\))")
"""The end of a word, but for a comma inside parentheses, as in ``x(1,1)``."""

_SHOWN = 8
"""Legal moves that an error message lists, at most."""


def action_name(state: GameState, action: int, player: int | None = None) -> str:
    """The game's name of an action of the player to move, or of chance; else its number.

    Args:
        state: the position.
        action: the action.
        player: whose action it is where players move at the same time.
    """
    name = StateAbilities(state).action_to_string
    mover = int(state.current_player()) if player is None else player
    return str(action) if name is None else str(name(mover, action))


def position_text(state: GameState) -> str:
    """The position as the game prints it, or else its attributes with plain values.

    A state without ``__str__`` would print only its address.
    """
    if type(state).__str__ is not object.__str__ or type(state).__repr__ is not object.__repr__:
        return str(state)
    plain = (bool, int, float, str, tuple, list)
    kept = {key: value for key, value in vars(state).items() if isinstance(value, plain)}
    values = ", ".join(f"{key}={value}" for key, value in kept.items())
    return f"{type(state).__name__}: {values}" if values else type(state).__name__


def legal_names(state: GameState, player: int | None = None) -> dict[int, str]:
    """The legal actions of a state, or the outcomes of chance, and their names.

    Where players move at the same time, those of ``player``.
    """
    if state.is_chance_node():
        return {int(a): action_name(state, int(a)) for a, _ in state.chance_outcomes()}
    actions = state.legal_actions() if player is None else legal_actions_of(state, player)
    return {int(a): action_name(state, int(a), player) for a in actions}


def apply_moves(state: GameState, moves: Moves) -> list[int]:
    """Play moves, chance outcomes included, on the state itself and return them as numbers.

    In a text, moves are separated by spaces, commas or semicolons. The longest legal name at the
    front of the text counts, so names may contain spaces and commas; if none fits, a number is the
    action of that number. A sequence, such as a state's history, has an action or a name per move.
    Simultaneous moves follow each other in the order of the players.

    Raises:
        TypeError: if the moves are neither, or one of a sequence is neither an integer nor text.
        ValueError: for a move that is not legal or whose name several moves have; the message
            offers the nearest.
    """
    left = _text_from(moves, 0) if isinstance(moves, str) else _as_list(moves)
    played: list[int] = []
    while left:
        if state.is_terminal():
            raise ValueError(f"The game is over before {left!r}.")
        step: list[int] = []
        for player in moving_players(state) if is_simultaneous(state) else [None]:
            try:
                action, left = _next_move(state, left, player)
            except ValueError as error:
                number = len(played) + len(step) + 1
                raise ValueError(f"Move {number}: {error}" if number > 1 else str(error)) from None
            step.append(action)
        apply_path(state, step)
        played += step
    return played


def _as_list(moves: Any) -> list[Any]:
    listed = isinstance(moves, Sequence) and not isinstance(moves, bytes | bytearray)
    if not listed and not (isinstance(moves, np.ndarray) and moves.ndim == 1):
        raise TypeError(
            "moves must be text or a sequence of actions, such as '3 0 2' or [3, 0, 2], got "
            f"{moves!r}."
        )
    return list(moves)


def _next_move(state: GameState, left: Any, player: int | None) -> tuple[int, Any]:
    """The action that a text or a list begins with, and the rest of it."""
    names = legal_names(state, player)
    if isinstance(left, str):
        return _named_first(names, left)
    if not left:
        raise ValueError(f"Player {player}'s move is missing.")
    move, *left = left
    if isinstance(move, str):
        action, more = _named_first(names, _text_from(move, 0))
        if more:
            raise ValueError(f"{move!r} is more than one move.")
        return action, left
    if not is_integer(move):
        raise TypeError(f"moves must be actions or names, got {move!r} among them.")
    if int(move) not in names:
        raise ValueError(_unknown_move(str(move), "", names))
    return int(move), left


def _named_first(names: dict[int, str], text: str) -> tuple[int, str]:
    """The action of these names that a text begins with, and the rest of the text."""
    fitting = {a: name for a, name in names.items() if _begins_text(name, text)}
    if fitting:
        # A name may begin like another one, such as "O-O" and "O-O-O".
        longest = max(fitting.values(), key=len)
        actions = [a for a, name in fitting.items() if name == longest]
        if len(actions) > 1:
            numbers = ", ".join(map(str, actions))
            raise ValueError(f"Several moves are called {longest!r}; give the number: {numbers}.")
        return actions[0], _text_from(text, len(longest))
    # A number only where no name fits: in many games numbers are names of other moves.
    word = _WORD_END.split(text, maxsplit=1)[0]
    if word.isdecimal() and int(word) in names:
        return int(word), _text_from(text, len(word))
    raise ValueError(_unknown_move(word, text, names))


def _begins_text(name: str, text: str) -> bool:
    end = len(name)
    return (
        bool(name)
        and text.startswith(name)
        and (end == len(text) or text[end] in ",;" or text[end].isspace())
    )


def _text_from(text: str, start: int) -> str:
    """A text from a place on, without the separators there."""
    return _SEPARATORS.sub("", text[start:], count=1)


def _unknown_move(word: str, rest: str, names: dict[int, str]) -> str:
    near: dict[str, None] = {}
    # Names with spaces: compare as much of the text as each name is long.
    for given in (word, *(rest[: len(name)] for name in names.values())):
        near |= dict.fromkeys(difflib.get_close_matches(given, names.values(), n=3, cutoff=0.6))
        if len(near) >= 3:
            break
    hint = f" Did you mean {_quoted(list(near)[:3], ' or ')}?" if near else ""
    shown = _quoted(list(names.values())[:_SHOWN], ", ")
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"No legal move is called {word!r}.{hint} Legal are: {shown}{more}."


def _quoted(names: Iterable[str], separator: str) -> str:
    return separator.join(f"'{name}'" for name in names)
