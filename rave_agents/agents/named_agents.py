"""Named agents and their specs: ``rave(simulations=500,schedule=hand_selected(k=300))``.

A spec is a name with parameters, in OpenSpiel's grammar for games. This module names the agents
that search any GameState; adapters add the agents that exist in their framework only.
"""

import dataclasses
import functools
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from rave_agents.agents.own_agents import (
    Maker,
    Player,
    Policy,
    own_agent,
    remaker,
    settable_parameters,
    with_parameters,
)
from rave_agents.agents.searching_agent import SEARCH_PARAMETERS
from rave_agents.agents.state_agents import RandomAgent, search_agent_type
from rave_agents.agents.views import Observe, framework_game
from rave_agents.config.part_specs import plain
from rave_agents.config.presets import SUMMARIES
from rave_agents.config.specs import format_call, parse_call, split_call
from rave_agents.engines.client.gtp import GTP_AGENT_TYPE
from rave_agents.engines.client.uci import UCI_AGENT_TYPE
from rave_agents.errors import UnknownNameError
from rave_agents.frameworks.adapters import Game, adapters
from rave_agents.frameworks.agent import Agent, AgentType
from rave_agents.frameworks.own_games import as_game
from rave_agents.frameworks.sources import Source, find_source
from rave_agents.game.arguments import unknown_name
from rave_agents.game.object_names import split_place
from rave_agents.game.validation import Seed, checked
from rave_agents.kernel.amaf.views import NoAmaf
from rave_agents.kernel.declarations import keeps_amaf
from rave_agents.kernel.rules import UCB1

LIMITS = frozenset(["simulations", "seconds", "clock", "level", "nodes", "depth"])
"""Parameters that limit an agent's thinking; ``nodes`` and ``depth`` are those of UCI programs."""

DEFAULT_AGENT = "auto"
"""The agent for an unknown game."""


@dataclasses.dataclass(frozen=True)
class AgentSpec:
    """An agent that can be made for any seat of a game: a name with parameters.

    It may also be a user's agent, see ``as_agent``. ``str()`` gives the name in tables.
    """

    name: str
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)
    source: Source | None = None
    """The origin of a user's agent; None for a named agent."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``name`` or ``name(key=value,...)``.

        A value is an integer, a number, ``True``, ``False``, ``None`` or else a text, such as the
        spec of a part. A text with commas or unbalanced parentheses needs double quotes.

        Raises:
            ValueError: if the text does not have that form.
        """
        name, parameters = parse_call(text)
        return cls(name, parameters)

    @functools.cached_property
    def own(self) -> Policy | Maker | None:
        """The user's agent; None for a named agent."""
        if self.source is None:
            return None
        return with_parameters(own_agent(self.source.value), self.parameters)

    @property
    def is_named(self) -> bool:
        """True for a named agent; False for a user's."""
        return self.source is None

    @property
    def shape(self) -> str:
        """The shape of a user's agent: ``factory``, ``policy`` or ``object``."""
        if isinstance(self.own, Maker):
            return "factory"
        return "object" if self.own is None or self.own.function is None else "policy"

    @property
    def kind(self) -> AgentType:
        """The kind of a named agent.

        Raises:
            UnknownNameError: if there is none of this name, or it is the user's own.
        """
        return agent_type(self.name)

    def with_defaults(self, defaults: Mapping[str, Any]) -> Self:
        """Return the spec with defaults for the parameters that it leaves open and its agent takes.

        A spec with a limit (``simulations``, ``seconds`` or ``clock``) gets no other one; a user's
        agent gets no defaults.
        """
        if self.source is not None:
            return self
        # Limits exclude each other: a default number of simulations must not cut a clock short.
        limited = bool(LIMITS & self.parameters.keys())
        added = {
            key: value
            for key, value in defaults.items()
            if self.takes(key) and not (limited and key in LIMITS)
        }
        return dataclasses.replace(self, parameters={**added, **self.parameters})

    def takes(self, name: str) -> bool:
        """True if the agent has a parameter of this name."""
        if self.own is not None:
            return name in (settable_parameters(self.own) or ())
        return self.kind.takes(name, self.parameters)

    def check(self) -> None:
        """Refuse parameters that the agent does not take, and a lack of those that it needs.

        Raises:
            UnknownNameError: for the first unknown parameter.
            TypeError: for a parameter that is missing.
        """
        if self.source is None:
            self.kind.check_parameters(self.name, self.parameters)
        elif isinstance(self.own, Maker):
            self.own.check(self.parameters)

    def with_parameters(self, changes: Mapping[str, Any]) -> Self:
        """Return the spec with other values of some parameters.

        Raises:
            UnknownNameError: for a parameter that a user's agent does not take.
        """
        parameters = {**self.parameters, **changes}
        name = self.name
        if self.source is not None:
            with_parameters(own_agent(self.source.value), parameters)
            name = format_call(name.partition("(")[0], parameters)
        return dataclasses.replace(self, name=name, parameters=parameters)

    def policy(self, game: Any, player: Any, seed: int, *, copies: bool = True) -> Policy:
        """Make a user's agent for a seat.

        Args:
            game: the game in its framework's own form, or the environment.
            player: the seat.
            seed: seeds the agent's random choices.
            copies: whether an agent that is bound to an environment is copied, too.

        Raises:
            TypeError: if a class or a function makes no agent.
            Exception: any exception of the class or the function.
        """
        own = self.own
        assert own is not None
        if isinstance(own, Maker):
            return own.made(self.parameters, game, player, seed)
        return own if own.is_bound and not copies else own.fresh(seed, player)

    def make(
        self, game: Game, player: int, seed: int | None = None, observe: Observe | None = None
    ) -> Agent:
        """Make the agent for a game's seat.

        Args:
            game: the game.
            player: the seat, from 0.
            seed: seeds a user's agent; None for a seed that the system draws.
            observe: the observation of a state by a seat where an environment shows the game; None
                for the game's own.

        Raises:
            UnknownNameError, UnsupportedGameError, TypeError, ValueError: see ``make_agent``.
        """
        self.check()
        if self.source is None:
            return self.kind.make(game, player, **self.parameters)
        drawn = int(np.random.SeedSequence(seed).generate_state(1)[0]) if seed is None else seed
        policy = self.policy(framework_game(game), player, drawn, copies=observe is None)
        return Player(policy, player, observe)

    def __str__(self) -> str:
        if self.source is not None:
            return self.name
        return format_call(self.name, {key: plain(value) for key, value in self.parameters.items()})

    def __reduce__(self) -> Any:
        maker = None
        if self.source is not None and self.source.place is None:
            # A framework's agent that cannot be pickled is made anew in the other process.
            maker = remaker(self.source.value)
        if maker is not None:
            return _remade, (self.name, self.parameters, maker)
        return type(self), (self.name, self.parameters, self.source)


