"""Result of a search."""

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rave_agents.game.game_state import GameState, apply_path, is_simultaneous, moving_players
from rave_agents.game.notation import action_name
from rave_agents.results.action_statistics import ActionStatistics, action_columns
from rave_agents.results.numbers import counted, fixed
from rave_agents.results.payoff_matrix import JointTable
from rave_agents.results.result import Result, by_column
from rave_agents.results.tables import Column, Table
from rave_agents.results.world_statistics import WorldStatistics

if TYPE_CHECKING:
    from rave_agents.plots.figures import Picture


_MEANINGS = {
    "AMAF": (
        "actions mean the same whenever they are played",
        "some actions mean something else when played later",
        "actions mean something else when played later",
    ),
    "proof numbers": (
        "moves that leave few replies are mostly good",
        "moves that leave few replies are sometimes good",
        "moves that leave few replies are no better than others",
    ),
    "values learned from playouts": (
        "they predict how playouts end",
        "they partly predict how playouts end",
        "they hardly predict how playouts end",
    ),
}
"""The meaning of a high, a medium and a low learned trust."""

MUCH_TRUSTED, LITTLE_TRUSTED = 0.8, 0.2
"""Trust above the first is high, below the second low."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class SearchResult(Result):
    """The chosen action and everything the search found about the root.

    Values are expected returns of ``player``, in the game's utilities. Rows are the legal actions,
    best first.
    """

    player: int
    """The player to move at the root."""
    action: int
    """The action to play."""
    actions: tuple[ActionStatistics, ...]
    """Every legal action, in the game's order."""
    value: float | None
    """Mean return of all simulations; without any, the return proven by the exact solver; None if
    there is neither."""
    outcome: tuple[float, ...] | None = None
    """The proven returns of all players with best play, else None."""
    expected: bool = False
    """True if the tree has chance nodes: ``outcome`` is then an expectation, exact to some
    ten-millionths of the range of utilities, since the tree holds probabilities in single
    precision."""
    proof_number: float | None = None
    """Proof number of a win of ``player``: the least number of leaves that must be won to prove it;
    0 if it is proven, infinite if it is disproven; None without proof numbers."""
    disproof_number: float | None = None
    """Disproof number: the least number of leaves that must not be won to prove that ``player``
    cannot force a win."""
    principal_variation: tuple[int, ...]
    """The actions that the search expects from the root on, including chance outcomes."""
    simulations: int
    """Simulations of this search."""
    root_visits: int
    """Simulations in the tree, including those kept from earlier searches."""
    seconds: float
    """Wall-clock seconds of this search."""
    nodes: int
    """Nodes in the tree."""
    memory_bytes: int
    """Memory of the tree in bytes."""
    memory_full: bool
    """True if all trees reached ``max_memory_mb`` and have forgotten leaves or stopped growing, see
    ``SearchConfig.max_memory_mb``."""
    provider: str | None = None
    """The provider of this search's simulations: ``"native"`` (OpenSpiel's C++ states, by the
    compiled bridge), ``"compiled rules"`` (a game compiled by Numba), ``"python"`` (the state's
    methods), ``"python with C++ playouts"`` (with playouts by OpenSpiel's bots), or another
    provider's name. Providers may choose different moves from the same seed. None without
    simulations."""
    known: str | None = None
    """The game whose learned value or policy was used, shipped (``SearchConfig.known``) or from a
    file; None without one."""
    learned: str | None = None
    """The kind of that knowledge: ``"value"`` or ``"policy"``; None without one."""
    other_size: bool = False
    """True if that game has a board of another size, see ``rave_agents.evaluators.other_sizes``."""
    minimax: bool = False
    """True if values were backed up by minimax as their file recommends, see ``AdaptiveBackup``."""
    solver_positions: int = 0
    """Positions expanded by the exact solver before the search, see ``SearchConfig.endgame_share``;
    0 if it did not run. If it solved the root, ``outcome`` and the principal variation are its
    result."""
    took_part: tuple[str, ...] = ()
    """The parts that took part in the search, such as ``"learned value"``, ``"uniform playouts"``,
    ``"cut playouts"``, ``"pattern playouts"``, ``"AMAF"``, ``"solver"`` or ``"endgame solver"``;
    empty without a search. ``amaf_trust``, ``proof_trust`` and ``value_trust`` are the weights of
    partly trusted ones. See docs/reference/taking_part.md."""
    joint: JointTable | None = None
    """Statistics of every pair of actions, if two players move simultaneously."""
    amaf_trust: float | None = None
    """Final trust in AMAF values, from 0 to 1, if the search learns it
    (``NodeAmaf(trust=LearnedTrust())``, as in ``auto``): high if actions stay legal until taken and
    are not legal again afterwards; with hidden information also if values of actions taken later
    differ less than the edges' own. None otherwise, before the first evidence, and with
    simultaneous moves."""
    proof_trust: float | None = None
    """Final trust in the bonus of proof numbers, from 0 to 1, if the search learns it
    (``ProofNumbers(bonus_trust=LearnedBonusTrust())``, as in ``auto``): below 1 if moves with a
    greater bonus had lower values and untaken actions expire, or if all moves leave equally many
    replies, as in Hex. None otherwise."""
    value_trust: float | None = None
    """Final trust in values learned from the search's own playouts, from 0 to 1, if it learns any
    (``learning=OnlineValue()``, as in ``auto``): how much better they predict playouts than the
    mean result does. None otherwise."""
    reports: Mapping[str, float] = dataclasses.field(default_factory=dict, hash=False)
    """Figures of the root reported by custom parts (``report_root``), by name; the mean over
    several threads' trees."""
    action_reports: Mapping[str, tuple[float, ...]] = dataclasses.field(
        default_factory=dict, hash=False
    )
    """Figures of each of ``actions`` reported by custom parts (``report_moves``), by name."""
    worlds: WorldStatistics | None = None
    """Statistics of the determinizations drawn in games with hidden information, else None."""
    state: GameState = dataclasses.field(repr=False, compare=False)
    """A clone of the root position, to name its actions."""

    @property
    def forced(self) -> bool:
        """True if only one action is legal."""
        return len(self.actions) == 1

    @property
    def searched(self) -> bool:
        """True if a root action was visited or the root is solved.

        If not, and the action is not forced, there was no time to search and it was drawn at
        random.
        """
        return self.outcome is not None or any(row.visits > 0 for row in self.actions)

    @property
    def policy(self) -> list[tuple[int, float]]:
        """Every legal action and the probability of playing it."""
        return [(row.action, row.probability) for row in self.actions]

    @property
    def training_policy(self) -> list[tuple[int, float]]:
        """The training target of a policy network: every legal action and its share.

        With ``rule=gumbel`` this is the improved policy, otherwise the distribution of visits.
        """
        shares = [row.visits if row.improved is None else row.improved for row in self.actions]
        total = sum(shares)
        if total == 0:
            return self.policy
        return [
            (row.action, share / total) for row, share in zip(self.actions, shares, strict=True)
        ]

    @property
    def proven(self) -> str | None:
        """The proven outcome for ``player``: ``"win"``, ``"draw"``, ``"loss"``, or None.

        A win is more than every other player gets, a loss less than some other player gets. In a
        single-player game, a win is the game's greatest utility and a loss anything less, as for
        proof numbers; None if the greatest utility is unknown. With chance, a win is the game's
        greatest utility and a loss its least; expectations in between are None. Proof numbers alone
        may prove a win without an ``outcome``.
        """
        if self.outcome is None:
            return "win" if self.proof_number == 0.0 else None
        own = self.outcome[self.player]
        if self.expected:
            ends = {self.state.max_utility(): "win", self.state.min_utility(): "loss"}
            return ends.get(own)
        if len(self.outcome) == 1:
            greatest = self.state.max_utility()
            return None if math.isinf(greatest) else "win" if own >= greatest else "loss"
        best = max(value for seat, value in enumerate(self.outcome) if seat != self.player)
        return "win" if own > best else "draw" if own == best else "loss"

    def value_for(self, seat: int) -> float | None:
        """The value of the position for a player, proven if possible; None if unknown.

        It is that of the chosen action for ``player``, and its opposite for the other one of two.
        """
        if self.outcome is not None:
            return self.outcome[seat]
        value = next((row.value for row in self.actions if row.action == self.action), None)
        value = self.value if value is None else value
        if value is None or seat == self.player:
            return value
        return -value if self.state.num_players() == 2 else None

    @property
    def simulations_per_second(self) -> float:
        """Simulations of this search per second."""
        return self.simulations / self.seconds if self.seconds > 0 else 0.0

    @property
    def ranked_actions(self) -> list[ActionStatistics]:
        """The actions: the chosen one first, then by visits, AMAF visits and value."""

        def key(row: ActionStatistics) -> tuple[bool, int, float, float]:
            chosen = row.action == self.action
            return (chosen, row.visits, row.amaf_visits, row.value or 0.0)

        return sorted(self.actions, key=key, reverse=True)

    def action_name(self, action: int) -> str:
        """A root action in the game's notation; its number if the game has none."""
        return action_name(self.state, action, self.player)

    @functools.cached_property
    def principal_variation_names(self) -> tuple[str, ...]:
        """The principal variation in the game's notation."""
        state = self.state.clone()
        line = self.principal_variation
        names: list[str] = []
        while len(names) < len(line):
            movers = moving_players(state) if is_simultaneous(state) else [state.current_player()]
            step = line[len(names) : len(names) + len(movers)]
            if len(step) < len(movers):  # A forced move: the others' actions are unknown.
                return (*names, *(action_name(state, action, self.player) for action in step))
            if not _can_take(state, movers, step):  # Its environment drew another chance outcome.
                return (*names, *map(str, line[len(names) :]))
            names += [action_name(state, *pair) for pair in zip(step, movers, strict=True)]
            apply_path(state, step)
        return tuple(names)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, fit for JSON."""
        plain = {
            field.name: vars(self)[field.name]
            for field in dataclasses.fields(self)
            if field.name != "state"
        }
        return {
            **plain,
            "action_name": self.action_name(self.action),
            "proven": self.proven,
            "forced": self.forced,
            "searched": self.searched,
            "outcome": None if self.outcome is None else list(self.outcome),
            "took_part": list(self.took_part),
            "reports": dict(self.reports),
            "action_reports": {name: list(row) for name, row in self.action_reports.items()},
            "worlds": None if self.worlds is None else dataclasses.asdict(self.worlds),
            "joint": None if self.joint is None else self.joint.to_dict(),
            "principal_variation": list(self.principal_variation),
            "principal_variation_names": list(self.principal_variation_names),
            "actions": [
                {**row._asdict(), "name": self.action_name(row.action)} for row in self.actions
            ],
        }

    def columns(self) -> dict[str, list[Any]]:
        """``ActionStatistics`` of each action, its name, and figures of custom parts."""
        places = {row.action: place for place, row in enumerate(self.actions)}
        ranked = self.ranked_actions
        columns = by_column(ActionStatistics._fields, ranked)
        names = [self.action_name(row.action) for row in ranked]
        reported = {
            name: [figures[places[row.action]] for row in ranked]
            for name, figures in self.action_reports.items()
        }
        return {"action": columns.pop("action"), "name": names, **columns, **reported}

    def tables(self, rows: int | None = None) -> list[Table]:
        """The table of at most ``rows`` actions, best first, and the joint table if any."""
        shown = self.ranked_actions[:rows]
        names = [self.action_name(row.action) for row in shown]
        table = Table(action_columns(self.actions, shown, names, self.action_reports))
        return [table] if self.joint is None else [table, self._joint_table(self.joint)]

    def _joint_table(self, joint: JointTable) -> Table:
        """Values of ``player``, visits in parentheses: own actions in rows, best first."""
        names = [action_name(self.state, reply, joint.opponent) for reply in joint.replies]
        ranked = [joint.actions.index(row.action) for row in self.ranked_actions]
        own = [self.action_name(joint.actions[place]) for place in ranked]
        columns = [Column(f"against player {joint.opponent}", own, text=True)]
        for reply, name in enumerate(names):
            pairs = ((joint.values[place][reply], joint.visits[place][reply]) for place in ranked)
            cells = [f"{fixed(value)} ({visits})" for value, visits in pairs]
            columns.append(Column(name, cells))
        return Table(columns)

    def plot(self, *quantities: str, board: bool | None = None) -> "Picture":
        """A picture of the root: one panel per quantity, with the chosen action marked.

        Board games are drawn on the board, others as bars over the actions. A notebook shows the
        picture; ``picture.savefig("search.png")`` writes it.

        Args:
            quantities: names of ``rave_agents.plots.result_plot.QUANTITIES``, such as ``"visits"``,
                ``"value"``, ``"amaf_value"``, ``"outcome"``. By default the first two, AMAF values
                and outcomes if there are any.
            board: True requires a board, False draws bars; by default a board if there is one.

        Raises:
            ImportError: without matplotlib, the extra ``plot``.
            ValueError: for an unknown quantity.
            UnsupportedGameError: with ``board=True``, if no board can be found.
        """
        from rave_agents.plots.result_plot import plot_result  # noqa: PLC0415  (slow: matplotlib)

        return plot_result(self, quantities, board=board)

    def summary(self) -> str:
        """One line on the root: the chosen action and its value, effort, principal variation."""
        values = (row.value for row in self.actions if row.action == self.action)
        value = next(values, None)
        line = (
            f"player {self.player} plays {self.action_name(self.action)}, "
            f"value {fixed(self.value if value is None else value)}, "
            f"{self.simulations} simulations in {self.seconds:.3f} s"
        )
        if self.provider is not None:
            line += f" ({self.provider})"
        if self.known is not None:
            line += f", using a {self.learned} learned for {self.known}"
            line += " on a board of another size" if self.other_size else ""
            line += ", with minimax backups" if self.minimax else ""
        if self.proven is not None:
            line += f", proven {self.proven}"
        if not self.searched:
            line += f", {self.why_not_searched}"
        if self.principal_variation:
            line += f", expects {' '.join(self.principal_variation_names)}"
        return line

    @property
    def remarks(self) -> list[str]:
        """Lines on the worlds drawn and on learned trust, if there are any."""
        lines = [] if self.worlds is None else [self.worlds.summary()]
        if self.solver_positions > 0:
            lines.append(f"the exact solver expanded {counted(self.solver_positions, 'position')}")
        trusts = (self.amaf_trust, self.proof_trust, self.value_trust)
        for (what, meanings), trust in zip(_MEANINGS.items(), trusts, strict=True):
            if trust is None or self.simulations == 0 or (trust >= 1 and what == "proof numbers"):
                continue
            place = 0 if trust > MUCH_TRUSTED else 2 if trust < LITTLE_TRUSTED else 1
            lines.append(f"{what} trusted {trust:.2f}: {meanings[place]}")
        return lines + [f"{name} {value:.3f}" for name, value in self.reports.items()]

    @property
    def why_not_searched(self) -> str:
        """Label of a result without search."""
        return "forced" if self.forced else "NOT SEARCHED for lack of time: drawn at random"


def _can_take(state: GameState, movers: Sequence[int], step: Sequence[int]) -> bool:
    if state.is_chance_node():
        return True
    if is_simultaneous(state):
        return all(
            action in state.legal_actions(player)  # type: ignore[call-arg]
            for player, action in zip(movers, step, strict=True)
        )
    return not state.is_terminal() and step[0] in state.legal_actions()
