"""Train a small network on Connect Four from nothing, by self-play with search, as AlphaZero does.

    python examples/train_alphazero.py [--minutes 20] [--picture curve.png]

It needs torch; one processor is enough. After each of the rounds the network is written to a file,
and plays with search against the search with random playouts, ``uct``, and ``mcts``; the
curve of its scores is a picture. At the end it plays, with search, against the network alone.

The same from the command line: ``rave-agents train connect_four --output alphazero.npz``.
"""

import argparse

from rave_agents import as_evaluator
from rave_agents.agents.named_agents import AgentSpec
from rave_agents.analysis.learning_run import train_to_file
from rave_agents.arena.match import play_match


def main() -> None:
    """Train for some minutes, and show how well it plays."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--network", help="such as ./nets.py:Net; by default a small one")
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--simulations", type=int, default=50, help="of each move")
    parser.add_argument("--matches", type=int, default=100, help="games of the last match")
    parser.add_argument("--output", default="alphazero.npz")
    parser.add_argument("--picture", default="alphazero.png")
    options = parser.parse_args()
    result = train_to_file(
        options.game,
        options.output,
        options.network,
        minutes=options.minutes,
        rounds=options.rounds,
        simulations=options.simulations,
        checks=min(20, options.matches),
        seed=1,
    )
    print(result)
    result.plot().savefig(options.picture)
    network = as_evaluator(result.output)
    searching, alone = (
        AgentSpec("puct", {"rule": "scheduled_puct", "evaluator": network, "simulations": number})
        for number in (options.simulations, 2)
    )
    score = play_match(options.game, searching, alone, games=options.matches, seed=1).score
    print(f"with search against the same network's policy: {score.score:.2f}")


if __name__ == "__main__":
    main()
