"""A script with an OpenSpiel game of its own, which it plays in one process and in two.

Called as ``counting_game.py [WHAT]``. Take 1 to 3 from a heap; who takes the last one wins. With
WHAT "dies" a position ends the process that looks at it, unless that is the script's own; with
"locked" the game refers to what no other process can have.
"""

import contextlib
import os
import sys
import threading

import pyspiel

from rave_agents.arena import play_match

WHAT = sys.argv[1] if len(sys.argv) > 1 else ""
OWN = os.getpid()
LOCK = threading.Lock() if WHAT == "locked" else None

TYPE = pyspiel.GameType(
    short_name="my_counting_game",
    long_name="Counting",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification={"heap": 10},
)
INFO = pyspiel.GameInfo(
    num_distinct_actions=4,
    max_chance_outcomes=0,
    num_players=2,
    min_utility=-1.0,
    max_utility=1.0,
    utility_sum=0.0,
    max_game_length=20,
)


class CountingGame(pyspiel.Game):
    """The game."""

    def __init__(self, params=None):
        self.heap = (params or {}).get("heap", 10)
        super().__init__(TYPE, INFO, params or {})

    def new_initial_state(self):
        with LOCK or contextlib.nullcontext():
            return CountingState(self)


class CountingState(pyspiel.State):
    """A heap and who is to move."""

    def __init__(self, game):
        super().__init__(game)
        self.left = game.heap
        self.turn = 0

    def current_player(self):
        return pyspiel.PlayerId.TERMINAL if self.left <= 0 else self.turn

    def _legal_actions(self, player):
        return [taken for taken in (1, 2, 3) if taken <= self.left]

    def _apply_action(self, action):
        self.left -= action
        self.turn = 1 - self.turn
        if WHAT == "dies" and self.left == 0 and os.getpid() != OWN:
            os._exit(3)

    def _action_to_string(self, player, action):
        return str(action)

    def is_terminal(self):
        return self.left <= 0

    def returns(self):
        if self.left > 0:
            return [0.0, 0.0]
        return [-1.0, 1.0] if self.turn == 0 else [1.0, -1.0]

    def __str__(self):
        return str(self.left)


pyspiel.register_game(TYPE, CountingGame)

for name in ("my_counting_game(heap=7)", "misere(game=my_counting_game(heap=8))"):
    played = [
        play_match(name, "uct", "random", games=4, simulations=20, seed=3, jobs=jobs).records
        for jobs in (1, 2)
    ]
    assert [one.actions for one in played[0]] == [two.actions for two in played[1]]
    print(name)
