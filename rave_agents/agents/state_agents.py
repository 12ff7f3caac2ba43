"""Agents of game states: one that searches, and one that plays at random."""

import copy
import time
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from rave_agents.agents.amaf_fit import warn_of_misfit
from rave_agents.agents.searching_agent import SEARCH_PARAMETERS, SearchingAgent
from rave_agents.config.limit import DEFAULT_SIMULATIONS
from rave_agents.config.search_config import SearchConfig
from rave_agents.frameworks.adapters import Game, GameAbilities, as_game_state
from rave_agents.frameworks.agent import Agent, AgentType, Effort
from rave_agents.game.game_state import GameState, is_simultaneous, legal_actions_of
from rave_agents.game.validation import Seed, checked
from rave_agents.searcher.searcher import Progress, Searcher


class StateAgent(SearchingAgent):
    """Searches GameStates; it is what specs such as ``rave`` make.

    Args:
        player: the seat, from 0; needed where players move at the same time.
        **parameters: see ``SearchingAgent``.
    """

    own_parameters: ClassVar[tuple[str, ...]] = ("player",)

    def __init__(self, player: int | None = None, **parameters: Any) -> None:
        self.player = player
        """The seat; None if not given."""
        self.effort: Effort = Effort()
        self.progress: Progress | None = None
        """Called about ten times a second with the result so far; None for nobody."""
        super().__init__(**parameters)

    @property
    def searcher(self) -> Searcher:
        """The searcher."""
        return self._searcher

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def restart(self) -> None:
        """Start a new game: forget the tree and reset the clock."""
        self._forget_game()

    def begin_anew(self, seed: int, player: int | None) -> None:
        """Become as if just made with this seed and seat: only the memory of the tree is kept."""
        self.restart()
        # Past ``__setattr__``, which refuses to set a seed.
        vars(self).update(seed=seed, player=player, effort=Effort())
        self._searcher.begin_anew(seed)

    def step(self, state: GameState) -> int:
        """Search and return the chosen action."""
        state = as_game_state(state)
        searcher = self._searcher
        # Where one player moves, the state names the mover, who may sit in another seat.
        action = searcher.choose(
            state,
            self.limit,
            player=self.player if is_simultaneous(state) else None,
            clock=self.clock,
            progress=self.progress,
        )
        # Past ``__setattr__``: its checks of users' assignments take time at each move.
        vars(self)["effort"] = self.effort.plus(searcher.simulations, searcher.seconds)
        return action

    def action_probabilities(self, state: GameState) -> dict[int, float]:
        """Search, and return the probabilities from which ``step`` draws the action it plays."""
        self.step(state)
        found = self.last_result
        assert found is not None
        return dict(found.policy)

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Keep the subtree of the action."""
        if self.config.reuse_tree:
            self._searcher.advance(action, state=state)

    def inform_actions(self, state: GameState, actions: Sequence[int]) -> None:
        """Keep the subtree of the joint action."""
        if self.config.reuse_tree:
            self._searcher.advance(actions, state=state)


class RandomAgent:
    """Plays a legal action uniformly at random.

    Args:
        player: the seat, from 0; needed where players move at the same time.
        seed: seeds every random choice; None for a seed that the system draws.
    """

    def __init__(self, player: int | None = None, *, seed: int | None = None) -> None:
        self._player = 0 if player is None else player
        self._random = np.random.default_rng(checked("seed", Seed, seed))
        self.effort: Effort = Effort()

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def restart(self) -> None:
        """Start a new game; nothing to forget."""

    def step(self, state: GameState) -> int:
        """Return a random legal action."""
        started = time.perf_counter()
        legal = legal_actions_of(state, self._player)
        # ``choice`` would take twice as long.
        action = int(legal[int(self._random.integers(len(legal)))])
        self.effort = self.effort.plus(0, time.perf_counter() - started)
        return action

    def action_probabilities(self, state: GameState) -> dict[int, float]:
        """Return the same probability for every legal action."""
        legal = legal_actions_of(state, self._player)
        return {int(action): 1.0 / len(legal) for action in legal}

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Do nothing: a random agent remembers nothing."""


def search_agent_type(preset: str, summary: str) -> AgentType:
    """The kind of agent that searches with a preset."""
    config = SearchConfig.preset(preset)
    kind = type("StateAgent", (StateAgent,), {}, preset=preset)

    def make(game: Game, player: int, **parameters: Any) -> Agent:
        agent: StateAgent = kind(player, **parameters)
        GameAbilities(game).check_search(agent.config)
        warn_of_misfit(agent.config, game.name, game.new_initial_state)
        return agent

    of_agents = {**dict.fromkeys(SEARCH_PARAMETERS), "simulations": DEFAULT_SIMULATIONS}
    return AgentType(summary, {**of_agents, **config.to_dict()}, make, config)
