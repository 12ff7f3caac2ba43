"""Gymnasium's single-agent environments behind the common interface."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from rave_agents.errors import UnsupportedGameError
from rave_agents.game import PlayerId
from rave_agents.simulate.python_simulator import (
    EXPAND,
    FRAME_FULL,
    PATH_LENGTH,
    PLAYER,
    STOPPED,
    Evaluator,
    PythonSimulator,
)
from rave_agents.simulate.simulator import Frame, Simulator
from rave_gymnasium.cloning import GymPlayer, clone, fast_cloner, own_mask, planning_env

TERMINAL = int(PlayerId.TERMINAL)

DEFAULT_HORIZON = 100
"""Steps that a plan looks ahead."""


class _Plan(NamedTuple):
    """What all states of one plan have in common."""

    actions: tuple[int, ...]
    """All actions, from 0."""
    start: int
    """The environment's number of the first action."""
    discount: float
    """What a reward counts less with every step."""
    steps: int
    """Steps until the horizon or the time limit."""
    fast_clone: Callable[[Any], Any]
    """Copies the environment for a simulation."""
    is_random: bool
    """Whether steps draw random numbers."""


class PlanningState:
    """A single-agent environment with discrete actions as a GameState with one player.

    The environment is copied and the copy alone is stepped. Returns are discounted sums of rewards
    from the first state on. The game is over at the environment's end, at its time limit, of which
    the steps already taken are counted, and at the horizon.

    Where steps draw random numbers, each simulation draws its own: the plan knows what may come,
    not what will. Actions are numbered from 0, whatever the action space starts with.

    Args:
        env: the environment, after ``reset``; it is not changed.
        discount: from 0 (not included) to 1.
        horizon: steps that the plan looks ahead, at least 1; None for the end of the episode, which
            must then have a time limit.
        action_mask: for each action whether it is allowed now; None for the environment's own
            (``action_masks()``) or for all. Later masks are those of ``info["action_mask"]``.

    Raises:
        TypeError, ValueError: for an argument that is not allowed, an environment that has not been
            reset included.
        CloneError: if the environment cannot be cloned rightly; it says why.
        UnsupportedGameError: if its actions are not discrete.
    """

    __slots__ = ("_legal", "_plan", "_return", "_step", "_weight", "env", "over")

    def __init__(
        self,
        env: Any,
        *,
        discount: float = 1.0,
        horizon: int | None = DEFAULT_HORIZON,
        action_mask: Any = None,
    ) -> None:
        check_plannable(env)
        check_plan(discount, horizon)
        limit, elapsed = _time_limit(env)
        steps = limit - elapsed if horizon is None else min(horizon, limit - elapsed)
        if math.isinf(steps):
            raise ValueError(
                f"horizon=None needs an environment with a time limit; {env} has none."
            )
        if steps <= 0:
            raise ValueError(f"The episode of {env} is over: there is nothing to plan.")
        space = env.action_space
        actions = tuple(range(int(space.n)))
        legal = _allowed(action_mask, actions)
        copy = planning_env(env, action_mask)
        self.env: Any = copy
        """The copy of the environment."""
        self.over = False
        """Whether the episode is over."""
        self._plan = _Plan(
            actions=actions,
            start=int(space.start),
            discount=float(discount),
            steps=int(steps),
            fast_clone=fast_cloner(copy),
            is_random=_draws_random_numbers(copy, action_mask),
        )
        self._return = 0.0
        self._weight = 1.0
        self._step = 0
        self._legal = legal
        if action_mask is None:
            self._look({})

    def _look(self, info: Mapping[str, Any]) -> None:
        mask = info.get("action_mask")
        if mask is None:
            mask = own_mask(self.env)
        self._legal = _allowed(mask, self._plan.actions)

    def clone(self) -> Self:
        """A copy that shares nothing that can change with this state."""
        return self._copied(clone)

    def __deepcopy__(self, memo: Any) -> Self:
        return self.clone()

    def hides_information(self) -> bool:
        """Whether the environment is known to hide something from the agent."""
        return hides_something(self.env)

    def worlds(self, player: int, unit: Callable[[], float]) -> Callable[[], Self]:
        """There are none.

        Raises:
            UnsupportedGameError: always.
        """
        raise UnsupportedGameError(no_worlds(self.env))

    def simulation(self, seed: int) -> Self:
        """A copy for one simulation, with random numbers of its own where steps draw some."""
        new = self._copied(self._plan.fast_clone)
        if self._plan.is_random:
            new.env.unwrapped._np_random = np.random.Generator(np.random.PCG64(seed))
        return new

    def _copied(self, cloner: Callable[[Any], Any]) -> Self:
        new = object.__new__(type(self))
        new.env = cloner(self.env)
        new.over = self.over
        new._plan, new._legal = self._plan, self._legal
        new._return, new._weight, new._step = self._return, self._weight, self._step
        return new

    @property
    def is_random(self) -> bool:
        """Whether steps draw random numbers."""
        return self._plan.is_random

    def current_player(self) -> int:
        """0, or TERMINAL."""
        return TERMINAL if self.over else 0

    def is_terminal(self) -> bool:
        """Whether the episode is over, or the horizon is reached."""
        return self.over

    def is_chance_node(self) -> bool:
        """Never: an environment plays its chance itself."""
        return False

    def legal_actions(self) -> Sequence[int]:
        """The actions that the mask allows; all without one."""
        return [] if self.over else self._legal

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """None."""
        return []

    def apply_action(self, action: int) -> None:
        """Step the environment; whatever it raises is raised unchanged."""
        _, reward, terminated, truncated, info = self.env.step(action + self._plan.start)
        self._return += self._weight * float(reward)
        self._weight *= self._plan.discount
        self._step += 1
        self.over = bool(terminated or truncated or self._step >= self._plan.steps)
        if not self.over:
            self._look(info)

    def returns(self) -> Sequence[float]:
        """The discounted sum of the rewards from the first state on."""
        return [self._return]

    def num_players(self) -> int:
        """One."""
        return 1

    def num_distinct_actions(self) -> int:
        """The action space's size."""
        return len(self._plan.actions)

    def min_utility(self) -> float:
        """Not known: the search scales by the returns that it sees."""
        return -math.inf

    def max_utility(self) -> float:
        """Likewise."""
        return math.inf

    def simulator(self, frame: Frame, evaluator: Evaluator | None) -> Simulator:
        """Simulations with random numbers of their own."""
        return PlanningSimulator(
            self.clone(),
            frame,
            num_distinct_actions=self.num_distinct_actions(),
            evaluator=evaluator,
        )

    def __str__(self) -> str:
        return f"{self.env}: {'over' if self.over else f'step {self._step} of the plan'}"


