"""PettingZoo: RAVE against random moves, in the loop that every PettingZoo script has.

python examples/pettingzoo_loop.py [ENVIRONMENT] [GAMES] [SIMULATIONS]
"""

import sys

import pettingzoo
from rave_pettingzoo import RaveAgent


def main(name: str = "classic/connect_four-v3", games: int = 4, simulations: int = 200) -> None:
    """Play ``games`` games, the seats exchanged after each, and print who won."""
    env = pettingzoo.make("aec", name)
    agent = RaveAgent(env, simulations=simulations, seed=1)
    wins = 0
    for number in range(games):
        env.reset(seed=number)
        mine = env.possible_agents[number % 2]
        total = 0.0
        for player in env.agent_iter():
            observation, reward, termination, truncation, _ = env.last()
            if player == mine:
                total += reward
            if termination or truncation:
                action = None
            elif player == mine:
                action = agent.act(observation)
            else:
                action = env.action_space(player).sample(observation["action_mask"])
            env.step(action)
        wins += total > 0
        print(f"game {number + 1}: RaveAgent as {mine}, reward {total:g}")
    print(f"RaveAgent won {wins} of {games}")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:4]))
