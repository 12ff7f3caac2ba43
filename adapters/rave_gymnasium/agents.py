"""Agents that plan in copies of a live Gymnasium environment.

::

    agent = RaveAgent(env, simulations=200, horizon=50)
    observation, info = env.reset(seed=1)
    while True:
        observation, reward, terminated, truncated, info = env.step(agent.act(observation))
        if terminated or truncated:
            break
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

from rave_agents.agents.amaf_fit import warn_of_misfit
from rave_agents.agents.environment_agent import (
    EnvironmentAgent,
    environment_spec,
    kind_of_preset,
)
from rave_agents.agents.named_agents import DEFAULT_AGENT, AgentSpec
from rave_agents.agents.searching_agent import ClockLike, SearchingAgent
from rave_agents.agents.views import AnyView
from rave_agents.config.search_parameters import SearchParameters
from rave_agents.environments.chance import Chance
from rave_agents.environments.check_time import checks_within
from rave_agents.environments.masks import shown_mask
from rave_agents.environments.plan import AUTO, checked_plan
from rave_agents.environments.spaces import EnvAbilities
from rave_agents.environments.worlds import WorldFunction
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.game.validation import checked
from rave_agents.searcher.evaluators import horizon_value
from rave_gymnasium.checks import check_plannable, env_name, hidden_information, no_worlds
from rave_gymnasium.states import DEFAULT_HORIZON, PlanningState
from rave_gymnasium.structure import environments_of

OF_PETTINGZOO: Mapping[str, str] = {
    "player": "a Gymnasium environment has one agent. Leave it out.",
    "translate": "no Gymnasium environment is a game of OpenSpiel. Leave it out.",
}
"""Parameters of PettingZoo's agents without a meaning here, and why."""


class PlanningAgent(SearchingAgent, EnvironmentAgent):
    """Plays what a search of clones of the live environment finds; subclasses name a preset.

    The parameters are those of ``rave_pettingzoo.RaveAgent`` without ``player`` and ``translate``:
    there is one agent, and none of these environments is a game of OpenSpiel.

    Args:
        env: the live environment, which is read and never changed. For a vectorised one, of
            Stable-Baselines3 or Gymnasium, whose environments live in this process, ``predict`` and
            ``act`` return an array with an action for each of them.
        worlds: where something is hidden, a function ``worlds(env, agent, rng)`` that returns an
            environment that the agent cannot distinguish from the live one; ``agent`` is None.
            ``env`` is a copy that it may change and return; it draws by ``rng``, a
            ``numpy.random.Generator``, everything still to come included. Each simulation
            begins in another world. Giving one declares that the environment hides something, known
            or not.
        chance: where the environment's steps have random outcomes, ``"draw"`` lets each simulation
            draw its own; ``"see"`` copies the environment's generators, so that the plan knows what
            will come: it cheats, and says so. The chance detected is in the result's
            ``state.chance``.
        horizon: steps that a plan looks ahead, at least 1; None for the end of the episode;
            ``"auto"`` for 100. A simulation that it cuts off counts its rewards so far, plus the
            value that ``evaluator`` gives to its last position, if it values single positions.
        discount: the factor on a reward for every step, above 0 and at most 1.
        simulations: with ``seconds``, ``clock``, ``seed``, ``evaluator`` and
            ``**config`` as for ``rave_agents.agents.searching_agent.SearchingAgent``.

    Raises:
        TypeError: for an unknown parameter or a value of the wrong type.
        ValueError: for a value that is not allowed.
        UnsupportedGameError: (a ValueError) if the actions are not discrete, or something is hidden
            and there are no worlds, unless ``hidden="see"`` allows the search to cheat.
    """

    members: Sequence[EnvironmentAgent]
    own_parameters: ClassVar[tuple[str, ...]] = (
        "env",
        "worlds",
        "chance",
        "horizon",
        "discount",
    )

    def __init__(
        self,
        env: Any,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        clock: ClockLike = None,
        seed: int | None = None,
        evaluator: Any = None,
        worlds: WorldFunction | None = None,
        chance: Chance | str = Chance.DRAW,
        horizon: int | str | None = AUTO,
        discount: float = 1.0,
        **config: Unpack[SearchParameters],
    ) -> None:
        self.env = env
        """The live environment."""
        envs = environments_of(env)
        for each in (env,) if envs is None else envs:
            check_plannable(each)
        checked_plan(horizon, discount, default=DEFAULT_HORIZON)
        self.chance: Chance = checked("chance", Chance, chance)
        """The handling of chance: simulations draw its outcomes, or see what will come."""
        checked("worlds", WorldFunction | None, worlds)
        # Before ``SearchingAgent``, whose message could only call them unknown.
        for name in OF_PETTINGZOO:
            if name in config:
                raise TypeError(f"{type(self).__name__} has no {name!r}: {OF_PETTINGZOO[name]}")
        super().__init__(
            simulations=simulations,
            seconds=seconds,
            clock=clock,
            seed=seed,
            evaluator=evaluator,
            **config,
        )
        self.discount = discount
        """The discount of rewards per step."""
        self.horizon = horizon
        """Steps that a plan looks ahead."""
        self.worlds: WorldFunction | None = None if self.config.hidden == "see" else worlds
        """The user's source of worlds (determinizations), if any."""
        for each in (env,) if envs is None else envs:
            fair = self.config.hidden == "determinize" and worlds is None
            if fair and hidden_information(each) is not None:
                raise UnsupportedGameError(no_worlds(each))
        self._bind_members([(each, None) for each in envs or ()])

    def choose_at(self, view: AnyView) -> int:
        """Choose an action in the environment of a view, instead of the agent's own."""
        return self(view.env, action_mask=view.mask)

    def __call__(self, env: Any, *, action_mask: Any = None) -> int:
        """Choose an action in this environment instead of the one that the agent is bound to.

        Args:
            env: an environment; it is not changed.
            action_mask: as for ``act``.

        Raises:
            ValueError, CloneError: as ``act``.
            TypeError, UnsupportedGameError: as the constructor.
        """
        return self._act(env, None, action_mask)

    def _observation_space(self) -> Any:
        member = self.members[0] if self.members else self
        return EnvAbilities(member.env).observation_space

    def _act(self, env: Any, observation: Any, mask: Any) -> int:
        value = horizon_value(self.evaluator)
        reads = isinstance(self.evaluator, BatchEvaluator) or value is not None
        if mask is None:
            mask = shown_mask(observation, None, int(env.action_space.n))
        # From here on, so that copying and checking count as part of the move's time.
        started = time.perf_counter()
        with checks_within(self._seconds):
            state = PlanningState(
                env,
                discount=self.discount,
                horizon=self.horizon,
                evaluator=value,
                action_mask=mask,
                chance=self.chance,
                worlds=self.worlds,
                observation=observation if reads else None,
            )
        if not self._searcher.has_searched:
            warn_of_misfit(self.config, env_name(env), lambda: state)
        limit = self._limit_from(started)
        action = self._searcher.choose(state, limit, clock=self.clock)
        return action + int(env.action_space.start)  # The search numbers actions from 0.


