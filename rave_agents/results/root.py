"""The root of one or several trees: statistics of its moves, the principal variation."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rave_agents.config.part_specs import is_own, part_raised
from rave_agents.errors import FormulaError
from rave_agents.game.arguments import is_number
from rave_agents.game.game_state import GameState, legal_actions_of
from rave_agents.kernel.amaf.report import AmafStatistics
from rave_agents.kernel.backup import edge_sums
from rave_agents.kernel.declarations import report_moves, report_root
from rave_agents.kernel.halving import Halved
from rave_agents.kernel.proofs.report import (
    NO_PROOF,
    EdgeProof,
    NumberPair,
    solved_outcome,
    solving_edge,
    winning_edge,
)
from rave_agents.kernel.proofs.solver import UNSOLVED
from rave_agents.kernel.tree import ROOT, UNEXPANDED
from rave_agents.tree.joint_positions import (
    JointVisits,
    find_joint_child,
    joint_visits,
    players_node,
    position_nodes,
)
from rave_agents.tree.root_position import RootProof
from rave_agents.tree.search_tree import SearchTree


class RootMove(NamedTuple):
    """Statistics and proofs of one root action; values are scaled to [0, 1]."""

    action: int
    """The action."""
    visits: int
    """Simulations that began with it."""
    value_sum: float
    """Sum of the values of these simulations."""
    prior: float
    """Prior probability, including noise."""
    amaf: AmafStatistics
    """Its AMAF statistics."""
    proof: EdgeProof
    """Its proven facts."""
    strategy: float = 0.0
    """Sum of its probabilities in the mixed strategies so far, without exploration."""
    halved: Halved | None = None
    """Its state in Gumbel planning; None without it, and for joint actions."""


class Root(NamedTuple):
    """Statistics and proofs of a root position."""

    moves: tuple[RootMove, ...]
    """Every legal action, in the game's order."""
    visits: int
    """Simulations through the root; 0 if it has no node yet."""
    low: float
    """The utility that maps to the value 0; ``inf`` while unknown."""
    high: float
    """The utility that maps to the value 1; ``-inf`` while unknown."""
    outcome: tuple[float, ...] | None = None
    """The proven utilities of all players, else None."""
    distance: int = UNSOLVED
    """Moves to the end of the game if solved, else ``UNSOLVED``."""
    proof_number: float | None = None
    """Proof number of a win of the player to move; None without proof numbers."""
    disproof_number: float | None = None
    """Disproof number of a win of the player to move; None without proof numbers."""
    clear_cut: bool = False
    """True if all known ends are wins, draws or losses of two players, without chance."""
    expected: bool = False
    """True if the tree has chance nodes, so that outcomes may be expectations."""
    player: int = 0
    """The player whose actions these are."""
    num_players: int = 2
    """Number of the game's players."""
    place: int = 0
    """The index of the player's action in a joint action."""
    joint: tuple[JointVisits, ...] = ()
    """Every visited joint action, in order, if moves are simultaneous."""
    amaf_trust: float | None = None
    """The trust in AMAF values, from 0 to 1, if it is learned, else None."""
    proof_trust: float | None = None
    """The trust in the bonus of proof numbers, from 0 to 1, if it is learned, else None."""
    value_trust: float | None = None
    """The trust in values learned online, from 0 to 1, else None."""
    reports: Mapping[str, float] = {}
    """Figures reported by custom parts, by name."""
    action_reports: Mapping[str, tuple[float, ...]] = {}
    """Figures of each move reported by custom parts, by name."""

    def utility(self, value_sum: float, visits: float) -> float | None:
        """A mean value in the game's utilities; None without visits."""
        if visits == 0:
            return None
        return self.low + float(value_sum) / float(visits) * (self.high - self.low)

    def move(self, action: int) -> RootMove:
        """The root's move with this action."""
        return next(move for move in self.moves if move.action == action)


def unknown_root(state: GameState, player: int) -> Root:
    """The root before the first simulation: only its legal actions."""
    actions = legal_actions_of(state, player)
    unknown = (0, 0.0, 1.0 / len(actions), AmafStatistics(), EdgeProof())
    moves = tuple(RootMove(int(action), *unknown) for action in actions)
    return Root(moves, 0, math.inf, -math.inf, player=player, num_players=state.num_players())


