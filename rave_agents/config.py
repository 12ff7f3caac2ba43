"""Every tunable of a search, every budget, and the presets."""

import dataclasses
import difflib
import enum
import math
from collections.abc import Iterable, Mapping
from typing import Any, Self


class Selection(enum.StrEnum):
    """What draws the search to edges that it knows little about."""

    UCB1 = "ucb1"
    """``c sqrt(ln N / n)``: by visits alone."""
    PUCT = "puct"
    """``c p sqrt(N) / (n + 1)``: by visits and prior probability."""


class Amaf(enum.StrEnum):
    """Where all-moves-as-first statistics are kept."""

    NONE = "none"
    """Nowhere: plain Monte-Carlo tree search."""
    NODE = "node"
    """At the edges of each node (RAVE)."""


class RaveSchedule(enum.StrEnum):
    """How the weight β of AMAF falls as visits come in."""

    HAND_SELECTED = "hand_selected"
    """``sqrt(k / (3 n + k))``"""
    MINIMUM_MSE = "minimum_mse"
    """``ñ / (n + ñ + 4 n ñ b²)``"""


class RaveBlend(enum.StrEnum):
    """What β blends the AMAF value with."""

    VALUE = "value"
    """The mean value; the exploration term is added to the blend (Gelly & Silver 2011)."""
    UCB = "ucb"
    """The mean value and its exploration term together."""


class FinalMove(enum.StrEnum):
    """How the root's action is chosen once the search has ended (Chaslot et al. 2008)."""

    ROBUST = "robust"
    """Most visits; among equals the best mean."""
    MAX = "max"
    """The best mean; among equals the most visits."""
    SECURE = "secure"
    """The best lower confidence bound ``q - A / sqrt(n)``."""


class UtilityRange(enum.StrEnum):
    """What utilities are scaled to [0, 1] by."""

    GAME = "game"
    """The bounds that the game states; where it states none, as OBSERVED."""
    OBSERVED = "observed"
    """The least and the greatest return seen in this search, as they come in."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """Every tunable of a search. Immutable; unknown values are refused when it is made.

    Values inside a search lie in [0, 1], from the view of the player who moves: constants tuned
    for returns in [-1, 1], such as OpenSpiel's ``uct_c``, are halved.
    """

    selection: Selection = Selection.UCB1
    """The exploration term: ``"ucb1"`` or ``"puct"``."""

    exploration: float = 0.5
    """c, the weight of the exploration term, at least 0. The default is measured for ``"ucb1"``,
    see BENCHMARKS.md; Kocsis & Szepesvári's theory has 1/sqrt(2) = 0.71."""

    first_play_urgency: float = math.inf
    """The value of an edge that has neither visits nor AMAF visits. Infinity: every such edge is
    tried before any other is tried twice (Gelly & Wang 2006)."""

    amaf: Amaf = Amaf.NONE
    """Where AMAF statistics are kept: ``"none"`` or ``"node"``."""

    rave_schedule: RaveSchedule = RaveSchedule.MINIMUM_MSE
    """The weight β of the AMAF value: ``"hand_selected"`` or ``"minimum_mse"``."""

    rave_k: float = 500.0
    """k of the hand-selected schedule, in visits, above 0: where β = 1/2. Gelly & Silver (2011)
    found 1,000 and more best in 9x9 Go."""

    rave_bias: float = 0.035
    """b of the minimum-MSE schedule, at least 0: how far AMAF values are wrong in the mean, on the
    scale [0, 1]. The default is measured, see BENCHMARKS.md. The NoGo program that has b where the
    formula has its square used 0.0015 there, which is b = 0.039 here."""

    rave_blend: RaveBlend = RaveBlend.VALUE
    """What β blends with the AMAF value: the ``"value"`` or the whole ``"ucb"`` value."""

    expand_visits: int = 2
    """A child gets a node of its own on this visit, at least 1. With 2, as OpenSpiel's MCTSBot has
    it, plain UCT chooses the same edges as with 1, and the tree stays small. Fuego 3, Pachi 8,
    MoHex 10."""

    playouts: int = 1
    """Playouts for each simulation, at least 1; their mean counts as one visit."""

    dirichlet_epsilon: float = 0.0
    """Share of Dirichlet noise in the root's priors, in [0, 1] (Silver et al. 2017: 0.25)."""

    dirichlet_alpha: float = 0.3
    """Concentration of that noise, above 0 (Silver et al. 2017: 0.3 chess, 0.03 Go)."""

    final_move: FinalMove = FinalMove.ROBUST
    """How the action is chosen in the end: ``"robust"``, ``"max"`` or ``"secure"``."""

    secure_constant: float = 1.0
    """A of the secure child (Winands et al. 2008: 1)."""

    temperature: float = 0.0
    """The policy is proportional to visits to the power 1/temperature, at least 0. At 0 it is the
    final move alone."""

    utility_range: UtilityRange = UtilityRange.GAME
    """What utilities are scaled to [0, 1] by: the ``"game"``'s bounds or those ``"observed"``."""

    max_memory_mb: float = 1024.0
    """Megabytes (2**20 bytes) for the tree, above 0. When they are used up, the search goes on
    without expanding."""

    reuse_tree: bool = True
    """Whether the subtree of the moves played is kept for the next search."""

    search_forced_moves: bool = False
    """Whether a root with a single legal action is searched at all."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, _coerce(field, getattr(self, field.name)))
        for name in ("exploration", "rave_bias", "temperature"):
            _require(self, name, lambda value: 0 <= value < math.inf, "a number of at least 0")
        for name in ("rave_k", "dirichlet_alpha", "max_memory_mb"):
            _require(self, name, lambda value: 0 < value < math.inf, "a number above 0")
        for name in ("expand_visits", "playouts"):
            _require(
                self, name, lambda value: 1 <= value <= 2**20, "an integer from 1 to 1,048,576"
            )
        _require(self, "dirichlet_epsilon", lambda value: 0 <= value <= 1, "a number in [0, 1]")
        _require(self, "secure_constant", math.isfinite, "a finite number")
        _require(self, "first_play_urgency", lambda value: not math.isnan(value), "a number")
        if self.selection is Selection.PUCT and self.rave_blend is RaveBlend.UCB:
            raise ValueError(
                "rave_blend='ucb' blends with UCB1's exploration term and has no meaning with "
                "selection='puct': use rave_blend='value'."
            )

    @classmethod
    def preset(cls, name: str) -> Self:
        """The configuration of a named agent: ``"uct"``, ``"puct"`` or ``"rave"``.

        Raises:
            ValueError: if there is no such preset.
        """
        if name not in _PRESETS:
            raise ValueError(unknown_name("preset", name, _PRESETS))
        return cls(**_PRESETS[name])

    @classmethod
    def preset_names(cls) -> tuple[str, ...]:
        """The names that ``preset`` knows."""
        return tuple(_PRESETS)

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed.

        Raises:
            ValueError: if a value is not allowed.
            TypeError: if a field does not exist or a value has the wrong type.
        """
        check_names("SearchConfig field", changes, self.field_names())
        return dataclasses.replace(self, **changes)

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """The names of all fields."""
        return tuple(field.name for field in dataclasses.fields(cls))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and booleans, which ``from_dict`` takes back."""
        values = dataclasses.asdict(self)
        return {k: str(v) if isinstance(v, enum.StrEnum) else v for k, v in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The configuration that ``to_dict`` wrote; fields left out have their defaults.

        Raises:
            ValueError: if a value is not allowed.
            TypeError: if a field does not exist or a value has the wrong type.
        """
        check_names("SearchConfig field", values, cls.field_names())
        return cls(**values)


