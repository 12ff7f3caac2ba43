"""Gymnasium's single-agent environments as a GameState."""

import dataclasses
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import gymnasium
import numpy as np

from rave_agents.agents.views import View
from rave_agents.environments.chance import Chance
from rave_agents.environments.copying import hashable
from rave_agents.environments.environment_state import TERMINAL, EnvironmentState
from rave_agents.environments.facts import EnvironmentFacts
from rave_agents.environments.generators import reseed_inside
from rave_agents.environments.masks import allowed, shown_mask, some_allowed
from rave_agents.environments.plan import AUTO, ValueFunction, checked_plan
from rave_agents.environments.worlds import Unit, UserWorlds, WorldFunction
from rave_agents.errors import GameError
from rave_agents.game.validation import checked
from rave_gymnasium.checks import (
    check_not_over,
    check_plannable,
    env_name,
    hidden_information,
    is_declared,
    no_worlds,
    time_limit,
    wrong_answer,
)
from rave_gymnasium.cloning import CLONER, chance_knowledge, common_objects, planning_env
from rave_gymnasium.structure import MaskOf, mask_function, present_mask, searched_part

DEFAULT_HORIZON = 100
"""Steps that a search looks ahead by default."""

_SHOWN = 200
"""Largest number of an observation's characters in the text of a position."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlanningFacts(EnvironmentFacts):
    """Facts that all positions of an environment share."""

    raw: Any
    """The live environment."""
    start: int
    """The environment's number of the first action."""
    mask: MaskOf
    """Returns the mask of allowed actions."""

    def simulation_cloner(self, env: Any, seed: int) -> Callable[[Any], Any]:
        """See ``EnvironmentFacts``."""
        return CLONER.simulation_cloner(env)

    def common_objects(self, env: Any) -> tuple[type, ...]:
        """See ``EnvironmentFacts``."""
        return common_objects(env)

    def no_worlds(self) -> str:
        """See ``EnvironmentFacts``."""
        return no_worlds(self.raw, self.what_is_hidden)


