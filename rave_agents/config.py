"""Every tunable of a search."""

import dataclasses
import enum
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from rave_agents.given import check_names, is_integer, is_number, unknown_name
from rave_agents.options import (
    Amaf,
    AmafPlayers,
    AmafWeighting,
    FinalMove,
    Hidden,
    ProofBonus,
    ProofNumbers,
    RaveBlend,
    RaveSchedule,
    Selection,
    UtilityRange,
)
from rave_agents.parts import checked_part, is_part
from rave_agents.presets import PRESETS

Part = Any
"""A part of a search: a NamedTuple whose class implements open functions of the kernel."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """Every tunable of a search. Immutable; unknown values are refused when it is made.

    Values inside a search lie in [0, 1], from the view of the player who moves: constants tuned
    for returns in [-1, 1], such as OpenSpiel's ``uct_c``, are halved.
    """

    selection: Selection | Part = Selection.UCB1
    """The selection rule: ``"ucb1"``, ``"puct"`` or ``"ucb1_tuned"``; where players move at the
    same time also ``"regret_matching"`` or ``"exp3"``, by a mixed strategy; or a part of your own
    that implements ``exploration`` or ``score``, see ``rave_agents.kernel.rules``."""

    exploration: float = 0.5
    """c, the weight of the exploration term, at least 0. The default is measured for ``"ucb1"``,
    see BENCHMARKS.md; Kocsis & Szepesvári's theory has 1/sqrt(2) = 0.71."""

    simultaneous_exploration: float = 3.0
    """c where players move at the same time, at least 0: who does not explore there, goes in step
    with the other. ``replace`` sets it, where ``exploration`` is given without it, to the same. The
    default is measured, see BENCHMARKS.md."""

    gamma: float = 0.3
    """γ, in [0, 1]: in Exp3 the share of choices that are uniformly random, above 0 (Tak et al.
    2014: 0.3); in regret matching that share is γ / sqrt(N), so that it vanishes."""

    tie_tolerance: float = 0.0
    """Edges whose scores are not further than this below the best one are chosen among at random,
    at least 0. Where players move at the same time, some 0.01 keeps decoupled UCT from going in
    step."""

    first_play_urgency: float = math.inf
    """The value of an edge that has neither visits nor AMAF visits. Infinity: every such edge is
    tried before any other is tried twice (Gelly & Wang 2006)."""

    amaf: Amaf = Amaf.NONE
    """Where AMAF statistics are kept: ``"none"``, ``"node"``, ``"grave"`` or ``"global"``."""

    amaf_players: AmafPlayers = AmafPlayers.ALL
    """Whose choices in the tree heed AMAF statistics: those of ``"all"`` players, or only the
    searching player's ``"own"``, as is usual where players move at the same time."""

    grave_ref: int = 20
    """Playouts that a table must have more of to be used below its node, at least 0; for
    ``amaf="grave"``. The default is measured, see BENCHMARKS.md; Cazenave (2015) has 50, Ludii
    100."""

    grave_table_visits: int = 10
    """A node gets a table of its own on this visit, at least 1; for ``amaf="grave"``. 1 is the
    published form; larger keeps memory to the nodes that may get more than ``grave_ref``."""

    rave_schedule: RaveSchedule | Part = RaveSchedule.MINIMUM_MSE
    """The weight β of the AMAF value: ``"hand_selected"``, ``"minimum_mse"``, ``"fuego"``,
    ``"pachi"`` or ``"grave"``; or a part of your own that implements ``beta``, see
    ``rave_agents.kernel.schedules``."""

    rave_k: float = 500.0
    """k of the hand-selected schedule, in visits, above 0: where β = 1/2. Gelly & Silver (2011)
    found 1,000 and more best in 9x9 Go."""

    rave_bias: float = 0.035
    """b of the minimum-MSE schedule, at least 0: how far AMAF values are wrong in the mean, on the
    scale [0, 1]. The default is measured, see BENCHMARKS.md. The NoGo program that has b where the
    formula has its square used 0.0015 there, which is b = 0.039 here."""

    fuego_initial: float = 1.0
    """w_initial of Fuego's schedule, in visits, above 0 (Fuego: 0.9 or 1.0)."""

    fuego_final: float = 5000.0
    """w_final of Fuego's schedule, in visits, above 0 (Fuego: 5,000 to 20,000)."""

    pachi_equivalence: float = 3500.0
    """The equivalence of Pachi's schedule, in visits, above 0 (Pachi: 3,000 to 4,000)."""

    grave_bias: float = 1e-5
    """The bias of GRAVE's schedule, at least 0 (Cazenave 2015: 1e-5)."""

    rave_blend: RaveBlend = RaveBlend.VALUE
    """What β blends with the AMAF value: the ``"value"`` or the whole ``"ucb"`` value."""

    amaf_weighting: AmafWeighting = AmafWeighting.UNIFORM
    """What an AMAF update counts: ``"uniform"``, ``"linear"`` or ``"stepped"``."""

    amaf_weight_first: float = 2.0
    """The linear weight of a move at the node itself, at least 0."""

    amaf_weight_last: float = 0.0
    """The linear weight of a move at the simulated game's end, at least 0."""

    winning_move_weight: float = 0.0
    """Share of the winning-move number in the AMAF value, in [0, 1]: the action's win rate by the
    mean number of the move in won simulations (Kozlovsky 2013), scaled so that the best sibling has
    the best AMAF value among them."""

    count_winning_moves: bool = False
    """Whether winning moves are counted, as a statistic of the root's moves, also at weight 0."""

    amaf_unvisited: bool = True
    """Whether AMAF statistics rank edges that have no visits. False: such an edge has the
    ``first_play_urgency``, with whose default each is visited once before any is visited twice."""

    solver: bool = False
    """Whether exact outcomes are backed up (Winands et al. 2008), with bounds where an outcome is
    known in part (Cazenave & Saffidine 2010). A solved position counts as its outcome, a move that
    cannot be best is left out, and the search ends once the root is solved."""

    check_terminal: bool = False
    """Whether a node's children that end the game are known as soon as it is expanded; with the
    solver or proof numbers."""

    check_refutations: bool = False
    """Whether a reply that is found to win at once against one move is tried at once against all
    others at the same node; with the solver. Where a player threatens to win, what does not help
    against it is so known after one simulation."""

    proof_numbers: ProofNumbers = ProofNumbers.NONE
    """Whose proof numbers guide the search: ``"none"``, ``"searcher"`` or ``"every_player"``."""

    proof_bonus: ProofBonus = ProofBonus.RANK
    """What a move's proof number is worth among its siblings', in [0, 1]: ``"rank"``,
    ``"dense_rank"`` or ``"max"``."""

    proof_constant: float = 0.0
    """C_pn, at least 0: the bonus is added to the score with this weight (Kowalski et al. 2023 have
    1 beside C = sqrt(2))."""

    proof_visits: float = math.inf
    """Visits of an edge at which its bonus has half its weight, as a multiple of the squared number
    of moves of its node; above 0. Until about all pairs of a move and a reply have been seen, proof
    numbers tell what lies behind the moves, and later mostly how often each was visited. Infinity,
    as published: the weight is constant."""

    proof_weight: float = 0.0
    """Share of the bonus in the score, in [0, 1], with which the two are blended."""

    draw_layer: bool = False
    """Whether equal ranks of proof numbers are told apart by those of a lesser goal, not to lose;
    for two players (with more it changes nothing) and a ``proof_bonus`` of ranks."""

    skip_solved: bool = False
    """Whether solved children are passed over after more than ``skip_solved_visits`` visits, as
    long as their parent is not solved. With the solver, a passed-over outcome that is better for
    who moves there than the mean of the move taken counts above the parent in its place."""

    skip_solved_visits: int = 5
    """See ``skip_solved``; at least 0 (Kowalski et al. 2023: 5)."""

    final_proven: bool = True
    """Whether the final move heeds what is proven: the shortest known win is played, no proven loss
    while there is another move, and of losses the longest. A search ends as soon as its root is
    proven; without this it goes on, for the final move depends on visits or values alone."""

    contempt: float = 0.5
    """A move that is sure to bring at least a draw is played where the mean value, on the scale
    [0, 1], of the move chosen otherwise is below this; in [0, 1]. A move that is sure to bring
    more or less than a draw is played if that is more than this mean."""

    expand_visits: int = 2
    """A child gets a node of its own on this visit, at least 1. With 2, as OpenSpiel's MCTSBot has
    it, plain UCT chooses the same edges as with 1, and the tree stays small. Fuego 3, Pachi 8,
    MoHex 10."""

    playouts: int = 1
    """Playouts for each simulation, at least 1; their mean counts as one visit."""

    playout_temperature: float = math.inf
    """Temperature of the playouts' moves, at least 0.01; infinity for uniformly random ones. The
    lower it is, the more often players take the actions that won most in the playouts so far, by
    their means on the scale [0, 1] (the MAST of Finnsson & Björnsson 2008). It fades by itself
    where actions stay legal when taken, as the columns of Connect Four, and so name no one move;
    and where the means differ by no more than chance."""

    dirichlet_epsilon: float = 0.0
    """Share of Dirichlet noise in the root's priors, in [0, 1] (Silver et al. 2017: 0.25)."""

    dirichlet_alpha: float = 0.3
    """Concentration of that noise, above 0 (Silver et al. 2017: 0.3 chess, 0.03 Go)."""

    final_move: FinalMove = FinalMove.ROBUST
    """How the action is chosen in the end: ``"robust"``, ``"max"`` or ``"secure"``;
    where players move at the same time also ``"maximin"`` or ``"average_strategy"``."""

    secure_constant: float = 1.0
    """A of the secure child (Winands et al. 2008: 1)."""

    maximin_visits: float = 10.0
    """Replies with few visits, for ``final_move="maximin"``: each counts as if it had been seen so
    many times more, with the mean value of the action; and actions with fewer visits than this are
    left out as long as there are others. At least 0."""

    temperature: float = 0.0
    """The policy is proportional to visits to the power 1/temperature, at least 0. At 0 it is the
    final move alone; 1 is the mix of the visits. The average strategy takes no heed of it."""

    hidden: Hidden = Hidden.DETERMINIZE
    """Where something is hidden from the player to move: ``"determinize"``, each simulation begins
    in another world that he cannot tell from the true one; or ``"see"``, the search looks at the
    true state, and a warning says so."""

    utility_range: UtilityRange = UtilityRange.GAME
    """What utilities are scaled to [0, 1] by: the ``"game"``'s bounds or those ``"observed"``."""

    threads: int = 1
    """Threads that search at the same time, from 1 to 256. Each grows a tree of its own, with an
    even share of the simulations and of the memory, and what the trees know of the root is put
    together. Games and evaluators that run in the Python interpreter are searched by one thread.
    Equal seeds and simulations give equal results here too, unless the root is solved: the first
    tree that solves it ends the search."""

    max_memory_mb: float = 1024.0
    """Megabytes (2**20 bytes) for the tree, or for all trees together, above 0. When they are used
    up, the search goes on without expanding."""

    reuse_tree: bool = True
    """Whether the subtree of the moves played is kept for the next search."""

    search_forced_moves: bool = False
    """Whether a root with a single legal action is searched at all."""

    early_stop: bool = False
    """Whether a search ends before its limit once no other move can become the most visited one;
    where the final move is the ``"robust"`` one at temperature 0. A clock has this by itself."""

    if not TYPE_CHECKING:

        def __new__(cls, **fields: Any) -> Self:
            """Refuse names that are no fields, with the nearest that are."""
            check_names("SearchConfig field", fields, cls.field_names())
            return super().__new__(cls)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, _coerce(field, getattr(self, field.name)))
        numbers = ("exploration", "rave_bias", "temperature", "grave_bias")
        others = (
            "amaf_weight_first",
            "amaf_weight_last",
            "tie_tolerance",
            "maximin_visits",
            "simultaneous_exploration",
        )
        for name in (*numbers, *others, "proof_constant"):
            _require(self, name, lambda value: 0 <= value < math.inf, "a number of at least 0")
        scales = ("rave_k", "fuego_initial", "fuego_final", "pachi_equivalence")
        for name in (*scales, "dirichlet_alpha", "max_memory_mb"):
            _require(self, name, lambda value: 0 < value < math.inf, "a number above 0")
        for name in ("expand_visits", "playouts", "grave_table_visits"):
            _require(
                self, name, lambda value: 1 <= value <= 2**20, "an integer from 1 to 1,048,576"
            )
        _require(self, "threads", lambda value: 1 <= value <= 256, "an integer from 1 to 256")
        for name in ("grave_ref", "skip_solved_visits"):
            _require(self, name, lambda value: 0 <= value < 2**31, "an integer of at least 0")
        shares = ("dirichlet_epsilon", "winning_move_weight", "gamma")
        for name in (*shares, "proof_weight", "contempt"):
            _require(self, name, lambda value: 0 <= value <= 1, "a number in [0, 1]")
        _require(self, "proof_visits", lambda value: value > 0, "a number above 0, or infinity")
        _require(
            self,
            "playout_temperature",
            lambda v: v >= 0.01,
            "a number of at least 0.01, or infinity",
        )
        _require(self, "secure_constant", math.isfinite, "a finite number")
        _require(self, "first_play_urgency", lambda value: not math.isnan(value), "a number")
        self._check_combinations()

    def _check_combinations(self) -> None:
        if self.selection is Selection.PUCT and self.rave_blend is RaveBlend.UCB:
            raise ValueError(
                "rave_blend='ucb' blends with UCB1's exploration term and has no meaning with "
                "selection='puct': use rave_blend='value'."
            )
        self._check_strategies()
        if self.amaf is Amaf.NONE:
            for name in ("winning_move_weight", "count_winning_moves"):
                if getattr(self, name):
                    raise ValueError(f"{name} needs AMAF statistics: set amaf, for example 'node'.")
        self._check_proofs()

    def _check_proofs(self) -> None:
        if self.proof_numbers is ProofNumbers.NONE:
            for name in ("proof_constant", "proof_weight", "draw_layer"):
                if getattr(self, name):
                    raise ValueError(
                        f"{name} needs proof numbers: set proof_numbers, for example 'searcher'."
                    )
        ranks = (ProofBonus.RANK, ProofBonus.DENSE_RANK)
        if self.draw_layer and self.proof_bonus not in ranks:
            raise ValueError(
                f"draw_layer tells equal ranks apart; proof_bonus={str(self.proof_bonus)!r} has "
                "none: use 'rank' or 'dense_rank', or leave it out (draw_layer=False)."
            )
        if not self.proves:
            for name in ("check_terminal", "skip_solved"):
                if getattr(self, name):
                    raise ValueError(f"{name} needs the solver or proof numbers: set solver.")
        if self.check_refutations and not (self.solver and self.check_terminal):
            raise ValueError(
                "check_refutations needs solver and check_terminal: set these, or leave it out "
                "(check_refutations=False)."
            )

    def _check_strategies(self) -> None:
        if self.mixes:
            if self.amaf in (Amaf.GRAVE, Amaf.GLOBAL):
                raise ValueError(
                    f"selection={str(self.selection)!r} takes AMAF statistics from the nodes "
                    f"themselves: use amaf='node' or 'none', not {str(self.amaf)!r}."
                )
            if self.proves:
                raise ValueError(
                    f"selection={str(self.selection)!r} is for simultaneous moves, where there is "
                    "no solver and there are no proof numbers: leave these out."
                )
        elif self.final_move is FinalMove.AVERAGE_STRATEGY:
            raise ValueError(
                "final_move='average_strategy' needs selection='regret_matching' or 'exp3'."
            )
        if self.selection is Selection.EXP3 and self.gamma == 0.0:
            raise ValueError("gamma must be above 0 with selection='exp3', got 0.0.")

    @property
    def proves(self) -> bool:
        """Whether the search keeps what is proven: by the solver, by proof numbers, or both."""
        return self.solver or self.proof_numbers is not ProofNumbers.NONE

    @property
    def mixes(self) -> bool:
        """Whether players who move at the same time follow mixed strategies."""
        return self.selection in (Selection.REGRET_MATCHING, Selection.EXP3)

    @property
    def counts_winning_moves(self) -> bool:
        """Whether winning moves are counted, be it for the statistic or for the bias."""
        return self.count_winning_moves or self.winning_move_weight > 0

    @classmethod
    def preset(cls, name: str) -> Self:
        """The configuration of a named agent, see ``preset_names``.

        Raises:
            ValueError: if there is no such preset.
        """
        if name not in PRESETS:
            raise ValueError(unknown_name("preset", name, PRESETS))
        return cls(**PRESETS[name])

    @classmethod
    def preset_names(cls) -> tuple[str, ...]:
        """The names that ``preset`` knows."""
        return tuple(PRESETS)

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed.

        ``exploration`` given alone holds where players move at the same time, too.

        Raises:
            ValueError: if a value is not allowed.
            TypeError: if a field does not exist or a value has the wrong type.
        """
        check_names("SearchConfig field", changes, self.field_names())
        if "exploration" in changes:
            changes = {"simultaneous_exploration": changes["exploration"], **changes}
        return dataclasses.replace(self, **changes)

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """The names of all fields."""
        return tuple(field.name for field in dataclasses.fields(cls))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and booleans, which ``from_dict`` takes back.

        Raises:
            ValueError: if a field is a part of your own, which is no plain value.
        """
        values = {name: getattr(self, name) for name in self.field_names()}
        for name, value in values.items():
            if is_part(value):
                raise ValueError(f"{name} is a part of your own, which is no plain value.")
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


_PARTS: dict[str, type] = {"selection": Selection, "rave_schedule": RaveSchedule}
"""The fields that take a part in the place of a name, and the names that they know."""


def _coerce(field: dataclasses.Field[Any], value: Any) -> Any:
    """The field's value as its exact type, so that the compiled loop always sees the same types."""
    kind = field.type
    if field.name in _PARTS:
        kind = _PARTS[field.name]
        if not isinstance(value, str):
            return checked_part(field.name, value)
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
        if not is_integer(value):
            raise TypeError(f"{field.name} must be an integer, got {value!r}.")
        return int(value)
    if not is_number(value):
        raise TypeError(f"{field.name} must be a number, got {value!r}.")
    return float(value)


def _require(config: SearchConfig, name: str, allowed: Any, description: str) -> None:
    value = getattr(config, name)
    if not allowed(value):
        raise ValueError(f"{name} must be {description}, got {value!r}.")
