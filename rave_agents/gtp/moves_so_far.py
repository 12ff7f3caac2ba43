"""The moves so far, by which programs are told a position."""

from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState


def moves_so_far(word: str, game: Game, state: GameState) -> list[int]:
    """Return the actions that lead from a game's start to a position.

    Args:
        word: the kind of program that is told them, such as ``"gtp"``.
        game: the game.
        state: the position.

    Raises:
        UnsupportedGameError: if the state does not tell them, or they lead elsewhere, since the
            position was set up.
    """
    history = StateAbilities(state).history
    if history is None:
        raise UnsupportedGameError(
            f"{word} needs the moves so far, and the states of {game.name} have no history()."
        )
    moves, reached = [int(action) for action in history()], game.new_initial_state()
    for move in moves:
        if move not in reached.legal_actions():
            break
        reached.apply_action(move)
    else:
        if _is_same(reached, state):
            return moves
    raise UnsupportedGameError(
        f"{word} tells a program the moves since the start of {game.name}, and those of this "
        "position do not lead to it: the position, or the one where it began, was set up."
    )


def _is_same(one: GameState, other: GameState) -> bool:
    """True if two states are the same position, as far as they tell."""
    keys = [key() for key in (StateAbilities(each).position_key for each in (one, other)) if key]
    if len(keys) == 2 and keys[0] is not None and keys[0] == keys[1]:
        return True
    told = [(str(each), each.current_player(), list(each.legal_actions())) for each in (one, other)]
    return told[0] == told[1]