class PlanningState(EnvironmentState):
    """A single-agent environment with discrete actions as a GameState with one player.

    The state steps a copy of the environment, never the original. Returns are discounted sums of
    rewards from the root on. The game is over when the environment's episode ends, at its time
    limit, which counts the steps already taken, or at the horizon.

    Chance in the environment's steps is detected once (``chance`` has the report). Each simulation
    then draws its own outcomes, so that the search does not foresee them. Different outcomes of an
    action get different nodes, distinguished by the observation and the return; if no outcome
    repeats, as with continuous noise, a node is a sequence of actions (open loop).
    Actions are numbered from 0, even if the action space starts at another number.

    Args:
        env: the environment, after ``reset``; it is not changed.
        discount: the discount of rewards per step, above 0 and at most 1.
        horizon: steps that the search looks ahead, at least 1; None for the end of the episode,
            which must then have a time limit; ``"auto"`` for 100.
        evaluator: evaluates the position where the horizon cuts a simulation off, see
            ``rave_agents.environments.plan.ValueFunction``; None for nothing.
        action_mask: whether each action is allowed now; None for the mask in ``observation``, from
            ``action_masks()`` of a wrapper or of the environment, or from its ``_get_obs()`` and
            ``_get_info()``; else all actions. Later masks come from ``info["action_mask"]``,
            ``observation["action_mask"]`` and ``action_masks()``.
        chance: ``"draw"``: simulations draw the outcomes of chance; ``"see"``: they copy the
            environment's generators and foresee the outcomes, which is cheating.
        worlds: with hidden information, the function that draws environments which look like this
            one to the agent, see ``rave_agents.environments.worlds.WorldFunction``; each
            simulation begins in one. None if nothing is hidden.
        observation: the observation that the last ``reset`` or ``step`` returned, for an evaluator
            of batches; None if there is none.

    Raises:
        TypeError, ValueError: for an argument that is not allowed, or an environment before
            ``reset``.
        CloneError: if the environment cannot be cloned correctly; the message says why.
        UnsupportedGameError: if its actions are not discrete.
    """

    __slots__ = ("_legal", "_seen")

    _shared: PlanningFacts
    _searched = "planned in"

    def __init__(
        self,
        env: Any,
        *,
        discount: float = 1.0,
        horizon: int | str | None = AUTO,
        evaluator: ValueFunction | None = None,
        action_mask: Any = None,
        chance: Chance | str = Chance.DRAW,
        worlds: WorldFunction | None = None,
        observation: Any = None,
    ) -> None:
        check_plannable(env)
        checked("worlds", WorldFunction | None, worlds)
        plan = checked_plan(horizon, discount, evaluator, default=DEFAULT_HORIZON)
        of_chance: Chance = checked("chance", Chance, chance)
        check_not_over(env)
        limit, elapsed = time_limit(env)  # The copy has no such wrapper: the state counts steps.
        steps = min(plan.steps, limit - elapsed)
        if math.isinf(steps):
            raise ValueError(
                f"horizon=None needs an environment with a time limit; {env_name(env)} has none."
            )
        if steps <= 0:
            raise ValueError(f"The episode of {env_name(env)} is over: call env.reset() first.")
        space = env.action_space
        actions = range(int(space.n))
        if action_mask is None:
            action_mask = shown_mask(observation, None, len(actions))
        kept = (evaluator, worlds, observation)
        keep = any(each is not None for each in kept)
        if action_mask is not None:
            some_allowed(action_mask, len(actions))
        copy = planning_env(env, action_mask, keep_observations=keep)
        mask = mask_function(copy)
        if action_mask is None:  # From another copy, since the environment's methods may change it.
            action_mask = present_mask(CLONER.clone(copy), mask)
        facts = PlanningFacts(
            name=env_name(env),
            key=(type(copy.unwrapped), repr(copy.spec)),
            agents=(None,),
            num_actions=len(actions),
            clone=CLONER.clone,
            plan=plan._replace(steps=steps),
            hidden=hidden_information(env),
            is_declared=is_declared(env),
            knowledge=chance_knowledge(env, copy, action_mask),
            chance=of_chance,
            worlds=worlds,
            raw=env,
            start=int(space.start),
            mask=mask,
        )
        super().__init__(copy, facts)
        self._player = 0
        self._seen: Any = observation
        self._legal: Sequence[int] = (
            actions if action_mask is None else some_allowed(action_mask, len(actions))
        )

    def _world_source(self, unit: Unit, function: WorldFunction) -> Callable[[], Any]:
        return PlanningWorlds(self.env, None, unit, function, CLONER.world_cloner())

    def _with(self, env: Any) -> Self:
        new = super()._with(env)
        new._legal, new._seen = self._legal, self._seen
        return new

    def lasting(self, steps: float) -> Self:
        """Return this state as one of an episode that goes on beyond the horizon.

        Searches look ahead from any of its positions, up to this state's horizon.

        Args:
            steps: the largest number of steps left in the episode.
        """
        new = self.clone()
        plan = new._account.plan
        new._account.plan = plan._replace(steps=steps, ahead=plan.steps)
        return new

    def simulation(self, seed: int) -> Self:
        """Return a copy for one simulation, with its own random numbers if steps draw any."""
        return self._begun([seed])[0]

    def view(self, player: int) -> Hashable:
        """Return what the agent sees, its return and the last action.

        Where no outcome repeats, return the last action alone.
        """
        if not self.chance.alike:
            return self._last
        return self._last, self._account.returns[0], hashable(self._seen)

    @property
    def is_random(self) -> bool:
        """True if steps have random outcomes."""
        return self.chance.found

    @property
    def over(self) -> bool:
        """True if the episode is over, or the horizon is reached."""
        return self._player == TERMINAL

    def legal_actions(self) -> Sequence[int]:
        """Return the actions that the mask allows; without a mask, all actions."""
        return [] if self._player == TERMINAL else self._legal

    def apply_action(self, action: int) -> None:
        """Step the environment.

        Raises:
            GameError: for an exception of the environment, or an invalid answer.
        """
        super().apply_action(action + self._shared.start)

    def _step(self, action: int) -> None:
        answer: Any = None
        try:
            answer = self._seen, reward, terminated, truncated, info = self.env.step(action)
        except ValueError:  # Of the unpacking, if there is an answer; else the environment's own.
            if isinstance(answer, tuple):
                raise GameError(wrong_answer(self.env, answer)) from None
            raise
        self._account.add(0, reward)
        if terminated or truncated:
            self._player = TERMINAL
            return
        facts = self._shared
        mask = facts.mask(self.env, self._seen, info)
        if mask is None:
            self._legal = range(facts.num_actions)
        else:  # As ``Discrete.sample`` does, take the first action if the mask allows none.
            self._legal = allowed(mask, facts.num_actions) or [0]

    def policy_view(self, player: int) -> View:
        """Return the view of a policy, as in the environment's own loop."""
        facts = self._shared
        mask = np.zeros(facts.num_actions, np.int8)
        mask[list(self.legal_actions())] = 1
        return View(self.env, self._seen, mask, start=facts.start)

    def _observed(self, player: int) -> Any:
        if self._seen is None:
            raise ValueError("Give the environment's last observation: agent.act(observation).")
        return self._seen

    def __str__(self) -> str:
        text = f"{self.env}: {'over' if self.over else f'after {self._account.steps} steps'}"
        seen = " ".join(str(self.observation(0)).split())
        return f"{text}\n{seen}" if len(seen) <= _SHOWN else text


class PlanningWorlds(UserWorlds):
    """Worlds of a Gymnasium environment by the user's function.

    Gymnasium has no ``observe``, so only the kind of environment and its actions are compared.
    """

    def _adopted(self, world: Any) -> Any:
        if not isinstance(world, gymnasium.Env):
            raise GameError(f"worlds must return an environment, got {world!r}.")
        self._check_kind(world)
        adopted = CLONER.deep_clone(searched_part(world, keep_observations=True))
        reseed_inside(adopted, self._random)
        return adopted

    def _check_kind(self, world: Any) -> None:
        true = self._position
        if _kind(world) != _kind(true):
            raise GameError(
                f"worlds returned the environment {env_name(world)} with the actions "
                f"{world.action_space} where {env_name(true)} with {true.action_space} was "
                "expected."
            )


def _kind(env: Any) -> tuple[Any, ...]:
    """Return the features that all worlds of an environment share."""
    raw = type(env.unwrapped)
    return raw.__module__, raw.__qualname__, env.action_space
