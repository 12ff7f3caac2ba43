"""Makes policies for PettingZoo's environments from specs and the user's own agents."""

from typing import Any

from rave_agents.agents.named_agents import as_agent
from rave_agents.agents.own_agents import Maker, Policy
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
        policy: an agent, see ``rave_agents.as_agent``.
        env: the environment to play in.
        player: the agent to play for.
        seed: seeds the agent's random choices.
        translate: as for ``SearchAgent``.
        worlds: as for ``SearchAgent``.
        copies: whether an agent that is bound to an environment is copied, too.

    Raises:
        TypeError: if ``policy`` has none of these shapes.
    """
    asked = as_agent(policy)
    together = player if is_parallel(env) else None
    if asked.is_named:
        return make_agent(
            asked, env, player=together, seed=seed, translate=translate, worlds=worlds
        )
    own = asked.own
    kind = own.function if isinstance(own, Maker) else None
    if isinstance(kind, type) and issubclass(kind, LoopAgent):
        return kind(env, player=together, **asked.parameters)
    # Only makers get a game: looking for OpenSpiel's clones the environment.
    game = _game_of(env) if isinstance(own, Maker) else env
    return asked.policy(game, env.possible_agents.index(player), seed, copies=copies)


def _game_of(env: Any) -> Any:
    """OpenSpiel's game if the environment is one with the same actions; else the environment."""
    try:
        return framework_game_at(game_state(env), env)
    except (RaveAgentsError, TypeError, ValueError):  # It cannot be searched.
        return env