class PlanningSimulator(PythonSimulator):
    """Open-loop simulations: a node is a sequence of actions, whatever chance does on the way.

    An episode that is over early in one simulation may go on in another; so where steps are random,
    a leaf at which it is over gets a node with all actions, and actions beyond the end do nothing.
    """

    root: PlanningState

    def leaf(self, path: list[int]) -> PlanningState:
        """The position that a path of actions leads to in a simulation of its own."""
        state = self.root.simulation(self.words.below(2**31) if self.root.is_random else 0)
        for action in path:
            if state.over:
                break
            state.apply_action(action)
        return state

    def _simulate(self) -> int:
        header = self._header
        if time.perf_counter() > self.deadline:
            return STOPPED
        state = self.leaf(self._path[: header[PATH_LENGTH]].tolist())
        header[PLAYER] = 0
        if state.over and not self.root.is_random:
            header[PLAYER] = TERMINAL
            return self._finish(state)
        if header[EXPAND] and not self._list_actions(_Open(state), 0):
            return FRAME_FULL
        if state.over:
            return self._give_returns(state.returns())
        if self._evaluator is not None:
            return self._give_returns(self._evaluator.evaluate(state))
        return self._play(state)


class _Open:
    """A leaf that has actions even where its episode is over."""

    def __init__(self, state: PlanningState) -> None:
        self._state = state

    def legal_actions(self) -> Sequence[int]:
        """Those of the state, or all."""
        return self._state.legal_actions() or range(self._state.num_distinct_actions())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)


def check_plannable(env: Any) -> None:
    """Refuse an environment that cannot be planned in, with the reason.

    Raises:
        TypeError: if it is no environment of Gymnasium, or one of many (a vector environment).
        UnsupportedGameError: if its actions are not discrete.
    """
    if not isinstance(env, gymnasium.Env):
        raise TypeError(f"env must be a single gymnasium.Env, got {type(env).__name__}.")
    if not isinstance(env.action_space, spaces.Discrete):
        raise UnsupportedGameError(
            f"{env} cannot be planned in: its actions are {env.action_space}, and a search needs "
            "Discrete(n)."
        )


def hides_something(env: Any) -> bool:
    """Whether the environment is known to hide something that a plan would look at."""
    return type(env.unwrapped).__name__ == "BlackjackEnv"


def no_worlds(env: Any) -> str:
    """Why an environment that hides something cannot be planned in without cheating."""
    return (
        f"{env} cannot be planned in: it hides the dealer's card, and a plan would look at it. "
        "hidden='see' does, which is cheating."
    )


def check_plan(discount: float, horizon: int | None) -> None:
    """Raise TypeError or ValueError for a discount or a horizon that is not allowed."""
    if isinstance(discount, bool) or not isinstance(discount, int | float | np.floating):
        raise TypeError(f"discount must be a number, got {discount!r}.")
    if not 0 < discount <= 1:
        raise ValueError(f"discount must be above 0 and at most 1, got {discount!r}.")
    if horizon is None:
        return
    if isinstance(horizon, bool) or not isinstance(horizon, int | np.integer):
        raise TypeError(f"horizon must be an integer or None, got {horizon!r}.")
    if horizon < 1:
        raise ValueError(f"horizon must be at least 1, got {horizon!r}.")


def _time_limit(env: Any) -> tuple[float, int]:
    """The least time limit among the wrappers, and the steps taken of it."""
    limit, elapsed = math.inf, 0
    begun = True
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, TimeLimit):
            begun = env._elapsed_steps is not None
            taken = env._elapsed_steps or 0
            if env._max_episode_steps - taken < limit - elapsed:
                limit, elapsed = env._max_episode_steps, taken
        if getattr(env, "_has_reset", True) is False:
            begun = False
        env = env.env
    if not begun:
        raise ValueError(f"{env} has not been reset: call env.reset() first.")
    return limit, elapsed


def _draws_random_numbers(env: Any, action_mask: Any) -> bool:
    """Whether steps draw from the environment's random numbers, found out in a copy."""
    played = clone(env)
    stream = played.unwrapped._np_random
    if stream is None:
        return False
    before = repr(stream.bit_generator.state)
    GymPlayer(action_mask).play(played)
    return repr(played.unwrapped._np_random.bit_generator.state) != before


def _allowed(mask: Any, actions: Sequence[int]) -> Sequence[int]:
    if mask is None:
        return actions
    flat = np.ravel(np.asarray(mask))
    if len(flat) != len(actions):
        raise ValueError(
            f"The action mask has {len(flat)} entries, the action space {len(actions)}."
        )
    allowed = [int(action) for action in np.flatnonzero(flat)]
    if not allowed:
        raise ValueError("The action mask allows no action.")
    return allowed
