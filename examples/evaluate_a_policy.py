"""PettingZoo: how good is a trained policy? Evaluated against RAVE, with both seats.

With Stable-Baselines3 and sb3-contrib, the script loads a saved model from a path; any object with
their ``predict`` does. Without one, a small hand-made policy stands in.

python examples/evaluate_a_policy.py [MODEL.zip] [EPISODES]
"""

import sys
from typing import Any

import numpy as np
import pettingzoo
from rave_pettingzoo import evaluate

from rave_agents import from_sb3


class CentrePolicy:
    """Drops its piece as near to the middle as it can; has MaskablePPO's ``predict``."""

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
        action_masks: Any = None,
    ) -> tuple[int, Any]:
        """The legal column nearest to the middle."""
        legal = np.flatnonzero(action_masks)
        return int(legal[np.argmin(np.abs(legal - 3))]), state


def load_policy(path: str) -> Any:
    """The model at this path, or the stand-in if there is no path."""
    if not path:
        return from_sb3(CentrePolicy())
    from sb3_contrib import MaskablePPO  # type: ignore[import-not-found]  # noqa: PLC0415

    return from_sb3(MaskablePPO.load(path))


def main(path: str = "", episodes: int = 20) -> None:
    """Print the policy's score against random moves and against RAVE."""
    policy = load_policy(path)
    for opponent in ("random", "rave(simulations=100)"):
        result = evaluate(
            lambda: pettingzoo.make("aec", "classic/connect_four-v3"),
            {"player_0": policy, "player_1": opponent},
            episodes=episodes,
            seed=0,
        )
        print(result, end="\n\n")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
