"""Train MaskablePPO up the levels of ``auto``, and beside it against the highest from the start.

    python examples/curriculum.py [--game tic_tac_toe] [--steps 20480] [--seeds 1 2 3]

It needs sb3_contrib. One model begins against level 1, and moves up a level whenever it has scored
0.6 in its last 100 games; the other plays level 10 from its first step. Both learn until they score
more than one half in 50 games against level 5, or until their steps are used up.
"""

import argparse
import collections
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO

LEVELS = 10
GOAL = 5
WINDOW = 100
ENOUGH = 0.6
EVERY = 2048
"""Steps between two matches against the level that is the goal."""


def against(game: str, level: int) -> Any:
    """The game as an environment, with an opponent of this level."""
    return gymnasium.make(
        "rave_gymnasium:Opponent-v0",
        game=game,
        opponent=f"auto(level={level})",
        seat="random",
        observation="pettingzoo",
    )


class Curriculum(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Raises the opponent's level whenever the learner scores ``ENOUGH`` in ``WINDOW`` games."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.level = 1
        self._scores: collections.deque[float] = collections.deque(maxlen=WINDOW)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        """Start a game, against the next level if the last games say so."""
        if len(self._scores) == WINDOW and np.mean(self._scores) >= ENOUGH and self.level < LEVELS:
            self.level += 1
            self._scores.clear()
            options = {**(options or {}), "opponent": f"auto(level={self.level})"}
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        """Play an action, and note how the game ends."""
        observation, reward, terminated, truncated, info = super().step(action)
        if terminated:
            self._scores.append(score_of(float(reward)))
        return observation, reward, terminated, truncated, info


def score_of(reward: float) -> float:
    """1 for a win, 0.5 for a draw, 0 for a loss."""
    return 0.5 + 0.5 * float(np.sign(reward))


def match(model: MaskablePPO, env: Any, games: int, seed: int) -> float:
    """The score of the model's most probable moves against an environment's opponent."""
    scores = []
    for number in range(games):
        seen, info = env.reset(seed=seed if number == 0 else None, options={"seat": number % 2})
        terminated = False
        while not terminated:
            action, _ = model.predict(seen, action_masks=info["action_mask"], deterministic=True)
            seen, reward, terminated, _, info = env.step(int(action))
        scores.append(score_of(float(reward)))
    return float(np.mean(scores))


def learn(env: Any, goal: Any, steps: int, games: int, seed: int) -> Iterator[tuple[int, float]]:
    """Train a model. Yields its steps and its score after each match against the goal."""
    model = MaskablePPO(
        "MlpPolicy", env, learning_rate=1e-3, n_steps=512, batch_size=128, seed=seed
    )
    while model.num_timesteps < steps:
        model.learn(min(EVERY, steps), reset_num_timesteps=False)
        yield model.num_timesteps, match(model, goal, games, seed)


def main() -> None:
    """Train both for each seed, and print their scores on the way."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--game", default="tic_tac_toe")
    parser.add_argument("--steps", type=int, default=20_480, help="at most, of each model")
    parser.add_argument("--games", type=int, default=50, help="of each match against level 5")
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=[1, 2, 3], help="of two models each"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    goal = against(options.game, GOAL)
    for seed in options.seeds:
        kinds = {
            "up the levels": Curriculum(against(options.game, 1)),
            f"level {LEVELS} alone": against(options.game, LEVELS),
        }
        for name, env in kinds.items():
            for steps, score in learn(env, goal, options.steps, options.games, seed):
                level = getattr(env, "level", LEVELS)
                print(
                    f"seed {seed}, {name}: {steps:,} steps, now against level {level}; "
                    f"scores {score:.2f} against level {GOAL}",
                    flush=True,
                )
                if score > 0.5:
                    break


if __name__ == "__main__":
    main()
