"""Makes policies for PettingZoo's environments: from specs, agents and objects of other kinds."""

from collections.abc import Callable
from typing import Any

from rave_agents.agents.named_agents import AgentSpec
from rave_agents.agents.policies import Policy, View, understood
from rave_agents.environments.worlds import WorldFunction
from rave_pettingzoo.agents import make_agent
from rave_pettingzoo.loop_agent import LoopAgent


def make_policy(
    policy: Any,
    env: Any,
    *,
    player: Any,
    seed: int,
    translate: bool,
    worlds: WorldFunction | None,
) -> Policy:
    """Make a policy for an environment.

    Args:
        policy: an agent's spec; one of this package's agents; or what
            ``rave_agents.agents.policies`` understands.
        env: the environment to play in.
        player: the agent to play for in a Parallel environment, for policies made from a spec; else
            None.
        seed: the seed of an agent made from a spec.
        translate: as for ``SearchAgent``.
        worlds: as for ``SearchAgent``.

    Raises:
        TypeError: if ``policy`` has none of these forms.
    """
    if isinstance(policy, str | AgentSpec):
        policy = make_agent(
            policy, env, player=player, seed=seed, translate=translate, worlds=worlds
        )
    if isinstance(policy, LoopAgent):
        return Policy(_asked(policy), policy.reset)
    return understood(policy)


def _asked(agent: LoopAgent) -> Callable[[View], Any]:
    return lambda view: agent(
        view.env, player=view.player, observations=view.observations, infos=view.infos
    )