def _remade(name: str, parameters: dict[str, Any], maker: Callable[[], Any]) -> AgentSpec:
    return AgentSpec(name, parameters, Source(maker()))


def agent_types() -> dict[str, AgentType]:
    """All named agents: this package's and those of the installed adapters."""
    return {**_TYPES, **_types_of_adapters()}


@functools.cache
def _types_of_adapters() -> dict[str, AgentType]:
    return {
        name: kind
        for adapter in adapters().values()
        for name, kind in adapter.agent_types().items()
    }


def agent_type(name: str) -> AgentType:
    """Return the kind of agent that has this name.

    Raises:
        UnknownNameError: if there is none; the message offers the nearest names.
    """
    # Adapters first: they may replace an agent of this package.
    kind = _types_of_adapters().get(name, _TYPES.get(name))
    if kind is None:
        raise UnknownNameError(unknown_name("agent", name, agent_types()))
    return kind


def as_agent(agent: Any, name: str | None = None) -> AgentSpec:
    """Make a spec of an agent that a user gives; ``make_agent`` makes the agent for a seat.

    Args:
        agent: one of three shapes: a spec, such as ``"rave(simulations=200)"``, or the place of an
            agent in a module or a file, ``"bots:Greedy"`` or ``"./bots.py:Greedy(depth=2)"``; an
            object with ``step(state)``, such as a ``pyspiel.Bot``, or a class of such objects; or a
            function ``policy(observation, action_mask)``. ``from_sb3``, ``from_torch``,
            ``from_policy``, ``from_step`` and ``from_maker`` make agents of other objects.
        name: the name of your agent in tables; None for that of its class or function.

    Raises:
        UnknownNameError: for a module, a file, a name or a parameter that does not exist.
        TypeError: if it has none of these shapes; the message lists them.
        ValueError: for a spec that cannot be parsed.
    """
    if isinstance(agent, AgentSpec):
        return agent
    if not isinstance(agent, str):
        spec = AgentSpec(name or _name_of(agent), {}, Source(agent))
    elif split_place(agent) is None:
        return _spec(agent)
    else:
        source = find_source(agent, "agent", "bots:Greedy")
        spec = AgentSpec(name or agent.strip(), dict(source.parameters), source)
    assert spec.own is not None  # Recognised, or refused, at the door.
    return spec