class UCTAgent(PlanningAgent, preset="uct"):
    """Plain UCT."""


class PUCTAgent(PlanningAgent, preset="puct"):
    """UCT with prior probabilities (PUCT), such as an evaluator's."""


class GumbelAgent(PlanningAgent, preset="gumbel"):
    """Sequential halving with Gumbel noise, for few simulations with an evaluator."""


class RaveAgent(PlanningAgent, preset="rave"):
    """UCT with rapid action value estimation (RAVE)."""


class GraveAgent(PlanningAgent, preset="grave"):
    """RAVE with the values of a well-visited ancestor (GRAVE)."""


class AutoAgent(PlanningAgent, preset="auto"):
    """A search for any environment: AMAF statistics and proofs, each where it fits."""


def make_agent(
    spec: str | AgentSpec = DEFAULT_AGENT,
    env: Any = None,
    *,
    worlds: WorldFunction | None = None,
    chance: Chance | str = Chance.DRAW,
    **defaults: Any,
) -> PlanningAgent:
    """Make an agent from its spec: ``make_agent("rave(simulations=500)", env)``.

    Args:
        spec: the name of a preset (``rave_agents.SearchConfig.preset_names()``), with parameters in
            parentheses.
        env: the live environment, which must be given.
        worlds: as for ``PlanningAgent``.
        chance: as for ``PlanningAgent``; the spec may set it too, as in ``"uct(chance=see)"``.
        **defaults: values for parameters that the spec leaves open, such as ``simulations`` or
            ``seed``.

    Raises:
        UnknownNameError: for an agent or a parameter that does not exist.
        TypeError, ValueError, UnsupportedGameError: as ``PlanningAgent``.
    """
    parsed = environment_spec(spec, env, defaults)
    options = {"chance": chance, **parsed.parameters, "worlds": worlds}
    return kind_of_preset(PlanningAgent, parsed.name)(env, **options)