_PRESETS: dict[str, dict[str, Any]] = {
    "uct": {},
    "puct": {"selection": "puct", "first_play_urgency": 0.5, "exploration": 1.0},
    "rave": {"amaf": "node", "exploration": 0.0, "expand_visits": 1},
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limit:
    """When a search ends: at whichever limit comes first; at least one is needed."""

    simulations: int | None = None
    """Simulations through the root, at least 1. Those in a subtree that was kept from an earlier
    search count, so that equal limits mean equally large trees."""

    seconds: float | None = None
    """Wall-clock seconds, above 0."""

    def __post_init__(self) -> None:
        if self.simulations is None and self.seconds is None:
            raise ValueError("Limit needs simulations, seconds or both.")
        if self.simulations is not None:
            if not _is_integer(self.simulations):
                raise TypeError(f"simulations must be an integer, got {self.simulations!r}.")
            if not 1 <= self.simulations < 2**31:
                raise ValueError(
                    "simulations must be an integer from 1 to 2,147,483,647, "
                    f"got {self.simulations!r}."
                )
            object.__setattr__(self, "simulations", int(self.simulations))
        if self.seconds is not None:
            if not _is_number(self.seconds):
                raise TypeError(f"seconds must be a number, got {self.seconds!r}.")
            if not 0 < self.seconds < math.inf:
                raise ValueError(f"seconds must be a finite number above 0, got {self.seconds!r}.")
            object.__setattr__(self, "seconds", float(self.seconds))


MOST_NAMES_LISTED = 30
"""Names up to which a message lists all of them beside the nearest."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """The message for a name that does not exist, with the nearest that do."""
    known = sorted(map(str, known))
    near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    message = f"Unknown {kind} {name!r}."
    if near:
        message += f" Did you mean {' or '.join(map(repr, near))}?"
    if not near or len(known) <= MOST_NAMES_LISTED:
        message += f" There are: {', '.join(known) or 'none'}."
    return message


def check_names(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError for the first name in ``given`` that is not ``known``."""
    known = tuple(known)
    for name in given:
        if name not in known:
            raise TypeError(unknown_name(kind, name, known))


def _is_integer(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool)


def _coerce(field: dataclasses.Field[Any], value: Any) -> Any:
    """The field's value as its exact type, so that the compiled loop always sees the same types."""
    kind = field.type
    assert isinstance(kind, type)
    if issubclass(kind, enum.StrEnum):
        try:
            return kind(value)
        except ValueError:
            raise ValueError(unknown_name(f"{field.name}", value, list(kind))) from None
    if kind is bool:
        if not isinstance(value, bool):
            raise TypeError(f"{field.name} must be True or False, got {value!r}.")
        return value
    if kind is int:
        if not _is_integer(value):
            raise TypeError(f"{field.name} must be an integer, got {value!r}.")
        return int(value)
    if not _is_number(value):
        raise TypeError(f"{field.name} must be a number, got {value!r}.")
    return float(value)


def _require(config: SearchConfig, name: str, allowed: Any, description: str) -> None:
    value = getattr(config, name)
    if not allowed(value):
        raise ValueError(f"{name} must be {description}, got {value!r}.")
