"""Simulations per second on NoGo beside OpenSpiel's C++ MCTSBot on Go, 9x9, one thread each.

Both searches are measured in turn from the empty board; the ratio is that of the medians. Run it by
hand with more seconds: ``python examples/nogo_speed.py 2.0 9``.
"""

import statistics
import sys

from rave_agents import make_agent
from rave_agents.frameworks.adapters import load_game

MEASURED = {
    "rave on nogo": ("nogo(board_size=9)", "rave"),
    "mcts on go": ("go(board_size=9)", "mcts"),
}
"""Measurements: a game and an agent each."""


def speed(game_name: str, agent_name: str, simulations: int) -> float:
    """Simulations per second of one search from the game's start."""
    game = load_game(game_name)
    agent = make_agent(agent_name, game, 0, simulations=simulations, seed=1)
    agent.step(game.new_initial_state())
    return agent.effort.simulations / agent.effort.seconds


def main() -> None:
    """Measure, and print the medians and their ratio."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    first = {name: speed(*what, 1000) for name, what in MEASURED.items()}
    speeds: dict[str, list[float]] = {name: [] for name in MEASURED}
    for _ in range(rounds):
        for name, what in MEASURED.items():
            speeds[name].append(speed(*what, max(1000, int(first[name] * seconds))))
    medians = {name: statistics.median(found) for name, found in speeds.items()}
    for name, median in medians.items():
        print(f"{name}: {median:,.0f} simulations per second")
    own, stock = medians.values()
    print(f"ratio: {own / stock:.2f}")


if __name__ == "__main__":
    main()
