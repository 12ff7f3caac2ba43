"""How far simulations in an environment look ahead, and what counts where they are cut off."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

ValueFunction = Callable[[Any, Any], Any]
"""Estimates what is still to come where a simulation is cut off: ``value_function(env, seen)``.

``env`` is the search's copy of the environment, which must not be changed. In a single-agent
environment ``seen`` is its last observation, and a number is returned; in PettingZoo it is a
mapping of the agents' observations, and a mapping of numbers by agent is returned, or one number
for all. The numbers are sums of rewards, discounted like those of the search."""

AUTO = "auto"
"""The horizon that an adapter chooses."""


class Plan(NamedTuple):
    """What a search looks at: so many steps, each counted less than the one before."""

    steps: float = math.inf
    """Steps of the environment until a simulation is cut off; ``inf`` for the end."""
    discount: float = 1.0
    """What a reward counts less with every step of the environment."""
    value_function: ValueFunction | None = None
    """Estimates what is still to come where a simulation is cut off; None for nothing."""

    @property
    def is_whole_game(self) -> bool:
        """Whether simulations play to the end, and all rewards count alike."""
        return math.isinf(self.steps) and self.discount == 1.0


def checked_plan(
    horizon: int | str | None,
    discount: float,
    value_function: ValueFunction | None,
    *,
    default: float,
) -> Plan:
    """Return a plan from the arguments of an agent or a state.

    Args:
        horizon: steps that simulations look ahead, at least 1; None for the end of the episode;
            ``"auto"`` for the default.
        discount: above 0 and at most 1.
        value_function: see ``ValueFunction``; None for none.
        default: the default horizon.

    Raises:
        TypeError, ValueError: for a value that is not allowed.
    """
    if isinstance(discount, bool) or not isinstance(discount, int | float | np.floating):
        raise TypeError(f"discount must be a number, got {discount!r}.")
    if not 0 < discount <= 1:
        raise ValueError(f"discount must be above 0 and at most 1, got {discount!r}.")
    if value_function is not None and not callable(value_function):
        raise TypeError(
            "value_function must be a function of the environment and the observations, or None, "
            f"got {value_function!r}."
        )
    return Plan(_checked_horizon(horizon, default), float(discount), value_function)


def _checked_horizon(horizon: int | str | None, default: float) -> float:
    if horizon is None:
        return math.inf
    if isinstance(horizon, str) and horizon == AUTO:
        return default
    if isinstance(horizon, bool) or not isinstance(horizon, int | np.integer):
        raise TypeError(f"horizon must be an integer, 'auto' or None, got {horizon!r}.")
    if horizon < 1:
        raise ValueError(f"horizon must be at least 1, got {horizon!r}.")
    return float(horizon)


class Account:
    """The rewards of all players since a search's root, counted as a plan says.

    Args:
        plan: how far to look ahead.
        players: the number of players.
    """

    __slots__ = ("_steps", "_weight", "plan", "returns")

    def __init__(self, plan: Plan, players: int) -> None:
        self.plan = plan
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

    @property
    def steps(self) -> int:
        """The number of steps since the root."""
        return self._steps

    @property
    def weight(self) -> float:
        """What a reward of the next step counts."""
        return self._weight

    def add(self, player: int, reward: Any) -> None:
        """Add a player's reward of the step that has just been taken."""
        try:
            amount = float(reward)
        except TypeError:  # An array of one number.
            amount = float(np.asarray(reward).item())
        self.returns[player] += self._weight * amount

    def end_step(self) -> bool:
        """End a step, after all of its rewards; returns whether the horizon is reached."""
        self._steps += 1
        self._weight *= self.plan.discount
        return self._steps >= self.plan.steps

    def cut_off(self, env: Any, seen: Any, players: Sequence[Any]) -> None:
        """Add what the value function says is still to come.

        Args:
            env: the environment where the simulation is cut off.
            seen: what the value function gets beside it.
            players: the names of the players, by seat.

        Raises:
            ValueError: if the value function's answer lacks a player.
        """
        if self.plan.value_function is None:
            return
        said = self.plan.value_function(env, seen)
        for seat, player in enumerate(players):
            if isinstance(said, Mapping) and player not in said:
                raise ValueError(f"value_function returned {said!r}, without {player!r}.")
            self.add(seat, said[player] if isinstance(said, Mapping) else said)
