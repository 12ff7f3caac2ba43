"""What an agent is: one player, as matches and adapters see him."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import UnknownNameError
from rave_agents.game.arguments import check_names
from rave_agents.game.game_state import GameState


class Effort(NamedTuple):
    """What an agent spent on moves."""

    moves: int = 0
    simulations: int = 0
    seconds: float = 0.0

    def plus(self, simulations: int, seconds: float) -> "Effort":
        """One more move."""
        return Effort(self.moves + 1, self.simulations + simulations, self.seconds + seconds)


class Agent(Protocol):
    """One player of one game at a time.

    Any method may raise ``ForfeitError`` to lose the game in progress. An agent may also have
    ``close()``, which is called when a game of a match is over; and ``inform_actions(state,
    actions)`` for positions where players move at the same time, with one action of each. There,
    ``step`` gives the action of the seat that the agent was made for.
    """

    effort: Effort
    """What it has spent since it was made."""

    def restart(self) -> None:
        """A new game begins."""

    def step(self, state: GameState) -> int:
        """The action to play at a state where this agent is to move; the state is not changed."""

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Somebody, chance or this agent included, plays ``action`` at ``state``."""


class AgentType(NamedTuple):
    """A kind of agent that has a name."""

    summary: str
    """One line for people."""
    parameters: Mapping[str, Any]
    """The parameters that its spec takes, with their defaults."""
    make: Callable[..., Agent]
    """Called as ``make(game, player, **parameters)``."""
    config: SearchConfig | None = None
    """Of a search: what the fields of its parts, which are parameters too, are changed from."""

    def check_parameters(self, name: str, given: Mapping[str, Any]) -> None:
        """Refuse parameters that an agent of this kind and name does not take.

        Raises:
            UnknownNameError: (a ValueError) for the first of them.
        """
        what = f"parameter of {name}"
        if self.config is None:
            check_names(what, given, self.parameters, UnknownNameError)
        else:
            self.config.check_changes(what, given, tuple(self.parameters), UnknownNameError)

    def takes(self, name: str, given: Mapping[str, Any]) -> bool:
        """Whether it takes a parameter beside those that it is given."""
        if self.config is None:
            return name in self.parameters
        return name in self.parameters or self.config.takes(name, given)
