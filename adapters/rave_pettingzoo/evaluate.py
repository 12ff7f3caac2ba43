"""``evaluate``: plays policies against each other and reports which is better."""

import contextlib
from collections.abc import Mapping
from typing import Any

from rave_agents.agents.named_agents import as_agent
from rave_agents.arena.match import Jobs
from rave_agents.arena.plan import Key
from rave_agents.arena.runner import play_games
from rave_agents.arena.worker import FailedGameError, Failure
from rave_agents.environments.worlds import WorldFunction
from rave_agents.game.validation import Count, Natural, validated
from rave_agents.results.progress import Progress, shown
from rave_pettingzoo.env_table import EnvTable, env_maker
from rave_pettingzoo.episode import Episode, Outside, check_agents
from rave_pettingzoo.evaluation import Evaluation
from rave_pettingzoo.structure import env_name, turn_based_env


@validated
def evaluate(
    env_fn: Any,
    policies: Mapping[str, Any],
    *,
    episodes: Count = 100,
    seed: Natural = 0,
    exchange_seats: bool = True,
    translate: bool = True,
    worlds: WorldFunction | None = None,
    outside: Outside = "raise",
    jobs: Jobs = 1,
    progress: Progress[Evaluation] = None,
) -> Evaluation:
    """Play episodes between policies and return the results.

    An action that the mask forbids is counted and passed to the environment, whose rule then
    decides; PettingZoo's classic environments end the episode with a loss. Ctrl-C ends the
    evaluation early. Exceptions of a policy or the environment pass through unchanged.

    Args:
        env_fn: makes an AEC or a Parallel environment; it is called once, in other processes for
            each episode, and what it makes is closed at the end. Or an environment's id,
            ``"classic/connect_four-v3"``, a module with environments, ``"mpe2.simple_tag_v3"``,
            what makes one, ``"my_module:make_env"``, or an environment, which is copied.
        policies: for each agent of the environment, the policy that starts in its seat: a spec such
            as ``"rave(simulations=200)"``, a function such as ``policy(observation, agent)``, an
            object with ``act``, ``predict`` or the like, ``"my_module:policy"``, or any other agent
            that ``rave_agents.as_agent`` takes.
        episodes: the number of episodes, at least 1.
        seed: an integer of at least 0 that seeds every random choice except those of your own
            policies. Environments are reset with seeds derived from it.
        exchange_seats: whether the policies move on by one seat after each episode. The episodes of
            one round of seats share the environment's seed.
        translate: whether searches may run in OpenSpiel's states where the games are the same.
        worlds: in environments with hidden information, the source of worlds for agents made from
            specs, see ``SearchAgent``; ``"rave(hidden=see)"`` searches the true state, which is
            cheating.
        outside: the effect of an action outside its space: ``"raise"`` raises ActionOutsideError;
            ``"illegal"`` counts it as illegal, and plays an action in its place that the mask
            forbids, so that the environment's rule decides; the first one, if all are allowed.
        jobs: processes that play at the same time. Policies and ``env_fn`` are sent to them, and
            what a policy learns or counts there is lost. Results do not depend on their number,
            unless policies of your own remember or draw something.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called before the first and after every episode
            with the result so far.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for a value that is not allowed, or if the policies do not match the
            environment's agents.
        ActionOutsideError: (a ValueError) for an action outside its space; it names the policy, the
            episode and the action.
        UnsupportedGameError: if an agent made from a spec cannot play the environment, or something
            cannot be sent to other processes.
        WorkerFailedError: if these processes end again and again.
    """
    env_fn = env_maker(env_fn)
    made = env_fn()
    agents = tuple(policies)
    check_agents(made, agents)
    env = turn_based_env(made) or made
    table = EnvTable(
        name=env_name(env),
        env_fn=env_fn,
        agents=agents,
        policies=tuple(as_agent(policy) for policy in policies.values()),
        seed=seed,
        exchange_seats=exchange_seats,
        translate=translate,
        worlds=worlds,
        outside=outside,
        env=env,
    )
    names = tuple(map(str, table.policies))
    result = Evaluation(table.name, seed, names, agents, (), planned=episodes)
    played = play_games([table], [Key(0, number) for number in range(episodes)], jobs=jobs)
    with (
        contextlib.closing(made),
        contextlib.suppress(KeyboardInterrupt),
        contextlib.closing(played),
        shown(progress) as tell,
    ):
        if tell is not None:
            tell(result)
        for outcome in played:
            if isinstance(outcome.played, Failure):
                raise _raised(outcome.played)
            assert isinstance(outcome.played, Episode)
            result = result.plus(outcome.played)
            if tell is not None:
                tell(result)
    return result


def _raised(failure: Failure) -> Exception:
    """The error that ended an episode, wherever it was played."""
    error = failure.cause or FailedGameError(failure.message)
    if failure.traceback:
        error.add_note(failure.traceback)
    return error
