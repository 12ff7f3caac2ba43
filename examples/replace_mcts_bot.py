"""OpenSpiel: a short match of RaveBot against the C++ MCTSBot at equal simulations.

python examples/replace_mcts_bot.py [GAME] [GAMES] [SIMULATIONS]
"""

import sys

import pyspiel
from rave_openspiel import RaveBot


def main(game_name: str = "hex(board_size=5)", games: int = 4, simulations: int = 100) -> None:
    """Play ``games`` games, the seats exchanged after each, and print the score."""
    game = pyspiel.load_game(game_name)
    wins = 0.0
    for number in range(games):
        evaluator = pyspiel.RandomRolloutEvaluator(1, number)
        stock = pyspiel.MCTSBot(game, evaluator, 1.4, simulations, 1000, True, number, False)
        rave = RaveBot(game, simulations=simulations, seed=number)
        seat = number % 2
        bots = [rave, stock] if seat == 0 else [stock, rave]
        returns = pyspiel.evaluate_bots(game.new_initial_state(), bots, number)
        wins += (returns[seat] > returns[1 - seat]) + 0.5 * (returns[0] == returns[1])
        print(f"game {number + 1}: RaveBot as player {seat}, returns {returns}")
    print(f"RaveBot scores {wins:g} of {games}")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:4]))
