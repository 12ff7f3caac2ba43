"""``evaluate`` and ``tournament``: play policies against each other, and find which is better."""

import contextlib
import functools
import itertools
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, NoReturn

from rave_agents.agents.named_agents import as_agent
from rave_agents.arena.result import RunResult, TablesRun
from rave_agents.arena.run import Jobs, Pairing, Plan, RunOptions, Shard
from rave_agents.arena.worker import FailedGameError, Failure, Key
from rave_agents.environments.spaces import EnvAbilities
from rave_agents.environments.worlds import WorldFunction
from rave_agents.game.arguments import unknown_name
from rave_agents.game.validation import Count, Natural, validated
from rave_agents.results.progress import Progress
from rave_pettingzoo.env_table import EnvTable, env_maker
from rave_pettingzoo.episode import Outside, check_agents
from rave_pettingzoo.evaluation import EnvTournament, Evaluation
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
    progress: Progress[RunResult] = None,
) -> RunResult:
    """Play episodes between policies and return the results.

    An action that the mask forbids is counted and passed to the environment, whose rule then
    decides; PettingZoo's classic environments end the episode with a loss. Ctrl-C ends the
    evaluation early. Exceptions of a policy or the environment pass through unchanged.

    Args:
        env_fn: a function that makes an AEC or a Parallel environment; it is called once, in other
            processes for each episode, and the environment is closed at the end. Or an id,
            ``"classic/connect_four-v3"``; a module with environments, ``"mpe2.simple_tag_v3"``; the
            name of a function, ``"my_module:make_env"``; or an environment, which is copied.
        policies: for each agent of the environment, the policy that starts in its seat: a spec such
            as ``"rave(simulations=200)"``, a function ``policy(observation, action_mask)``,
            ``from_sb3(model)``, ``"my_module:policy"``, or any other agent that
            ``rave_agents.as_agent`` takes.
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
            ``"illegal"`` counts it as illegal and instead plays one that the mask forbids, so that
            the environment's rule decides; the first one, if all are allowed.
        jobs: processes that play at the same time. Policies and ``env_fn`` are sent to them, and
            what a policy learns or counts there is lost. Results do not depend on their number,
            unless policies of your own remember or draw something.
        progress: None for a display in a terminal or notebook, False for none, True for a display
            in any case; or a function, called with the result so far before the first and after
            every episode.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for a value that is not allowed, or if the policies do not match the
            environment's agents.
        ActionOutsideError: (a ValueError) for an action outside its space; it names the policy, the
            episode and the action.
        UnsupportedGameError: if an agent made from a spec cannot play the environment, or something
            cannot be sent to other processes.
        RunError: if these processes end repeatedly.
    """
    env_fn = env_maker(env_fn)
    made = env_fn()
    agents = tuple(policies)
    check_agents(made, agents)
    env = turn_based_env(made) or made
    table = EnvTable(
        name=env_name(env),
        env_fn=env_fn,
        seats=agents,
        agents=tuple(as_agent(policy) for policy in policies.values()),
        seed=seed,
        exchange_seats=exchange_seats,
        translate=translate,
        worlds=worlds,
        outside=outside,
        env=env,
    )
    plan = Plan(
        kind="PettingZoo evaluation",
        settings={"seed": seed},
        tables=[table],
        pairings=[Pairing(table.name, tuple(map(str, table.agents)))],
        by=(),
        games=[episodes],
    )
    show = functools.partial(Evaluation, agents=agents)
    # This process plays in the one environment; ``EnvTable`` drops it when pickled for others.
    with contextlib.closing(made):
        return _Evaluation(plan, RunOptions(jobs=jobs), progress, show).play()


class _Evaluation(TablesRun):
    """A running evaluation."""

    def fail(self, key: Key, failure: Failure) -> NoReturn:
        """Raise the error that ended an episode as it is."""
        failure.raise_as(failure.cause or FailedGameError(failure.message))


