"""Environments of Gymnasium and PettingZoo."""


def begun(env, seed=1):
    """The environment, after its reset."""
    env.reset(seed=seed)
    return env