def known_root(tree: SearchTree, parts: Sequence[Any] | None = None) -> Root:
    """The root of a tree, from its statistics and its parts' reports.

    Args:
        tree: a tree with a root.
        parts: the running parts to report; None for all.
    """
    arrays, moves, search = tree.arrays, tree.running.moves, tree.search()
    player, node, joint = tree.root.player, ROOT, []
    if tree.joint:  # With simultaneous moves, each moving player has a node of their own.
        node = players_node(arrays, moves, ROOT, player)
        joint = joint_visits(arrays, moves, ROOT)
    # The edges of a node are consecutive.
    first, count = int(arrays.node_first_edge[node]), int(arrays.node_edge_count[node])
    edges, rows = slice(first, first + count), range(first, first + count)
    actions = arrays.edge_action[edges].tolist()
    if tree.numbers is not None:
        actions = tree.numbers.ids(actions)
        joint = [row._replace(actions=tuple(tree.numbers.ids(row.actions))) for row in joint]
    figures: dict[str, Any] = {}
    columns: dict[str, Sequence[Any]] = {
        "amaf": [AmafStatistics()] * count,
        "proof": [NO_PROOF] * count,
        "strategy": [0.0] * count,
        "halved": [None] * count,
    }
    reports = (report_root, (search,), figures), (report_moves, (search, node, rows), columns)
    for part in tree.records if parts is None else parts:
        for opened, arguments, found in reports:
            body = opened.implementations.get(type(part))
            if body is not None:
                try:
                    found.update(body(part, *arguments))
                except Exception as error:
                    if is_own(type(part)):
                        raise part_raised(part, opened, error) from error
                    raise
    sums = arrays.edge_value_sum[edges]
    if not tree.has_plain_sums:  # A backup other than the mean keeps its own values.
        sums = edge_sums(tree.running.backup, search, node, rows)
    moves = map(
        RootMove,
        actions,
        arrays.edge_visits[edges].tolist(),
        sums.tolist(),
        arrays.edge_prior[edges].tolist(),
        *map(columns.pop, _COLUMNS),
    )
    own = list(itertools.filterfalse(_FIGURES.__contains__, figures))
    low, high = tree.utility_range.tolist()
    return Root(
        moves=tuple(moves),
        player=player,
        num_players=tree.num_players,
        place=node - ROOT,
        joint=tuple(joint),
        visits=int(arrays.node_visits[ROOT]),
        low=low,
        high=high,
        reports=_numbers(dict(zip(own, map(figures.pop, own), strict=True))) if own else {},
        action_reports=_columns(columns, count) if columns else {},
        **figures,
    )


_FIGURES = {
    "outcome",
    "distance",
    "proof_number",
    "disproof_number",
    "clear_cut",
    "expected",
    "amaf_trust",
    "proof_trust",
    "value_trust",
}
_COLUMNS = ("amaf", "proof", "strategy", "halved")


def _numbers(figures: Mapping[str, Any]) -> dict[str, float]:
    """Figures of custom parts as numbers; raises for others."""
    for name, figure in figures.items():
        if not is_number(figure):
            raise FormulaError(f"A part must report {name!r} as a number, got {figure!r}.")
    return {name: float(figure) for name, figure in figures.items()}


def _columns(columns: Mapping[str, Sequence[Any]], count: int) -> dict[str, tuple[float, ...]]:
    """Columns of custom parts, one number per action; raises for others."""
    for name, column in columns.items():
        if len(column) != count:
            raise FormulaError(
                f"report_moves must return {name!r} for each of {count} actions, got "
                f"{len(column)} figures."
            )
        for figure in column:
            _numbers({name: figure})
    return {name: tuple(map(float, column)) for name, column in columns.items()}


def with_proof(root: Root, proof: RootProof, total: float) -> Root:
    """A root with a solver's proofs added.

    Args:
        root: the root from its trees.
        proof: the solver's proofs.
        total: the constant sum of two players' returns; NaN without one.
    """
    if root.outcome is not None:
        return root
    moves = []
    for move in root.moves:
        found, known = proof.moves.get(move.action), move.proof
        if found is not None and not known.solved:
            low, high = max(known.low, found.low), min(known.high, found.high)
            solved = low >= high
            known = known._replace(
                low=low,
                high=max(low, high),
                distance=found.distance if solved else UNSOLVED,
                lost=solved and total - low > low,
            )
        moves.append(move._replace(proof=known))
    root = root._replace(moves=tuple(moves))
    if proof.value is None:
        return root
    others = total - proof.value
    if root.num_players > 1 and math.isnan(total):  # The others' returns are unknown.
        return root._replace(proof_number=0.0, disproof_number=math.inf)
    outcome = [others] * root.num_players
    outcome[root.player] = proof.value
    root = root._replace(outcome=tuple(outcome), distance=len(proof.line))
    if root.proof_number is None:
        return root
    won = root.num_players > 1 and proof.value > others
    numbers = (0.0, math.inf) if won else (math.inf, 0.0)
    return root._replace(proof_number=numbers[0], disproof_number=numbers[1])


