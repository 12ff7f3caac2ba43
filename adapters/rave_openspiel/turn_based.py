"""Turn-based form of games with simultaneous moves, for searches with hidden information.

In OpenSpiel's ``convert_to_turn_based`` the players of a joint action move in turn, and none sees
what the others chose. A search with worlds plays that game.
"""

import functools
from collections.abc import Sequence

import pyspiel

from rave_agents.errors import UnsupportedGameError
from rave_agents.game.game_state import joint_action
from rave_openspiel.positions import looks_same, replayed_start


def one_at_a_time(state: pyspiel.State, player: int) -> pyspiel.State:
    """Return the position of the turn-based game at which ``player`` chooses.

    Players before them have not chosen yet: the first legal action of each is a placeholder, hidden
    from ``player`` like any other choice.

    Args:
        state: a position of a game with simultaneous moves; it is not changed.
        player: the player who chooses there.

    Raises:
        UnsupportedGameError: if the history does not lead from the game's start to the state.
    """
    game = state.get_game()
    turns, now = _turn_based(str(game)).new_initial_state(), replayed_start(state)
    if not looks_same(now, game.new_initial_state()):
        raise UnsupportedGameError(
            f"This game of {game} began at a position of its own, which its turn-based form cannot "
            "begin at: a search with worlds plays that form, since players move at the same time."
        )
    history, place = state.history(), 0
    while place < len(history):
        if not now.is_simultaneous_node():
            now.apply_action(history[place])
            turns.apply_action(history[place])
            place += 1
            continue
        joint = history[place : place + now.num_players()]
        now.apply_actions(joint)
        for seat, action in enumerate(joint):
            if turns.current_player() == seat:  # Players without an action are skipped.
                turns.apply_action(action)
        place += len(joint)
    # Any action will do: worlds redraw it, since the player cannot see it.
    while turns.current_player() != player:
        turns.apply_action(turns.legal_actions()[0])
    return turns


def in_turns(game: pyspiel.Game) -> pyspiel.Game:
    """Return the turn-based form of a game; the game itself if one player moves at a time."""
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL:
        return game
    return pyspiel.convert_to_turn_based(game)


def one_round(game: pyspiel.Game, history: Sequence[int]) -> pyspiel.State:
    """Return the position of a game that a history of its turn-based form has reached.

    Choices of a round in which others have yet to choose are left out.
    """
    state, place = game.new_initial_state(), 0
    while True:
        # Players without an action are skipped, as in the turn-based form.
        movers = [0]
        if state.is_simultaneous_node():
            movers = [each for each in range(state.num_players()) if state.legal_actions(each)]
        chosen = history[place : place + len(movers)]
        if len(chosen) < len(movers):
            return state
        if state.is_simultaneous_node():
            state.apply_actions(joint_action(movers, chosen, state.num_players()))
        else:
            state.apply_action(chosen[0])
        place += len(movers)


@functools.lru_cache(maxsize=16)
def _turn_based(name: str) -> pyspiel.Game:
    return pyspiel.convert_to_turn_based(pyspiel.load_game(name))
