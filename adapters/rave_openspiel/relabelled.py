"""Positions from which a game resamples itself: the true one with its hidden cards in order.

``resample_from_infostate`` of Blackjack and Gin Rummy draws worlds from the right distribution, but
by exchanging cards of the true position: for one seed, positions that look the same would get
different worlds. Here the hidden cards are replaced first, so that all positions of an information
set become the same.
"""

from collections.abc import Callable, Mapping

import pyspiel

_DECK = 52
"""Number of cards in Blackjack."""


def relabelled(state: pyspiel.State, player: int) -> pyspiel.State:
    """Return the position from which worlds are resampled, a function of a player's information.

    Args:
        state: the true position; it is not changed.
        player: the player to move.
    """
    history = _HISTORIES.get(state.get_game().get_type().short_name)
    if history is None:
        return state
    new = state.get_game().new_initial_state()
    for action in history(state, player):
        new.apply_action(action)
    return new


def _blackjack(state: pyspiel.State, player: int) -> list[int]:
    """The history with the lowest unseen card hidden."""
    own, hidden, rest = state.history()[:2], 2, state.history()[3:]
    dealt = [move.action for move in state.full_history() if move.player != player]
    seen = {card for step, card in enumerate(dealt) if step != hidden}
    lowest = next(card for card in range(_DECK) if card not in seen)
    return [*own, lowest, *rest]


def _gin_rummy(state: pyspiel.State, player: int) -> list[int]:
    """The history with the player's first cards in order, and others in the other hand.

    The cards that the other player has discarded are dealt to them first, in this order, and then
    the lowest cards that were never seen.
    """
    actions: list[int] = state.history()
    parameters = state.get_game().get_parameters()
    cards = parameters["num_ranks"] * parameters["num_suits"]
    size = parameters["hand_size"]
    own_deal = range(player * size, (player + 1) * size)
    dealt_to_other = [step for step in range(2 * size) if step not in own_deal]
    discarded: list[int] = []
    mover = player
    for step, move in enumerate(state.full_history()):
        if move.player >= 0:
            mover = move.player
            if mover != player and move.action < cards:
                discarded.append(move.action)
        elif step > 2 * size and mover != player:  # A card from the stock, after the first upcard.
            dealt_to_other.append(step)
    hidden = {actions[step] for step in dealt_to_other}
    shown = [card for card in dict.fromkeys(discarded) if card in hidden]
    dealt = {move.action for move in state.full_history() if move.player < 0}
    seen = dealt - hidden
    unseen = [card for card in range(cards) if card not in seen and card not in shown]
    for step, card in zip(dealt_to_other, [*shown, *unseen], strict=False):
        actions[step] = card
    for step, card in zip(own_deal, sorted(actions[step] for step in own_deal), strict=True):
        actions[step] = card
    return actions


_HISTORIES: Mapping[str, Callable[[pyspiel.State, int], list[int]]] = {
    "blackjack": _blackjack,
    "gin_rummy": _gin_rummy,
}
"""The history of the new position, by the game."""
