"""Gymnasium's single-agent environments as a GameState."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.chance import (
    Chance,
    ChanceReport,
    Knowledge,
    checked_chance,
    say_it_sees_chance,
    search_position,
    stream_entropy,
)
from rave_agents.environments.copying import hashable
from rave_agents.environments.dice import Dice
from rave_agents.environments.environment_simulator import WorldSimulator
from rave_agents.environments.failures import Line, step_failed
from rave_agents.environments.masks import allowed, shown_mask, some_allowed
from rave_agents.environments.plan import AUTO, Account, ValueFunction, checked_plan
from rave_agents.environments.worlds import WorldFunction, check_world_function
from rave_agents.errors import GameError, RaveAgentsError, UnsupportedGameError
from rave_agents.game.game_state import NO_ACTION, PlayerId
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.simulator import Frame, Simulator
from rave_gymnasium.cloning import (
    chance_knowledge,
    clone,
    common_objects,
    planning_env,
    simulation_cloner,
    world_cloner,
)
from rave_gymnasium.masks import MaskOf, mask_function, present_mask
from rave_gymnasium.support import (
    DRAWN_BEFORE,
    FIELDS,
    cannot_be_fair,
    check_goes_on,
    check_plannable,
    declares_openness,
    env_name,
    hidden_information,
    no_worlds,
    time_limit,
    wrong_answer,
)
from rave_gymnasium.worlds import PlanningWorlds

TERMINAL = int(PlayerId.TERMINAL)

DEFAULT_HORIZON = 100
"""Steps that a search looks ahead by default."""


class _Plan(NamedTuple):
    """Settings that all states of one search share."""

    actions: range
    """All actions, from 0."""
    start: int
    """The environment's number of the first action."""
    clone: Callable[[Any], Any]
    """Copies the environment."""
    mask: MaskOf
    """The mask of allowed actions."""
    knowledge: Knowledge
    """What is known of the chance in its steps."""
    chance: Chance
    """Whether simulations draw the outcomes of chance, or foresee them."""
    worlds: WorldFunction | None
    """The user's source of worlds (determinizations), if any."""
    open: bool
    """Whether the search sees hidden information, which is cheating."""


