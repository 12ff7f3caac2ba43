"""Prints the table of docs/environments.md: where searches work, and why not.

::

    python examples/environments.py             # all; what is not installed is left out
    python examples/environments.py toy_text    # one group
"""

import contextlib
import importlib
import io
import logging
import os
import pkgutil
import re
import sys
import time
import warnings

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import gymnasium
import rave_gymnasium
import rave_pettingzoo
from rave_pettingzoo.checks import is_simultaneous

from rave_agents.errors import CloneError, RaveAgentsError

SIMULATIONS, HORIZON = 20, 20
MINIGRIDS = ("Empty-5x5", "DoorKey-5x5", "FourRooms", "Dynamic-Obstacles-5x5", "KeyCorridorS3R1")


def zoo_environments(package):
    """The environments of a package, as Parallel where agents move together."""
    found = importlib.import_module(package)
    for module in sorted(m.name for m in pkgutil.iter_modules(found.__path__)):
        if re.fullmatch(r"\w+_v\d+", module):
            yield module, lambda name=f"{package}.{module}": made(importlib.import_module(name))


def made(module):
    """The environment of a module."""
    together = not hasattr(module, "env") or is_simultaneous(module.env())
    return module.parallel_env() if together and hasattr(module, "parallel_env") else module.env()


def gym_environments(group):
    """Gymnasium's environments of a group."""
    for name, spec in sorted(gymnasium.registry.items()):
        if str(spec.entry_point).startswith(f"gymnasium.envs.{group}"):
            yield name, lambda name=name: gymnasium.make(name)


def minigrid_environments(_):
    """Some of minigrid's environments."""
    importlib.import_module("minigrid")
    for name in MINIGRIDS:
        yield f"MiniGrid-{name}-v0", lambda name=name: gymnasium.make(f"MiniGrid-{name}-v0")


WAYS = {"native": "OpenSpiel's states", "compiled rules": "compiled rules"}
"""Places where a translated position is played, by the search's provider of simulations."""

GROUPS = {
    "PettingZoo classic": ("pettingzoo.classic", zoo_environments),
    "PettingZoo butterfly": ("pettingzoo.butterfly", zoo_environments),
    "mpe2": ("mpe2", zoo_environments),
    "PettingZoo sisl": ("pettingzoo.sisl", zoo_environments),
    "Gymnasium toy_text": ("toy_text", gym_environments),
    "Gymnasium classic_control": ("classic_control", gym_environments),
    "Gymnasium box2d": ("box2d", gym_environments),
    "minigrid": ("minigrid", minigrid_environments),
}


def agent_for(env, **options):
    """An agent that is bound to the environment after a reset, and what to ask it with."""
    told = env.reset(seed=1)
    options = {"simulations": SIMULATIONS, "seed": 1, "horizon": HORIZON, **options}
    if isinstance(env, gymnasium.Env):
        return rave_gymnasium.UCTAgent(env, **options), None
    if hasattr(env, "agent_selection"):
        if rave_pettingzoo.AECState(env)._plan.is_whole_game:
            del options["horizon"]
        return rave_pettingzoo.UCTAgent(env, **options), None
    return rave_pettingzoo.UCTAgent(env, player=env.agents[0], **options), told[0]


def tried(make):
    """Try a search in an environment: the way it goes, its speed, a remark."""
    try:
        env = make()
        way = ""
        try:
            agent, seen = agent_for(env)
            agent.act(seen)
        except CloneError:
            if not isinstance(env, gymnasium.Env):
                raise
            env, way = rave_gymnasium.Replayable(env), "replays, in `Replayable(env)`"
            agent, seen = agent_for(env)
            agent.act(seen)
        agent.reset()
        began = time.process_time()
        agent.act(seen)
        spent = max(time.process_time() - began, 1e-6)
        result = agent.last_result
        chance = getattr(result.state, "chance", None)
        way = way or WAYS.get(result.provider, "copies")
        remark = str(chance) if chance is not None and chance.found else ""
        return (
            way,
            f"{result.simulations / spent:,.0f}",
            re.sub(r" \(\d+ random games\)", "", remark),
        )
    except (RaveAgentsError, ValueError, TypeError) as error:
        return "**refused**", "", str(error).split(". ")[0].replace("\n", " ").replace("|", "/")
    except Exception as error:
        return "**not made**", "", f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"


def main():
    """Print the table."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    print("| environment | searched in | simulations a second | remark |")
    print("|---|---|---|---|")
    for group, (name, environments) in GROUPS.items():
        if wanted not in group:
            continue
        with contextlib.suppress(ImportError):
            for env_id, make in environments(name):
                with contextlib.redirect_stdout(io.StringIO()):
                    row = tried(make)
                print("|", " | ".join((f"{group}: `{env_id}`", *row)), "|", flush=True)


if __name__ == "__main__":
    main()
