"""The protocol of an agent: one player of a game, as matches and adapters see it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import UnknownNameError
from rave_agents.game.abilities import Abilities, Method, Offered
from rave_agents.game.arguments import check_arguments
from rave_agents.game.game_state import GameState


class Effort(NamedTuple):
    """Moves, simulations and seconds that an agent has spent."""

    moves: int = 0
    simulations: int = 0
    seconds: float = 0.0

    @classmethod
    def total(cls, efforts: "Iterable[Effort]") -> "Effort":
        """The sum of efforts."""
        efforts = list(efforts)
        return cls(*(sum(parts) for parts in zip(*efforts, strict=True))) if efforts else cls()

    @property
    def seconds_per_move(self) -> float | None:
        """Mean seconds per move; None without moves."""
        return self.seconds / self.moves if self.moves else None

    @property
    def simulations_per_second(self) -> float | None:
        """Simulations per second of thinking; None without moves."""
        return self.simulations / self.seconds if self.seconds > 0 else None

    def plus(self, simulations: int, seconds: float) -> "Effort":
        """Return the effort with one more move added."""
        return Effort(self.moves + 1, self.simulations + simulations, self.seconds + seconds)


class Agent(Protocol):
    """One player of one game at a time.

    Any method may raise ``ForfeitError`` to lose the game in progress. Where players move at the
    same time, ``step`` returns the action of the seat that the agent was made for.
    ``AgentAbilities`` lists optional attributes.
    """

    effort: Effort
    """The effort since the agent was made."""

    def restart(self) -> None:
        """Start a new game."""

    def step(self, state: GameState) -> int:
        """Return the action for a state where this agent is to move; do not change the state."""

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Learn that a player, chance (-1) or this agent plays ``action`` at ``state``."""


class AgentAbilities(Abilities):
    """What an agent may offer in addition to the attributes of ``Agent``."""

    __slots__ = ()

    step: Offered[Callable[[Any], Any] | None] = Method(None)
    restart: Offered[Callable[[], object]] = Method(lambda: None)
    inform_action: Offered[Callable[[Any, int, int], object] | None] = Method(None)
    """The methods of ``Agent`` itself; users' agents may lack some."""
    seed: Offered[Callable[[int], object]] = Method(lambda seed: None)
    """``seed(seed)``: seed the agent's random numbers."""
    player_id: Offered[Any] = Offered(None)
    """The seat of an agent of OpenSpiel's."""
    predict: Offered[Callable[..., Any] | None] = Method(None)
    """``predict(observation, ...)``: the action of a model of Stable-Baselines3."""
    action_probabilities: Offered[Callable[..., Any] | None] = Method(None)
    """``action_probabilities(state)``: the probability of each action that the agent may play, by
    action. The agents of this package and policies of OpenSpiel have it."""
    step_with_policy: Offered[Callable[[Any], Any] | None] = Method(None)
    """``step_with_policy(state)``: pairs of an action and its probability, and the action played; a
    bot of OpenSpiel's for which ``provides_policy()`` is true has it."""
    provides_policy: Offered[Callable[[], bool]] = Method(lambda: False)
    """``provides_policy()``: whether ``step_with_policy`` works."""
    effort: Offered[Any] = Offered(None)
    """An ``Effort``, by which this package recognises its own agents."""
    inform_actions: Offered[Callable[[Any, Sequence[int]], object] | None] = Method(None)
    """``inform_actions(state, actions)``: learn of a joint action where players move at the same
    time."""
    close: Offered[Callable[[], object]] = Method(lambda: None)
    """``close()``: called after each game of a match."""
    clock: Offered[Any] = Offered(None)
    """The agent's ``Clock``; a match or an engine may replace it."""
    advice: Offered[str] = Offered("")
    """A sentence for the message about an illegal action of the agent."""
    last_result: Offered[Any] = Offered(None)
    """The ``SearchResult`` of the last move."""
    searcher: Offered[Any] = Offered(None)
    """The ``Searcher``, which is prepared before the first move."""


class AgentType(NamedTuple):
    """A kind of agent that specs can name."""

    summary: str
    """One line that describes the agent."""
    parameters: Mapping[str, Any]
    """The parameters that its spec takes, with their defaults."""
    make: Callable[..., Agent]
    """Called as ``make(game, player, **parameters)``."""
    config: SearchConfig | None = None
    """The preset of a searching agent; the fields of its parts are parameters too. Else None."""

    def check_parameters(self, name: str, given: Mapping[str, Any]) -> None:
        """Refuse parameters that this kind of agent does not take.

        Raises:
            UnknownNameError: (a ValueError) for the first unknown parameter.
        """
        what = f"parameter of {name}"
        if self.config is None:
            check_arguments(what, given, self.parameters, UnknownNameError)
        else:
            see = f"rave-agents agents {name}"
            self.config.check_changes(what, given, tuple(self.parameters), UnknownNameError, see)

    def takes(self, name: str, given: Mapping[str, Any]) -> bool:
        """True if the agent takes this parameter, together with those already given."""
        if self.config is None:
            return name in self.parameters
        return name in self.parameters or self.config.takes(name, given)
