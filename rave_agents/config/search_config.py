"""The configuration of a search: its parts and numbers."""

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from annotated_types import Ge, Gt, Le, Lt

from rave_agents.compiler.dispatch import records_of
from rave_agents.compiler.part_fields import Takes, part_name
from rave_agents.config.composed import Composed
from rave_agents.config.final_moves import (
    AverageStrategy,
    BestOutcome,
    MatrixEquilibrium,
    Maximin,
    RobustChild,
    Survivor,
    VisitShares,
    preference,
)
from rave_agents.config.part_specs import (
    Part,
    call_part,
    checked,
    fields_of,
    plain,
    takes_part,
)
from rave_agents.config.presets import PRESETS, SIMULTANEOUS_C
from rave_agents.config.regrets import MCCFR, AdaptiveRegrets, NoRegrets
from rave_agents.config.root_noise import NoNoise, noisy
from rave_agents.errors import UnknownNameError
from rave_agents.game.arguments import unknown_name
from rave_agents.game.signatures import InitSignature
from rave_agents.kernel.amaf.nodes import NodeAmaf
from rave_agents.kernel.amaf.views import NoAmaf, view_at
from rave_agents.kernel.backup import MeanBackup, edge_value
from rave_agents.kernel.declarations import (
    is_mixed,
    keeps_proofs,
    needs_simulations,
    refusal,
    with_minimax,
)
from rave_agents.kernel.gumbel import Gumbel
from rave_agents.kernel.last_good_reply import LastGoodReply
from rave_agents.kernel.move_policies import move_weight
from rave_agents.kernel.moves.strategies import Exp3, RegretMatching
from rave_agents.kernel.moves.transpositions import NoTranspositions, Transpositions
from rave_agents.kernel.playouts import SensiblePlayouts, UniformPlayouts, action_weight
from rave_agents.kernel.proofs.part import NoProofs, Proofs
from rave_agents.kernel.rules import UCB1, Greedy, exploration, score
from rave_agents.kernel.selection import (
    AdaptiveUrgency,
    FixedUrgency,
    RandomTies,
    TiesWithin,
    unvisited_value,
)
from rave_agents.kernel.values.implicit_minimax import Judging
from rave_agents.kernel.values.node_values import node_value
from rave_agents.kernel.values.online import NoLearning, OnlineValue

