"""Speed of searches with a network, beside the network alone and OpenSpiel's own searches.

    python examples/network_speed.py [--rounds 3] [--threads 2] [--only "small net"]

It needs torch. All figures of a block come from one run, and rounds take turns. ``wall`` is
simulations, or positions, a second; ``cpu`` the same by processor time, of all threads, which other
programs on the machine disturb less. Ratios are to the first row of the block.

Where ``reinfors`` is installed, blocks of zeros compare its searches with ours on a network that
costs nothing: what remains is the search and the making of batches.

Answers of the network are kept for positions that come again, by our searches and by OpenSpiel's
with "cache"; its searches and ours are shown without as well.

On Linux, memory that the network frees is kept for its next batch; see ``keep_freed_memory``.
"""

import argparse
import ctypes
import importlib.util
import itertools
import statistics
import sys
import time

import numpy as np
import pyspiel
import torch
from open_spiel.python.algorithms import async_mcts, mcts
from open_spiel.python.utils import lru_cache
from torch import nn

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher, as_evaluator, search_many
from rave_agents.frameworks.own_games import as_game
from rave_agents.records.openings import initial_decision

GAME = pyspiel.load_game("connect_four")
BREAKTHROUGH = pyspiel.load_game("breakthrough")
SIDE_BY_SIDE = 64
PUCT = SearchConfig.preset("puct")
REINFORS_GAMES = {"backgammon": "backgammon", "chess": "chess", "connect_four": "connect4"}
"""Games of ``reinfors`` by OpenSpiel's short names; both begin at the usual first position."""


def keep_freed_memory():
    """Let the C library keep what is freed, where that can be said: for all rows alike.

    By default it hands a batch's memory back to Linux or not, as it happens to lie, and to fetch it
    anew for each batch takes as long as the network itself.
    """
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallopt"):
        for option, size in ((-1, 2**30), (-3, 2**25)):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
            ctypes.CDLL(None).mallopt(option, size)


class Net(nn.Module):
    """Convolutions of some channels, a policy and a value."""

    def __init__(self, convolutions, channels):
        super().__init__()
        sizes = [3] + [channels] * convolutions
        layers = []
        for size, following in itertools.pairwise(sizes):
            layers += [nn.Conv2d(size, following, 3, padding=1), nn.ReLU()]
        self.body = nn.Sequential(*layers, nn.Flatten())
        self.policy, self.value = nn.Linear(channels * 42, 7), nn.Linear(channels * 42, 1)

    def forward(self, observations):
        """Logits [B, 7] and values [B]."""
        hidden = self.body(observations)
        return self.policy(hidden), torch.tanh(self.value(hidden)).squeeze(-1)


class OneByOne(mcts.Evaluator, async_mcts.Evaluator):
    """The network as OpenSpiel's searches ask it: for each question, or once a position."""

    def __init__(self, net, caches):
        self.net = net
        self.cache = lru_cache.LRUCache(2**16) if caches else None

    def ask(self, state):
        """The network's answer for a position."""
        seen = np.array(state.observation_tensor(), np.float32)
        if self.cache is None:
            return self.infer(seen)
        return self.cache.make(seen.tobytes(), lambda: self.infer(seen))

    def infer(self, seen):
        """The same of an observation: probabilities and a value."""
        with torch.inference_mode():
            logits, value = self.net(torch.from_numpy(seen).reshape(1, 3, 6, 7))
        return torch.softmax(logits[0], 0).numpy(), float(value[0])

    def evaluate(self, state):
        """Both players' values."""
        _, value = self.ask(state)
        own = value if state.current_player() == 0 else -value
        return np.array([own, -own])

    def prior(self, state):
        """The probability of each legal action."""
        policy, _ = self.ask(state)
        return [(action, float(policy[action])) for action in state.legal_actions()]

    def prior_and_value(self, state):
        """Both, as ``async_mcts`` asks."""
        return self.prior(state), self.evaluate(state)


def bare(net, rows, batches=200):
    """Positions a second of the network alone, in batches."""

    def run():
        seen = torch.zeros(rows, 3, 6, 7)
        with torch.inference_mode():
            for _ in range(batches):
                net(seen)
        return batches * rows

    return run


