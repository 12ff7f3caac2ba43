"""Worlds drawn by the user's function, for environments and for OpenSpiel's games.

A world (determinization) is a position that an agent cannot tell from the true one. Neither
PettingZoo's nor Gymnasium's interface can draw them.
"""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from rave_agents.errors import GameError

Unit = Callable[[], float]
"""Draws a uniform random number in [0, 1)."""

WorldFunction = Callable[[Any, Any, np.random.Generator], Any]
"""A source of worlds, called as ``worlds(env, agent, rng)``: it returns an environment in a state
that ``agent``, who is to move, cannot tell from that of ``env``. A Gymnasium environment has one
agent without a name: ``agent`` is None.

``env`` is a copy, without the wrappers that only watch over the caller; it may be changed and
returned. The future is hidden, too: shuffle a deck, and replace a random generator of the
environment, by draws of ``rng``."""


def remedy(position: str = "env", agent: str = "agent", noun: str = "an environment") -> str:
    """What a user can do where there are no worlds, for messages.

    Args:
        position: the name of the function's first argument.
        agent: the name of its second argument.
        noun: what it returns.
    """
    return (
        f"Give the agent worlds=function, where function({position}, {agent}, rng) returns {noun} "
        f"that {agent} cannot tell from {position}: it may change {position}, which is a copy, "
        f"drawing by rng all that {agent} does not see. hidden='see' searches the true state, "
        "which is cheating."
    )


class UserWorlds:
    """Worlds by the user's function, each of them checked.

    Args:
        position: the true position. It is kept, and must not change.
        agent: whose knowledge the worlds agree with; None for the only one.
        unit: draws the seed of the generator that the function gets.
        function: see ``WorldFunction``.
        clone: copies the position.
    """

    noun: ClassVar[str] = "an environment"
    """What the function returns, for messages."""

    def __init__(
        self,
        position: Any,
        agent: Any,
        unit: Unit,
        function: WorldFunction,
        clone: Callable[[Any], Any],
    ) -> None:
        self._position = position
        self._agent = agent
        self._function = function
        self._clone = clone
        # The search's stream seeds it, so that one seed decides everything.
        self._random = np.random.default_rng([int(unit() * 2**32) for _ in range(4)])
        self._known = tuple(self._knowledge(position))

    def __call__(self) -> Any:
        """Draw a world.

        Raises:
            GameError: if it is no world; the message says what differs.
        """
        given = self._clone(self._position)
        world = self._function(given, self._agent, self._random)
        if world is not given:
            world = self._adopted(world)
        self._check_kind(world)
        # Part by part: a world in which another agent is to move may fail at the next question.
        for place, seen in enumerate(self._knowledge(world)):
            if seen != self._known[place]:
                raise GameError(self._difference(world, place, seen))
        return world

    def _difference(self, world: Any, place: int, seen: Any) -> str:
        known = self._known[place]
        difference = _DIFFERENCES[place].format(
            seen=self._shown(world, seen),
            known=self._shown(self._position, known),
            agent=self._known[0],
        )
        return f"worlds returned {self.noun} {difference}."

    # A framework's part.

    def _adopted(self, world: Any) -> Any:
        """Return the form to search of a world that the function has made anew.

        Its generators must be reseeded: all worlds might draw alike.

        Raises:
            GameError: if it is none.
        """
        raise NotImplementedError

    def _check_kind(self, world: Any) -> None:
        """Raise GameError for a world of another game."""

    def _knowledge(self, position: Any) -> Iterator[Any]:
        """Yield the name of the agent to move, the legal actions, and what the agent sees.

        Nothing in frameworks that do not show it.
        """
        yield from ()

    def _shown(self, position: Any, known: Any) -> str:
        """Format a part of the knowledge at a position for messages."""
        return str(known)


_DIFFERENCES = (
    "where {seen} is to move, not {known}",
    "where {seen} are legal, but {known} are",
    "that {agent} can distinguish from the true one: they would see {seen} where they see {known}",
)
"""What a world may get wrong, in the order of ``UserWorlds._knowledge``."""
