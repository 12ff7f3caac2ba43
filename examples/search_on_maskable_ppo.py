"""Search on a trained MaskablePPO in PettingZoo's Connect Four: the same model with and without.

    python examples/search_on_maskable_ppo.py [--steps 200000] [--episodes 100]

It needs sb3_contrib. The model learns against opponents of one environment; then it plays against
itself, once by its policy alone, once as the evaluator of a search.
"""

import argparse

import gymnasium
import numpy as np
from pettingzoo.classic import connect_four_v3
from rave_pettingzoo import PUCTAgent
from sb3_contrib import MaskablePPO


def trained(steps: int) -> MaskablePPO:
    """A model that has learned against a random player and a shallow search."""
    env = gymnasium.make(
        "rave_gymnasium:Opponent-v0",
        game="connect_four",
        opponent=["random", "uct(simulations=10)"],
        observation="pettingzoo",
    )
    model = MaskablePPO("MlpPolicy", env, n_steps=1024, batch_size=256, seed=1)
    return model.learn(steps)


def play(model: MaskablePPO, episode: int, simulations: int) -> float:
    """The return of the player who searches, who begins every other episode."""
    env = connect_four_v3.env()
    env.reset(seed=episode)
    searching = env.possible_agents[episode % 2]
    agent = PUCTAgent(env, simulations=simulations, seed=episode, evaluator=model, leaves=8)
    total = 0.0
    for name in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        total += reward if name == searching else 0.0
        if terminated or truncated:
            env.step(None)
        elif name == searching:
            env.step(agent.act(observation))
        else:
            mask = np.asarray(observation["action_mask"], bool)
            seen = observation["observation"]
            action, _ = model.predict(seen, action_masks=mask)
            env.step(int(action))
    return total


def main() -> None:
    """Train, and play."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--simulations", type=int, default=100)
    options = parser.parse_args()
    model = trained(options.steps)
    returns = [play(model, number, options.simulations) for number in range(options.episodes)]
    score = float(np.mean([0.5 + 0.5 * np.sign(value) for value in returns]))
    print(f"with search against without: {score:.2f} of {options.episodes} episodes")


if __name__ == "__main__":
    main()
