"""Steps per second of processor time: Opponent-v0, alone and vectorised, and PettingZoo's own.

A step of Opponent-v0 is the learner's move and the random opponent's answer; a step of PettingZoo's
environment is one move::

    python examples/opponent_speed.py
"""

import statistics
import sys
import time

import gymnasium
import numpy as np
import pettingzoo
import rave_gymnasium  # noqa: F401  (registers Opponent-v0)

STEPS = 8000
GAMES = 16
"""Games side by side."""


def chosen(mask, random):
    """Return a random legal action."""
    legal = np.flatnonzero(mask)
    return int(legal[random.integers(len(legal))])


def alone(game):
    """Play one game after the other."""
    env = gymnasium.make("Opponent-v0", game=game, opponent="random")
    random = np.random.default_rng(0)
    _, info = env.reset(seed=1)
    for _ in range(STEPS):
        _, _, over, _, info = env.step(chosen(info["action_mask"], random))
        if over:
            _, info = env.reset()
    return STEPS


def vectorised(game, mode):
    """Play games side by side, in one process."""
    options = {"game": game, "opponent": "random"}
    envs = gymnasium.make_vec("Opponent-v0", GAMES, mode, **options)
    random = np.random.default_rng(0)
    _, infos = envs.reset(seed=1)
    for _ in range(STEPS // GAMES):
        masks = infos["action_mask"]
        _, _, _, _, infos = envs.step((random.random(masks.shape) * masks).argmax(1))
    return STEPS


def pettingzoos_own():
    """Play PettingZoo's connect four, both agents by the same random numbers."""
    env = pettingzoo.make("aec", "classic/connect_four-v3")
    random = np.random.default_rng(0)
    env.reset(seed=1)
    for _ in range(STEPS):
        observation, _, ended, cut, _ = env.last()
        if ended or cut:
            env.reset()
            observation = env.last()[0]
        env.step(chosen(observation["action_mask"], random))
    return STEPS


def main():
    """Print the median of some runs of each, five by default."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    played = {"PettingZoo's connect_four_v3": pettingzoos_own}
    for game in ("connect_four", "pettingzoo:connect_four_v3"):
        played[f"{game}, alone"] = lambda game=game: alone(game)
        played[f"{game}, {GAMES} by SyncVectorEnv"] = lambda game=game: vectorised(game, "sync")
        played[f"{game}, {GAMES} by OpponentVectorEnv"] = lambda game=game: vectorised(
            game, "vector_entry_point"
        )
    for name, play in played.items():
        rates = []
        for _ in range(runs):
            began = time.process_time()
            rates.append(play() / (time.process_time() - began))
        print(f"{name:50s} {statistics.median(rates):8,.0f}", flush=True)


if __name__ == "__main__":
    main()
