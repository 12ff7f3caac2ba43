"""Agents by name: ``rave(simulations=500,schedule=hand_selected(k=300))``.

An agent's spec is a name and parameters in OpenSpiel's own grammar for games. This module has the
agents that search any GameState; adapters add those that only their framework has.
"""

import copy
import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from rave_agents.config.limit import Limit
from rave_agents.config.part_specs import plain
from rave_agents.config.search_config import SearchConfig
from rave_agents.config.specs import format_call, parse_call
from rave_agents.errors import UnknownNameError
from rave_agents.frameworks.adapters import Game, adapters
from rave_agents.frameworks.agent import Agent, AgentType, Effort
from rave_agents.game.arguments import checked_seed, unknown_name
from rave_agents.game.game_state import GameState, is_simultaneous, legal_actions_of
from rave_agents.gtp.client import GTP_AGENT_TYPE
from rave_agents.gtp.uci_client import UCI_AGENT_TYPE
from rave_agents.kernel.amaf import NoAmaf
from rave_agents.kernel.rules import UCB1
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.clock import Clock
from rave_agents.searcher.searcher import Searcher
from rave_agents.searcher.timed_search import search_on_clock

LIMITS = frozenset(["simulations", "seconds", "clock"])
"""Parameters that limit how long an agent thinks."""

_OF_AGENTS = ("simulations", "seconds", "clock", "seed")
"""Parameters of searching agents that are not of their search."""

DEFAULT_SIMULATIONS = 1000
"""Simulations a move for an agent that is given no limit."""


@dataclasses.dataclass(frozen=True)
class AgentSpec:
    """A parsed spec: the agent's name and its parameters."""

    name: str
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``name`` or ``name(key=value,...)``.

        Values are integers, numbers, ``True``, ``False``, ``None`` or else texts, such as the spec
        of a part; in double quotes if they hold commas or parentheses that do not match.

        Raises:
            ValueError: if the text is not of that form.
        """
        name, parameters = parse_call(text)
        return cls(name, parameters)

    def with_defaults(self, defaults: Mapping[str, Any]) -> Self:
        """The same spec with parameters that it does not give itself, where its agent takes them.

        A limit of its own, ``simulations``, ``seconds`` or ``clock``, keeps out the others too.
        """
        kind = agent_type(self.name)
        limited = bool(LIMITS & self.parameters.keys())
        added = {
            key: value
            for key, value in defaults.items()
            if kind.takes(key, self.parameters) and not (limited and key in LIMITS)
        }
        return dataclasses.replace(self, parameters={**added, **self.parameters})

    def __str__(self) -> str:
        return format_call(self.name, {key: plain(value) for key, value in self.parameters.items()})


def agent_types() -> dict[str, AgentType]:
    """All agents that have a name: this package's and those of the installed adapters."""
    types = dict(_TYPES)
    for adapter in adapters().values():
        types.update(adapter.agent_types())
    return types


def agent_type(name: str) -> AgentType:
    """The kind of agent of this name.

    Raises:
        UnknownNameError: if there is none; it offers the nearest names.
    """
    types = agent_types()
    if name not in types:
        raise UnknownNameError(unknown_name("agent", name, types))
    return types[name]


def make_agent(spec: str | AgentSpec, game: Game, player: int, **defaults: Any) -> Agent:
    """An agent from its spec.

    Args:
        spec: such as ``"rave(simulations=500)"``.
        game: the game that it is to play.
        player: the seat that it is to take, from 0.
        **defaults: parameters for what the spec leaves open, such as ``simulations`` or ``seed``.

    Raises:
        UnknownNameError: for an agent or a parameter that does not exist.
        TypeError, ValueError: for a value that is not allowed.
    """
    parsed = AgentSpec.parse(spec) if isinstance(spec, str) else spec
    kind = agent_type(parsed.name)
    parsed = parsed.with_defaults(defaults)
    kind.check_parameters(parsed.name, parsed.parameters)
    return kind.make(game, player, **parsed.parameters)


