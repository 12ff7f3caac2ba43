"""Contestants of the arena: agents by their specs, and agents of the user's own.

An agent of one's own is

- a factory ``make(game, player)`` of an agent, a class too, which may take ``seed`` as well;
- an agent: an object with ``step(state)``, and ``restart``, ``inform_action`` and ``close`` where
  it has them (see ``rave_agents.frameworks.agent.Agent``); each game gets a copy of its own, and
  one that has a method ``seed`` is told the game's;
- a policy: a function of the state that returns an action.
"""

import copy
import dataclasses
import enum
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, agent_type, make_agent
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent, Effort
from rave_agents.game.game_state import GameState
from rave_agents.game.object_names import find_object, parse_object_name, split_place


class Kind(enum.StrEnum):
    """Kinds of agents of the user's own."""

    FACTORY = "factory"
    OBJECT = "object"
    POLICY = "policy"


@dataclasses.dataclass(frozen=True)
class OwnAgent:
    """An agent of the user's own, under the name that it has in tables."""

    name: str
    value: Any
    kind: Kind

    def __str__(self) -> str:
        return self.name


Contestant = AgentSpec | OwnAgent
"""A player in the arena; ``str()`` gives the name in tables and journals."""


def contestant(agent: Any, name: str | None = None) -> Contestant:
    """Coerce an agent of any kind to a contestant.

    Args:
        agent: a spec, or an agent of the user's own, see this module, also by ``module:name`` or
            ``path/to/file.py:name``.
        name: of an agent of one's own; None for that of its function or class.

    Raises:
        TypeError: if it is none of these.
        ValueError: for a spec that is not of the form.
    """
    if isinstance(agent, AgentSpec | OwnAgent):
        return agent
    if isinstance(agent, str) and split_place(agent) is not None:
        found = find_object(parse_object_name(agent, "my_module:make_agent"))
        return contestant(found, name or agent)
    if isinstance(agent, str):
        return AgentSpec.parse(agent)
    named = name or str(getattr(agent, "__name__", type(agent).__name__))
    if not isinstance(agent, type) and callable(getattr(agent, "step", None)):
        return OwnAgent(named, agent, Kind.OBJECT)
    if callable(agent):
        return OwnAgent(named, agent, _kind_of_function(agent))
    raise TypeError(
        "An agent must be a spec such as 'rave(simulations=200)', a function make(game, player) or "
        f"policy(state), or an object with step(state); got {agent!r}."
    )


def _kind_of_function(function: Callable[..., Any]) -> Kind:
    if isinstance(function, type):
        return Kind.FACTORY
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return Kind.POLICY
    required = [
        parameter
        for parameter in parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return Kind.FACTORY if len(required) >= 2 or "player" in parameters else Kind.POLICY


def make_contestant(who: Contestant, game: Game, player: int, seed: int) -> Agent:
    """The agent for one game.

    Args:
        who: the contestant.
        game: the game.
        player: the seat, from 0.
        seed: for whatever it draws, where it takes one.

    Raises:
        UnknownNameError: for an agent or a parameter that does not exist.
        TypeError, ValueError: for a value that is not allowed.
        Exception: whatever a factory of the user's own raises.
    """
    if isinstance(who, AgentSpec):
        return make_agent(who.with_defaults({"seed": seed}), game, player)
    if who.kind is Kind.POLICY:
        return _Own(_Policy(who.value))
    if who.kind is Kind.OBJECT:
        agent = copy.deepcopy(who.value)
        if callable(getattr(agent, "seed", None)):
            agent.seed(seed)
    else:
        agent = who.value(game, player, **_seed_option(who.value, seed))
        if not callable(getattr(agent, "step", None)):
            raise TypeError(f"{who} must make an agent with step(state); it made {agent!r}.")
    return _Own(agent)


def _seed_option(factory: Callable[..., Any], seed: int) -> dict[str, int]:
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return {}
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return {"seed": seed} if "seed" in parameters or takes_all else {}


class _Policy:
    """A function of the state as an agent."""

    def __init__(self, function: Callable[[GameState], int]) -> None:
        self.step = function


class _Own:
    """An agent of the user's own with all methods, and with its time taken.

    What else the agent has, such as ``last_result`` or ``inform_actions``, is there as well.
    """

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self.effort: Effort = Effort()
        """Simulations and time spent, by the agent's own account where it has one."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._agent, name)

    def restart(self) -> None:
        """A new game begins."""
        getattr(self._agent, "restart", lambda: None)()

    def step(self, state: GameState) -> int:
        """The action that it plays."""
        started = time.perf_counter()
        action: int = self._agent.step(state)
        own = getattr(self._agent, "effort", None)
        timed = self.effort.plus(0, time.perf_counter() - started)
        self.effort = own if isinstance(own, Effort) else timed
        return action

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Tell it of an action, if it wants to know."""
        tell = getattr(self._agent, "inform_action", None)
        if tell is not None:
            tell(state, player, action)


def named_contestants(agents: Mapping[str, Any] | Sequence[Any]) -> dict[str, Contestant]:
    """Contestants by their names in tables.

    Args:
        agents: by name, or a list whose members have the names of their specs or functions.

    Raises:
        TypeError, ValueError: for what is no agent, and for two of one name.
    """
    if isinstance(agents, str) or not isinstance(agents, Mapping | Sequence):
        raise TypeError(f"agents must be a list or a dictionary by name, got {agents!r}.")
    if isinstance(agents, Mapping):
        return {str(name): contestant(agent, str(name)) for name, agent in agents.items()}
    found: dict[str, Contestant] = {}
    for agent in agents:
        who = contestant(agent)
        if str(who) in found:
            raise ValueError(f"Two agents are named {str(who)!r}: give names, {{name: agent}}.")
        found[str(who)] = who
    return found


def label(who: Contestant) -> str:
    """The agent's label in a journal: its spec, or the kind of the user's own agent."""
    return str(who) if isinstance(who, AgentSpec) else f"{OWN} {who.kind}"


OWN = "Python"
"""Mark of the user's own agents in a journal."""


def counts_simulations(who: Contestant) -> bool:
    """True for an agent by spec that takes a number of simulations."""
    return isinstance(who, AgentSpec) and "simulations" in agent_type(who.name).parameters
