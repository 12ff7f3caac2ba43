"""Episodes of a random learner against an opponent."""

import gymnasium
import rave_gymnasium  # noqa: F401  (registers Opponent-v0)


def play_opponent(game, who):
    """Play Opponent-v0 to its end, against whoever is an agent."""
    env = gymnasium.make("Opponent-v0", game=game, opponent=who, disable_env_checker=True)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        action = env.action_space.sample(mask=info["action_mask"])
        _, _, over, _, info = env.step(action)
