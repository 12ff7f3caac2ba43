"""Train a small network on Connect Four from nothing, by self-play with search, as AlphaZero does.

    python examples/train_alphazero.py [--minutes 20] [--games 64] [--picture curve.png]

It needs torch; one processor is enough. After each round of games it trains, and now and then it
plays against our search with random playouts, `uct`; the curve of its scores is a picture.
At the end it plays, with search, against the network alone.
"""

import argparse
import itertools
import random
import time
from collections.abc import Callable

import numpy as np
import pyspiel
import torch
from torch import nn

from rave_agents import (
    BatchEvaluator,
    Limit,
    SearchConfig,
    Searcher,
    as_evaluator,
    self_play,
)
from rave_agents.parts import DirichletNoise, ScheduledPUCT

GAME = pyspiel.load_game("connect_four")
Player = Callable[[pyspiel.State, int], int]
"""Chooses an action in a position, with a seed."""

PUCT = SearchConfig.preset("puct").replace(rule=ScheduledPUCT())
TRAINING = PUCT.replace(root_noise=DirichletNoise(0.25, 1.0), temperature=1.0)


class Net(nn.Module):
    """Three convolutions, a policy and a value."""

    def __init__(self, channels: int = 32) -> None:
        super().__init__()
        sizes = [3, channels, channels, channels]
        layers = [
            layer
            for size, following in itertools.pairwise(sizes)
            for layer in (nn.Conv2d(size, following, 3, padding=1), nn.ReLU())
        ]
        self.body = nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels * 42, 128), nn.ReLU())
        self.policy, self.value = nn.Linear(128, 7), nn.Linear(128, 1)

    def forward(self, observations):
        """Logits [B, 7] and values [B]."""
        hidden = self.body(observations)
        return self.policy(hidden), torch.tanh(self.value(hidden)).squeeze(-1)


def examples_of(evaluator: BatchEvaluator, games: int, simulations: int, seed: int):
    """Positions of self-play and their mirror images: observations, policies, outcomes."""
    played = list(
        self_play(
            GAME,
            evaluator,
            games=games,
            simulations=simulations,
            config=TRAINING,
            temperature_moves=16,
            seed=seed,
        )
    )
    seen = np.array([example.observation for example in played])
    policy = np.array([example.policy for example in played])
    outcome = np.array([0.5 * (e.outcome + e.value) for e in played], np.float32)
    both = np.concatenate
    return both([seen, seen[..., ::-1]]), both([policy, policy[:, ::-1]]), both([outcome, outcome])


def train(net: Net, optimizer, kept, steps: int, draw: np.random.Generator) -> float:
    """Some steps on positions drawn from those kept; returns the mean loss."""
    seen, policy, outcome = (
        torch.from_numpy(np.concatenate(part)) for part in zip(*kept, strict=True)
    )
    total = 0.0
    for _ in range(steps):
        rows = torch.from_numpy(draw.integers(len(outcome), size=256))
        logits, value = net(seen[rows])
        loss = nn.functional.cross_entropy(logits, policy[rows])
        loss = loss + nn.functional.mse_loss(value, outcome[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / steps


def searching(config: SearchConfig, simulations: int, evaluator=None) -> Player:
    """A player that searches."""
    return lambda state, seed: (
        Searcher(config, seed=seed, evaluator=evaluator)
        .search(state, Limit(simulations=simulations))
        .action
    )


def by_policy_alone(net: Net) -> Player:
    """A player that takes the legal action that the network likes best."""

    def choose(state: pyspiel.State, seed: int) -> int:
        seen = torch.tensor(state.observation_tensor()).reshape(1, 3, 6, 7)
        with torch.inference_mode():
            logits, _ = net(seen)
        return max(state.legal_actions(), key=lambda action: logits[0, action])

    return choose


def score(player: Player, opponent: Player, games: int) -> float:
    """The share of points of a player; each opening of two random moves is played from both seats.

    A draw is half a point.
    """
    points = 0.0
    for number in range(games):
        state, draw, seat = GAME.new_initial_state(), random.Random(number // 2), number % 2
        for _ in range(2):
            state.apply_action(draw.choice(state.legal_actions()))
        while not state.is_terminal():
            mover = player if state.current_player() == seat else opponent
            state.apply_action(mover(state, number))
        points += 0.5 + 0.5 * state.returns()[seat]
    return points / games


def main() -> None:
    """Train for some minutes, and show how well it plays."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--games", type=int, default=64, help="of each round")
    parser.add_argument("--simulations", type=int, default=50, help="of each move")
    parser.add_argument("--opponent", type=int, default=100, help="simulations of uct")
    parser.add_argument("--matches", type=int, default=100, help="games of the last match")
    parser.add_argument("--picture", default="alphazero.png")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    draw = np.random.default_rng(1)
    net = Net()
    evaluator = as_evaluator(net)
    with_net = searching(PUCT, options.simulations, evaluator)
    with_playouts = searching(SearchConfig(), options.opponent)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
    kept, curve, started, number = [], [], time.perf_counter(), 0
    while (minutes := (time.perf_counter() - started) / 60) < options.minutes:
        kept = [
            *kept[-19:],
            examples_of(evaluator, options.games, options.simulations, number),
        ]
        loss = train(net, optimizer, kept, 100, draw)
        number += 1
        if number % 4 == 0:
            points = score(with_net, with_playouts, 20)
            curve.append((minutes, points))
            print(f"{minutes:5.1f} min, loss {loss:.2f}: {points:.2f}", flush=True)
    last = score(with_net, with_playouts, options.matches)
    curve.append(((time.perf_counter() - started) / 60, last))
    print(f"after {number * options.games} games: {last:.2f} against uct({options.opponent})")
    alone = score(with_net, by_policy_alone(net), options.matches)
    print(f"with search against the same network without: {alone:.2f}")
    torch.save(net.state_dict(), "alphazero.pt")
    show(curve, options.picture)


def show(curve: list[tuple[float, float]], path: str) -> None:
    """Draw the scores over time."""
    from matplotlib import pyplot  # noqa: PLC0415

    figure, axes = pyplot.subplots()
    axes.plot(*zip(*curve, strict=True), marker="o")
    axes.set(xlabel="minutes", ylabel="score against uct", ylim=(0, 1))
    figure.savefig(path)


if __name__ == "__main__":
    main()
