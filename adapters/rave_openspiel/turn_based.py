"""Turn-based form of games with simultaneous moves, for searches with hidden information.

In OpenSpiel's ``convert_to_turn_based`` the players of a joint action move in turn, and none sees
what the others chose. A search with worlds plays that game.
"""

import functools

import pyspiel


def one_at_a_time(state: pyspiel.State, player: int) -> pyspiel.State:
    """Return the position of the turn-based game at which ``player`` chooses.

    The choices of the players before them are not known yet: the first legal action of each takes
    their place, hidden from ``player`` like any other choice.

    Args:
        state: a position of a game with simultaneous moves; it is not changed.
        player: the player who chooses there.
    """
    turns = _turn_based(str(state.get_game())).new_initial_state()
    now = state.get_game().new_initial_state(*filter(None, [state.starting_state_str()]))
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
    while turns.current_player() != player:
        turns.apply_action(turns.legal_actions()[0])
    return turns


@functools.lru_cache(maxsize=16)
def _turn_based(name: str) -> pyspiel.Game:
    return pyspiel.convert_to_turn_based(pyspiel.load_game(name))