class PlanningState:
    """A single-agent environment with discrete actions as a GameState with one player.

    The state steps a copy of the environment, never the original. Returns are discounted sums of
    rewards from the root on. The game is over when the environment's episode ends, at its time
    limit, which counts the steps already taken, or at the horizon.

    Chance in the environment's steps is detected once (``chance`` has the report). Each simulation
    then draws its own outcomes, so that the search does not foresee them. Different outcomes of an
    action get different nodes, which are told apart by the observation and the return; where no
    outcome repeats, as with continuous noise, a node stands for a sequence of actions (open loop).
    Actions are numbered from 0, whatever the action space starts with.

    Args:
        env: the environment, after ``reset``; it is not changed.
        discount: the discount of rewards per step, above 0 and at most 1.
        horizon: steps that the search looks ahead, at least 1; None for the end of the episode,
            which must then have a time limit; ``"auto"`` for 100.
        value: judges the position where the horizon cuts a simulation off, see
            ``rave_agents.environments.plan.ValueFunction``; None for nothing.
        action_mask: whether each action is allowed now; None for the mask in ``observation``, of
            ``action_masks()`` of a wrapper or of the environment, or in what its ``_get_obs()`` and
            ``_get_info()`` return; else all actions. Later masks come from ``info["action_mask"]``,
            ``observation["action_mask"]`` and ``action_masks()``.
        chance: ``"draw"``: simulations draw the outcomes of chance; ``"see"``: they copy the
            environment's generators and foresee the outcomes, which is cheating.
        worlds: where something is hidden, the function that draws environments which the agent
            cannot tell from this one, see ``rave_agents.environments.worlds.WorldFunction``; each
            simulation begins in one. None where nothing is hidden.
        observation: what the environment's last ``reset`` or ``step`` returned, for an evaluator of
            batches; None if there is none.

    Raises:
        TypeError, ValueError: for an argument that is not allowed, or an environment before
            ``reset``.
        CloneError: if the environment cannot be cloned correctly; the message says why.
        UnsupportedGameError: if its actions are not discrete.
    """

    __slots__ = ("_account", "_last", "_legal", "_line", "_plan", "_seen", "env", "over")

    def __init__(
        self,
        env: Any,
        *,
        discount: float = 1.0,
        horizon: int | str | None = AUTO,
        value: ValueFunction | None = None,
        action_mask: Any = None,
        chance: Chance | str = Chance.DRAW,
        worlds: WorldFunction | None = None,
        observation: Any = None,
    ) -> None:
        check_plannable(env)
        check_world_function(worlds)
        plan = checked_plan(horizon, discount, value, default=DEFAULT_HORIZON)
        chance = checked_chance(chance)
        check_goes_on(env)
        limit, elapsed = time_limit(env)
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
        kept = (value, worlds, observation)
        keep = any(each is not None for each in kept)
        if action_mask is not None:
            some_allowed(action_mask, len(actions))
        copy = planning_env(env, action_mask, keep_observations=keep)
        mask = mask_function(copy)
        if action_mask is None:
            action_mask = present_mask(clone(copy), mask)
        self.env: Any = copy
        """The copy of the environment."""
        self.over: bool = False
        """Whether the episode is over."""
        self._plan = _Plan(
            actions=actions,
            start=int(space.start),
            clone=clone,
            mask=mask,
            knowledge=chance_knowledge(env, copy, action_mask),
            chance=chance,
            worlds=worlds,
            open=False,
        )
        self._last = NO_ACTION
        self._line: Line = ()
        self._seen: Any = observation
        self._account = Account(plan._replace(steps=steps), 1)
        self._legal: Sequence[int] = (
            actions if action_mask is None else some_allowed(action_mask, len(actions))
        )

    def _look(self, info: Any) -> None:
        plan = self._plan
        mask = plan.mask(self.env, self._seen, info)
        if mask is None:
            self._legal = plan.actions
        else:  # ``Discrete.sample`` takes the first action where nothing is allowed.
            self._legal = allowed(mask, len(plan.actions)) or plan.actions[:1]

    def clone(self) -> Self:
        """Return a copy that shares no mutable object with this state."""
        return self._with(self._plan.clone(self.env))

    def __deepcopy__(self, memo: Any) -> Self:
        return self.clone()

    def hides_information(self) -> bool:
        """Whether the environment is known to hide something from the agent."""
        hides = self._plan.worlds is not None or self._hidden() is not None
        return hides and not self._plan.open

    def _hidden(self) -> str | None:
        known = hidden_information(self.env)
        if known is None and self._plan.chance is Chance.DRAW and not declares_openness(self.env):
            return DRAWN_BEFORE if self.chance.drawn_before else None
        return known

    def draws_chance(self) -> bool:
        """Whether the environment draws random outcomes of actions itself."""
        return self._plan.chance is Chance.DRAW and self.chance.found

    @property
    def chance(self) -> ChanceReport:
        """The report on chance in the environment's steps."""
        return self._plan.knowledge.report

    def seeing(self) -> Self:
        """Return this state for a search that sees hidden information, which is cheating."""
        new = self.clone()
        new._plan = self._plan._replace(open=True, worlds=None)
        return new

    def worlds(self, player: int, unit: Callable[[], float]) -> Callable[[], Self]:
        """Return a source of positions that the agent cannot tell from this one.

        Each has its own random numbers.

        Raises:
            UnsupportedGameError: if the environment hides information and there are no worlds.
        """
        root, _ = self._begun([int(unit() * 2**32) for _ in range(4)])
        return root.begun_worlds(unit)

    def begun_worlds(self, unit: Callable[[], float]) -> Callable[[], Self]:
        """Return a source of worlds that draw from the generators of this state's environment."""
        if self._plan.worlds is not None:
            source = PlanningWorlds(self.env, unit, self._plan.worlds, world_cloner())
            return lambda: self._with(source())
        hidden = self._hidden()
        if hidden is not None and not self._plan.open:
            raise UnsupportedGameError(no_worlds(self.env, hidden))
        return self.clone

    def view(self, player: int) -> Hashable:
        """Return what the agent sees, its return and the last action.

        Where no outcome repeats, return the last action alone.
        """
        if not self.chance.alike:
            return self._last
        return self._last, self._account.returns[0], hashable(self._seen)

    def simulation(self, seed: int) -> Self:
        """Return a copy for one simulation, with its own random numbers if steps draw any."""
        return self._begun([seed])[0]

    def _begun(self, entropy: Sequence[int]) -> tuple[Self, Dice]:
        """Return the root of a search, whose clones draw from the search's dice, and the dice."""
        report, sees = self.chance, self._plan.chance is Chance.SEE
        if report.fixed and not sees:
            raise UnsupportedGameError(cannot_be_fair(self.env, report.fixed))
        if sees:
            say_it_sees_chance()
        copy, shared = clone(self.env), common_objects(self.env)
        position = search_position(copy, report, entropy, sees=sees, shared=shared)
        root = self._with(position.env)
        root._plan = self._plan._replace(clone=clone if sees else simulation_cloner(position.env))
        return root, position.dice

    def _with(self, env: Any) -> Self:
        new = object.__new__(type(self))
        new.env = env
        new._last, new._line, new._seen = self._last, self._line, self._seen
        new.over = self.over
        new._plan, new._legal = self._plan, self._legal
        new._account = self._account.copy()
        return new

    @property
    def is_random(self) -> bool:
        """Whether steps have random outcomes."""
        return self.chance.found

    def current_player(self) -> int:
        """0, or TERMINAL."""
        return TERMINAL if self.over else 0

    def game_key(self) -> Hashable:
        """Return the environment's class and how it was made."""
        return type(self.env.unwrapped), repr(self.env.spec)

    def is_terminal(self) -> bool:
        """Whether the episode is over, or the horizon is reached."""
        return self.over

    def is_chance_node(self) -> bool:
        """Return False: an environment plays chance moves itself."""
        return False

    def legal_actions(self) -> Sequence[int]:
        """Return the actions that the mask allows; without a mask, all actions."""
        return [] if self.over else self._legal

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """None."""
        return []

    def apply_action(self, action: int) -> None:
        """Step the environment.

        Raises:
            GameError: for an exception of the environment, or an answer that is none.
        """
        self._last = action
        action += self._plan.start
        self._line = (self._line, action)
        answer: Any = None
        try:
            answer = self._seen, reward, terminated, truncated, info = self.env.step(action)
            self._account.add(0, reward)
            self.over = bool(terminated or truncated)
            if not self.over:
                self._look(info)
        except RaveAgentsError:
            raise
        except Exception as error:
            if is_raised_by_handler(error):
                raise
            if isinstance(answer, tuple) and len(answer) != FIELDS:
                raise GameError(wrong_answer(self.env, answer)) from None
            raise step_failed(env_name(self.env), error, self._line) from error
        cut = self._account.end_step()
        if cut and not self.over:
            self._account.cut_off(self)
            self.over = True

    def returns(self) -> Sequence[float]:
        """Return the discounted sum of the rewards since the root."""
        return self._account.returns.copy()

    def collected(self) -> tuple[Sequence[float], float]:
        """Return the rewards since the root, and what those to come count."""
        return self._account.returns.copy(), self._account.weight

    def observation(self, player: int) -> Any:
        """Return the last observation, without a mask that it may have.

        Raises:
            ValueError: if it is not known, at the root.
        """
        if self._seen is None:
            raise ValueError("Give the environment's last observation: agent.act(observation).")
        if isinstance(self._seen, Mapping) and "observation" in self._seen:
            return self._seen["observation"]
        return self._seen

    def num_players(self) -> int:
        """One."""
        return 1

    def num_distinct_actions(self) -> int:
        """The action space's size."""
        return len(self._plan.actions)

    def min_utility(self) -> float:
        """Return ``-inf``, for unknown: the search scales by the returns that it sees."""
        return -math.inf

    def max_utility(self) -> float:
        """Return ``inf``, for unknown."""
        return math.inf

    def simulator(self, frame: Frame, evaluator: Evaluator | None) -> Simulator:
        """Return the provider of simulations in an environment without chance."""
        return self._simulator(frame, evaluator, None)

    def world_simulator(self, frame: Frame, evaluator: Evaluator | None, player: int) -> Simulator:
        """Return the provider of simulations that each draw their own outcomes, and their world.

        Raises:
            UnsupportedGameError: if the environment hides information and there are no worlds.
        """
        return self._simulator(frame, evaluator, player)

    def _simulator(
        self, frame: Frame, evaluator: Evaluator | None, observer: int | None
    ) -> Simulator:
        root, dice = self._begun(stream_entropy(frame.playout_stream))
        plan = self._plan
        watches = plan.chance is Chance.DRAW and not self.chance.found and plan.worlds is None
        return WorldSimulator(
            root,
            frame,
            dice=dice,
            met=plan.knowledge.add if watches else None,
            num_distinct_actions=self.num_distinct_actions(),
            evaluator=evaluator,
            observer=observer,
        )

    def __str__(self) -> str:
        return f"{self.env}: {'over' if self.over else f'step {self._account.steps} of the plan'}"
