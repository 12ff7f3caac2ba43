"""The root position of a search, shared by the searcher and all of its trees."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rave_agents.game.game_state import GameState, apply_path
from rave_agents.tree.composition import Prepared


class MoveProof(NamedTuple):
    """Proven bounds on the return of a root action for the player who takes it."""

    low: float
    """Lower bound of the return."""
    high: float
    """Upper bound of the return."""
    distance: int
    """Moves to the end of the game along the proof, including the action."""


class RootProof(NamedTuple):
    """Proofs of a solver about a root position."""

    value: float | None
    """The return that the player to move can force, and not exceed; None if open."""
    moves: Mapping[int, MoveProof]
    """Proofs of actions."""
    line: tuple[int, ...]
    """Best play, if the value is known."""
    positions: int
    """Positions that the solver expanded."""
    decides: bool
    """True if simulations have nothing left to decide."""
    line_after: Callable[[int], tuple[int, ...]]
    """Best play that begins with an action; empty if the action is not known to keep the value."""


@dataclasses.dataclass(slots=True, eq=False)
class RootPosition:
    """The position at the root, the player to move, and reusable results."""

    game: Prepared
    """The preparation of its game; the identical object in a later search marks a continuation."""
    state: GameState
    """The position; trees and providers clone it."""
    player: int
    """The player who chooses there."""
    is_forced: bool = False
    """True if there is only one legal action."""
    in_turn: bool = False
    """True if simultaneous moves are treated as alternating ones."""
    is_advanced: bool = False
    """True if the searcher was advanced to this position: a search of it continues from the tree.
    """
    proof: RootProof | None = None
    """Proofs of the endgame solver; None if it did not run."""

    def after(self, path: Sequence[int]) -> "RootPosition":
        """The position after actions and chance outcomes; a joint action is one of each mover."""
        state = self.state.clone()
        apply_path(state, path)
        mover = state.current_player()
        player = mover if mover >= 0 else self.player
        return RootPosition(self.game, state, player, is_advanced=True)
