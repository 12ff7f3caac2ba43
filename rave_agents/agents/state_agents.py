"""Agents of game states: one that searches, and one that plays at random."""

import copy
import time
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from rave_agents.agents.amaf_fit import warn_of_misfit
from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.evaluators.levels import NO_LEVEL
from rave_agents.frameworks.adapters import Game, GameAbilities, as_game_state
from rave_agents.frameworks.agent import Agent, AgentType, Effort
from rave_agents.game.arguments import checked_seed
from rave_agents.game.game_state import GameState, is_simultaneous, legal_actions_of
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.clock import Clock
from rave_agents.searcher.searcher import Progress, Searcher

AGENT_PARAMETERS = ("simulations", "seconds", "clock", "seed", "evaluator")
"""Parameters of a searching agent that are not fields of its ``SearchConfig``."""

DEFAULT_SIMULATIONS = 1000
"""Simulations a move for an agent without a limit."""


class SearchAgent:
    """Plays the action that a ``Searcher`` chooses.

    Args:
        config: the search's configuration.
        limit: the budget of each move. With a clock, its simulations limit a move too; None for the
            clock alone.
        seed: seeds every random choice; None for a seed that the system draws.
        clock: sets the time of each move; None for the limit alone.
        player: the seat, from 0; needed where players move at the same time.
        evaluator: evaluates positions, see ``as_evaluator``; None for playouts.
    """

    def __init__(
        self,
        config: SearchConfig,
        limit: Limit | None,
        *,
        player: int | None = None,
        seed: int | None = None,
        clock: Clock | None = None,
        evaluator: Any = None,
    ) -> None:
        self.searcher: Searcher = Searcher(config, seed=seed, evaluator=evaluator)
        self.player = player
        """The seat; None if not given."""
        self.limit = limit
        self.clock = clock
        """Sets the time of each move; it may be replaced between moves."""
        self.effort: Effort = Effort()
        self.progress: Progress | None = None
        """Called about ten times a second with the result so far; None for nobody."""

    @property
    def last_result(self) -> SearchResult | None:
        """The result of the last search, made when first asked for; None before the first."""
        return self.searcher.last_result

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def restart(self) -> None:
        """Start a new game: forget the tree and reset the clock."""
        self.searcher.reset()
        if self.clock is not None:
            self.clock.restart()

    def step(self, state: GameState) -> int:
        """Search and return the chosen action."""
        state = as_game_state(state)
        player = self.player if is_simultaneous(state) else None
        limit = self.limit
        if limit is None and self.clock is None:
            limit = make_limit(None, None)
        searcher = self.searcher
        action = searcher.choose(
            state, limit, player=player, clock=self.clock, progress=self.progress
        )
        self.effort = self.effort.plus(searcher.simulations, searcher.seconds)
        return action

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Keep the subtree of the action."""
        if self.searcher.config.reuse_tree:
            self.searcher.advance(action, state=state)

    def inform_actions(self, state: GameState, actions: Sequence[int]) -> None:
        """Keep the subtree of the joint action."""
        if self.searcher.config.reuse_tree:
            self.searcher.advance(actions, state=state)


class RandomAgent:
    """Plays a legal action uniformly at random.

    Args:
        player: the seat, from 0; needed where players move at the same time.
        seed: seeds every random choice; None for a seed that the system draws.
    """

    def __init__(self, player: int | None = None, *, seed: int | None = None) -> None:
        self._player = 0 if player is None else player
        self._random = np.random.default_rng(checked_seed(seed))
        self.effort: Effort = Effort()

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def restart(self) -> None:
        """Start a new game; nothing to forget."""

    def step(self, state: GameState) -> int:
        """Return a random legal action."""
        started = time.perf_counter()
        legal = legal_actions_of(state, self._player)
        action = int(
            legal[int(self._random.integers(len(legal)))]
        )  # ``choice`` takes as long again.
        self.effort = self.effort.plus(0, time.perf_counter() - started)
        return action

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Do nothing: a random agent remembers nothing."""


def make_limit(simulations: int | None, seconds: float | None) -> Limit:
    """The limit from an agent's parameters: 1,000 simulations if neither is given."""
    if simulations is None and seconds is None:
        simulations = DEFAULT_SIMULATIONS
    return Limit(simulations=simulations, seconds=seconds)


def limit_and_clock(
    simulations: int | None, seconds: float | None, clock: Any
) -> tuple[Limit | None, Clock | None]:
    """The limit and the clock from an agent's parameters; one of them may be None.

    Raises:
        TypeError, ValueError: for a value that is not allowed, or both seconds and a clock.
    """
    if clock is None:
        return make_limit(simulations, seconds), None
    if seconds is not None:
        raise ValueError("Give seconds a move or a clock, not both.")
    limit = None if simulations is None else Limit(simulations=simulations)
    return limit, Clock.parse(clock)


def check_level(config: SearchConfig, *limits: Any) -> None:
    """Refuse limits beside a level, which decides the simulations.

    Raises:
        ValueError: if there is a level, and one of the limits is given.
    """
    if config.level != NO_LEVEL and any(limit is not None for limit in limits):
        raise ValueError(
            f"level={config.level} decides the simulations of each move: give no simulations, "
            "seconds or clock beside it."
        )


def _no_check(config: SearchConfig) -> None:
    """Accept every search: the default for a game without ``check_search``."""


def search_agent_type(preset: str, summary: str) -> AgentType:
    """The kind of agent that searches with a preset."""
    config = SearchConfig.preset(preset)

    def make(
        game: Game,
        player: int,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        seed: int | None = None,
        clock: str | float | None = None,
        evaluator: Any = None,
        **changes: Any,
    ) -> Agent:
        limit, parsed = limit_and_clock(simulations, seconds, clock)
        changed = config.replace(**changes)
        check_level(changed, simulations, seconds, clock)
        changed.check_simulations(None if limit is None else limit.simulations)
        GameAbilities(game).check_search(changed)
        warn_of_misfit(changed, game.name, game.new_initial_state)
        return SearchAgent(
            changed,
            limit,
            player=player,
            seed=seed,
            clock=parsed,
            evaluator=evaluator,
        )

    of_agents = {**dict.fromkeys(AGENT_PARAMETERS), "simulations": DEFAULT_SIMULATIONS}
    return AgentType(summary, {**of_agents, **config.to_dict()}, make, config)
