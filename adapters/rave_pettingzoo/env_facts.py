"""``EnvFacts``: facts of an environment, collected once when an agent is bound to it."""

import dataclasses
import importlib.util
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pettingzoo
from gymnasium import spaces

from rave_agents.environments.chance import Chance
from rave_agents.environments.facts import (
    DECLARATION,
    UNDECLARED,
    EnvironmentFacts,
    metadata_of,
)
from rave_agents.environments.plan import AUTO, Plan, ValueFunction, checked_plan
from rave_agents.environments.worlds import WorldFunction
from rave_agents.environments.wrappers import chain
from rave_agents.errors import GameError
from rave_agents.game.validation import checked
from rave_pettingzoo.checks import (
    always_ends,
    check_begun,
    check_searchable,
    hidden_information,
    is_declared,
    is_openspiels,
    known_worlds,
    no_worlds,
)
from rave_pettingzoo.classic import full_cloner
from rave_pettingzoo.classic_knowledge import Kind, inherited_kind, kind_of
from rave_pettingzoo.cloning import (
    CLONER,
    Masks,
    chance_knowledge,
    registered_cloner,
    searched_env,
    searched_part,
)
from rave_pettingzoo.structure import (
    MaskSource,
    env_name,
    inner_env,
    mask_source,
    masked_function,
    raw_env,
)
from rave_pettingzoo.turn_order import DECLARATION as TURNS_DECLARATION

DEFAULT_HORIZON = 1000
"""Steps that simulations look ahead by default in environments that may never end."""

_SHOWN = frozenset({"render_mode", "screen_height", "screen_width", "screen_scaling"})
"""Arguments of environments that change only pictures."""


