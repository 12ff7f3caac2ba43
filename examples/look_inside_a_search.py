"""Prints a search's table of moves, its principal variation, and the weight of AMAF per move.

python examples/look_inside_a_search.py
"""

import pyspiel

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import beta


def main() -> None:
    """Search the first move of Hex 7x7 with RAVE and print the result."""
    state = pyspiel.load_game("hex(board_size=7)").new_initial_state()
    config = SearchConfig.preset("rave")
    result = Searcher(config, seed=1).search(state, Limit(simulations=1000))
    print(result.summary())
    for row in result.ranked_actions[:5]:
        weight = beta(config.amaf.schedule, row.visits, row.amaf_visits)
        print(
            f"{result.action_name(row.action)}: {row.visits} visits, "
            f"{row.amaf_visits:.0f} AMAF visits, weight of AMAF {weight:.2f}"
        )


if __name__ == "__main__":
    main()