def _name_of(agent: Any) -> str:
    function = getattr(agent, "function", agent)
    named = isinstance(agent, type) or inspect.isroutine(function)
    return str(function.__name__ if named else type(getattr(agent, "agent", agent)).__name__)


def _spec(text: str) -> AgentSpec:
    """Parse a spec; if a text looks like a user's file or module, say how to write that."""
    word = text.partition("(")[0].strip()
    if word.endswith(".py"):
        advice = f"{word}:Name"
    elif os.path.isfile(word):
        raise UnknownNameError(
            f"{word!r} is no agent's name. Name an agent in a Python file that reads the model, "
            f"such as ./bots.py:model after model = from_sb3(MaskablePPO.load({word!r}))."
        )
    elif "." in word and word not in agent_types():
        advice = ":".join(word.rsplit(".", 1))
    else:
        split_call(text, "agent")
        return AgentSpec.parse(text)
    raise UnknownNameError(
        f"Unknown agent {word!r}. An agent of your own is written with a colon: {advice}."
    )


def make_agent(
    agent: Any = DEFAULT_AGENT,
    game: Any = None,
    player: int = 0,
    **defaults: Any,
) -> Agent:
    """Make an agent for a seat.

    Args:
        agent: a spec such as ``"rave(simulations=500)"``, by default ``"auto"``; or one of your
            own, see ``as_agent``.
        game: the game to play, which must be given, or its name; see ``as_game``.
        player: the agent's seat, from 0.
        **defaults: values for parameters that the spec leaves open, such as ``simulations`` or
            ``seed``; an agent of your own gets ``seed`` alone.

    Raises:
        UnknownNameError: for an agent, a parameter or a game that does not exist.
        UnsupportedGameError: if the agent cannot play the game.
        TypeError, ValueError: for a value that is not allowed.
    """
    if game is None:
        raise TypeError("make_agent needs game, the game to play.")
    spec = as_agent(agent)
    if spec.source is not None:
        seed = checked("seed", Seed, defaults.get("seed"))
        return spec.make(as_game(game), player, seed)
    spec.kind.check_parameters(spec.name, _of_no_agent(defaults))
    spec = spec.with_defaults(defaults)
    spec.check()  # Before the game is loaded.
    return spec.kind.make(as_game(game), player, **spec.parameters)


def _of_no_agent(defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults that no agent takes; a spec ignores those meant for other agents."""
    kinds = agent_types().values()
    return {
        name: value
        for name, value in defaults.items()
        if not any(kind.takes(name, {}) for kind in kinds)
    }


def without_amaf(spec: str | AgentSpec) -> AgentSpec:
    """Return the spec without AMAF statistics: a baseline to compare RAVE with.

    An exploration constant of 0, which makes sense with AMAF only, is replaced by that of plain
    UCT.

    Raises:
        UnknownNameError: for an agent that does not exist.
        ValueError: for an agent without AMAF statistics.
    """
    parsed = AgentSpec.parse(spec) if isinstance(spec, str) else spec
    preset = agent_type(parsed.name).config
    agents = {key: parsed.parameters[key] for key in SEARCH_PARAMETERS if key in parsed.parameters}
    changes = {key: value for key, value in parsed.parameters.items() if key not in agents}
    config = None if preset is None else preset.replace(**changes)
    if preset is None or config is None or not keeps_amaf(config.amaf):
        raise ValueError(f"{parsed} has no AMAF statistics to remove.")
    # RAVE's exploration constant is 0: without AMAF such a search would be greedy.
    rule = UCB1() if getattr(config.rule, "c", None) == 0.0 else config.rule
    plain_search = dataclasses.replace(config, amaf=NoAmaf(), rule=rule)
    return AgentSpec(parsed.name, {**agents, **plain_search.changes_from(preset)})


_TYPES = {
    **{name: search_agent_type(name, summary) for name, summary in SUMMARIES.items()},
    "gtp": GTP_AGENT_TYPE,
    "uci": UCI_AGENT_TYPE,
    "random": AgentType(
        "a legal action uniformly at random",
        {"seed": None},
        lambda game, player, **parameters: RandomAgent(player, **parameters),
    ),
}
