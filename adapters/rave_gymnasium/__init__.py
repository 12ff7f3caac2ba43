"""Search agents for Gymnasium: opponents to train against, and planning in clones.

Importing this package registers ``Opponent-v0``, a game for two players as an environment for one::

    env = gymnasium.make("rave_gymnasium:Opponent-v0", game="connect_four",
                         opponent="auto(simulations=100)", seat="random")

``AutoAgent(env, simulations=200, horizon=50)`` plans in a live environment with discrete actions,
in clones: ``agent.act(observation)`` returns the action to take. ``UCTAgent``, ``RaveAgent`` and
``GraveAgent`` are used in the same way. ``PlanningState`` wraps such an environment in the
interface that ``rave_agents.Searcher`` takes.
"""

import gymnasium

from rave_agents.errors import CloneError
from rave_gymnasium.agents import (
    AutoAgent,
    GraveAgent,
    GumbelAgent,
    PlanningAgent,
    PUCTAgent,
    RaveAgent,
    UCTAgent,
    make_agent,
)
from rave_gymnasium.opponent import OpponentEnv
from rave_gymnasium.opponent_vector import OpponentVectorEnv
from rave_gymnasium.record import record
from rave_gymnasium.replays import Replayable
from rave_gymnasium.states import PlanningState

__all__ = [
    "AutoAgent",
    "CloneError",
    "GraveAgent",
    "GumbelAgent",
    "OpponentEnv",
    "OpponentVectorEnv",
    "PUCTAgent",
    "PlanningAgent",
    "PlanningState",
    "RaveAgent",
    "Replayable",
    "UCTAgent",
    "make_agent",
    "record",
]


def __dir__() -> list[str]:
    return sorted({"__doc__", *__all__})


# ``make("rave_gymnasium:Opponent-v0")`` imports this module first, so that importing registers.
for _name in ("Opponent-v0", "rave_agents/Opponent-v0"):
    gymnasium.register(
        id=_name,
        entry_point="rave_gymnasium.opponent:OpponentEnv",
        vector_entry_point="rave_gymnasium.opponent_vector:OpponentVectorEnv",
    )
