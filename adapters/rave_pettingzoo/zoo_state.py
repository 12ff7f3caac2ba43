"""Base class of the states of AEC and of Parallel environments."""

import inspect
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from gymnasium import spaces

from rave_agents.environments.chance import Chance, checked_chance
from rave_agents.environments.dice import Dice
from rave_agents.environments.environment_state import EnvironmentState
from rave_agents.environments.hidden_information import Secrets
from rave_agents.environments.plan import Plan, ValueFunction, checked_plan
from rave_agents.environments.worlds import WorldFunction
from rave_agents.errors import GameError
from rave_pettingzoo.cloning import chance_knowledge, simulation_cloner
from rave_pettingzoo.support import (
    always_ends,
    env_name,
    hidden_information,
    is_declared,
    no_worlds,
    say_what_is_assumed,
)

_SHOWN = frozenset({"render_mode", "screen_height", "screen_width", "screen_scaling"})
"""Arguments of environments that change what is shown, and nothing else."""


def secrets_of(
    env: Any,
    worlds: WorldFunction | None,
    chance: Chance | str,
    masks: Mapping[Any, Any] | None = None,
) -> Secrets:
    """Return what agents of an environment cannot know, after the detection of chance.

    Args:
        env: the environment, after ``reset``; it is not changed.
        worlds: as for ``AECState``.
        chance: likewise.
        masks: as for ``ZooPlayer``.

    Raises:
        ValueError: for an unknown ``chance``.
    """
    return Secrets(
        hidden=hidden_information(env),
        is_declared=is_declared(env),
        knowledge=chance_knowledge(env, masks),
        chance=checked_chance(chance),
        worlds=worlds,
    )


class Seats(dict[Any, int]):
    """The seats of an environment's agents.

    Args:
        name: the environment's name, for messages.
        agents: the possible agents.
    """

    def __init__(self, name: str, agents: Sequence[Any]) -> None:
        super().__init__({agent: seat for seat, agent in enumerate(agents)})
        self._name = name

    def __missing__(self, agent: Any) -> int:
        raise GameError(
            f"{self._name} names the agent {agent!r}, who is not in its possible_agents, "
            f"{list(self)}."
        )


DEFAULT_HORIZON = 1000
"""Steps that simulations look ahead by default in environments that may never end."""


def plan_for(
    env: Any, horizon: int | str | None, discount: float, evaluator: ValueFunction | None
) -> Plan:
    """Return how far simulations in an environment look ahead.

    Args:
        env: the environment.
        horizon: ``"auto"`` is the end in the classic environments and in Shimmy's, which always
            end, else ``DEFAULT_HORIZON``.
        discount: as for ``AECState``.
        evaluator: likewise.

    Raises:
        TypeError, ValueError: for a value that is not allowed.
    """
    default = math.inf if always_ends(env) else DEFAULT_HORIZON
    return checked_plan(horizon, discount, evaluator, default=default)


def _made_with(raw: Any) -> str:
    """The arguments that an environment was made with, where it keeps them for its pickles."""
    values = getattr(raw, "_ezpickle_args", ()), getattr(raw, "_ezpickle_kwargs", {})
    try:
        given = inspect.signature(type(raw)).bind(*values[0], **values[1])
    except TypeError:
        return repr(values)
    given.apply_defaults()
    return repr({name: told for name, told in given.arguments.items() if name not in _SHOWN})


class ZooState(EnvironmentState):
    """A position of an AEC or of a Parallel environment."""

    __slots__ = ()

    @property
    def _name(self) -> str:
        return env_name(self.env)

    def _no_worlds(self) -> str:
        return no_worlds(self.env, self.what_is_hidden)

    def _common_objects(self, env: Any) -> tuple[type, ...]:
        return (spaces.Space,) if self._secrets.knowledge.certain else ()

    def _simulation_cloner(self, env: Any, seed: int) -> Callable[[Any], Any]:
        return simulation_cloner(env, seed)

    def _begun(self, entropy: Sequence[int]) -> tuple[Any, Dice]:
        secrets = self._secrets
        if not secrets.is_open and secrets.worlds is None and secrets.what_is_hidden is None:
            say_what_is_assumed(self.env)
        return super()._begun(entropy)

    def view(self, player: int) -> Hashable:
        """Return what the agent of a seat sees: its observation, and its mask if it is to move.

        If only chance is unknown, it sees everything: all agents' observations, their returns and
        the last action; or the last action alone, if no outcome repeats.
        """
        if self.hides_information() or not self._secrets.draws:
            return self._seen_by(player)
        if not self.chance.alike:
            return self._last
        return self._last, tuple(self._account.returns), self._seen_by_all()

    def _seen_by(self, player: int) -> Hashable:
        raise NotImplementedError

    def _seen_by_all(self) -> Hashable:
        raise NotImplementedError

    def game_key(self) -> Hashable:
        """Return the environment's class, its name and how it was made, as far as it tells."""
        raw = self.env.unwrapped
        return type(raw), str(self.env), _made_with(raw)

    def num_players(self) -> int:
        """Return the largest number of agents that the environment can have."""
        return len(self._rules.agents)