@validated
def tournament(
    env_fn: Any,
    policies: Mapping[str, Any],
    *,
    episodes: Count = 20,
    seed: Natural = 0,
    anchor: str | None = None,
    translate: bool = True,
    worlds: WorldFunction | None = None,
    outside: Outside = "raise",
    jobs: Jobs = 1,
    executor: Executor | None = None,
    output: str | os.PathLike[str] | None = None,
    shard: Shard | str | None = None,
    progress: Progress[RunResult] = None,
) -> RunResult:
    """Let policies play against each other, and rate them.

    In an environment for n agents every n policies play together; fewer than n policies fill the
    seats in all lineups. Within a lineup the policies move on by one seat after each episode, and
    the episodes of one round of seats share the environment's seed. Ctrl-C ends the tournament
    early.

    Args:
        env_fn: makes an AEC or a Parallel environment for each episode, or another form of an
            environment, see ``evaluate``.
        policies: at least two, by name, see ``evaluate``. Every episode gets a copy of an object
            that can be copied; its method ``seed``, if any, is called with the episode's seed.
        episodes: the number of episodes of each lineup, at least 1.
        seed: an integer of at least 0, the seed of everything random except what policies of your
            own draw.
        anchor: the policy whose rating is 0; None for ratings that average 0.
        translate: whether searches may run in OpenSpiel's states where the games are the same.
        worlds: the source of worlds in environments with hidden information, see ``evaluate``.
        outside: the effect of an action outside its space, see ``evaluate``.
        jobs: processes that play at the same time.
        executor: any ``concurrent.futures.Executor`` that plays instead of these processes.
        output: a file that records every episode as it ends; episodes already in it are not played
            again.
        shard: a part such as ``"3/40"``: play only these episodes.
        progress: a display, or a function of the result so far, see ``evaluate``.

    Raises:
        TypeError, ValueError: for an argument that is not allowed.
        UnsupportedGameError: if something cannot be sent to other processes.
        RunError: if a policy or the environment raises; it has the result of the finished episodes.
    """
    options = RunOptions.of(jobs, executor, output, shard)
    env_fn = env_maker(env_fn)
    players = {str(name): as_agent(policy) for name, policy in policies.items()}
    if anchor is not None and anchor not in players:
        raise ValueError(unknown_name("anchor", anchor, players))
    with contextlib.closing(env_fn()) as made:
        agents = tuple(EnvAbilities(made).possible_agents)
        check_agents(made, agents)
        name = env_name(turn_based_env(made) or made)
    lineups = _lineups(tuple(players), len(agents))
    tables = [
        EnvTable(
            name=name,
            env_fn=env_fn,
            seats=agents,
            agents=tuple(players[each] for each in lineup),
            seed=seed,
            exchange_seats=True,
            translate=translate,
            worlds=worlds,
            outside=outside,
            copies=True,
        )
        for lineup in lineups
    ]
    plan = Plan(
        kind="PettingZoo tournament",
        settings={
            "env": name,
            "policies": {each: str(player) for each, player in players.items()},
            "episodes": episodes,
            "seed": seed,
            "anchor": anchor,
            "translate": translate,
            "outside": outside,
        },
        tables=tables,
        pairings=[
            Pairing(name, lineup, ", ".join(lineup), {"policies": list(lineup)})
            for lineup in lineups
        ],
        by=("policies",),
        games=[episodes] * len(lineups),
        group=len(agents),  # A round of seats stays in one shard, so that its luck cancels.
    )
    show = functools.partial(EnvTournament, names=tuple(players), anchor=anchor)
    return TablesRun(plan, options, progress, show).play()


def _lineups(names: Sequence[str], seats: int) -> list[tuple[str, ...]]:
    if seats < 2:
        raise ValueError("A tournament needs an environment for two agents or more, got one for 1.")
    if len(names) < 2:
        raise ValueError(f"A tournament needs at least two policies, got {len(names)}.")
    if len(names) >= seats:
        return list(itertools.combinations(names, seats))
    # Fewer policies than seats: some sit twice, but nobody plays against itself alone.
    repeated = itertools.combinations_with_replacement(names, seats)
    return [lineup for lineup in repeated if len(set(lineup)) > 1]
