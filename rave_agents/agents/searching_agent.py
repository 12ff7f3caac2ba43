"""The base of all searching agents: parameters, limit, clock, seed and searcher."""

import copy
import dataclasses
import functools
import inspect
import time
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np

from rave_agents.config.limit import Limit, make_limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.config.search_parameters import SearchParameters
from rave_agents.evaluators.levels import NO_LEVEL
from rave_agents.game.arguments import refuse_positional
from rave_agents.game.signatures import InitSignature
from rave_agents.game.validation import Seed, checked
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.clock import Clock
from rave_agents.searcher.searcher import Searcher
from rave_agents.searcher.time_control import TimeControl

ClockLike = str | float | TimeControl | Clock | None
"""The type of an agent's ``clock``, see ``rave_agents.Clock.parse``."""

SEARCH_PARAMETERS = ("simulations", "seconds", "clock", "seed", "evaluator")
"""Parameters of every agent that searches, in addition to those of its search."""

FIXED = ("config", "seed", "evaluator", "game")
"""Attributes fixed at construction, like the parameters of the search."""

LIVE = ("limit", "clock")
"""Attributes that may be set between moves, except in an agent of several environments."""

LEAST_SHARE = 0.1
"""Minimum share of a move's time for the search itself; the rest may go into preparing it."""


