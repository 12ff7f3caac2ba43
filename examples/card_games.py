"""Search agents against random play in PettingZoo's card games, in worlds of the hidden cards.

Prints the agents' mean return in episodes against a random player, seats exchanged, with its 95 %
confidence interval over pairs of episodes with the same deal, and the opponent's; in Hanabi, where
all score together, also their score in self-play::

    python examples/card_games.py [share of the episodes, 1 unless given] [game ...]
"""

import importlib
import statistics
import sys

from rave_pettingzoo import evaluate

GAMES = {
    "leduc_holdem_v4": (100, 200),
    "texas_holdem_v4": (60, 100),
    "texas_holdem_no_limit_v6": (60, 100),
    "gin_rummy_v4": (8, 10),  # In PettingZoo up to 1.26.
    "hanabi_v5": (6, 100),
}
"""Episodes and simulations a move."""

AGENTS = ("uct", "rave", "auto")


def mean_return(game, seats, episodes):
    """Return the first policy's mean return, half the width of its interval, the other's mean."""
    module = importlib.import_module(f"pettingzoo.classic.{game}")
    policies = dict(zip(("player_0", "player_1"), seats, strict=True))
    played = evaluate(module.env, policies, episodes=episodes, progress=False)
    returns = played["player_0"].returns
    pairs = [statistics.fmean(pair) for pair in zip(returns[::2], returns[1::2], strict=True)]
    half = 1.96 * statistics.stdev(pairs) / len(pairs) ** 0.5
    return statistics.fmean(pairs), half, played["player_1"].mean_return


def main():
    """Print the table."""
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print("| game | agent | opponent | episodes | mean return | opponent's |")
    print("|---|---|---|---|---|---|")
    for game in sys.argv[2:] or GAMES:
        episodes, simulations = GAMES[game]
        episodes = max(4, 2 * round(share * episodes / 2))
        for name in AGENTS:
            agent = f"{name}(simulations={simulations})"
            others = ["random", agent] if game == "hanabi_v5" else ["random"]
            for other in others:
                mean, half, others_mean = mean_return(game, (agent, other), episodes)
                opponent = "random" if other == "random" else "itself"
                row = f"| {game} | `{agent}` | {opponent} | {episodes} | {mean:.2f} ± {half:.2f} |"
                print(f"{row} {others_mean:.2f} |", flush=True)


if __name__ == "__main__":
    main()
