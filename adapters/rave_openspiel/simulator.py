"""Simulations of OpenSpiel's states from Python, without a compiler."""

import array
from collections.abc import Sequence
from typing import Any

import pyspiel

from rave_agents.search.python_simulator import Playout, PythonSimulator
from rave_agents.search.simulator import Frame


class OpenSpielSimulator(PythonSimulator):
    """Plays a ``pyspiel.State`` by its Python methods: for any game, and for evaluators."""

    def checked_actions(self, state: Any, player: int, actions: Sequence[int]) -> Sequence[int]:
        """OpenSpiel's legal actions are as they should be."""
        return actions


class RolloutSimulator(OpenSpielSimulator):
    """Playouts in C++.

    ``pyspiel.evaluate_bots`` lets OpenSpiel's own uniformly random bots play a clone to its end,
    and the state's history then tells every move.
    """

    def __init__(self, root: pyspiel.State, frame: Frame) -> None:
        super().__init__(root, frame, num_distinct_actions=root.num_distinct_actions())
        self._bots = [
            pyspiel.make_uniform_random_bot(player, self.words.below(2**31 - 1))
            for player in range(root.num_players())
        ]
        game = root.get_game()
        game_type = game.get_type()
        self._chance = game_type.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC
        self._alternating = (
            game_type.short_name in ALTERNATING_GAMES
            and game.num_players() == 2
            and not self._chance
        )
        turns = array.array("i", [0, 1] * (game.max_game_length() // 2 + 2))
        self._turns = [memoryview(turns)[player:] for player in (0, 1)]

    @staticmethod
    def can_play(root: pyspiel.State) -> bool:
        """Whether the game is one of OpenSpiel's C++ games, which alone the C++ bots play fast."""
        return type(root).__module__.partition(".")[0] == "pyspiel"

    def leaf(self, path: list[int]) -> Any:
        """The position that a path of actions leads to; no move takes long enough to be timed."""
        state = self.root.clone()
        for action in path:
            state.apply_action(action)
        return state

    def playout(self, state: Any) -> Playout:
        """Play uniformly at random to the end, in ``state`` itself."""
        if self._alternating:
            turns = self._turns[state.current_player()]
            start = len(state.history())
            returns = pyspiel.evaluate_bots(state, self._bots, 0)
            actions = state.history()[start:]
            return turns[: len(actions)], actions, returns
        start = len(state.full_history())
        seed = self.words.below(2**31 - 1) if self._chance else 0
        returns = pyspiel.evaluate_bots(state, self._bots, seed)
        moves = [
            (player, move.action)
            for move in state.full_history()[start:]
            if (player := move.player) >= 0
        ]
        players = array.array("i", [player for player, _ in moves])
        return players, [action for _, action in moves], returns


ALTERNATING_GAMES = frozenset(
    [
        "antichess",
        "breakthrough",
        "chess",
        "clobber",
        "connect_four",
        "crazyhouse",
        "go",
        "gomoku",
        "havannah",
        "hex",
        "hive",
        "lines_of_action",
        "mnk",
        "nim",
        "othello",
        "oware",
        "pentago",
        "quoridor",
        "shogi",
        "tic_tac_toe",
        "twixt",
        "xiangqi",
        "y",
    ]
)
"""Games in which two players strictly take turns, so that a playout's actions alone tell who played
them: whoever cannot move passes. Some have parameters for more players or for chance; these are
told apart where the table is used."""
