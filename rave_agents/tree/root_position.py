"""The root position of a search: one object for the searcher and all of its trees."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rave_agents.game.game_state import GameState, apply_path
from rave_agents.tree.composition import SearchedGame


class MoveProof(NamedTuple):
    """Bounds on what a root's action brings who takes it, by a proof."""

    low: float
    """The least return."""
    high: float
    """The greatest."""
    distance: int
    """Moves to the end of the game along the proof, the action included."""


class RootProof(NamedTuple):
    """Proofs of a solver about a root position."""

    value: float | None
    """The return that the player to move can force, and no more; None if that is open."""
    moves: Mapping[int, MoveProof]
    """Proofs of actions."""
    line: tuple[int, ...]
    """Best play, if the value is known."""
    positions: int
    """Positions that the solver expanded."""
    decides: bool
    """True if nothing is left to choose by simulations."""
    line_after: Callable[[int], tuple[int, ...]]
    """Best play that begins with an action; empty where that is not known to keep the value."""


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
    proof: RootProof | None = None
    """Proofs of the solver of endgames; None if it was not asked."""

    def advance(self, path: Sequence[int]) -> None:
        """Play these actions and chance outcomes; where players move at once, each one's."""
        apply_path(self.state, path)
        self.is_advanced, self.proof = True, None