class SearchAgent:
    """Plays what a Searcher finds.

    Args:
        config: the search's tunables.
        limit: the budget of each move; with a clock, the simulations in addition to its time, or
            None for the clock alone.
        seed: decides everything random; None for one that the system draws.
        clock: decides the time of each move; None for the limit alone.
        player: the seat, from 0; needed where players move at the same time.
    """

    def __init__(
        self,
        config: SearchConfig,
        limit: Limit | None,
        *,
        player: int | None = None,
        seed: int | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.searcher: Searcher = Searcher(config, seed=seed)
        self.player = player
        """The seat; None if it was not told."""
        self.limit = limit
        self.clock = clock
        """Decides the time of each move; it may be set between moves."""
        self.effort: Effort = Effort()
        self.last_result: SearchResult | None = None

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def restart(self) -> None:
        """A new game begins."""
        self.searcher.reset()
        if self.clock is not None:
            self.clock.restart()

    def step(self, state: GameState) -> int:
        """The action that the search chooses."""
        player = self.player if is_simultaneous(state) else None
        if self.clock is None:
            limit = self.limit or make_limit(None, None)
            result = self.searcher.search(state, limit, player=player)
        else:
            simulations = None if self.limit is None else self.limit.simulations
            result = search_on_clock(
                self.searcher, state, self.clock, player=player, simulations=simulations
            )
        self.last_result = result
        self.effort = self.effort.plus(result.simulations, result.seconds)
        return result.action

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Keep the subtree of the action."""
        if self.searcher.config.reuse_tree:
            self.searcher.advance(action, state=state)

    def inform_actions(self, state: GameState, actions: Sequence[int]) -> None:
        """Keep the subtree of the actions that were played at the same time."""
        if self.searcher.config.reuse_tree:
            self.searcher.advance(actions, state=state)


class RandomAgent:
    """Plays a legal action uniformly at random.

    Args:
        player: the seat, from 0; needed where players move at the same time.
        seed: decides everything random; None for one that the system draws.
    """

    def __init__(self, player: int | None = None, *, seed: int | None = None) -> None:
        self._player = 0 if player is None else player
        self._random = np.random.default_rng(checked_seed(seed))
        self.effort: Effort = Effort()

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def restart(self) -> None:
        """A new game begins."""

    def step(self, state: GameState) -> int:
        """A random legal action."""
        started = time.perf_counter()
        action = int(self._random.choice(legal_actions_of(state, self._player)))
        self.effort = self.effort.plus(0, time.perf_counter() - started)
        return action

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Nothing to remember."""


def make_limit(simulations: int | None, seconds: float | None) -> Limit:
    """The limit of an agent's parameters: 1,000 simulations if neither is given."""
    if simulations is None and seconds is None:
        simulations = DEFAULT_SIMULATIONS
    return Limit(simulations=simulations, seconds=seconds)


def limit_and_clock(
    simulations: int | None, seconds: float | None, clock: Any
) -> tuple[Limit | None, Clock | None]:
    """The limit and the clock of an agent's parameters; one of them may be None.

    Raises:
        TypeError, ValueError: for a value that is not allowed, or both seconds and a clock.
    """
    if clock is None:
        return make_limit(simulations, seconds), None
    if seconds is not None:
        raise ValueError("Give seconds a move or a clock, not both.")
    limit = None if simulations is None else Limit(simulations=simulations)
    return limit, Clock.parse(clock)


def without_amaf(spec: str | AgentSpec) -> AgentSpec:
    """The same search without AMAF statistics: its like to compare RAVE with.

    Where the exploration constant is 0, which only AMAF makes sense of, it gets plain UCT's.

    Raises:
        UnknownNameError: for an agent that does not exist.
        ValueError: for one that has no AMAF statistics.
    """
    parsed = AgentSpec.parse(spec) if isinstance(spec, str) else spec
    preset = agent_type(parsed.name).config
    agents = {key: parsed.parameters[key] for key in _OF_AGENTS if key in parsed.parameters}
    changes = {key: value for key, value in parsed.parameters.items() if key not in agents}
    config = None if preset is None else preset.replace(**changes)
    if preset is None or config is None or isinstance(config.amaf, NoAmaf):
        raise ValueError(f"{parsed} has no AMAF statistics to do without.")
    rule = UCB1() if getattr(config.rule, "c", None) == 0.0 else config.rule
    plain_search = dataclasses.replace(config, amaf=NoAmaf(), rule=rule)
    return AgentSpec(parsed.name, {**agents, **plain_search.changes_from(preset)})


def _no_check(config: SearchConfig) -> None:
    """Games may refuse a search before it begins; this one does not."""


def _search_agent_type(preset: str, summary: str) -> AgentType:
    config = SearchConfig.preset(preset)

    def make(
        game: Game,
        player: int,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        seed: int | None = None,
        clock: str | float | None = None,
        **changes: Any,
    ) -> Agent:
        limit, parsed = limit_and_clock(simulations, seconds, clock)
        changed = config.replace(**changes)
        getattr(game, "check_search", _no_check)(changed)
        return SearchAgent(changed, limit, player=player, seed=seed, clock=parsed)

    limits = {"simulations": DEFAULT_SIMULATIONS, "seconds": None, "clock": None, "seed": None}
    return AgentType(summary, {**limits, **config.to_dict()}, make, config)


_TYPES = {
    "uct": _search_agent_type("uct", "plain UCT: Monte-Carlo tree search with UCB1"),
    "puct": _search_agent_type("puct", "Monte-Carlo tree search with PUCT"),
    "rave": _search_agent_type("rave", "UCT with rapid action value estimation (RAVE)"),
    "grave": _search_agent_type("grave", "RAVE with the values of a well-visited ancestor (GRAVE)"),
    "hrave": _search_agent_type("hrave", "RAVE with the root's values at every node (HRAVE)"),
    "rave_global": _search_agent_type(
        "rave_global", "RAVE with one table, blended with whole UCB values"
    ),
    "rave_weighted": _search_agent_type(
        "rave_weighted", "RAVE whose updates weigh less the later the move is played"
    ),
    "uct_solver": _search_agent_type("uct_solver", "UCT that backs up exact outcomes"),
    "pn_mcts": _search_agent_type("pn_mcts", "UCT with a solver and proof numbers"),
    "rave_pn": _search_agent_type("rave_pn", "RAVE with a solver and proof numbers"),
    "pn_mcts_fsu": _search_agent_type("pn_mcts_fsu", "PN-MCTS as published (F, S and U)"),
    "rave_winning_move": _search_agent_type(
        "rave_winning_move", "RAVE biased to moves that come early in won simulations"
    ),
    "rave_maximin": _search_agent_type(
        "rave_maximin", "simultaneous moves: RAVE for its own actions, the best worst case"
    ),
    "regret_matching": _search_agent_type(
        "regret_matching", "simultaneous moves: mixed strategies by regret matching"
    ),
    "exp3": _search_agent_type("exp3", "simultaneous moves: mixed strategies by Exp3"),
    "gtp": GTP_AGENT_TYPE,
    "uci": UCI_AGENT_TYPE,
    "random": AgentType(
        "a legal action uniformly at random",
        {"seed": None},
        lambda game, player, **parameters: RandomAgent(player, **parameters),
    ),
}
