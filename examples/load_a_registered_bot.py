"""OpenSpiel: a bot of this package from OpenSpiel's own registry against its MCTSBot.

Without a C++ compiler, ``rave_openspiel.load_bot`` in place of ``pyspiel.load_bot`` does the same.
"""

import pyspiel
import rave_openspiel

rave_openspiel.register_bots()
game = pyspiel.load_game("hex(board_size=5)")
print("can play:", ", ".join(pyspiel.bots_that_can_play_game(game)))
rave = pyspiel.load_bot("rave", game, 0, {"simulations": 200, "seed": 1})
stock = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 1), 1.4, 200, 1000, True, 1, False)
state = game.new_initial_state()
returns = pyspiel.evaluate_bots(state, [rave, stock], 1)
print(state, "\nreturns:", returns)
