"""Named agents and their specs: ``rave(simulations=500,schedule=hand_selected(k=300))``.

A spec is a name with parameters, in OpenSpiel's grammar for games. This module names the agents
that search any GameState; adapters add the agents that exist in their framework only.
"""

import dataclasses
import os
from collections.abc import Mapping
from typing import Any, Self

from rave_agents.agents.own_agents import OwnAgent, own_agent
from rave_agents.agents.state_agents import AGENT_PARAMETERS, RandomAgent, search_agent_type
from rave_agents.config.part_specs import plain
from rave_agents.config.specs import format_call, parse_call, split_call
from rave_agents.engines.client.gtp import GTP_AGENT_TYPE
from rave_agents.engines.client.uci import UCI_AGENT_TYPE
from rave_agents.errors import UnknownNameError
from rave_agents.frameworks.adapters import adapters
from rave_agents.frameworks.agent import Agent, AgentType
from rave_agents.frameworks.own_games import as_game
from rave_agents.frameworks.sources import find_source
from rave_agents.game.arguments import checked_seed, unknown_name
from rave_agents.game.object_names import split_place
from rave_agents.kernel.amaf.views import NoAmaf
from rave_agents.kernel.declarations import keeps_amaf
from rave_agents.kernel.rules import UCB1

LIMITS = frozenset(["simulations", "seconds", "clock", "level", "nodes", "depth"])
"""Parameters that limit how long an agent thinks; the last two are those of other programs."""

DEFAULT_AGENT = "auto"
"""The agent for a game that nothing is known of."""


@dataclasses.dataclass(frozen=True)
class AgentSpec:
    """A parsed spec: the agent's name and its parameters."""

    name: str
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)

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

    def with_defaults(self, defaults: Mapping[str, Any]) -> Self:
        """Return the spec with defaults for the parameters that it leaves open and its agent takes.

        A spec with a limit of its own (``simulations``, ``seconds`` or ``clock``) gets no other
        limit.
        """
        kind = agent_type(self.name)
        limited = bool(LIMITS & self.parameters.keys())
        added = {
            key: value
            for key, value in defaults.items()
            if kind.takes(key, self.parameters) and not (limited and key in LIMITS)
        }
        return dataclasses.replace(self, parameters={**added, **self.parameters})

    def takes(self, name: str) -> bool:
        """True if the agent has a parameter of this name."""
        return agent_type(self.name).takes(name, self.parameters)

    def with_parameters(self, changes: Mapping[str, Any]) -> Self:
        """Return the spec with other values of some parameters."""
        return dataclasses.replace(self, parameters={**self.parameters, **changes})

    def __str__(self) -> str:
        return format_call(self.name, {key: plain(value) for key, value in self.parameters.items()})


def agent_types() -> dict[str, AgentType]:
    """All named agents: this package's and those of the installed adapters."""
    types = dict(_TYPES)
    for adapter in adapters().values():
        types.update(adapter.agent_types())
    return types


def agent_type(name: str) -> AgentType:
    """Return the kind of agent that has this name.

    Raises:
        UnknownNameError: if there is none; the message offers the nearest names.
    """
    types = agent_types()
    if name not in types:
        raise UnknownNameError(unknown_name("agent", name, types))
    return types[name]


TAKES = (
    "an agent must be a spec, such as 'rave(simulations=200)'; one of your own by module:Name or "
    "path/to/file.py:Name, such as 'bots:Greedy' or './bots.py:Greedy(depth=2)'; a class, a "
    "function make(game, player) or policy(state), or an object with step(state) or predict(...), "
    "such as a pyspiel.Bot or a model"
)
"""Everything that ``as_agent`` takes, for messages."""

AnyAgent = AgentSpec | OwnAgent
"""An agent that can be made for a seat; ``str()`` gives its name in tables."""


def as_agent(agent: Any, name: str | None = None) -> AnyAgent:
    """Make an agent of whatever a user has; ``make_agent`` makes it for a seat.

    Args:
        agent: a spec, such as ``"rave(simulations=200)"``; the name of an object in a module or a
            file, ``"bots:Greedy"`` or ``"./bots.py:Greedy"``, with parameters in parentheses where
            it is a class or a function; a class of agents or a function that makes one, which is
            given what it takes of ``game``, ``player`` and ``seed``; an object with ``step(state)``
            such as a ``pyspiel.Bot``, or a model of another library; or a function of what its
            parameters name, the framework's own ``state``, ``observation``, ``mask``, ... See
            ``rave_agents.agents.own_agents`` and ``policies``.
        name: of an agent of one's own in tables; None for that of its class or function.

    Raises:
        UnknownNameError: for a module, a file, a name or a parameter that does not exist.
        TypeError: if it is none of these; the message says what it lacks.
        ValueError: for a spec that is not of the form.
    """
    if isinstance(agent, AgentSpec | OwnAgent):
        return agent
    if isinstance(agent, str):
        if split_place(agent) is None:
            return _spec(agent)
        return own_agent(find_source(agent, "agent", "bots:Greedy"), name or agent.strip())
    if agent is None or isinstance(agent, bool | int | float | bytes | list | tuple | dict):
        raise TypeError(f"{TAKES[0].upper()}{TAKES[1:]}; got {agent!r}.")
    return own_agent(agent, name)


