"""RLCard's Gin Rummy (PettingZoo up to 1.26): what a seat sees, the names of moves, and worlds."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rave_pettingzoo.poker import card_names


def action_name(raw: Any, action: int) -> str:
    """The name of an action, such as ``discard 7h``, ``draw_card`` or ``gin``."""
    return str(raw.env.game.decode_action(action)).lower()


def view(raw: Any, seat: int) -> str:
    """All that the player of a seat knows."""
    player = raw.env.game.round.players[seat]
    return "\n".join([_holds(raw, player), *_public(raw)])


def text(raw: Any) -> str:
    """The whole position, both hands included."""
    hands = (_holds(raw, player) for player in raw.env.game.round.players)
    return "\n".join([*hands, *_public(raw)])


def _holds(raw: Any, player: Any) -> str:
    name = raw.possible_agents[player.player_id]
    return f"{name} holds {card_names(_sorted(player.hand))}"


def _public(raw: Any) -> Iterator[str]:
    """Lines of public information."""
    game = raw.env.game
    dealer = game.round.dealer
    yield f"discards: {card_names(dealer.discard_pile)}"
    yield f"stock: {len(dealer.stock_pile)}"
    yield f"moves: {', '.join(str(action).lower() for action in game.actions) or '-'}"


def _sorted(cards: Sequence[Any]) -> list[Any]:
    return sorted(cards, key=str)


def deal(env: Any, agent: Any, rng: np.random.Generator) -> Any:
    """Deal the cards anew that an agent does not see; see ``WorldFunction``.

    These are the stock and the other player's hand, except what they took from the discards.
    """
    raw = env.unwrapped
    current, dealer = raw.env.game.round, raw.env.game.round.dealer
    other = current.players[1 - raw.possible_agents.index(agent)]
    hidden = [card for card in other.hand if card not in other.known_cards]
    # Sorted first: the order of the true deck must not leak into the deal of a given seed.
    unseen = _sorted([*hidden, *dealer.stock_pile])
    cards = [unseen[place] for place in rng.permutation(len(unseen))]
    other.hand = [*_sorted(other.known_cards), *cards[: len(hidden)]]
    other.did_populate_hand()  # Players remember the melds that their hands contain.
    dealer.stock_pile = cards[len(hidden) :]
    return env
