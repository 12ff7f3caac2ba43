"""OpenSpiel's games as PettingZoo environments, by Shimmy: RAVE against UCT at Hex.

python examples/openspiel_through_shimmy.py [GAMES] [SIMULATIONS]
"""

import sys

from rave_pettingzoo import evaluate
from shimmy.openspiel_compatibility import OpenSpielCompatibilityV0


def main(games: int = 6, simulations: int = 200) -> None:
    """Play ``games`` games on a board of 6 x 6, the seats exchanged after each."""
    # Parameters go into the config: inside the name Shimmy forgets them at each reset.
    result = evaluate(
        lambda: OpenSpielCompatibilityV0(game_name="hex", config={"board_size": 6}),
        {
            "player_0": f"rave(simulations={simulations})",
            "player_1": f"uct(simulations={simulations})",
        },
        episodes=games,
    )
    print(result)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