def side_by_side(simulations, evaluator, game=GAME, **options):
    """Simulations of many games at once, each from another opening."""
    states = []
    for number in range(SIDE_BY_SIDE):
        state = game.new_initial_state()
        for step in (number, number // 7):
            state.apply_action(state.legal_actions()[step % len(state.legal_actions())])
        states.append(state)

    def run():
        results = search_many(
            states, Limit(simulations=simulations), evaluator=evaluator, seed=1, **options
        )
        return sum(result.simulations for result in results)

    return run


def one_game(simulations, evaluator, config, game=GAME):
    """Simulations of one search."""

    def run():
        searcher = Searcher(config, seed=1, evaluator=evaluator)
        return searcher.search(game.new_initial_state(), Limit(simulations=simulations)).simulations

    return run


def openspiels(simulations, module, evaluator, **options):
    """Simulations of one of OpenSpiel's searches."""

    def run():
        bot = module.MCTSBot(
            GAME,
            2.0,
            simulations,
            evaluator,
            solve=False,
            random_state=np.random.RandomState(1),
            child_selection_fn=module.SearchNode.puct_value,
            **options,
        )
        if getattr(evaluator, "cache", None) is not None:
            evaluator.cache.clear()
        bot.mcts_search(GAME.new_initial_state())
        return simulations

    return run


def zeros(observations, actions):
    """The answer of a network of zeros."""
    rows = len(observations)
    return np.zeros((rows, actions), np.float32), np.zeros(rows, np.float32)


def reinfors_searches(simulations, name):
    """Positions that ``reinfors`` evaluates, each anew, in as many searches at once as ours."""
    import reinfors  # noqa: PLC0415  (optional: only this block needs it)

    game = reinfors.games.make(name)
    actions = game.action_space().n
    evaluated = 0

    def network(observations):
        nonlocal evaluated
        evaluated += len(observations)
        return zeros(observations, actions)

    def run():
        nonlocal evaluated
        evaluated = 0
        reward = reinfors.Reward()
        positions = [reinfors.Env(game, reward, seed=seed) for seed in range(SIDE_BY_SIDE)]
        policy = reinfors.policies.AlphaZero(num_simulations=simulations)
        policy.choose(positions, network, gamma=1.0)
        return evaluated

    return run


def our_searches(simulations, game):
    """Positions that ``search_many`` evaluates, each anew, from the first decision of a game."""
    evaluated = 0

    def network(batch):
        nonlocal evaluated
        evaluated += len(batch.players)
        return zeros(batch.players, batch.legal_actions_mask.shape[1])

    states = [initial_decision(as_game(game), seed) for seed in range(SIDE_BY_SIDE)]
    evaluator = BatchEvaluator(network, cache=False)

    def run():
        nonlocal evaluated
        evaluated = 0
        search_many(states, Limit(simulations=simulations), evaluator=evaluator, seed=0)
        return evaluated

    return run


def blocks(n):
    """All measurements of searches with n simulations, by name, in blocks."""
    found = {}
    for name, sizes in {"net": (3, 64), "small net": (1, 16)}.items():
        torch.manual_seed(1)
        net = Net(*sizes).eval()
        evaluator, forgetful = as_evaluator(net), as_evaluator(net)
        forgetful.cache = False
        found[name] = {
            **{f"bare net, batches of {rows}": bare(net, rows) for rows in (64, 32, 8, 1)},
            "64 games at once": side_by_side(n, evaluator),
            "64 games, no cache": side_by_side(n, forgetful),
            "one game, leaves=8": one_game(4 * n, evaluator, PUCT.replace(leaves=8)),
            "one game, leaves=8, no cache": one_game(4 * n, forgetful, PUCT.replace(leaves=8)),
            "one game, leaves=1": one_game(4 * n, evaluator, PUCT),
            "OpenSpiel's MCTSBot": openspiels(n, mcts, OneByOne(net, caches=False)),
            "OpenSpiel's MCTSBot, cache": openspiels(n, mcts, OneByOne(net, caches=True)),
            "OpenSpiel's async_mcts": openspiels(n, async_mcts, OneByOne(net, caches=True)),
        }
    constant = BatchEvaluator(
        lambda batch: (np.zeros(batch.legal_actions_mask.shape), np.zeros(len(batch.players)))
    )
    found["no net, breakthrough"] = {
        "uct, one playout": one_game(250 * n, None, SearchConfig(), BREAKTHROUGH),
        "64 games at once": side_by_side(n, constant, BREAKTHROUGH),
        "one game, leaves=8": one_game(50 * n, constant, PUCT.replace(leaves=8), BREAKTHROUGH),
        "one game, leaves=64": one_game(50 * n, constant, PUCT.replace(leaves=64), BREAKTHROUGH),
    }
    if importlib.util.find_spec("reinfors") is not None:
        for game, name in REINFORS_GAMES.items():
            found[f"zeros, {game}"] = {
                "search_many": our_searches(n, game),
                "reinfors": reinfors_searches(n, name),
            }
    return found


def main():
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--only", default="", help="blocks whose names begin so")
    options = parser.parse_args()
    keep_freed_memory()
    torch.set_num_threads(options.threads)
    for block, measured in blocks(options.simulations).items():
        if not block.startswith(options.only):
            continue
        speeds = {name: [] for name in measured}
        for number in range(options.rounds + 1):
            for name, run in measured.items():
                wall, cpu = time.perf_counter(), time.process_time()
                count = run()
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                if number > 0:  # The first round compiles.
                    speeds[name].append((count / wall, count / cpu))
        print(f"{block} ({options.threads} threads of torch)")
        first = None
        for name, rounds in speeds.items():
            wall, cpu = (statistics.median(column) for column in zip(*rounds, strict=True))
            first = first or (wall, cpu)
            ratios = f"{wall / first[0]:6.2f} {cpu / first[1]:6.2f}"
            print(f"  {name:30} wall {wall:9,.0f} cpu {cpu:9,.0f}   ratio {ratios}", flush=True)


if __name__ == "__main__":
    main()
