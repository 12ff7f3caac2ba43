"""What the states of AEC and of Parallel environments have in common."""

from collections.abc import Sequence
from typing import Any, Self

from rave_agents.game import PlayerId

TERMINAL = int(PlayerId.TERMINAL)


class EnvironmentState:
    """A position that holds an environment of its own, and who moves there."""

    __slots__ = ()

    env: Any
    _player: int

    def clone(self) -> Self:
        """A copy that shares nothing that can change with this state."""
        raise NotImplementedError

    def __deepcopy__(self, memo: Any) -> Self:
        return self.clone()

    def __reduce__(self) -> Any:
        raise TypeError(f"A state of {self.env} cannot be pickled: it would lose the position.")

    def current_player(self) -> int:
        """The seat to move, or a ``PlayerId``."""
        return self._player

    def is_terminal(self) -> bool:
        """Whether no agent is left that can do anything."""
        return self._player == TERMINAL

    def is_chance_node(self) -> bool:
        """Never: an environment plays its chance itself."""
        return False

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """None."""
        return []
