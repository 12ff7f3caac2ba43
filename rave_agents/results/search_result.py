"""Result of a search."""

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rave_agents.game.game_state import GameState, apply_path, is_simultaneous, moving_players
from rave_agents.game.notation import action_name
from rave_agents.results.action_statistics import ActionStatistics, action_columns, number_text
from rave_agents.results.numbers import counted
from rave_agents.results.payoff_matrix import JointTable
from rave_agents.results.result import Result, by_column
from rave_agents.results.tables import Column, Table
from rave_agents.results.trust_words import amaf_meaning, proof_meaning, value_meaning
from rave_agents.results.world_statistics import WorldStatistics

if TYPE_CHECKING:
    from rave_agents.plots.figures import Picture


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class SearchResult(Result):
    """The chosen action and all that the search knows of the root.

    Values are expected returns of ``player``, in the game's utilities. Its rows are the legal
    actions, the best first.
    """

    player: int
    """The player to move at the root."""
    action: int
    """The action to play."""
    actions: tuple[ActionStatistics, ...]
    """Every legal action, in the game's order."""
    value: float | None
    """Mean return of all simulations; without any, the one that the exact solver has proven; None
    if there is neither."""
    outcome: tuple[float, ...] | None = None
    """The returns of all players with best play, if they are proven; else None."""
    expected: bool = False
    """True if chance moves in the tree: ``outcome`` is then what players can expect, exact to some
    ten-millionths of the range of utilities: a tree has probabilities in single precision."""
    proof_number: float | None = None
    """Proof number of a win of ``player``: the least number of leaves that must be won to prove it;
    0 if it is proven, infinite if it is disproven; None without proof numbers."""
    disproof_number: float | None = None
    """Disproof number likewise: the least number of leaves that must not be won to prove that
    they cannot force a win."""
    principal_variation: tuple[int, ...]
    """The actions that the search expects, from the root on, chance outcomes included."""
    simulations: int
    """Simulations of this search."""
    root_visits: int
    """Simulations in the tree, those kept from earlier searches included."""
    seconds: float
    """Wall-clock seconds of this search."""
    nodes: int
    """Nodes in the tree."""
    memory_bytes: int
    """Bytes that the tree takes."""
    memory_full: bool
    """True if all trees reached ``max_memory_mb``: they have forgotten leaves, or stay as they are,
    see ``SearchConfig.max_memory_mb``."""
    provider: str | None = None
    """The provider of this search's simulations: ``"native"`` (OpenSpiel's C++ states, by the
    compiled bridge), ``"compiled rules"`` (a game compiled by Numba), ``"python"`` (the state's
    methods), ``"python with C++ playouts"`` (those, and playouts by OpenSpiel's bots), or a name of
    its own. With one seed, two of them may choose different moves. None if there were no
    simulations."""
    known: str | None = None
    """The game whose learned value or policy was used, a shipped value (``SearchConfig.known``) or
    what a file holds; None without one."""
    learned: str | None = None
    """The kind of what was learned of that game: ``"value"`` or ``"policy"``; None likewise."""
    other_size: bool = False
    """True if that game has a board of another size, see ``rave_agents.knowledge.other_sizes``."""
    minimax: bool = False
    """True if the values were backed up by minimax because their file says that this is better, see
    ``AdaptiveBackup``."""
    solver_positions: int = 0
    """Positions that the exact solver expanded before the search, see
    ``SearchConfig.endgame_share``; 0 where it was not tried. If it solved the root, ``outcome`` is
    what it proved, and the principal variation its line."""
    took_part: tuple[str, ...] = ()
    """What took part in the search, such as ``"learned value"``, ``"uniform playouts"``, ``"cut
    playouts"``, ``"pattern playouts"``, ``"AMAF"``, ``"solver"`` or ``"endgame solver"``; empty
    without a search. Of what the search trusts in part, ``amaf_trust``, ``proof_trust`` and
    ``value_trust`` are the weights. See docs/reference/taking_part.md."""
    joint: JointTable | None = None
    """Statistics of every pair of actions, where two players move at the same time."""
    amaf_trust: float | None = None
    """Trust in AMAF values at the end, from 0 to 1, where the search learns it
    (``NodeAmaf(trust=LearnedTrust())``, as in ``auto``): as far as actions were no longer legal
    after their player had taken them, and still legal if they had not; where something is hidden
    also as far as values of actions taken later differed less than edges' own. Else None, as before
    the first action that could be legal again, and where players move at the same time."""
    proof_trust: float | None = None
    """Trust in the bonus of proof numbers at the end, from 0 to 1, where the search learns it
    (``ProofNumbers(bonus_trust=LearnedBonusTrust())``, as in ``auto``): less than 1 where moves
    with a greater bonus had the lesser values and actions pass if nobody takes them, and where all
    moves leave as many replies, as in Hex. Else None."""
    value_trust: float | None = None
    """Trust in values that the search learned from its own playouts at the end, from 0 to 1, where
    it learns any (``learning=OnlineValue()``, as in ``auto``): by how much better they foretell the
    ends of playouts than the mean of all ends does. Else None."""
    reports: Mapping[str, float] = dataclasses.field(default_factory=dict, hash=False)
    """Figures of the root that parts of your own report (``report_root``), by their names; of
    several threads' trees the mean."""
    action_reports: Mapping[str, tuple[float, ...]] = dataclasses.field(
        default_factory=dict, hash=False
    )
    """Figures that they report of each of ``actions`` (``report_moves``), likewise."""
    worlds: WorldStatistics | None = None
    """The worlds that it drew, where something is hidden and it determinizes; else None."""
    state: GameState = dataclasses.field(repr=False, compare=False)
    """A clone of the root position, for the names of its actions."""

    @property
    def forced(self) -> bool:
        """True if a single action is legal, so that there was nothing to choose."""
        return len(self.actions) == 1

    @property
    def searched(self) -> bool:
        """True if any simulation tells of an action, or all is proven.

        If not, and the action is not forced, there was no time, and it is drawn at random.
        """
        return self.outcome is not None or any(row.visits > 0 for row in self.actions)

    @property
    def policy(self) -> list[tuple[int, float]]:
        """Every legal action and the probability of playing it."""
        return [(row.action, row.probability) for row in self.actions]

    @property
    def training_policy(self) -> list[tuple[int, float]]:
        """Every legal action and its share, which sum to 1: what a network is to learn from it.

        With ``rule=gumbel`` that is the improved policy, otherwise the share of the visits.
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
        """The proven outcome for ``player``: ``"win"``, ``"draw"``, ``"loss"``, or nothing (None).

        They win with more than every other player, and lose with less than another player. In a
        game for one player, they win with the game's greatest utility and lose with less, as for
        proof numbers; None where the game states no greatest utility. Where chance moves, they win
        with the game's greatest utility and lose with its least; all between is expected, and
        nothing of these. Proof numbers alone may prove a win, without an ``outcome``.
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

    @property
    def simulations_per_second(self) -> float:
        """Simulations of this search by its seconds."""
        return self.simulations / self.seconds if self.seconds > 0 else 0.0

    @property
    def ranked_actions(self) -> list[ActionStatistics]:
        """The actions, the chosen one first, then by visits, AMAF visits and value."""

        def key(row: ActionStatistics) -> tuple[bool, int, float, float]:
            chosen = row.action == self.action
            return (chosen, row.visits, row.amaf_visits, row.value or 0.0)

        return sorted(self.actions, key=key, reverse=True)

    def action_name(self, action: int) -> str:
        """The action of the root as people write it; its number if the game does not say."""
        return action_name(self.state, action, self.player)

    @functools.cached_property
    def principal_variation_names(self) -> tuple[str, ...]:
        """The principal variation as people write it."""
        state = self.state.clone()
        line = self.principal_variation
        names: list[str] = []
        while len(names) < len(line):
            movers = moving_players(state) if is_simultaneous(state) else [state.current_player()]
            step = line[len(names) : len(names) + len(movers)]
            if len(step) < len(movers):  # A forced move: nothing is known of the others' actions.
                return (*names, *(action_name(state, action, self.player) for action in step))
            if not _can_take(state, movers, step):  # An environment has drawn another outcome.
                return (*names, *map(str, line[len(names) :]))
            names += [action_name(state, *pair) for pair in zip(step, movers, strict=True)]
            apply_path(state, step)
        return tuple(names)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, fit for JSON."""
        return {
            "player": self.player,
            "action": self.action,
            "action_name": self.action_name(self.action),
            "value": self.value,
            "outcome": None if self.outcome is None else list(self.outcome),
            "expected": self.expected,
            "proven": self.proven,
            "proof_number": self.proof_number,
            "disproof_number": self.disproof_number,
            "simulations": self.simulations,
            "root_visits": self.root_visits,
            "seconds": self.seconds,
            "nodes": self.nodes,
            "memory_bytes": self.memory_bytes,
            "memory_full": self.memory_full,
            "provider": self.provider,
            "known": self.known,
            "learned": self.learned,
            "other_size": self.other_size,
            "minimax": self.minimax,
            "solver_positions": self.solver_positions,
            "took_part": list(self.took_part),
            "forced": self.forced,
            "searched": self.searched,
            "amaf_trust": self.amaf_trust,
            "proof_trust": self.proof_trust,
            "value_trust": self.value_trust,
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
        """``ActionStatistics`` of each action, its name, and figures of parts of your own."""
        places = {row.action: place for place, row in enumerate(self.actions)}
        ranked = self.ranked_actions
        columns = by_column(ActionStatistics._fields, ranked)
        names = [self.action_name(row.action) for row in ranked]
        told = {
            name: [figures[places[row.action]] for row in ranked]
            for name, figures in self.action_reports.items()
        }
        return {"action": columns.pop("action"), "name": names, **columns, **told}

    def tables(self, rows: int | None = None) -> list[Table]:
        """The actions, best first, at most so many; and the joint table where there is one."""
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
            cells = [f"{number_text(value)} ({visits})" for value, visits in pairs]
            columns.append(Column(name, cells))
        return Table(columns)

    def plot(self, *quantities: str, board: bool | None = None) -> "Picture":
        """A picture of the root: a panel for each quantity, the chosen action marked.

        Boards are drawn with their stones, other games as bars over the actions. A notebook shows
        the picture; ``picture.savefig("search.png")`` writes it.

        Args:
            quantities: names of ``rave_agents.plots.result_plot.QUANTITIES``, such as ``"visits"``,
                ``"value"``, ``"amaf_value"``, ``"outcome"``. By default the first two, the AMAF
                values where there are any, and what is proven if anything is.
            board: True demands the board, False draws bars; by default whichever there is.

        Raises:
            ImportError: without matplotlib, the extra ``plot``.
            ValueError: for a quantity that there is not.
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
            f"value {number_text(self.value if value is None else value)}, "
            f"{self.simulations} simulations in {self.seconds:.3f} s"
        )
        if self.provider is not None:
            line += f" ({self.provider})"
        if self.known is not None:
            line += f", by a {self.learned} learned of {self.known}"
            line += ", a board of another size" if self.other_size else ""
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
        """Lines on the worlds that were drawn and on what the search trusts, if there are any."""
        lines = [] if self.worlds is None else [self.worlds.summary()]
        if self.solver_positions > 0:
            lines.append(f"the exact solver looked at {counted(self.solver_positions, 'position')}")
        if self.amaf_trust is not None and self.simulations > 0:
            lines.append(f"AMAF trusted {self.amaf_trust:.2f}: {amaf_meaning(self.amaf_trust)}")
        if self.proof_trust is not None and self.proof_trust < 1.0 and self.simulations > 0:
            lines.append(
                f"proof numbers trusted {self.proof_trust:.2f}: {proof_meaning(self.proof_trust)}"
            )
        if self.value_trust is not None and self.simulations > 0:
            foretold = value_meaning(self.value_trust)
            lines.append(f"values learned from playouts trusted {self.value_trust:.2f}: {foretold}")
        return lines + [f"{name} {value:.3f}" for name, value in self.reports.items()]

    @property
    def why_not_searched(self) -> str:
        """Label of a result without a search."""
        return "forced" if self.forced else "NOT SEARCHED for lack of time: drawn at random"


def _can_take(state: GameState, movers: Sequence[int], step: Sequence[int]) -> bool:
    """True if actions are legal, or an outcome of chance is to come."""
    if state.is_chance_node():
        return True
    if is_simultaneous(state):
        return all(
            action in state.legal_actions(player)  # type: ignore[call-arg]
            for player, action in zip(movers, step, strict=True)
        )
    return not state.is_terminal() and step[0] in state.legal_actions()
