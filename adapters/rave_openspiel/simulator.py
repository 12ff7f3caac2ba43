"""Simulations of OpenSpiel's states from Python, without the compiled bridge."""

import math
from collections.abc import Sequence
from typing import Any

import pyspiel

from rave_agents.game.utility_limits import UtilityLimits
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.python_playouts import Playout
from rave_agents.simulate.python_simulator import PythonSimulator
from rave_agents.simulate.simulator import Frame
from rave_agents.simulate.world_record import RecordedWorlds
from rave_openspiel.player_views import tensor_method, viewer
from rave_openspiel.playouts import RandomPlayouts, is_fast, random_bots
from rave_openspiel.worlds import WorldFunction, recorded_worlds


class OpenSpielSimulator(PythonSimulator):
    """Plays a ``pyspiel.State`` by its Python methods: for any game, and for evaluators."""

    def __init__(
        self,
        root: pyspiel.State,
        frame: Frame,
        *,
        num_distinct_actions: int,
        evaluator: Evaluator | None = None,
        observer: int | None = None,
        worlds: WorldFunction | None = None,
    ) -> None:
        self._worlds = worlds
        self._see = viewer(root.get_game())
        self._tensor = tensor_method(root.get_game())
        super().__init__(
            root,
            frame,
            num_distinct_actions=num_distinct_actions,
            evaluator=evaluator,
            observer=observer,
        )

    def world_source(self) -> RecordedWorlds:
        """Return the source of worlds, a function that draws a new one at each call."""
        return recorded_worlds(self.root, self.observer, self.words.unit, self._worlds)

    def view(self, state: Any, player: int) -> str:
        """Return what a player sees."""
        return self._see(state, player)

    def stated_limits(self, root: pyspiel.State) -> UtilityLimits:
        """Return the limits that OpenSpiel declares: players, utilities and their sum."""
        game = root.get_game()
        return UtilityLimits.of(game.num_players(), *utility_bounds(game), utility_sum(game))

    def child(self, state: Any, action: int) -> Any:
        """Return the position after an action."""
        return state.child(action)

    def observation(self, state: Any, player: int) -> Any:
        """Return a player's observation tensor, or else their information state tensor."""
        assert self._tensor is not None
        return getattr(state, self._tensor)(player)

    def collected(self, state: Any) -> tuple[Sequence[float], float]:
        """Return the rewards so far, in a game that gives rewards during play."""
        return rewards_so_far(state), 1.0  # OpenSpiel does not discount.


def rewards_so_far(state: pyspiel.State) -> Sequence[float]:
    """Each player's rewards so far, in a game that gives rewards during play; else 0."""
    if state.get_game().get_type().reward_model == pyspiel.GameType.RewardModel.REWARDS:
        return state.returns()  # type: ignore[no-any-return]
    return [0.0] * int(state.num_players())


def utility_bounds(game: pyspiel.Game) -> tuple[float, float]:
    """Return the game's least and greatest utility; infinite if rewards come during play."""
    if game.get_type().reward_model == pyspiel.GameType.RewardModel.REWARDS:
        return -math.inf, math.inf
    return float(game.min_utility()), float(game.max_utility())


def utility_sum(game: pyspiel.Game) -> float | None:
    """Return the sum of all players' utilities at every terminal state; None if it varies."""
    kinds = pyspiel.GameType.Utility
    if game.get_type().utility not in (kinds.ZERO_SUM, kinds.CONSTANT_SUM):
        return None
    return float(game.utility_sum())


class RolloutSimulator(OpenSpielSimulator):
    """Run playouts by ``RandomPlayouts``."""

    provider = "python with C++ playouts"

    def __init__(self, root: pyspiel.State, frame: Frame) -> None:
        super().__init__(root, frame, num_distinct_actions=root.num_distinct_actions())
        # Made once, with seeds of the search's stream, rather than for each playout.
        self._bots = random_bots(root.num_players(), lambda: self.words.below(2**31 - 1))
        self._playouts = RandomPlayouts(root.get_game())

    @staticmethod
    def can_play(root: pyspiel.State) -> bool:
        """True if C++ bots play the game fast, and to an end."""
        return type(root).__module__.partition(".")[0] == "pyspiel" and is_fast(root.get_game())

    def leaf(self, path: Sequence[int]) -> Any:
        """Return the position after a path of actions; moves are too fast to check the deadline."""
        state = self.root.clone()
        for action in path:
            state.apply_action(action)
        return state

    def playout(self, state: Any) -> Playout:
        """Play ``state`` itself to the end, uniformly at random."""
        seed = self.words.below(2**31 - 1) if self._playouts.has_chance else 0
        return self._playouts.play(state, self._bots, seed)
