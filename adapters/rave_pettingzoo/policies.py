"""Makes policies for PettingZoo's environments: from specs, agents and objects of other kinds."""

from typing import Any

from rave_agents.agents.named_agents import AgentSpec, as_agent
from rave_agents.agents.own_agents import Seat
from rave_agents.agents.policies import Policy, understood
from rave_agents.agents.views import framework_game_at
from rave_agents.environments.worlds import WorldFunction
from rave_agents.errors import RaveAgentsError
from rave_pettingzoo.agents import make_agent
from rave_pettingzoo.loop_agent import LoopAgent
from rave_pettingzoo.states import game_state
from rave_pettingzoo.structure import is_parallel


def make_policy(
    policy: Any,
    env: Any,
    *,
    player: Any,
    seed: int,
    translate: bool,
    worlds: WorldFunction | None,
    copies: bool = False,
) -> Policy:
    """Make a policy for an environment.

    Args:
        policy: an agent of this package, or of any other kind: see ``rave_agents.as_agent``.
        env: the environment to play in.
        player: the agent to play for.
        seed: the seed of an agent made from a spec, and of what draws.
        translate: as for ``SearchAgent``.
        worlds: as for ``SearchAgent``.
        copies: whether an object is copied, where it can be and is no model.

    Raises:
        TypeError: if ``policy`` has none of these forms.
    """
    asked = as_agent(policy)
    together = player if is_parallel(env) else None
    if isinstance(asked, AgentSpec):
        made: Any = make_agent(
            asked, env, player=together, seed=seed, translate=translate, worlds=worlds
        )
    elif isinstance(asked.value, type) and issubclass(asked.value, LoopAgent):
        made = asked.value(env, player=together, **asked.parameters)
    else:
        game = _game_of(env) if asked.makes else env
        index = env.possible_agents.index(player)
        made = asked.made(Seat(game, index, seed, in_environment=True), copies=copies)
    return understood(made, seed=seed)


def _game_of(env: Any) -> Any:
    """OpenSpiel's game, where an environment is one with the same actions; else the environment."""
    try:
        return framework_game_at(game_state(env), env)
    except (RaveAgentsError, TypeError, ValueError):  # It cannot be searched.
        return env
