"""The start of an environment whose only chance is the deal of its reset, as a chance node.

A search from the start of the game, such as ``mccfr``, samples chance: it needs no list of all
deals, only deals that are drawn fairly. They come from ``reset(seed=...)`` of a copy.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from rave_agents.errors import GameError
from rave_agents.game.game_state import GameState, PlayerId

DEALS = 1024
"""Deals of a search. It converges to an equilibrium of the game with these, equally likely."""


class _Deals:
    """The deals of a search, made when they are needed, and the position that it is asked about.

    Args:
        reset: returns the position after a reset with a seed.
        example: any position of the game.
    """

    def __init__(self, reset: Callable[[int], GameState], example: GameState) -> None:
        self._reset = reset
        self._made: dict[int, GameState] = {}
        self.example: GameState = example
        self.asked: GameState = example
        """The last position whose path was asked for."""
        self.questions = 0
        """The number of positions asked about."""

    def position(self, number: int) -> GameState:
        """The position after a deal; from ``DEALS`` on, the one that was asked about last."""
        if number >= DEALS:
            if number != DEALS + self.questions:
                raise GameError(f"The position of path [{number}] is not kept any more.")
            return self.asked.clone()
        if number not in self._made:
            self._made[number] = self._reset(number)
        return self._made[number].clone()


class DealtGame:
    """A game from its start: a chance node with ``DEALS`` deals, then the environment.

    Each player's view must show everything that they have seen and done.

    Args:
        reset: returns the position after a reset with a seed.
        example: any position of the game.
    """

    __slots__ = ("_deals", "_position")

    def __init__(self, reset: Callable[[int], GameState], example: GameState) -> None:
        self._deals = _Deals(reset, example)
        self._position: GameState | None = None

    def clone(self) -> "DealtGame":
        """Return a copy."""
        new = object.__new__(DealtGame)
        new._deals = self._deals
        new._position = None if self._position is None else self._position.clone()
        return new

    def path_to(self, state: GameState) -> Sequence[int]:
        """Return a path to a position that looks like ``state`` to the player to move.

        Its deal is unknown: the path has a number of its own, which chance never draws.
        """
        self._deals.asked = state.clone()
        self._deals.questions += 1
        return [DEALS + self._deals.questions]

    @property
    def _known(self) -> Any:
        return self._deals.example if self._position is None else self._position

    def current_player(self) -> int:
        """Return who is to move: chance before the deal."""
        if self._position is None:
            return int(PlayerId.CHANCE)
        return self._position.current_player()

    def is_chance_node(self) -> bool:
        """Return True before the deal."""
        return self._position is None

    def is_terminal(self) -> bool:
        """Return True at the end of the game."""
        return self._position is not None and self._position.is_terminal()

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """Return the deals, equally likely."""
        return [(number, 1.0 / DEALS) for number in range(DEALS)]

    def legal_actions(self) -> Sequence[int]:
        """Return the actions of the player to move, or the deals."""
        return range(DEALS) if self._position is None else self._position.legal_actions()

    def apply_action(self, action: int) -> None:
        """Deal, or play an action."""
        if self._position is None:
            self._position = self._deals.position(action)
        else:
            self._position.apply_action(action)

    def returns(self) -> Sequence[float]:
        """Return each seat's sum of rewards."""
        return self._known.returns()  # type: ignore[no-any-return]

    def num_players(self) -> int:
        """Return the number of seats."""
        return int(self._known.num_players())

    def num_distinct_actions(self) -> int:
        """Return the number of actions."""
        return int(self._known.num_distinct_actions())

    def min_utility(self) -> float:
        """Return the least return; ``-inf`` if unknown."""
        return float(self._known.min_utility())

    def max_utility(self) -> float:
        """Return the greatest return; ``inf`` if unknown."""
        return float(self._known.max_utility())

    def utility_sum(self) -> float | None:
        """Return the sum of all returns; None if unknown."""
        return self._known.utility_sum()  # type: ignore[no-any-return]

    def hides_information(self) -> bool:
        """Return True: players do not see the deal."""
        return True

    def recalls_all(self) -> bool:
        """Return True: the views of the environments served show everything seen and done."""
        return True

    def view(self, player: int) -> Hashable:
        """Return what a player sees."""
        return self._known.view(player)  # type: ignore[no-any-return]
