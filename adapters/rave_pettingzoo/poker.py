"""RLCard's poker games in PettingZoo: what a seat sees, the names of moves, and worlds.

A world is dealt anew: the other players' hands and the deck, from all the cards that the player
does not see. Bids of the others do not weight the hands that they are dealt.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


def card_name(card: Any) -> str:
    """A card as players write it: rank and suit, such as ``Qs``."""
    return f"{card.rank}{card.suit.lower()}"


def _hand(player: Any) -> Sequence[Any]:
    """A player's cards; Leduc Hold'em keeps the one card itself."""
    return player.hand if isinstance(player.hand, list) else [player.hand]


def _board(game: Any) -> Sequence[Any]:
    """The public cards."""
    if "public_card" not in vars(game):  # Leduc hold'em has one.
        return list(game.public_cards)
    return [] if game.public_card is None else [game.public_card]


def card_names(cards: Sequence[Any]) -> str:
    """Cards as players write them; a dash for none."""
    return " ".join(map(card_name, cards)) or "-"


def action_name(raw: Any, action: int) -> str:
    """The name of an action: ``call``, ``raise``, ``fold``, ``check``."""
    actions = raw.env.actions
    return _word(actions[action] if isinstance(actions, list) else actions(action))


def _word(action: Any) -> str:
    return str(getattr(action, "name", action)).lower()


def _public(raw: Any) -> Iterator[str]:
    """Lines of public information: the board, the chips, the moves."""
    game, agents = raw.env.game, raw.possible_agents
    yield f"board: {card_names(_board(game))}"
    chips = (f"{a} {p.in_chips}" for a, p in zip(agents, game.players, strict=True))
    yield f"chips: {', '.join(chips)}"
    moves = (f"{agents[seat]} {_word(action)}" for seat, action in raw.env.action_recorder)
    yield f"moves: {', '.join(moves) or '-'}"


def view(raw: Any, seat: int) -> str:
    """All that the player of a seat knows."""
    name, player = raw.possible_agents[seat], raw.env.game.players[seat]
    return "\n".join([f"{name} holds {card_names(_hand(player))}", *_public(raw)])


def text(raw: Any) -> str:
    """The whole position, every hand included."""
    pairs = zip(raw.possible_agents, raw.env.game.players, strict=True)
    hands = (f"{name} holds {card_names(_hand(player))}" for name, player in pairs)
    return "\n".join([*hands, *_public(raw)])


def deal(env: Any, agent: Any, rng: np.random.Generator) -> Any:
    """Deal the cards anew that an agent does not see; see ``WorldFunction``."""
    raw = env.unwrapped
    game, seat = raw.env.game, raw.possible_agents.index(agent)
    others = [player for number, player in enumerate(game.players) if number != seat]
    unseen = [card for player in others for card in _hand(player)]
    # Sorted first: the order of the true deck must not leak into the deal of a given seed.
    unseen = sorted([*unseen, *game.dealer.deck], key=str)
    cards = [unseen[place] for place in rng.permutation(len(unseen))]
    # As many cards as each holds now: the phase of the game is public.
    for player in others:
        if isinstance(player.hand, list):
            player.hand = [cards.pop() for _ in player.hand]
        else:
            player.hand = cards.pop()
    game.dealer.deck = cards
    return env
