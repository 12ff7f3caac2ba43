"""The root position of a search: one object for the searcher and all of its trees."""

import dataclasses
from collections.abc import Sequence

from rave_agents.game.game_state import GameState, apply_path
from rave_agents.tree.composition import SearchedGame


@dataclasses.dataclass(slots=True, eq=False)
class RootPosition:
    """The position at the root, whose move it is, and what may be reused there."""

    game: SearchedGame
    """The facts of its game; the very same object in a later search says that it goes on."""
    state: GameState
    """The position. Trees and providers clone it; ``advance`` alone plays on in it."""
    player: int
    """The player who chooses there."""
    is_forced: bool = False
    """True if there is but one legal action."""
    in_turn: bool = False
    """True if those who move at the same time are taken to move in turn."""
    is_advanced: bool = False
    """True if the trees were led here, so that a search of this very position goes on from them."""

    def advance(self, path: Sequence[int]) -> None:
        """Play these actions and chance outcomes; where players move at once, each one's."""
        apply_path(self.state, path)
        self.is_advanced = True
