"""Agents that plan in copies of a live Gymnasium environment.

::

    agent = RaveAgent(env, simulations=200, horizon=50)
    observation, info = env.reset(seed=1)
    while True:
        observation, reward, terminated, truncated, info = env.step(agent.act(observation))
        if terminated or truncated:
            break
"""

from typing import Any, Self

from rave_agents.agents.searching_agent import ClockLike, SearchingAgent
from rave_agents.environments.chance import Chance, checked_chance
from rave_agents.errors import UnsupportedGameError
from rave_agents.simulate.python_simulator import Evaluator
from rave_gymnasium.states import (
    DEFAULT_HORIZON,
    PlanningState,
    check_plan,
    check_plannable,
    hidden_information,
    no_worlds,
)


class PlanningAgent(SearchingAgent):
    """Plays what a search of clones of the live environment finds; subclasses name a preset.

    Args:
        env: the live environment; it is looked at and never changed.
        discount: what a reward counts less with every step, above 0 and at most 1.
        horizon: steps that a plan looks ahead, at least 1; None for the end of the episode.
        chance: where the environment's steps have random outcomes, ``"draw"`` lets each simulation
            draw its own; ``"see"`` copies the environment's generators, so that the plan knows what
            will come: it cheats, and says so. What was found of chance is in the result's
            ``state.chance``.
        simulations: with ``seconds``, ``clock``, ``seed``, ``evaluator`` and ``**config`` as for
            ``rave_agents.agents.searching_agent.SearchingAgent``.

    Raises:
        TypeError: for an unknown parameter or a value of the wrong type.
        ValueError: for a value that is not allowed.
        UnsupportedGameError: (a ValueError) if the actions are not discrete, or some is hidden.
    """

    own_parameters = ("env", "discount", "horizon", "chance")

    def __init__(
        self,
        env: Any,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        clock: ClockLike = None,
        seed: int | None = None,
        evaluator: Evaluator | None = None,
        discount: float = 1.0,
        horizon: int | None = DEFAULT_HORIZON,
        chance: Chance | str = Chance.DRAW,
        **config: Any,
    ) -> None:
        check_plannable(env)
        check_plan(discount, horizon)
        self.chance: Chance = checked_chance(chance)
        """Whether simulations draw the outcomes of chance, or see what will come."""
        super().__init__(
            simulations=simulations,
            seconds=seconds,
            clock=clock,
            seed=seed,
            evaluator=evaluator,
            **config,
        )
        self.env = env
        """The live environment."""
        self.discount = discount
        """The discount of rewards per step."""
        self.horizon = horizon
        """Steps that a plan looks ahead."""
        if hidden_information(env) is not None and self.config.hidden == "determinize":
            raise UnsupportedGameError(no_worlds(env))

    def act(self, observation: Any = None, action_mask: Any = None) -> int:
        """Choose an action of the environment.

        Args:
            observation: unused: the agent reads the environment itself.
            action_mask: whether each action is allowed now; None for all.

        Raises:
            ValueError: if the environment has not been reset.
            CloneError: if the environment cannot be cloned correctly; the message says why.
        """
        return self._act(self.env, action_mask)

    def predict(
        self,
        observation: Any = None,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
        *,
        action_masks: Any = None,
    ) -> tuple[int, Any]:
        """Choose an action, with the interface of a Stable-Baselines3 model.

        Returns:
            The action, and ``state`` unchanged.

        Raises:
            ValueError, CloneError: as ``act``.
        """
        return self._act(self.env, action_masks), state

    def __call__(self, env: Any) -> int:
        """Choose an action in this environment instead of the one that the agent is bound to.

        Raises:
            ValueError, CloneError: as ``act``.
            TypeError, UnsupportedGameError: as the constructor.
        """
        return self._act(env, None)

    def __copy__(self) -> Self:
        """Return an independent agent, bound to the same live environment."""
        twin = type(self).__new__(type(self))
        vars(twin).update(vars(self))
        twin._become_independent()
        return twin

    def reset(self) -> None:
        """A new episode begins: the clock starts anew, if there is one. Else it is only tidy."""
        self._forget_game()

    def _act(self, env: Any, mask: Any) -> int:
        state = PlanningState(
            env,
            discount=self.discount,
            horizon=self.horizon,
            action_mask=mask,
            chance=self.chance,
        )
        self.last_result = self._searcher.search(state, self.limit, clock=self.clock)
        return self.last_result.action + int(env.action_space.start)


class UCTAgent(PlanningAgent):
    """Plain UCT."""

    preset = "uct"


class RaveAgent(PlanningAgent):
    """UCT with rapid action value estimation (RAVE)."""

    preset = "rave"


class GraveAgent(PlanningAgent):
    """RAVE with the values of a well-visited ancestor (GRAVE)."""

    preset = "grave"
