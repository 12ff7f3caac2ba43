"""The position of a live environment in the form that is fastest to search."""

from typing import Any

from rave_agents.environments.chance import Chance
from rave_agents.environments.plan import AUTO, ValueFunction
from rave_agents.environments.worlds import WorldFunction
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.game_state import GameState
from rave_pettingzoo.chain import raw_env
from rave_pettingzoo.cloning import check_env
from rave_pettingzoo.optional import openspiel
from rave_pettingzoo.states import AECState
from rave_pettingzoo.support import check_begun, check_searchable, is_openspiels, is_parallel
from rave_pettingzoo.zoo_state import plan_for


def game_state(
    env: Any,
    *,
    translate: bool = True,
    worlds: WorldFunction | None = None,
    chance: Chance | str = Chance.DRAW,
    horizon: int | str | None = AUTO,
    discount: float = 1.0,
    evaluator: ValueFunction | None = None,
    keep_observations: bool = False,
) -> GameState:
    """Return the position of a live environment in the form that is fastest to search.

    OpenSpiel's own state for a Shimmy environment, unless ``translate`` is False, or there are
    ``worlds``, a horizon or a discount, or observations are kept; else an ``AECState``.

    Raises:
        TypeError, ValueError, CloneError, UnsupportedGameError: as ``AECState``.
    """
    check_env(env)
    plan = plan_for(env, horizon, discount, evaluator)
    translates = translate and not keep_observations
    if translates and worlds is None and plan.is_whole_game and is_openspiels(env):
        check_searchable(env)
        check_begun(env)
        state: GameState = openspiel().OpenSpielState(raw_env(env).game_state.clone())
        return state
    if is_parallel(env):
        check_searchable(env, simultaneous=True)
        raise UnsupportedGameError(
            f"{env} cannot be searched by itself: in a Parallel environment agents may move at the "
            "same time. Give what its last reset or step returned: "
            "rave_pettingzoo.ParallelState(env, observations=..., infos=...); or make an agent for "
            "one of its players: RaveAgent(env, player=...)."
        )
    return AECState(
        env,
        translate=translate,
        worlds=worlds,
        chance=chance,
        horizon=horizon,
        discount=discount,
        evaluator=evaluator,
        keep_observations=keep_observations,
    )