def _spec(text: str) -> AgentSpec:
    """Parse a spec; of a text that names something of the user's own, say how that is written."""
    word = text.partition("(")[0].strip()
    if word.endswith(".py"):
        advice = f"{word}:Name"
    elif os.path.isfile(word):
        raise UnknownNameError(
            f"{word!r} is no agent's name. A model's file is read by what you name in Python, such "
            f"as ./bots.py:model after model = MaskablePPO.load({word!r})."
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
    asked = as_agent(agent)
    if isinstance(asked, OwnAgent):
        return asked.make(as_game(game), player, checked_seed(defaults.get("seed")))
    kind = agent_type(asked.name)
    kind.check_parameters(asked.name, _of_no_agent(defaults))
    parsed = asked.with_defaults(defaults)
    kind.check_parameters(parsed.name, parsed.parameters)
    return kind.make(as_game(game), player, **parsed.parameters)


def _of_no_agent(defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Find the defaults that no agent takes; those that others take a spec leaves out."""
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
    agents = {key: parsed.parameters[key] for key in AGENT_PARAMETERS if key in parsed.parameters}
    changes = {key: value for key, value in parsed.parameters.items() if key not in agents}
    config = None if preset is None else preset.replace(**changes)
    if preset is None or config is None or not keeps_amaf(config.amaf):
        raise ValueError(f"{parsed} has no AMAF statistics to remove.")
    rule = UCB1() if getattr(config.rule, "c", None) == 0.0 else config.rule
    plain_search = dataclasses.replace(config, amaf=NoAmaf(), rule=rule)
    return AgentSpec(parsed.name, {**agents, **plain_search.changes_from(preset)})


_TYPES = {
    "uct": search_agent_type("uct", "plain UCT: Monte-Carlo tree search with UCB1"),
    "puct": search_agent_type("puct", "Monte-Carlo tree search with PUCT"),
    "gumbel": search_agent_type(
        "gumbel", "sequential halving with Gumbel noise (Gumbel AlphaZero), for an evaluator"
    ),
    "rave": search_agent_type("rave", "UCT with rapid action value estimation (RAVE)"),
    "grave": search_agent_type("grave", "RAVE with the values of a well-visited ancestor (GRAVE)"),
    "hrave": search_agent_type("hrave", "RAVE with the root's values at every node (HRAVE)"),
    "rave_global": search_agent_type(
        "rave_global", "RAVE with one table, blended with whole UCB values"
    ),
    "rave_weighted": search_agent_type(
        "rave_weighted", "RAVE whose updates weigh less the later the move is played"
    ),
    "uct_solver": search_agent_type("uct_solver", "UCT that backs up exact outcomes"),
    "best_first_minimax": search_agent_type(
        "best_first_minimax", "best-first minimax, by an evaluator's values"
    ),
    "pn_mcts": search_agent_type("pn_mcts", "UCT with a solver and proof numbers"),
    "rave_pn": search_agent_type("rave_pn", "RAVE with a solver and proof numbers"),
    "auto": search_agent_type(
        "auto", "for any game: AMAF, proofs and more, each as far as it fits"
    ),
    "pn_mcts_fsu": search_agent_type("pn_mcts_fsu", "PN-MCTS as published (F, S and U)"),
    "rave_winning_move": search_agent_type(
        "rave_winning_move", "RAVE biased to moves that come early in won simulations"
    ),
    "rave_maximin": search_agent_type(
        "rave_maximin", "simultaneous moves: RAVE for its own actions, the best worst case"
    ),
    "regret_matching": search_agent_type(
        "regret_matching", "simultaneous moves: mixed strategies by regret matching"
    ),
    "exp3": search_agent_type("exp3", "simultaneous moves: mixed strategies by Exp3"),
    "gtp": GTP_AGENT_TYPE,
    "uci": UCI_AGENT_TYPE,
    "random": AgentType(
        "a legal action uniformly at random",
        {"seed": None},
        lambda game, player, **parameters: RandomAgent(player, **parameters),
    ),
}
