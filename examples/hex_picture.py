"""A picture of Hex: visits and AMAF values of RAVE, beside the visits of plain search.

python examples/hex_picture.py [FILE]
"""

import sys

import pyspiel

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.plots.figures import panels
from rave_agents.plots.result_plot import draw_result

SIMULATIONS = 500


def main(path: str | None = None) -> None:
    """Search one position of Hex 7x7 twice, with RAVE and without, and draw the results."""
    state = pyspiel.load_game("hex(board_size=7)").new_initial_state()
    for move in ("d4", "d5", "c3", "e2"):
        state.apply_action(state.string_to_action(move))
    found = {}
    for preset in ("rave", "uct"):
        searcher = Searcher(SearchConfig.preset(preset), seed=1)
        found[preset] = searcher.search(state, Limit(simulations=SIMULATIONS))
        print(preset, found[preset].summary())
    picture, axes = panels(3, width=4.4, height=3.1, dpi=100)
    draw_result(axes[0], found["rave"], "visits", title="RAVE: visits")
    draw_result(axes[1], found["rave"], "amaf_value", title="RAVE: AMAF values")
    draw_result(axes[2], found["uct"], "visits", title="plain search: visits")
    if path is not None:
        picture.savefig(path, bbox_inches="tight")


if __name__ == "__main__":
    main(*sys.argv[1:])
