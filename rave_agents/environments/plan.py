"""Horizon of simulations in an environment, discount, and value where they are cut off."""

import math
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from annotated_types import Gt, Le

from rave_agents.errors import GameError
from rave_agents.game.validation import Count, checked
from rave_agents.simulate.evaluator import EvaluatorAbilities
from rave_agents.simulate.value import PositionValue

ValueFunction = Callable[[Any], Any]
"""Evaluates a position: ``function(state)`` is the expected sum of the rewards from there on, for
each player, discounted as the search discounts them.

``state`` is the search's state, which must not be changed: ``state.env`` is its copy of the
environment, ``state.observation(seat)`` a player's observation, and ``state.current_player()`` the
seat to move. For one player the function returns a number, else a number for each seat in the order
of ``state.env.possible_agents``; the number of the player to move is enough for two players whose
returns have a constant sum."""

AUTO = "auto"
"""The horizon that an adapter chooses."""

Horizon = Count | Literal["auto"] | None
"""Steps that simulations look ahead; None for the end of the episode."""

Discount = Annotated[float, Gt(0), Le(1)]
"""The factor of a reward for each step before it."""


class Plan(NamedTuple):
    """Horizon of a search: a number of steps, each counted less than the one before."""

    steps: float = math.inf
    """Steps of the environment until a simulation is cut off; ``inf`` for the end."""
    discount: float = 1.0
    """The factor of a reward for every step of the environment before it."""
    value: Any = None
    """Evaluates the position where a simulation is cut off, see ``ValueFunction``; None for 0."""
    ahead: float = math.inf
    """Steps that a search looks ahead from wherever it begins, if those are fewer."""

    @property
    def is_whole_game(self) -> bool:
        """True if simulations play to the end, and all rewards count alike."""
        return math.isinf(self.steps) and self.discount == 1.0


def checked_plan(
    horizon: int | str | None,
    discount: float,
    evaluator: Any = None,
    *,
    default: float,
) -> Plan:
    """Return a plan from the arguments of an agent or a state.

    Args:
        horizon: steps that simulations look ahead, at least 1; None for the end of the episode;
            ``"auto"`` for the default.
        discount: above 0 and at most 1.
        evaluator: see ``ValueFunction``; None for none.
        default: the default horizon.

    Raises:
        TypeError, ValueError: for a value that is not allowed.
    """
    discount = checked("discount", Discount, discount)
    horizon = checked("horizon", Horizon, horizon)
    known = callable(evaluator) or EvaluatorAbilities(evaluator).evaluate is not None
    # A part, such as a value function of compiled rules, is a named tuple.
    if evaluator is not None and not known and not hasattr(evaluator, "_fields"):
        raise TypeError(f"evaluator must be a function of a state, or None, got {evaluator!r}.")
    steps = default if horizon == AUTO else math.inf if horizon is None else float(horizon)
    return Plan(steps, discount, evaluator)


class Account:
    """The rewards of all players since a search's root, counted as a plan says.

    Args:
        plan: how far to look ahead.
        players: the number of players.
    """

    __slots__ = ("_steps", "_weight", "plan", "returns")

    def __init__(self, plan: Plan, players: int) -> None:
        self.plan: Plan = plan
        self.returns: list[float] = [0.0] * players
        """The sum of each player's rewards, discounted."""
        self._weight = 1.0
        self._steps = 0

    def copy(self) -> "Account":
        """Return an account that goes on independently."""
        new = object.__new__(Account)
        new.plan, new.returns = self.plan, self.returns.copy()
        new._weight, new._steps = self._weight, self._steps
        return new

    def ahead(self) -> "Account":
        """Return an account of a search that begins here, and looks ahead as far as the plan says.

        Values count from the state on that the plan began with.
        """
        new = self.copy()
        steps = min(self.plan.steps, self._steps + self.plan.ahead)
        new.plan = self.plan._replace(steps=steps)
        return new

    @property
    def steps(self) -> int:
        """The number of steps since the root."""
        return self._steps

    @property
    def weight(self) -> float:
        """The weight of a reward of the next step."""
        return self._weight

    def add(self, player: int, reward: Any) -> None:
        """Add a player's reward of the step that has just been taken.

        Raises:
            GameError: for a reward that is not a finite number.
        """
        try:
            amount = float(reward)
        except (TypeError, ValueError):
            amount = _single_number(reward)
        if not -math.inf < amount < math.inf:
            raise GameError(f"A reward must be a finite number: the environment gives {amount}.")
        self.returns[player] += self._weight * amount

    def end_step(self) -> bool:
        """End a step, after all of its rewards; True if the horizon is reached."""
        self._steps += 1
        self._weight *= self.plan.discount
        return self._steps >= self.plan.steps

    def cut_off(self, state: Any) -> None:
        """Add the value of the position, for the rewards that are not simulated.

        Args:
            state: where the simulation is cut off; a player is to move there.

        Raises:
            GameError: if the value is not one finite number for each player.
        """
        if self.plan.value is None:
            return
        value = PositionValue(self.plan.value, state, math.inf)
        for player, number in enumerate(value.evaluate(state)):
            self.add(player, number)


def _single_number(reward: Any) -> float:
    """Return the number in an array of one."""
    array = np.asarray(reward)
    if array.size == 1 and array.dtype.kind in "biuf":
        return float(array.item())
    raise GameError(
        f"A reward must be a number, and the environment gives {reward!r:.80}. Turn vectors into "
        "numbers by a wrapper, such as LinearReward(env, weights) of mo-gymnasium."
    )