Count = Annotated[int, Ge(1), Le(2**20)]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class SearchConfig(Composed):
    """The parts and numbers of a search. Immutable; invalid combinations are refused.

    A part may be given as an object, ``HandSelected(k=300)``, or as its spec,
    ``"hand_selected(k=300)"``. Values inside a search lie in [0, 1], from the view of the player
    who moves: constants tuned for returns in [-1, 1], such as OpenSpiel's ``uct_c``, are halved.
    """

    rule: Annotated[Part, Takes(UCB1, score, exploration, Greedy, Gumbel)] = None
    """The selection rule where one player moves at a time, see ``kernel/rules.py``; by default
    ``UCB1(c=0.5)``. Given to ``replace`` alone, it holds where players move at the same time, too,
    unless they follow mixed strategies. ``Gumbel`` shares out a known number of simulations, see
    ``kernel/gumbel.py``."""

    simultaneous: Annotated[Part, Takes(UCB1, score, exploration, Greedy, RegretMatching, Exp3)] = (
        None
    )
    """The choice of each player where several move at the same time: a rule, or a mixed strategy,
    see ``kernel/moves/strategies.py``. Left out, it is the ``rule`` if that is given and no
    ``Gumbel``, or ``UCB1(c=3)``."""

    ties: Annotated[Part, Takes(RandomTies, TiesWithin)] = RandomTies()
    """How close to the best score an edge must be to be drawn too, see ``kernel/selection.py``."""

    first_play_urgency: Annotated[float, Ge(-math.inf), Le(math.inf)] = math.inf
    """The value of an edge that has neither visits nor AMAF visits. Infinity: every such edge is
    tried before any other is tried twice (Gelly & Wang 2006)."""

    first_play_value: Annotated[Part, Takes(FixedUrgency, AdaptiveUrgency, unvisited_value)] = (
        FixedUrgency()
    )
    """The value of an edge before its first visit: ``first_play_urgency``, by ``FixedUrgency``, or
    its node's value less a reduction, by ``ReducedParentValue``, see ``kernel/selection.py``."""

    backup: Annotated[Part, Takes(MeanBackup, with_minimax, edge_value, node_value)] = MeanBackup()
    """An edge's value by its statistics, see ``kernel/backup.py``: the mean of its simulations, or
    that of the node behind it, as for ``PowerMean``, see ``kernel/values/node_values.py``, and for
    ``MinimaxBackup``, see ``kernel/values/minimax_backup.py``. ``AdaptiveBackup`` decides between
    mean and minimax by the file of a learned value."""

    amaf: Annotated[Part, Takes(NoAmaf, NodeAmaf, view_at)] = NoAmaf()
    """The place of AMAF statistics and their weight: ``NodeAmaf`` (RAVE), ``GRAVE``, ``HRAVE`` or
    ``NoAmaf``, see ``kernel/amaf/views.py``."""

    proofs: Annotated[Part, Takes(NoProofs, Proofs)] = NoProofs()
    """Proofs, by a solver or by proof numbers, see ``kernel/proofs/part.py``."""

    transpositions: Annotated[Part, Takes(NoTranspositions, Transpositions)] = NoTranspositions()
    """Positions met by another order of moves share their node, by ``Transpositions``, or have one
    each, by ``NoTranspositions``, see ``kernel/moves/transpositions.py``."""

    playouts: Annotated[
        Part, Takes(UniformPlayouts, SensiblePlayouts, LastGoodReply, action_weight, move_weight)
    ] = UniformPlayouts()
    """The playout policy, see ``kernel/playouts.py``. By default playouts are uniformly random.
    ``SensiblePlayouts`` follow patterns that a game's compiled rules know: in Go they save chains,
    make shapes and fill no eyes."""

    playout_count: Count = 1
    """Playouts for each simulation, at least 1; their mean counts as one visit."""

    judging: Annotated[Part, Takes(Judging)] = Judging()
    """The use of a value function, see ``kernel/values/implicit_minimax.py``. Without a value
    function, the searcher's or the agent's ``value``, it has no meaning."""

    learning: Annotated[Part, Takes(NoLearning, OnlineValue)] = NoLearning()
    """Learning of a value function from the search's own playouts: ``OnlineValue`` or
    ``NoLearning``, see ``kernel/values/online.py``."""

    root_noise: Annotated[Part, Takes(NoNoise, noisy)] = NoNoise()
    """Noise in the root's priors, see ``root_noise.py``."""

    final_move: Annotated[
        Part,
        Takes(
            *(RobustChild, preference, VisitShares, BestOutcome, Maximin, MatrixEquilibrium),
            *(AverageStrategy, Survivor),
        ),
    ] = RobustChild()
    """The choice of the action once the search has ended, see ``final_moves.py``."""

    final_proven: bool = True
    """True if the final move uses proofs: proven values compete with the means of open moves; the
    shortest of equal wins is played, the longest of losses. A search ends once its root is proven;
    with False it goes on, since the final move depends on visits or values alone."""

    contempt: Annotated[float, Ge(0), Le(1)] = 0.5
    """A proven draw is played if the mean, on the scale [0, 1], of the move chosen otherwise is
    below this; in [0, 1]. For two players who win, draw or lose without chance; elsewhere a draw,
    like any other proven return, is played if it exceeds that mean."""

    temperature: Annotated[float, Ge(0)] = 0.0
    """The policy is proportional to visits to the power 1/temperature, at least 0. At 0 it is the
    final move alone; 1 is the mix of the visits. With ``rule=gumbel`` the improved policy takes the
    place of visits. The average strategy ignores it; with ``final_move=visit_shares``, 0 is as 1
    where moves are drawn."""

    random_moves: Annotated[float, Ge(0), Le(1)] = 0.0
    """The probability that the move is drawn uniformly from all legal ones, in [0, 1]. It makes an
    agent weaker by any amount, down to random play at 1."""

    expand_visits: Count = 2
    """A child gets a node of its own on this visit, at least 1. With 2, as OpenSpiel's MCTSBot has
    it, plain UCT chooses the same edges as with 1, and the tree stays small. Fuego 3, Pachi 8,
    MoHex 10."""

    hidden: Literal["determinize", "see"] = "determinize"
    """The treatment of information hidden from the player to move. ``"determinize"``: each
    simulation begins in another determinization, a state that the player cannot tell from the true
    one (Cowling, Powley & Whitehouse 2012). ``"see"``: the search looks at the true state, and a
    warning says so."""

    regrets: Annotated[Part, Takes(NoRegrets, MCCFR, AdaptiveRegrets)] = NoRegrets()
    """``MCCFR``: the search begins at the start of the game, for whatever position, and keeps
    regrets and an average strategy of each information set, see ``config/regrets.py``; simulations
    are iterations. ``NoRegrets``: the search grows a tree from the position. ``AdaptiveRegrets``
    decides by the size of the game and the limit; where it keeps regrets, ``visit_shares`` draws
    from the average strategy, unless ``temperature`` is given."""

    utility_range: Literal["game", "observed"] = "game"
    """The range of utilities mapped to [0, 1]: the ``"game"``'s bounds, if it states any,
    or the least and the greatest return ``"observed"`` so far."""

    threads: Annotated[int, Ge(1), Le(256)] = 1
    """Threads that search at the same time, from 1 to 256. Each grows its own tree, with an
    even share of simulations and memory; the statistics of their roots are merged. Games and
    evaluators in Python are searched by one thread. Equal seeds and simulations give equal results
    here too, unless the root is solved: the first tree that solves it ends the search."""

    leaves: Count = 1
    """Leaves per batch of an evaluator, at least 1. While a leaf waits, its path counts one lost
    visit more (virtual loss), so that the next leaf differs. Larger batches are faster but search
    slightly worse. Above 1 only for games with alternating moves and nothing hidden; no effect
    without an evaluator of batches."""

    max_memory_mb: Annotated[float, Gt(0)] = 1024.0
    """Megabytes (2**20 bytes) for the tree, or for all trees together, above 0. When they are used
    up, the search reuses the memory of the least visited leaves; a tree of fewer than 64 nodes
    stays unchanged."""

    reuse_tree: bool = True
    """True if the subtree of the moves played is kept for the next search."""

    search_forced_moves: bool = False
    """True if a root with a single legal action is searched too. The tree is kept for
    the next search, see ``reuse_tree``. With a clock such a root is never searched: other moves
    need the time more."""

    known: bool = False
    """True if the search uses a shipped value of the game, unless an evaluator is given, see
    ``rave_agents.evaluators.shipped``. Of the presets only ``auto`` does so."""

    endgame_share: Annotated[float, Ge(0), Lt(1)] = 0.0
    """Share of a move's time for the exact solver, in [0, 1). It runs before the search, where the
    rest of the game looks small enough; with a limit of simulations it visits as many positions
    as take about that share. A proven move is played; the solver's table is kept like the
    tree. For games with perfect information, without chance, in which one player moves at a time;
    0 for never."""

    level: Annotated[int, Ge(0), Le(10)] = 0
    """The strength, from 1, a little better than random, to 10, the full search at its default of
    1,000 simulations; 0 for none. It sets the simulations of each move, regardless of the limit,
    ``temperature`` and ``random_moves``, and uses one thread: equal seeds give equal moves on every
    machine, see ``rave_agents.evaluators.levels``."""

    early_stop: bool = False
    """True if a search ends before its limit once no other move can become the most visited one;
    where the final move is the robust child at temperature 0. With a clock this is always so."""

    __signature__: ClassVar[Any] = InitSignature()

    def __post_init__(self) -> None:
        # The rule also decides simultaneous moves, unless these have their own.
        given = self.rule
        if given is None:
            object.__setattr__(self, "rule", UCB1())
        if self.simultaneous is None:
            shared = _shared_rule(given) or UCB1(SIMULTANEOUS_C)
            object.__setattr__(self, "simultaneous", shared)
        # Numba compiles for exact types: ``c=1`` must become ``1.0`` before a kernel sees it.
        kind: Any = type(self)
        for name, annotation in fields_of(kind).items():
            object.__setattr__(self, name, checked(name, annotation, vars(self)[name]))
        # Only now: a part's refusal may ask about other fields, in their checked form.
        for part in self.parts:
            refused = call_part(refusal, part, self)
            if refused:
                raise ValueError(refused)

    def check_simulations(self, simulations: float | None) -> None:
        """Refuse a search without a number of simulations if a part must allocate them in advance.

        Args:
            simulations: those of the search; None or infinity for no limit.

        Raises:
            ValueError: for ``rule=gumbel`` without one.
        """
        if simulations is None or math.isinf(simulations):
            for name in self.field_names():
                part = vars(self)[name]
                if any(needs_simulations(inner) for inner in records_of(part)):
                    raise ValueError(
                        f"{name}={part_name(type(part))} shares out a known number of simulations: "
                        "give simulations. Seconds or a clock may also end a search earlier."
                    )

    @functools.cached_property
    def proves(self) -> bool:
        """True if the search proves outcomes: by the solver, by proof numbers, or by both."""
        return keeps_proofs(self.proofs)

    @functools.cached_property
    def knows_outcomes(self) -> bool:
        """True if the final move looks at outcomes: of the search, or of the solver of endgames."""
        return self.final_proven and (self.proves or self.endgame_share > 0)

    @property
    def needs_proofs(self) -> bool:
        """True if the search refuses games in which nothing can be proven."""
        return self.proves and not self.proofs.optional

    @property
    def mixes(self) -> bool:
        """True if players who move at the same time follow mixed strategies."""
        return is_mixed(self.simultaneous)

    @classmethod
    def preset(cls, name: str) -> "SearchConfig":
        """The configuration of a named agent, see ``preset_names``.

        Raises:
            UnknownNameError: (a ValueError) if there is no such preset.
        """
        if name not in PRESETS:
            raise UnknownNameError(unknown_name("preset", name, PRESETS))
        return _preset(name)  # Shared, as it is immutable.

    @classmethod
    def preset_names(cls) -> tuple[str, ...]:
        """The names that ``preset`` knows."""
        return tuple(PRESETS)

    def changes_from(self, other: Composed) -> dict[str, Any]:
        """The fields that differ from another configuration's, as ``to_dict`` writes them."""
        changed = super().changes_from(other)
        if "rule" in changed:  # Given alone, it would set the other, too.
            changed["simultaneous"] = plain(self.simultaneous)
        return changed

    def _with_own(self, changes: Mapping[str, Any]) -> Self:
        if "rule" in changes and not self.mixes:
            shared = _shared_rule(changes["rule"])
            if shared is not None:
                changes = {"simultaneous": shared, **changes}
        return super()._with_own(changes)


@functools.cache
def _preset(name: str) -> SearchConfig:
    return SearchConfig(**PRESETS[name])


def _shared_rule(given: Any) -> Any:
    """The rule that a given one implies where players move at the same time; None for none."""
    kind: Any = SearchConfig
    if given is None:
        return None
    rule = checked("rule", fields_of(kind)["rule"], given)
    return given if takes_part(fields_of(kind)["simultaneous"], rule) else None
