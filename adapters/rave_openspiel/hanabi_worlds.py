"""Worlds (determinizations) of Hanabi: the player's own hand, drawn from exactly what they know.

Hidden from a player are the cards in their own hand and the order of the deck. A world replays the
history with other cards dealt into that hand; the deck has no order, since chance nodes deal.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pyspiel

from rave_openspiel.uniform_moves import Unit


class _Held(NamedTuple):
    """A card in the player's own hand."""

    step: int
    """The place of its deal in the history."""
    possible: frozenset[int]
    """The cards that hints have left open."""


class HanabiWorlds:
    """Draws worlds at a position of Hanabi.

    All orders of the cards that the player cannot see are equally likely if they agree with every
    hint; the others' choice of what to do and to hint does not weight them.

    Args:
        state: the true position; it is not changed.
        player: whose knowledge counts.
        unit: draws random numbers.
    """

    def __init__(self, state: pyspiel.State, player: int, unit: Unit) -> None:
        self._game = state.get_game()
        self._rules = _Rules(self._game)
        self._history = state.full_history()
        self._unit = unit
        self._first = next((move.player for move in self._history if move.player >= 0), None)
        if self._first is None:
            self._first = state.current_player()
        self._hand, self._unseen = self._rules.known(self._history, player)
        self._choices = [
            [card for card in sorted(held.possible) if self._unseen[card] > 0]
            for held in self._hand
        ]
        self.method: str = "deal"
        """The name of this source, for the statistics of worlds."""

    def __call__(self) -> pyspiel.State:
        """Draw a world."""
        dealt = {held.step: card for held, card in zip(self._hand, self._cards(), strict=True)}
        actions = [dealt.get(step, move.action) for step, move in enumerate(self._history)]
        state = self._dealt(actions)
        # With random_start_player each initial state draws who begins.
        while state.current_player() != self._first:
            state = self._dealt(actions)
        for action in actions[self._rules.dealt_first :]:
            state.apply_action(action)
        return state

    def _dealt(self, actions: Sequence[int]) -> pyspiel.State:
        """Deal the first hands."""
        state = self._game.new_initial_state()
        for action in actions[: self._rules.dealt_first]:
            state.apply_action(action)
        return state

    def _cards(self) -> Sequence[int]:
        """Draw the cards of the hand.

        Each is drawn by the number of unseen copies, with replacement; the hand is accepted with
        the ratio of its probability without replacement to that with it, at most 1.
        """
        while True:
            cards = [self._drawn(choices) for choices in self._choices]
            ratio = math.prod(
                math.perm(self._unseen[card], count) / self._unseen[card] ** count
                for card, count in Counter(cards).items()
            )
            if self._unit() < ratio:
                return cards

    def _drawn(self, choices: Sequence[int]) -> int:
        place = self._unit() * sum(self._unseen[card] for card in choices)
        for card in choices:
            place -= self._unseen[card]
            if place < 0:
                return card
        return choices[-1]


class _Rules:
    """The numbers of actions and cards in a game of Hanabi."""

    def __init__(self, game: pyspiel.Game) -> None:
        parameters = game.get_parameters()
        self.players = game.num_players()
        self.colors, self.ranks = parameters.get("colors", 5), parameters.get("ranks", 5)
        self.hand_size = parameters.get("hand_size", 5 if self.players < 4 else 4)
        self.dealt_first = self.players * self.hand_size
        self.shows_own_hand = parameters.get("observation_type") == "seer"

    def deck(self) -> Counter[int]:
        """All cards: three of the lowest rank, one of the highest, two of each other."""
        copies = [3, *[2] * (self.ranks - 2), 1]
        return Counter(
            {
                color * self.ranks + rank: copies[rank]
                for color in range(self.colors)
                for rank in range(self.ranks)
            }
        )

    def known(
        self, history: Sequence[pyspiel.PlayerAction], player: int
    ) -> tuple[list[_Held], Counter[int]]:
        """Return the player's hand with what they know of it, and the number of unseen cards."""
        unseen = self.deck()
        every = frozenset(unseen)
        hands: list[list[tuple[int, int, frozenset[int]]]] = [[] for _ in range(self.players)]
        for step, move in enumerate(history):
            action = move.action
            if move.player < 0:
                # Dealt to the first seat whose hand is not full.
                hand = next(hand for hand in hands if len(hand) < self.hand_size)
                hand.append((step, action, every))
                unseen[action] -= 1
            elif action < 2 * self.hand_size:
                hands[move.player].pop(action % self.hand_size)
            else:
                target, shown = self.hint(move.player, action)
                hands[target] = [
                    (dealt, card, possible & shown if card in shown else possible - shown)
                    for dealt, card, possible in hands[target]
                ]
        if self.shows_own_hand:
            return [], unseen
        for _, card, _ in hands[player]:
            unseen[card] += 1
        return [_Held(step, possible) for step, _, possible in hands[player]], unseen

    def hint(self, player: int, action: int) -> tuple[int, frozenset[int]]:
        """Return who is given a hint, and the cards of the color or rank that it names."""
        number = action - 2 * self.hand_size
        others = self.players - 1
        if number < others * self.colors:
            offset, color = divmod(number, self.colors)
            shown = range(color * self.ranks, (color + 1) * self.ranks)
        else:
            offset, rank = divmod(number - others * self.colors, self.ranks)
            shown = range(rank, self.colors * self.ranks, self.ranks)
        return (player + 1 + offset) % self.players, frozenset(shown)
