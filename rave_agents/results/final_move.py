"""The final move: the probability of playing each root action."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from rave_agents.config.final_moves import (
    AverageStrategy,
    BestOutcome,
    MatrixEquilibrium,
    Maximin,
    Survivor,
    VisitShares,
    preference,
)
from rave_agents.config.part_specs import is_own, part_raised
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import FormulaError
from rave_agents.kernel.amaf.winning_moves import weighted_win_rate
from rave_agents.kernel.proofs.report import NO_PROOF
from rave_agents.kernel.proofs.solver import UNSOLVED
from rave_agents.results.action_statistics import ActionStatistics
from rave_agents.results.matrix_equilibrium import equilibrium_shares, knows_matrix
from rave_agents.results.root import Root, RootMove

DRAW = 0.5
"""The value of a draw on the scale [0, 1]."""

_Key = Callable[[RootMove], tuple[float, ...]]
_Keys = dict[int, tuple[float, ...]]


def scaled(utility: float, low: float, high: float) -> float:
    """``(utility - low) / (high - low)``: a utility scaled to [0, 1]; 0 while ``low == high``."""
    return 0.0 if high <= low else (utility - low) / (high - low)


def root_statistics(root: Root, config: SearchConfig) -> tuple[ActionStatistics, ...]:
    """The statistics of every legal action, with the probability of playing it."""
    statistics = []
    low, width = root.low, root.high - root.low
    for move, probability in zip(root.moves, final_policy(root, config), strict=True):
        action, visits, value_sum, prior, amaf, proof, _, halved = move
        amaf_visits = amaf.visits
        row = ActionStatistics(
            action,
            visits,
            None if visits == 0 else low + value_sum / visits * width,
            prior,
            amaf_visits,
            None if amaf_visits == 0 else low + amaf.value_sum / amaf_visits * width,
            probability,
            improved=None if halved is None else halved.improved,
        )
        if amaf.wins > 0 or proof is not NO_PROOF:
            won, solved = amaf.wins > 0, proof.distance != UNSOLVED
            rate = weighted_win_rate(amaf_visits, amaf.wins, amaf.win_moves) if won else 0.0
            row = row._replace(
                winning_move_number=amaf.win_moves / amaf.wins if won else None,
                weighted_win_rate=rate,
                outcome=proof.low if solved else None,
                distance=proof.distance if solved else None,
                proof_number=proof.proof_number,
                disproof_number=proof.disproof_number,
            )
        statistics.append(row)
    return tuple(statistics)


def drawn_action(
    moves: Sequence[RootMove | ActionStatistics], policy: Sequence[float], unit: float
) -> int:
    """The action at the quantile ``unit``, in [0, 1), of the cumulative probabilities."""
    # By rounding, the probabilities may add up to less than the quantile.
    last = moves[0].action
    for move, probability in zip(moves, policy, strict=True):
        if probability > 0.0:
            last = move.action
            unit -= probability
            if unit < 0.0:
                break
    return last


def final_policy(root: Root, config: SearchConfig) -> list[float]:
    """The probability of playing each root move."""
    policy, random = _policy(root, config), config.random_moves
    uniform = random / len(root.moves)
    return [(1.0 - random) * probability + uniform for probability in policy]


def _policy(root: Root, config: SearchConfig) -> list[float]:
    """The probability of playing each root move, without ``random_moves``."""
    moves = root.moves
    keys: _Keys
    mixture = _mixture(root, config)
    if mixture is not None:
        return mixture
    if root.joint and isinstance(config.final_move, Maximin):
        worst = worst_values(root, config.final_move.visits)
        keys = {move.action: (worst[move.action], float(move.visits)) for move in moves}
    elif isinstance(config.final_move, Survivor) and root.moves[0].halved is not None:
        keys = {move.action: move.halved[:2] for move in moves if move.halved is not None}
    else:
        keys = _final_keys(root, config)
    allowed = keys
    if isinstance(config.final_move, BestOutcome):
        keys = {move.action: (move.proof.outcome or 0.0, *keys[move.action]) for move in moves}
        # Bounds may prove the root a draw while moves are open: allow only moves sure of the draw.
        sure = -math.inf if root.outcome is None else max(move.proof.low for move in moves)
        allowed = {move.action: keys[move.action] for move in moves if move.proof.low >= sure}
    elif config.knows_outcomes:
        left = _final_moves(root, config, lambda move: keys[move.action])
        allowed = {move.action: keys[move.action] for move in left}
    temperature = config.temperature
    if temperature == 0.0 and not isinstance(config.final_move, VisitShares):
        return _best_only(moves, keys, allowed)
    share = np.zeros(len(moves))
    for place, move in enumerate(moves):
        # Gumbel planning distributes visits by its schedule, so they are no policy.
        own = move.visits if move.halved is None else move.halved.improved
        share[place] = own * (move.action in allowed)
    if isinstance(config.final_move, VisitShares):
        value = np.array([move.value_sum / max(move.visits, 1) for move in moves])
        least = max(config.final_move.threshold * share.max(), config.final_move.visits)
        share[share < least] = 0.0
        # The best of the most visited ones, which the robust child would be.
        best = value[share == share.max()].max()
        share[value < best - config.final_move.margin] = 0.0
        temperature = temperature or 1.0
    if share.sum() == 0.0:
        return _best_only(moves, keys, allowed)
    with np.errstate(divide="ignore", over="ignore"):
        # share^(1 / temperature), scaled so that the largest is 1 and nothing overflows.
        weights = np.exp(np.log(share / share.max()) / temperature)
    return (weights / weights.sum()).tolist()  # type: ignore[no-any-return]


def _best_only(moves: Sequence[RootMove], keys: _Keys, allowed: _Keys) -> list[float]:
    """Equal probabilities for the allowed moves with the greatest key."""
    best = max(allowed.values())
    share = 1 / list(allowed.values()).count(best)
    return [
        share if move.action in allowed and keys[move.action] == best else 0.0 for move in moves
    ]


def _mixture(root: Root, config: SearchConfig) -> list[float] | None:
    """The average strategy, or an equilibrium of the payoff matrix, if it is to be played."""
    part = config.final_move
    if isinstance(part, AverageStrategy):
        total = sum(move.strategy for move in root.moves)
        return [move.strategy / total for move in root.moves] if total > 0 else None
    unheated = isinstance(part, MatrixEquilibrium) and config.temperature == 0.0
    if unheated and knows_matrix(root, part.fewest):
        return equilibrium_shares(root, part.visits, part.threshold)
    return None


def worst_values(root: Root, few: float) -> dict[int, float]:
    """The mean value of each root action against the others' worst reply.

    Every reply gets ``few`` virtual visits with the action's mean value, so an unseen reply has
    that mean. Actions with fewer than ``few`` visits come last, unless all have fewer.

    Args:
        root: a root with simultaneous moves.
        few: visits, at least 0.
    """
    means = {move.action: move.value_sum / max(move.visits, 1) for move in root.moves}
    worst = dict(means)
    for row in root.joint:
        action = row.actions[root.place]
        # Virtual visits draw replies that were seldom tried towards the action's mean.
        total = row.value_sums[root.player] + few * means[action]
        worst[action] = min(worst[action], total / (row.visits + few))
    seldom = {move.action for move in root.moves if move.visits < max(few, 1)}
    if len(seldom) < len(root.moves):
        worst.update(dict.fromkeys(seldom, -math.inf))
    return worst


def _final_keys(root: Root, config: SearchConfig) -> dict[int, tuple[float, ...]]:
    """Sort keys of the actions: the final move maximises them; unvisited moves come last."""
    part = config.final_move
    body = preference.implementations.get(type(part))
    keys: dict[int, tuple[float, ...]] = {}
    for move in root.moves:
        if move.visits == 0:
            keys[move.action] = (-math.inf, 0.0)
            continue
        value, sure = move.value_sum / move.visits, -math.inf
        if config.knows_outcomes:
            value, sure = _value(root, move), _sure_value(root, move)
        if body is None:  # The default of ``preference``, inlined for speed.
            keys[move.action] = (move.visits, value)
            continue
        try:
            key = body(part, value, move.visits, sure)
        except Exception as error:
            if is_own(type(part)):
                raise part_raised(part, preference, error) from error
            raise
        two = isinstance(key, tuple) and len(key) == 2
        if not two or math.isnan(key[0]) or math.isnan(key[1]):
            raise FormulaError(
                f"{type(part).__name__}: preference must return two numbers, got {key!r}."
            )
        keys[move.action] = key
    return keys


def _final_moves(root: Root, config: SearchConfig, key: _Key) -> Sequence[RootMove]:
    """Candidates for the final move, by their proofs.

    If all moves are solved, the best of them remain: of equal wins the shortest, of losses the
    longest. Otherwise moves that cannot be best are dropped. ``key`` selects the preferred open
    move by statistics. The search may skip settled moves, so their visits mean nothing. The move
    with the best guaranteed return, unless that is the worst of all, is played if it is at least
    the mean value of the preferred open move; in clear-cut games, a sure draw is played if that
    mean is below ``config.contempt``.

    Args:
        root: the root's statistics and proofs.
        config: the search's configuration.
        key: the sort key that the final move maximises otherwise.
    """
    moves = root.moves
    if not config.knows_outcomes:
        return moves
    sure = max(move.proof.low for move in moves)
    # Dropped: moves whose best outcome is at most what another move guarantees.
    left = [move for move in moves if not move.proof.low < sure >= move.proof.high]
    open_moves = [move for move in left if move.proof.low < move.proof.high]
    surest = [move for move in left if move.proof.low == sure]
    if root.outcome is not None or not open_moves:
        return _best_solved(moves) or surest
    value, most = _value(root, max(open_moves, key=key)), _sure_value(root, surest[0])
    if root.clear_cut and most == DRAW:
        return surest if value < config.contempt else open_moves
    if most <= 0.0 or most < value:
        return open_moves
    return _best_solved(surest) or surest


def _value(root: Root, move: RootMove) -> float:
    """A move's mean value, clipped to proven bounds; a draw's value without visits."""
    value = move.value_sum / move.visits if move.visits > 0 else DRAW
    if root.low >= root.high:
        return value
    most = scaled(move.proof.high, root.low, root.high)
    return max(min(value, most), _sure_value(root, move))


def _sure_value(root: Root, move: RootMove) -> float:
    """The guaranteed value of a move, in [0, 1]."""
    if root.high <= root.low:
        return 0.0
    return (move.proof.low - root.low) / (root.high - root.low)


def _best_solved(moves: Sequence[RootMove]) -> Sequence[RootMove]:
    """The best of the solved moves, all equally good; empty if none is solved."""
    best = max((_merit(move) for move in moves if move.proof.solved), default=None)
    return [move for move in moves if move.proof.solved and _merit(move) == best]


def _merit(move: RootMove) -> tuple[float, bool, int]:
    """Sort key of a solved move for the player who takes it, as ``solver.is_better``."""
    # Win soon, lose late.
    proof = move.proof
    return proof.low, not proof.lost, proof.distance if proof.lost else -proof.distance