class SearchingAgent:
    """An agent that plays by search, in any framework.

    The base of ``StateAgent``, OpenSpiel's ``SearchBot``, PettingZoo's ``SearchAgent`` and
    Gymnasium's ``PlanningAgent``, which take these parameters in addition to their own. Subclasses
    name a preset: ``class UCTBot(SearchBot, preset="uct")``.

    Args:
        simulations: simulations to run for each move, at least 1; those in the kept tree come on
            top.
        seconds: wall-clock seconds for each move, above 0. With both limits the first one reached
            counts; with neither, and no clock, 1,000 simulations.
        clock: decides the time of each move in place of ``seconds``: ``"60+1"`` is 60 s for the
            game and 1 s more with each move, see ``rave_agents.Clock.parse``. It starts anew with
            the method that begins a new game, ``restart`` or ``reset``.
        seed: decides everything random, an integer of at least 0; None for one that the system
            draws. Either way ``seed`` holds the one in use.
        evaluator: evaluates positions: a function of the framework's state, an object with
            ``evaluate(state)``, ``prior(state)`` or both, a network or another model, the file that
            ``rave-agents learn`` wrote, or anything else that ``rave_agents.as_evaluator`` takes.
            Values of single positions also count where a horizon cuts simulations off.
        **config: changes to the preset, see ``SearchConfig.replace``: ``schedule``, ``threads``,
            ``max_memory_mb``, ``reuse_tree`` and others.

    Raises:
        TypeError: for an unknown parameter or a value of the wrong type.
        ValueError: for a value that is not allowed.

    """

    preset: ClassVar[str] = "uct"
    """The preset of ``SearchConfig`` that the agent starts from."""

    own_parameters: ClassVar[tuple[str, ...]] = ()
    """Parameters of the constructor that other such agents lack."""

    changeable: ClassVar[tuple[str, ...]] = ()
    """Attributes of ``FIXED`` that may be set at any time."""

    __signature__: ClassVar[Any] = InitSignature(
        lambda kind: SearchConfig.preset(kind.preset).parameters()
    )

    def __init_subclass__(cls, preset: str | None = None, **given: Any) -> None:
        """Set the preset; append the shared parameters to the line that describes its agent."""
        super().__init_subclass__(**given)
        if preset is not None:
            cls.preset = preset
        described = vars(cls).get("__doc__")
        if described and "\n" not in described and "preset" in vars(cls):
            _, head, arguments = inspect.cleandoc(SearchingAgent.__doc__ or "").partition("Args:")
            cls.__doc__ = (
                f"{described}\n\n``{cls.__mro__[1].__name__}`` explains the agent's other "
                "parameters, ``rave_agents.SearchConfig`` those of its\nsearch; "
                f"``inspect.signature({cls.__name__})`` lists all.\n\n{head}{arguments}"
            )

    if not TYPE_CHECKING:

        def __new__(cls, *given: Any, **named: Any) -> Self:
            """Refuse positional arguments for keyword-only parameters."""
            if given:
                refuse_positional(cls.__name__, given, _positional(cls))
            return super().__new__(cls)

    def __init__(
        self,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        clock: ClockLike = None,
        seed: int | None = None,
        evaluator: Any = None,
        **config: Unpack[SearchParameters],
    ) -> None:
        # Each game of a match makes its agents anew. Numbers alone decide a configuration for
        # good; the name of a part may be registered for another class later.
        numbers = all(type(value) in (bool, int, float) for value in config.values())
        configured = _configured if numbers else _configured.__wrapped__
        changes = tuple((name, type(value), value) for name, value in config.items())
        kind: Any = type(self)
        self.config: SearchConfig = configured(kind, changes)
        """The search's tunables."""
        self.limit: Limit | None
        self.clock: Clock | None
        self.limit, self.clock = limit_and_clock(simulations, seconds, clock)
        check_level(self.config, simulations, seconds, clock)
        self.config.check_simulations(None if self.limit is None else self.limit.simulations)
        seed = checked("seed", Seed, seed)
        if seed is None:
            seed = int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
        self.seed: int | None = seed
        """The seed in use."""
        self._searcher = Searcher(self.config, seed=self.seed, evaluator=evaluator)
        self.evaluator: Any = self._searcher.evaluator
        """The evaluator of positions; None for random playouts."""

    @property
    def last_result(self) -> SearchResult | None:
        """The result of the last search, made when first asked for; None before the first."""
        return self._searcher.last_result

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse to set attributes that a search would ignore; check a limit and a clock.

        Raises:
            AttributeError: for the configuration, its fields, the seed and the evaluator.
            TypeError, ValueError: for a limit or a clock that is none.
        """
        # The constructor sets ``evaluator`` last: from then on, attributes are the user's to set.
        made = "evaluator" in vars(self)
        fixed = name in vars(self) if name in FIXED else made and self._is_of_search(name)
        of_members = bool(vars(self).get("members")) and name in (*self.own_parameters, *LIVE)
        if name not in self.changeable and (fixed or of_members):
            raise AttributeError(_refusal(type(self).__name__, name))
        if made and name == "limit" and not isinstance(value, Limit | None):
            raise TypeError(
                f"limit must be a Limit, such as Limit(simulations=500), got {value!r}."
            )
        if made and name == "clock" and value is not None and not isinstance(value, Clock):
            value = Clock.parse(value)
        super().__setattr__(name, value)

    def _is_of_search(self, name: str) -> bool:
        """True for a parameter of the search that is not an attribute of the agent."""
        if name in vars(self) or name.startswith("_"):
            return False
        return name in (*SEARCH_PARAMETERS, "preset") or self.config.takes(name, {})

    @property
    def _seconds(self) -> float | None:
        """Seconds per move; None if unlimited, or if a clock decides."""
        return None if self.limit is None else self.limit.seconds

    def _limit_from(self, started: float) -> Limit | None:
        """The limit of a search, whose time began at a ``time.perf_counter()`` time."""
        # Copying an environment may use up the time: some is always left for the search.
        if self.limit is None or self.limit.seconds is None:
            return self.limit
        left = self.limit.seconds - (time.perf_counter() - started)
        return dataclasses.replace(self.limit, seconds=max(left, LEAST_SHARE * self.limit.seconds))

    def _forget_game(self) -> None:
        """A new game begins: the tree is dropped, and the clock starts anew."""
        self._searcher.reset()
        if self.clock is not None:
            self.clock.restart()

    def _seed_member(self, number: int) -> None:
        """Give the agent of one of several environments its own random numbers."""
        assert self.seed is not None
        # Past ``__setattr__``, which refuses to set a seed.
        vars(self)["seed"] = seed = self.seed + number
        self._searcher = Searcher(self.config, seed=seed, evaluator=self.evaluator)

    def _become_independent(self) -> None:
        """Take copies of the tree, the random streams and the clock, after a shallow copy."""
        self._searcher = copy.copy(self._searcher)
        self.clock = copy.deepcopy(self.clock)


def limit_and_clock(
    simulations: int | None, seconds: float | None, clock: Any
) -> tuple[Limit | None, Clock | None]:
    """The limit and the clock from an agent's parameters; one of them may be None.

    Raises:
        TypeError, ValueError: for a value that is not allowed, or both seconds and a clock.
    """
    if clock is None:
        return make_limit(simulations, seconds), None
    if seconds is not None:
        raise ValueError("Give seconds a move or a clock, not both.")
    limit = None if simulations is None else Limit(simulations=simulations)
    return limit, Clock.parse(clock)


def check_level(config: SearchConfig, *limits: Any) -> None:
    """Refuse limits next to a level, which decides the simulations.

    Raises:
        ValueError: if there is a level, and one of the limits is given.
    """
    if config.level != NO_LEVEL and any(limit is not None for limit in limits):
        raise ValueError(
            f"level={config.level} decides the simulations of each move: give no simulations, "
            "seconds or clock with it."
        )


@functools.lru_cache(1024)
def _configured(
    kind: type[SearchingAgent], changes: tuple[tuple[str, type, Any], ...]
) -> SearchConfig:
    """The configuration of a class's agents with some changes: names, types and values.

    The types are in the key of the cache, where 1, 1.0 and True are equal.
    """
    values = {name: value for name, _, value in changes}
    preset, name = SearchConfig.preset(kind.preset), kind.__name__
    others = (*kind.own_parameters, *SEARCH_PARAMETERS)
    preset.check_changes(f"parameter of {name}", values, others, see=f"help({name})")
    return preset.replace(**values)


def _refusal(kind: str, name: str) -> str:
    if name in ("simulations", "seconds"):
        return f"A {kind} has no {name} to set: set its limit, to Limit({name}=...)."
    given = "parameters by their names" if name == "config" else f"{name}=..."
    return f"{name} is fixed once a {kind} is made: make a new one, with {given}."


@functools.cache
def _positional(kind: type[SearchingAgent]) -> tuple[str, ...]:
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    return tuple(each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD)
