"""Gymnasium: a tabular Q-learner trained against a searching opponent at tic-tac-toe.

python examples/train_against_an_opponent.py [EPISODES] [OPPONENT]
"""

import collections
import sys
from typing import Any

import gymnasium
import numpy as np

Table = dict[bytes, Any]


def episode(env: Any, values: Table, random: Any, *, explore: float, learn: float) -> float:
    """Play one episode, learning on the way; return its reward."""
    observation, info = env.reset()
    while True:
        key, legal = observation.tobytes(), np.flatnonzero(info["action_mask"])
        if random.random() < explore:
            action = int(random.choice(legal))
        else:
            action = int(legal[np.argmax(values[key][legal])])
        observation, reward, terminated, _, info = env.step(action)
        best = 0.0
        if not terminated:
            best = values[observation.tobytes()][np.flatnonzero(info["action_mask"])].max()
        values[key][action] += learn * (reward + best - values[key][action])
        if terminated:
            return float(reward)


def main(episodes: int = 2000, opponent: str = "uct(simulations=20)") -> None:
    """Train, and print the mean reward of greedy play before and after."""
    env = gymnasium.make(
        "rave_gymnasium:Opponent-v0", game="tic_tac_toe", opponent=opponent, seat="random"
    )
    env.reset(seed=0)
    random = np.random.default_rng(0)
    values: Table = collections.defaultdict(lambda: np.zeros(env.action_space.n))

    def measure(games: int = 200) -> float:
        rewards = [episode(env, values, random, explore=0.0, learn=0.0) for _ in range(games)]
        return sum(rewards) / games

    print(f"mean reward against {opponent} before training: {measure():+.2f}")
    for number in range(episodes):
        episode(env, values, random, explore=0.5 * (1 - number / episodes), learn=0.3)
    print(f"after {episodes} episodes, {len(values)} positions known: {measure():+.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