def merged_root(roots: Sequence[Root]) -> Root:
    """Merge several trees' roots of one position: add visits and sums, combine proofs.

    If a tree has solved the root, only its proofs count, so that final move, distance and outcome
    are consistent.
    """
    known = [root for root in roots if root.visits > 0]
    if len(known) <= 1:
        return known[0] if known else roots[0]
    # Trees scale values by the utilities that they have seen, which may differ.
    low, high = min(root.low for root in known), max(root.high for root in known)
    scaled = [_rescaled_root(root, low, high) for root in known]
    solved = [root for root in scaled if root.outcome is not None]
    best = min(solved, key=lambda root: root.distance, default=None)
    numbers = [(root.proof_number, root.disproof_number) for root in scaled]
    proof_number, disproof_number = _merged_numbers(numbers)
    merged = Root(
        moves=_merged_moves(scaled, best),
        visits=sum(root.visits for root in scaled),
        low=low,
        high=high,
        proof_number=proof_number,
        disproof_number=disproof_number,
        clear_cut=all(root.clear_cut for root in known),
        expected=any(root.expected for root in known),
        player=known[0].player,
        num_players=known[0].num_players,
        place=known[0].place,
        joint=_merged_joint(scaled),
        amaf_trust=_mean([root.amaf_trust for root in known]),
        proof_trust=_mean([root.proof_trust for root in known]),
        value_trust=_mean([root.value_trust for root in known]),
        reports=_mean_reports([root.reports for root in known]),
        action_reports=_mean_columns([root.action_reports for root in known]),
    )
    if best is None:
        return merged
    return merged._replace(
        outcome=best.outcome,
        distance=best.distance,
        proof_number=best.proof_number,
        disproof_number=best.disproof_number,
    )


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None


def _mean_reports(reports: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for report in reports for name in report)
    found = {name: _mean([report.get(name) for report in reports]) for name in names}
    return {name: mean for name, mean in found.items() if mean is not None}


def _mean_columns(
    reports: Sequence[Mapping[str, tuple[float, ...]]],
) -> dict[str, tuple[float, ...]]:
    names = dict.fromkeys(name for report in reports for name in report)
    columns_of = {name: [report[name] for report in reports if name in report] for name in names}
    return {
        name: tuple(sum(figures) / len(figures) for figures in zip(*columns, strict=True))
        for name, columns in columns_of.items()
    }


def _merged_moves(roots: Sequence[Root], prover: Root | None) -> tuple[RootMove, ...]:
    """Merge several trees' moves; with ``prover``, its proofs count."""
    rows = [{move.action: move for move in root.moves} for root in roots]
    proofs = {} if prover is None else {move.action: move.proof for move in prover.moves}
    return tuple(
        _merged_move([moves[action] for moves in rows], proofs.get(action)) for action in rows[0]
    )


def _merged_move(moves: Sequence[RootMove], proof: EdgeProof | None) -> RootMove:
    return RootMove(
        action=moves[0].action,
        visits=sum(move.visits for move in moves),
        value_sum=sum(move.value_sum for move in moves),
        prior=moves[0].prior,
        amaf=AmafStatistics(*map(sum, zip(*(move.amaf for move in moves), strict=True))),
        proof=_merged_proof([move.proof for move in moves]) if proof is None else proof,
        strategy=sum(move.strategy for move in moves),
    )


def _merged_proof(proofs: Sequence[EdgeProof]) -> EdgeProof:
    """The combined proof of one action from several trees: tightest bounds, smallest numbers.

    Trees may disagree on an outcome if they break ties between equally good moves differently; the
    first tree with the shortest distance to the end then counts.
    """
    solved = [proof for proof in proofs if proof.solved]
    if solved:
        found = min(solved, key=lambda proof: proof.distance)
    else:
        low, high = max(proof.low for proof in proofs), min(proof.high for proof in proofs)
        found = proofs[0]._replace(low=low, high=high) if low <= high else proofs[0]
    if found.proof_number is None:
        return found
    proof_number, disproof_number = _merged_numbers(
        [(proof.proof_number, proof.disproof_number) for proof in proofs]
    )
    return found._replace(
        lost=any(proof.lost for proof in proofs),
        proof_number=proof_number,
        disproof_number=disproof_number,
    )


