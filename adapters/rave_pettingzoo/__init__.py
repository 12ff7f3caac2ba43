"""Search agents for PettingZoo, and correct copies of its environments.

Agents for the environment loop are bound to a live environment, which they never change::

    import pettingzoo
    from rave_pettingzoo import RaveAgent

    env = pettingzoo.make("aec", "classic/connect_four-v3")
    env.reset(seed=1)
    agent = RaveAgent(env, simulations=500)
    for name in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        env.step(None if termination or truncation else agent.act(observation))

``UCTAgent``, ``GraveAgent``, ``PNMCTSAgent`` and ``make_agent("rave(simulations=500)", env)`` are
used in the same way. ``evaluate`` plays episodes between policies of any usual form, with seats
exchanged; ``tournament`` rates any number of them. In environments with hidden information, such as
card games, an agent searches determinizations from ``worlds=function``: environments that look like
the live one to it.

``clone_env`` copies an environment in its current state; ``register_cloner`` registers a copying
function for your own. ``AECState`` and ``ParallelState`` wrap environments in the interface that
``rave_agents.Searcher`` takes. Tic-tac-toe, connect four, Go, chess and Shimmy's environments are
searched in OpenSpiel's states where OpenSpiel is installed (``translate=False`` prevents it).
"""

from rave_agents.errors import CloneError
from rave_pettingzoo.adapter import PettingZooGame
from rave_pettingzoo.agents import (
    AutoAgent,
    GraveAgent,
    GumbelAgent,
    MCPSAgent,
    PNMCTSAgent,
    PUCTAgent,
    RaveAgent,
    RaveMaximinAgent,
    RegretMatchingAgent,
    SearchAgent,
    UCTAgent,
    make_agent,
)
from rave_pettingzoo.checks import register_worlds
from rave_pettingzoo.cloning import clone_env, register_cloner
from rave_pettingzoo.episode import ActionOutsideError, Episode
from rave_pettingzoo.evaluate import evaluate, tournament
from rave_pettingzoo.evaluation import EnvTournament, Evaluation, PolicyResult
from rave_pettingzoo.loop_agent import LoopAgent, RandomLoopAgent
from rave_pettingzoo.parallel_state import ParallelState
from rave_pettingzoo.record import record
from rave_pettingzoo.states import AECState, game_state

__all__ = [
    "AECState",
    "ActionOutsideError",
    "AutoAgent",
    "CloneError",
    "EnvTournament",
    "Episode",
    "Evaluation",
    "GraveAgent",
    "GumbelAgent",
    "LoopAgent",
    "MCPSAgent",
    "PNMCTSAgent",
    "PUCTAgent",
    "ParallelState",
    "PettingZooGame",
    "PolicyResult",
    "RandomLoopAgent",
    "RaveAgent",
    "RaveMaximinAgent",
    "RegretMatchingAgent",
    "SearchAgent",
    "UCTAgent",
    "clone_env",
    "evaluate",
    "game_state",
    "make_agent",
    "record",
    "register_cloner",
    "register_worlds",
    "tournament",
]


def __dir__() -> list[str]:
    return sorted({"__doc__", *__all__})