class Options(NamedTuple):
    """A user's options for the search of an environment; see ``AECState``."""

    translate: bool = True
    worlds: WorldFunction | None = None
    chance: Chance | str = Chance.DRAW
    horizon: int | str | None = AUTO
    discount: float = 1.0
    evaluator: ValueFunction | None = None
    keep_observations: bool = False
    player: Any = None
    """In a Parallel environment, the agent whose knowledge the worlds agree with."""
    simultaneous: bool | None = None
    """Whether agents of a Parallel environment move at the same time."""

    def same(self, other: "Options") -> bool:
        """True if all values are the same objects; ``==`` of a user's object may mean anything."""
        return all(one is two for one, two in zip(self, other, strict=True))

    def checked_plan(self, env: Any) -> Plan:
        """Check all options; return how far simulations look ahead in an environment.

        Raises:
            TypeError, ValueError: naming the argument, its value and the values allowed.
        """
        checked("translate", bool, self.translate)
        checked("worlds", WorldFunction | None, self.worlds)
        checked("chance", Chance, self.chance)
        if not isinstance(env, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
            return checked_plan(self.horizon, self.discount, self.evaluator, default=math.inf)
        default = math.inf if always_ends(env) else DEFAULT_HORIZON
        plan = checked_plan(self.horizon, self.discount, self.evaluator, default=default)
        kind = inherited_kind(raw_env(env))
        if kind is None or kind.value is None:
            return plan
        # Games of the kind are played to the end: only searches look no further.
        ahead = math.inf if kind.horizon is None or self.horizon != AUTO else kind.horizon
        value = kind.value if self.evaluator is None else self.evaluator
        return plan._replace(ahead=ahead, value=value)


class Seats(dict[Any, int]):
    """The seats of an environment's agents.

    Args:
        name: the environment's name, for messages.
        agents: the possible agents.
    """

    def __init__(self, name: str, agents: Sequence[Any]) -> None:
        super().__init__({agent: seat for seat, agent in enumerate(agents)})
        self._name = name

    def __missing__(self, agent: Any) -> int:
        raise GameError(
            f"{self._name} names the agent {agent!r}, who is not in its possible_agents, "
            f"{list(self)}."
        )


class Bound(NamedTuple):
    """An environment's structure, compared at a later move to notice changes."""

    chain: tuple[Any, ...]
    """The environment and its inner ones, outermost first."""
    agents: tuple[Any, ...]
    spaces: tuple[Any, ...]
    """The action spaces by seat."""
    declared: tuple[Any, ...]
    registered: tuple[Any, ...]
    """The registered functions that copy it and draw its worlds."""

    @classmethod
    def of(cls, env: Any) -> "Bound":
        """The current structure of an environment that lists its agents."""
        every = chain(env, inner_env)
        raw = every[-1]
        agents = tuple(raw.possible_agents)
        metadata = metadata_of(raw)
        return cls(
            tuple(every),
            agents,
            tuple(map(env.action_space, agents)),
            (metadata.get(DECLARATION, UNDECLARED), metadata.get(TURNS_DECLARATION)),
            (registered_cloner(type(raw)), known_worlds(raw)),
        )

    def same(self, other: "Bound") -> bool:
        """True if nothing has changed since."""
        # Identity, not ``==``: spaces and wrappers of users may compare in any way, and slowly.
        return self.agents == other.agents and all(
            len(one) == len(two) and all(a is b for a, b in zip(one, two, strict=True))
            for one, two in (
                (self.chain, other.chain),
                (self.spaces, other.spaces),
                (self.declared, other.declared),
                (self.registered, other.registered),
            )
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvFacts(EnvironmentFacts):
    """Facts of an environment, with one agent's options for its search."""

    bound: Bound
    """Its structure, to notice changes."""
    options: Options
    """The options that these facts are for."""
    kind: Kind | None
    """Knowledge of a classic environment; None with wrappers that change the game."""
    seats: Mapping[Any, int]
    """The seats by agent."""
    mask_source: MaskSource | None
    """Asks the environment's own methods for masks."""
    legal: Callable[[Any], Sequence[int]]
    """The legal actions of the selected agent of an AEC environment."""
    translate: bool
    """True if searches may run in OpenSpiel's states of the same positions."""
    is_openspiels: bool
    """True if the environment is Shimmy's, and OpenSpiel's own state is searched instead."""
    copy_known: Callable[[Any], Any] | None
    """Copies the raw environment, which is known to copy correctly; None for others."""
    simultaneous: bool
    """True if agents of a Parallel environment move at the same time."""

    @property
    def raw(self) -> Any:
        """The innermost environment."""
        return self.bound.chain[-1]

    def fits(self, env: Any, options: Options) -> bool:
        """True if these are the facts of an environment now, and for these options."""
        return (
            env is self.bound.chain[0]
            and self.options.same(options)
            and self.bound.same(Bound.of(env))
        )

    def copy(self, env: Any, masks: Masks | None = None) -> Any:
        """A copy of the environment to search, see ``searched_env``."""
        if self.copy_known is not None:
            new = self.copy_known(self.raw)
            new.render_mode = None
            return new
        return searched_env(env, keep_observations=_keeps(self.options, self.worlds), masks=masks)

    def simulation_cloner(self, env: Any, seed: int) -> Callable[[Any], Any]:
        """See ``EnvironmentFacts``."""
        return CLONER.simulation_cloner(env, seed)

    def common_objects(self, env: Any) -> tuple[type, ...]:
        """See ``EnvironmentFacts``."""
        return (spaces.Space,) if self.knowledge.certain else ()

    def no_worlds(self) -> str:
        """See ``EnvironmentFacts``."""
        return no_worlds(self.raw, self.what_is_hidden)


def env_facts(env: Any, options: Options, masks: Masks | None = None) -> EnvFacts:
    """Collect the facts of an environment after ``reset``; it is not changed.

    Args:
        env: the environment: AEC, or Parallel with agents that move at the same time.
        options: the user's choices.
        masks: returns the current masks of a Parallel environment's agents.

    Raises:
        TypeError, ValueError, CloneError, UnsupportedGameError: as ``AECState``.
    """
    plan = options.checked_plan(env)
    parallel = isinstance(env, pettingzoo.ParallelEnv)
    check_searchable(env, simultaneous=parallel)
    check_begun(env)
    name, bound, worlds = env_name(env), Bound.of(env), options.worlds
    raw = bound.chain[-1]
    # Worlds known by class are functions of AEC environments, which have a selected agent.
    if worlds is None and not parallel:
        worlds = known_worlds(raw)
    part = searched_part(env, _keeps(options, worlds))
    kind = kind_of(part)  # Of the part: a wrapper that changes the game hides the class.
    # OpenSpiel's states know no horizon, and value positions by their own ends.
    whole = options.translate and plan.is_whole_game
    replaced = whole and options.worlds is None and not options.keep_observations
    return EnvFacts(
        name=name,
        key=(type(raw), str(part), _constructor_arguments(raw)),
        agents=bound.agents,
        num_actions=max(int(space.n) for space in bound.spaces),
        clone=CLONER.search_cloner(part),
        plan=plan,
        hidden=hidden_information(env),
        is_declared=is_declared(env),
        knowledge=chance_knowledge(env, masks),
        chance=checked("chance", Chance, options.chance),
        worlds=worlds,
        bound=bound,
        options=options,
        kind=kind,
        seats=Seats(name, bound.agents),
        mask_source=mask_source(part) if kind is None else None,
        legal=masked_function(part) if kind is None else kind.legal,
        translate=whole and importlib.util.find_spec("pyspiel") is not None,
        is_openspiels=replaced and is_openspiels(env),
        copy_known=full_cloner(raw) if CLONER.is_known(env) else None,
        simultaneous=bool(options.simultaneous),
    )


def _keeps(options: Options, worlds: WorldFunction | None) -> bool:
    """True if wrappers that change observations are copied, since something reads these."""
    return options.keep_observations or worlds is not None or options.evaluator is not None


def _constructor_arguments(raw: Any) -> str:
    """The arguments that made an environment, if EzPickle keeps them."""
    values = vars(raw).get("_ezpickle_args", ()), vars(raw).get("_ezpickle_kwargs", {})
    try:
        given = inspect.signature(type(raw)).bind(*values[0], **values[1])
    except TypeError:
        return repr(values)
    given.apply_defaults()
    return repr({name: value for name, value in given.arguments.items() if name not in _SHOWN})