def _merged_numbers(numbers: Sequence[NumberPair]) -> NumberPair:
    """The smallest proof and disproof number of several trees; 0 and infinity once one is 0.

    Each tree shows a way to prove or disprove with so much work left, so the minimum holds.
    """
    proof = min((proof for proof, _ in numbers if proof is not None), default=None)
    disproof = min((disproof for _, disproof in numbers if disproof is not None), default=None)
    return math.inf if disproof == 0.0 else proof, math.inf if proof == 0.0 else disproof


def _merged_joint(roots: Sequence[Root]) -> tuple[JointVisits, ...]:
    merged: dict[tuple[int, ...], JointVisits] = {}
    for row in (row for root in roots for row in root.joint):
        if row.actions in merged:
            known = merged[row.actions]
            sums = tuple(map(sum, zip(known.value_sums, row.value_sums, strict=True)))
            row = JointVisits(row.actions, known.visits + row.visits, sums)  # noqa: PLW2901
        merged[row.actions] = row
    return tuple(sorted(merged.values()))


def _rescaled_root(root: Root, low: float, high: float) -> Root:
    if (root.low, root.high) == (low, high):
        return root

    def rescaled_sum(value_sum: float, visits: float) -> float:
        # Each of the visits contributes (utility - low) / (high - low).
        utilities = value_sum * (root.high - root.low) + visits * root.low
        return float((utilities - visits * low) / (high - low))

    moves = tuple(
        move._replace(
            value_sum=rescaled_sum(move.value_sum, move.visits),
            amaf=move.amaf._replace(value_sum=rescaled_sum(move.amaf.value_sum, move.amaf.visits)),
        )
        for move in root.moves
    )
    joint = tuple(
        row._replace(value_sums=tuple(rescaled_sum(s, row.visits) for s in row.value_sums))
        for row in root.joint
    )
    return root._replace(moves=moves, low=low, high=high, joint=joint)


def leading_tree(roots: Sequence[Root], action: int) -> int:
    """The index of the tree whose principal variation is reported for an action.

    The tree that has solved the root, else proven the action, else visited it most; the first among
    equals.
    """

    def authority(index: int) -> tuple[bool, int, bool, int]:
        root = roots[index]
        move = root.move(action)
        proven = move.proof.solved or move.proof.proof_number == 0.0
        return (root.outcome is not None, -root.distance, proven, move.visits)

    return max(range(len(roots)), key=authority)


def principal_variation(tree: SearchTree, action: int) -> tuple[int, ...]:
    """The chosen action, then at each node the proven or else the most visited one.

    For simultaneous moves, all players' actions follow each other: the most visited joint action,
    at the root one that includes the chosen action.
    """
    if tree.numbers is not None:
        (action,) = tree.numbers.known([action])
    arrays, moves = tree.arrays, tree.running.moves
    line: list[int] = []
    node, step = ROOT, _expected_step(tree, ROOT, action)
    while step:
        line += step
        if tree.joint:
            node = find_joint_child(arrays, moves, node, step)
        else:
            first, count = int(arrays.node_first_edge[node]), int(arrays.node_edge_count[node])
            edge = first + int(np.argmax(arrays.edge_action[first : first + count] == step[0]))
            node = int(arrays.edge_child[edge])
        ends = node in (UNEXPANDED, ROOT) or arrays.node_edge_count[node] == 0
        step = () if ends else _expected_step(tree, node)
    return tuple(line if tree.numbers is None else tree.numbers.ids(line))


def _expected_step(tree: SearchTree, node: int, action: int | None = None) -> Sequence[int]:
    """The actions expected at a node, one per mover; ``action`` fixes the searching player's.

    Empty without visits or proofs.
    """
    arrays, moves = tree.arrays, tree.running.moves
    nodes = position_nodes(moves, node) if tree.joint else (node,)
    if len(nodes) > 1:
        rows = joint_visits(arrays, moves, node)
        if action is not None:
            place = [int(arrays.node_player[row]) for row in nodes].index(tree.root.player)
            rows = [row for row in rows if row.actions[place] == action]
        return max(rows, key=lambda row: row.visits).actions if rows else ()
    if action is not None:
        return (action,)
    first, count = int(arrays.node_first_edge[node]), int(arrays.node_edge_count[node])
    edge = first + int(np.argmax(arrays.edge_visits[first : first + count]))
    solved, proven = False, None
    if tree.proves:
        proofs = tree.proofs
        solved = solved_outcome(proofs, node) is not None
        proven = (solving_edge if solved else winning_edge)(arrays, proofs, node)
    if proven is not None:
        edge = proven
    elif arrays.edge_visits[edge] == 0 and not solved:
        return ()
    return (int(arrays.edge_action[edge]),)
