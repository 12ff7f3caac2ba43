"""Positions a second that searches give a network, over the size of its batches.

    python examples/batch_sizes.py [--device cuda] [--blocks 10] [--channels 128]

It needs torch. ``alone`` is the network without a search, from NumPy to NumPy as a search asks it;
``games`` are searches side by side, one leaf of each in a batch; ``leaves`` is one search with as
many leaves in a batch. Beside them stands the share of the time in which the search waits for the
network or talks to it: the rest is what the search itself takes.
"""

import argparse
import statistics
import time

import pyspiel
import torch
from torch import nn

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher, as_evaluator, search_many

PUCT = SearchConfig.preset("puct")


class Block(nn.Module):
    """Two convolutions, and what they were given added to what they give."""

    def __init__(self, channels):
        super().__init__()
        first, second = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.body = nn.Sequential(first, nn.ReLU(), second)

    def forward(self, hidden):
        """The same shape as it is given."""
        return torch.relu(hidden + self.body(hidden))


class Residual(nn.Module):
    """A residual network for the boards of a game."""

    def __init__(self, game, blocks, channels):
        super().__init__()
        self.shape = game.observation_tensor_shape()
        planes, rows, columns = self.shape
        first = nn.Conv2d(planes, channels, 3, padding=1)
        self.body = nn.Sequential(first, *(Block(channels) for _ in range(blocks)), nn.Flatten())
        size = channels * rows * columns
        self.policy, self.value = nn.Linear(size, game.num_distinct_actions()), nn.Linear(size, 1)

    def forward(self, observations):
        """Logits [B, actions] and values [B]."""
        hidden = self.body(observations.reshape(-1, *self.shape))
        return self.policy(hidden), torch.tanh(self.value(hidden)).squeeze(-1)


class Timed:
    """An evaluator that counts its positions and its seconds, until the answer is in NumPy."""

    def __init__(self, evaluator):
        self.evaluator = evaluator
        self.positions, self.seconds = 0, 0.0

    def __call__(self, batch):
        """The evaluator's answer, with its time taken."""
        started = time.perf_counter()
        answer = [part.numpy(force=True) for part in self.evaluator(batch)]
        self.seconds += time.perf_counter() - started
        self.positions += len(batch.players)
        return answer


def alone(evaluator, game, size, batches):
    """Ask for so many batches of first positions, made by a search of one simulation."""
    kept = []
    watch = BatchEvaluator(lambda batch: kept.append(batch) or evaluator(batch))
    states = [game.new_initial_state() for _ in range(size)]
    search_many(states, Limit(simulations=1), evaluator=watch, seed=1)
    batch = max(kept, key=lambda batch: len(batch.players))
    timed = Timed(evaluator)
    for _ in range(batches):
        timed(batch)
    return timed


def games(evaluator, game, size, batches):
    """Search as many games at once, each from another opening."""
    timed = Timed(evaluator)
    states = []
    for number in range(size):
        state = game.new_initial_state()
        for step in (number, number // 7, number // 49):
            state.apply_action(state.legal_actions()[step % len(state.legal_actions())])
        states.append(state)
    search_many(
        states, Limit(simulations=batches), evaluator=BatchEvaluator(timed, cache=False), seed=1
    )
    return timed


def leaves(evaluator, game, size, batches):
    """Search one position with as many leaves at once."""
    timed = Timed(evaluator)
    config = PUCT.replace(leaves=size)
    searcher = Searcher(config, seed=1, evaluator=BatchEvaluator(timed, cache=False))
    searcher.search(game.new_initial_state(), Limit(simulations=batches * size))
    return timed


def main():
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--channels", type=int, default=128)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 8, 64, 256, 1024])
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.manual_seed(1)
    game = pyspiel.load_game(options.game)
    net = Residual(game, options.blocks, options.channels).eval().to(options.device)
    evaluator = as_evaluator(net)
    print(f"{options.game}, {options.blocks} blocks of {options.channels} on {options.device}")
    for size in options.sizes:
        line = f"batches of {size:5}"
        for way in (alone, games, leaves):
            way(evaluator, game, size, 3)  # Compiles, and chooses the network's kernels.
            speeds, shares = [], []
            for _ in range(options.rounds):
                started = time.perf_counter()
                timed = way(evaluator, game, size, options.batches)
                seconds = timed.seconds if way is alone else time.perf_counter() - started
                speeds.append(timed.positions / seconds)
                shares.append(timed.seconds / seconds)
            line += f"   {way.__name__} {statistics.median(speeds):9,.0f}/s"
            line += "" if way is alone else f" {statistics.median(shares):4.0%}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
