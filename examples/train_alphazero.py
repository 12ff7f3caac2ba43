"""Train a small network on Connect Four from nothing, by self-play with search, as AlphaZero does.

    python examples/train_alphazero.py [--minutes 20 | --games 1500] [--picture curve.png]

It needs torch; one processor is enough. After each of the rounds the network is written to a file,
and plays with search against the search with random playouts, ``uct``, and ``mcts``; the
curve of its scores is a picture. At the end it plays longer matches against both, who have twice
its simulations, and against its own policy without search.

The same from the command line: ``rave-agents train connect_four --output alphazero.npz``.
"""

import argparse

from rave_agents import as_evaluator
from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena.match import play_match
from rave_agents.learning.to_file import train_to_file


def main() -> None:
    """Train for some minutes, and show how well it plays."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--network", help="such as ./nets.py:Net; by default a small one")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=20.0)
    length.add_argument("--games", type=int, help="of self-play, in place of minutes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--simulations", type=int, default=50, help="of each move")
    parser.add_argument("--matches", type=int, default=100, help="games of each last match")
    parser.add_argument(
        "--opponents",
        nargs="*",
        default=["uct(simulations=100)", "mcts(simulations=100)"],
        help="of these matches, beside the network without search",
    )
    parser.add_argument("--output", default="alphazero.npz")
    parser.add_argument("--picture", default="alphazero.png")
    options = parser.parse_args()
    result = train_to_file(
        options.game,
        options.output,
        options.network,
        minutes=None if options.games else options.minutes,
        games=options.games,
        rounds=options.rounds,
        simulations=options.simulations,
        checks=min(20, options.matches),
        seed=1,
    )
    print(result)
    result.plot().savefig(options.picture)
    network = {"rule": "scheduled_puct", "evaluator": as_evaluator(result.output)}
    searching = AgentSpec("puct", {**network, "simulations": options.simulations})
    alone = AgentSpec("puct", {**network, "simulations": 2})
    for opponent in (*options.opponents, alone):
        score = play_match(options.game, searching, opponent, games=options.matches, seed=1).score
        low, high = score.interval
        name = "the same network's policy" if opponent is alone else opponent
        print(f"with search against {name}: {score.score:.2f} ({low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
