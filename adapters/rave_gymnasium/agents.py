"""Agents that plan in copies of a live Gymnasium environment.

::

    agent = RaveAgent(env, simulations=200, horizon=50)
    observation, info = env.reset(seed=1)
    while True:
        observation, reward, terminated, truncated, info = env.step(agent.act(observation))
        if terminated or truncated:
            break
"""

import copy
from typing import Any, ClassVar, Self

from rave_agents.agents.named_agents import make_limit
from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.environments.chance import Chance, checked_chance
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.arguments import checked_seed
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.searcher import Searcher
from rave_gymnasium.states import (
    DEFAULT_HORIZON,
    PlanningState,
    check_plan,
    check_plannable,
    hidden_information,
    no_worlds,
)

OWN_PARAMETERS = (
    "env",
    "simulations",
    "seconds",
    "seed",
    "discount",
    "horizon",
    "chance",
)


class PlanningAgent:
    """Plays what a search of clones of the live environment finds; subclasses name a preset.

    Args:
        env: the live environment; it is looked at and never changed.
        simulations: simulations for each move, at least 1.
        seconds: wall-clock seconds for each move, above 0. With neither, 1,000 simulations.
        seed: decides everything random, an integer of at least 0; None for one that is drawn.
        discount: what a reward counts less with every step, above 0 and at most 1.
        horizon: steps that a plan looks ahead, at least 1; None for the end of the episode.
        chance: where the environment's steps have random outcomes, ``"draw"`` lets each simulation
            draw its own; ``"see"`` copies the environment's generators, so that the plan knows what
            will come: it cheats, and says so. What was found of chance is in the result's
            ``state.chance``.
        **config: what ``SearchConfig.replace`` is to change of the preset.

    Raises:
        TypeError: for an unknown parameter or a value of the wrong type.
        ValueError: for a value that is not allowed.
        UnsupportedGameError: (a ValueError) if the actions are not discrete, or some is hidden.
    """

    preset: ClassVar[str] = "uct"
    """The preset of ``SearchConfig`` that the agent starts from."""

    def __init__(
        self,
        env: Any,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        seed: int | None = None,
        discount: float = 1.0,
        horizon: int | None = DEFAULT_HORIZON,
        chance: Chance | str = Chance.DRAW,
        **config: Any,
    ) -> None:
        check_plannable(env)
        check_plan(discount, horizon)
        self.chance: Chance = checked_chance(chance)
        """Whether simulations draw the outcomes of chance, or foresee them."""
        preset = SearchConfig.preset(self.preset)
        preset.check_changes(f"parameter of {type(self).__name__}", config, OWN_PARAMETERS)
        self.env = env
        """The live environment."""
        self.discount = discount
        """The discount of rewards per step."""
        self.horizon = horizon
        """Steps that the search looks ahead."""
        self.limit: Limit = make_limit(simulations, seconds)
        """The budget of each move; it may be replaced between moves."""
        self.config: SearchConfig = preset.replace(**config)
        """The search's configuration."""
        if hidden_information(env) is not None and self.config.hidden == "determinize":
            raise UnsupportedGameError(no_worlds(env))
        self.last_result: SearchResult | None = None
        """The result of the last search; None before the first."""
        self._searcher = Searcher(self.config, seed=checked_seed(seed))

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
        vars(twin).update(vars(self), _searcher=copy.copy(self._searcher))
        return twin

    def reset(self) -> None:
        """Forget the last result. Optional: each ``act`` searches from scratch."""
        self._searcher.reset()

    def _act(self, env: Any, mask: Any) -> int:
        state = PlanningState(
            env,
            discount=self.discount,
            horizon=self.horizon,
            action_mask=mask,
            chance=self.chance,
        )
        self.last_result = self._searcher.search(state, self.limit)
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
