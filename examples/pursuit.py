"""Gain of a search in an environment that is only copied: PettingZoo's pursuit_v5, Parallel.

One pursuer plans by UCT, the seven others move at random; then all eight move at random, in
episodes of the same seeds. Each pursuer gets the reward of what it does
itself (``shared_reward=False``).
Prints the simulations per second of processor time, and the pursuer's return with and without the
search::

    python examples/pursuit.py [episodes, 20 unless told]
"""

import statistics
import sys
import time

from pettingzoo.sisl import pursuit_v5
from rave_pettingzoo import UCTAgent, evaluate

SEARCH = {"simulations": 20, "horizon": 20}
CYCLES = int(sys.argv[2]) if len(sys.argv) > 2 else 30
"""Steps of an episode; PettingZoo's own episodes have 500."""


def make_env():
    """Make the environment in which both sides play."""
    return pursuit_v5.parallel_env(shared_reward=False, max_cycles=CYCLES)


def speed():
    """Return the simulations per second of processor time, after what is compiled once."""
    env = make_env()
    observations, _ = env.reset(seed=1)
    agent = UCTAgent(env, player="pursuer_0", seed=1, **SEARCH)
    agent.act(observations)
    started = time.process_time()
    for _ in range(3):
        agent.act(observations)
    return 3 * SEARCH["simulations"] / (time.process_time() - started)


def returns(first, episodes):
    """Return what the first pursuer gets in each episode, the others being random."""
    names = make_env().possible_agents
    policies = dict.fromkeys(names, "random") | {names[0]: first}
    played = evaluate(make_env, policies, episodes=episodes, exchange_seats=False)
    return played[names[0]].returns


def main():
    """Print the figures."""
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(
        f"{speed():.0f} simulations per processor second, horizon {SEARCH['horizon']}", flush=True
    )
    search = ",".join(f"{name}={value}" for name, value in SEARCH.items())
    at_random = returns("random", episodes)
    searching = returns(f"uct({search})", episodes)
    gains = [mine - other for mine, other in zip(searching, at_random, strict=True)]
    error = statistics.stdev(gains) / len(gains) ** 0.5 if len(gains) > 1 else float("nan")
    print(f"return of pursuer_0 over {episodes} episodes of {CYCLES} steps:")
    print(f"  random      {statistics.fmean(at_random):7.3f}")
    print(f"  uct({search})  {statistics.fmean(searching):7.3f}")
    print(f"  difference  {statistics.fmean(gains):7.3f}, standard error {error:.3f}")


if __name__ == "__main__":
    main()
