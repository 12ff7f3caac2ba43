"""``EnvironmentState``: the position of an environment as a GameState.

It does what the states of PettingZoo's and Gymnasium's environments have in common. An adapter's
subclass steps and observes its environments.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Self

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.chance import (
    Chance,
    ChanceReport,
    say_it_sees_chance,
    search_dice,
    stream_entropy,
)
from rave_agents.environments.dice import Dice
from rave_agents.environments.environment_simulator import EnvironmentSimulator, WorldSimulator
from rave_agents.environments.facts import EnvironmentFacts
from rave_agents.environments.failures import Line, step_failed
from rave_agents.environments.masks import without_mask
from rave_agents.environments.plan import Account, Plan
from rave_agents.environments.worlds import Unit, WorldFunction
from rave_agents.errors import RaveAgentsError, UnsupportedGameError
from rave_agents.game.facts import Facts, collected_facts
from rave_agents.game.game_state import NO_ACTION, PlayerId
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.simulator import Frame, Simulator

TERMINAL = int(PlayerId.TERMINAL)


class EnvironmentState:
    """A position of an environment, with a copy of the environment that it steps.

    Args:
        env: the copy.
        shared: what all positions of the environment share.
    """

    __slots__ = ("_account", "_clone", "_line", "_player", "_shared", "env")

    def __init__(self, env: Any, shared: EnvironmentFacts) -> None:
        self.env: Any = env
        """The copy of the environment."""
        self._shared = shared
        self._clone = shared.clone
        self._account = Account(shared.plan, len(shared.agents))
        self._player = TERMINAL
        self._line: Line = ()

    # An adapter's part.

    _searched: ClassVar[str] = "searched"
    """The word for what a search does to the environment, for messages."""

    def _step(self, action: Any) -> None:
        """Step the environment, add the rewards to the account, and find who is to move."""
        raise NotImplementedError

    def _observed(self, player: int) -> Any:
        """Return a player's last observation."""
        raise NotImplementedError

    def view(self, player: int) -> Hashable:
        """Return what a player sees, which tells the outcomes of an action apart."""
        raise NotImplementedError

    def legal_actions(self) -> Sequence[int]:
        """Return the actions that the mask allows; without a mask, all actions."""
        raise NotImplementedError

    def _world_source(self, unit: Unit, function: WorldFunction) -> Callable[[], Any]:
        """Return the source of worlds by the user's function."""
        raise NotImplementedError

    # Facts.

    def facts(self) -> Facts:
        """Return the facts of the game, collected again only when a search has met chance."""
        shared = self._shared
        report = shared.knowledge.report
        if not shared.collected or shared.collected[0][0] is not report:
            shared.collected[:] = [(report, collected_facts(self))]
        return shared.collected[0][1]

    def game_key(self) -> Hashable:
        """Return a key of the environment's class and of how it was made."""
        return self._shared.key

    def num_players(self) -> int:
        """Return the largest number of agents that the environment can have."""
        return len(self._shared.agents)

    def num_distinct_actions(self) -> int:
        """Return the size of the largest action space."""
        return self._shared.num_actions

    # Copies.

    def clone(self) -> Self:
        """Return a copy that shares no mutable object with this state."""
        return self._with(self._clone(self.env))

    def _with(self, env: Any) -> Self:
        """Return the state with another environment, in which the same agent is to move."""
        new = object.__new__(type(self))
        new.env = env
        new._clone, new._shared = self._clone, self._shared
        new._account = self._account.copy()
        new._player, new._line = self._player, self._line
        return new

    def __deepcopy__(self, memo: Any) -> Self:
        return self.clone()

    def __reduce__(self) -> Any:
        raise TypeError(f"A state of {self.env} cannot be pickled: it would lose the position.")

    # Hidden information and chance.

    def hides_information(self) -> bool:
        """Return True if the environment hides information from agents, or has ``worlds``."""
        return self._shared.hides

    @property
    def what_is_hidden(self) -> str | None:
        """The information known to be hidden from agents."""
        return self._shared.what_is_hidden

    def draws_chance(self) -> bool:
        """Return True if the environment draws random outcomes of actions itself."""
        return self._shared.draws

    @property
    def chance(self) -> ChanceReport:
        """The report on chance in the environment's steps."""
        return self._shared.knowledge.report

    def seeing(self) -> Self:
        """Return this state for a search that sees hidden information, which is cheating."""
        new = self.clone()
        new._shared = self._shared.changed(is_open=True, worlds=None)
        return new

    def worlds(self, player: int, unit: Unit) -> Callable[[], Self]:
        """Return a source of determinizations: states that the player cannot tell from this one.

        Each draws its own random numbers.

        Raises:
            UnsupportedGameError: if something is hidden and there is no source.
        """
        root, _ = self._begun([int(unit() * 2**32) for _ in range(4)])
        return root.begun_worlds(unit)

    def begun_worlds(self, unit: Unit) -> Callable[[], Self]:
        """Return a source of worlds that draw from the generators of this state's environment."""
        function = self._shared.worlds
        if function is not None:
            source = self._world_source(unit, function)
            return lambda: self._with(source())
        if self.hides_information():
            raise UnsupportedGameError(self._shared.no_worlds())
        return self.clone

    def _begun(self, entropy: Sequence[int]) -> tuple[Self, Dice]:
        """Return the root of a search, whose clones draw from the search's dice, and the dice.

        Raises:
            UnsupportedGameError: if generators cannot be reseeded.
        """
        shared = self._shared
        knowledge, sees = shared.knowledge, shared.chance is Chance.SEE
        if sees:
            say_it_sees_chance()
        elif knowledge.report.fixed:
            raise UnsupportedGameError(
                f"{shared.name} cannot be {self._searched} fairly: a copy would foresee the "
                f"outcomes of chance, since {', '.join(knowledge.report.fixed)} cannot be "
                "reseeded. Draw from a NumPy generator instead, or allow the search to cheat with "
                "chance='see'."
            )
        root = self.clone()
        root._account = self._account.ahead()  # The horizon counts from the root of the search.
        common = shared.common_objects(root.env)
        dice = search_dice(root.env, knowledge, entropy, sees=sees, shared=common)
        if not sees:
            root._clone = shared.simulation_cloner(root.env, sum(entropy))
        return root, dice

    # Moves.

    def current_player(self) -> int:
        """Return the seat to move, or a ``PlayerId``."""
        return self._player

    def is_terminal(self) -> bool:
        """Return True if no agent can act any more, or the horizon is reached."""
        return self._player == TERMINAL

    def is_chance_node(self) -> bool:
        """Return False: an environment plays chance moves itself."""
        return False

    def has_chance_nodes(self) -> bool:
        """Return False, likewise."""
        return False

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """Return none."""
        return []

    def apply_action(self, action: Any) -> None:
        """Step the environment; at the horizon, the game is over.

        Args:
            action: as the environment takes it.

        Raises:
            GameError: for an exception of the environment, or an answer that is none.
        """
        self._line = (self._line, action)  # A linked list: clones share what came before.
        try:
            self._step(action)
        except Exception as error:
            self._blame(error)
            raise
        if self._account.end_step() and self._player != TERMINAL:
            self._account.cut_off(self)
            self._player = TERMINAL

    @property
    def _last(self) -> Hashable:
        """The last action since the first state."""
        return self._line[1] if self._line else NO_ACTION

    def _blame(self, error: Exception) -> None:
        """Raise GameError for an exception of the environment's own."""
        if not isinstance(error, RaveAgentsError) and not is_raised_by_handler(error):
            raise step_failed(self._shared.name, error, self._line) from error

    # Rewards and observations.

    @property
    def _plan(self) -> Plan:
        return self._account.plan

    def returns(self) -> Sequence[float]:
        """Return each seat's sum of rewards since the first state, discounted."""
        return self._account.returns.copy()

    def collected(self) -> tuple[Sequence[float], float]:
        """Return each seat's rewards since the first state, and the weight of those to come."""
        return self._account.returns.copy(), self._account.weight

    def min_utility(self) -> float:
        """Return ``-inf``, for unknown: the search scales by the returns that it sees."""
        return -math.inf

    def max_utility(self) -> float:
        """Return ``inf``, for unknown."""
        return math.inf

    def observation(self, player: int) -> Any:
        """Return a seat's last observation, without the mask."""
        return without_mask(self._observed(player))

    # Simulations.

    def simulator(self, frame: Frame, evaluator: Evaluator | None) -> Simulator:
        """Return the provider of simulations."""
        return self._environment_simulator(frame, evaluator, None)

    def world_simulator(self, frame: Frame, evaluator: Evaluator | None, player: int) -> Simulator:
        """Return the provider of simulations that each draw their own outcomes, and their world.

        Raises:
            UnsupportedGameError: if something is hidden and there are no worlds.
        """
        return self._environment_simulator(frame, evaluator, player)

    @property
    def _simulator_type(self) -> type[EnvironmentSimulator]:
        return WorldSimulator

    def _environment_simulator(
        self, frame: Frame, evaluator: Evaluator | None, observer: int | None
    ) -> Simulator:
        root, dice = self._begun(stream_entropy(frame.playout_stream))
        return self._simulator_type(
            root,
            frame,
            dice=dice,
            met=self._shared.met(),
            num_distinct_actions=self.num_distinct_actions(),
            evaluator=evaluator,
            observer=observer,
        )
