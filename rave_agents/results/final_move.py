"""The final move: the probability of playing each of the root's actions."""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from rave_agents.config.final_moves import AverageStrategy, Maximin, preference
from rave_agents.config.part_specs import call_part
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import FormulaError
from rave_agents.kernel.winning_moves import weighted_win_rate
from rave_agents.results.root import Root, RootMove
from rave_agents.results.search_result import ActionStatistics

DRAW = 0.5
"""What a draw is worth on the scale [0, 1]."""

_Key = Callable[[RootMove], tuple[float, float]]


def scaled(utility: float, low: float, high: float) -> float:
    """``(utility - low) / (high - low)``: a utility scaled to [0, 1]; 0 while ``low == high``."""
    return 0.0 if high <= low else (utility - low) / (high - low)


def root_statistics(root: Root, config: SearchConfig) -> tuple[ActionStatistics, ...]:
    """The statistics of every legal action, with the probability of playing it."""
    return tuple(
        _action_statistics(root, move, probability)
        for move, probability in zip(root.moves, _policy(root, config), strict=True)
    )


def drawn_action(statistics: Sequence[ActionStatistics], unit: float) -> int:
    """The action at ``unit``, in [0, 1), of the cumulative probabilities."""
    candidates = [row for row in statistics if row.probability > 0.0]
    for row in candidates:
        unit -= row.probability
        if unit < 0.0:
            return row.action
    return candidates[-1].action


def _action_statistics(root: Root, move: RootMove, probability: float) -> ActionStatistics:
    amaf, proof = move.amaf, move.proof
    return ActionStatistics(
        action=move.action,
        visits=move.visits,
        value=root.utility(move.value_sum, move.visits),
        prior=move.prior,
        amaf_visits=amaf.visits,
        amaf_value=root.utility(amaf.value_sum, amaf.visits),
        winning_move_number=amaf.win_moves / amaf.wins if amaf.wins > 0 else None,
        weighted_win_rate=weighted_win_rate(amaf.visits, amaf.wins, amaf.win_moves),
        outcome=proof.outcome,
        distance=proof.distance if proof.solved else None,
        proof_number=proof.proof_number,
        disproof_number=proof.disproof_number,
        probability=probability,
    )


def _policy(root: Root, config: SearchConfig) -> list[float]:
    """The probability of playing each of the root's moves."""
    strategies = [move.strategy for move in root.moves]
    total = sum(strategies)
    if isinstance(config.final_move, AverageStrategy) and root.joint and total > 0:
        return [strategy / total for strategy in strategies]
    if isinstance(config.final_move, Maximin) and root.joint:
        worst = worst_values(root, config.final_move.visits)
        key: _Key = lambda move: (worst[move.action], move.visits)  # noqa: E731
    else:
        key = functools.partial(_final_key, root=root, config=config)
    allowed = {move.action for move in _final_moves(root, config, key)}
    moves = root.moves
    visits = np.array([float(move.visits) * (move.action in allowed) for move in moves])
    if config.temperature == 0.0 or visits.sum() == 0.0:
        best = max(key(move) for move in moves if move.action in allowed)
        chosen = [move.action in allowed and key(move) == best for move in moves]
        count = sum(chosen)
        return [choice / count for choice in chosen]
    with np.errstate(divide="ignore", over="ignore"):
        weights = np.exp(np.log(visits / visits.max()) / config.temperature)
    return (weights / weights.sum()).tolist()  # type: ignore[no-any-return]


def worst_values(root: Root, few: float) -> dict[int, float]:
    """For each of the root's actions its mean value against the worst reply of the others.

    A reply counts as if it had been seen ``few`` times more with the action's mean value; so one
    that was never seen is worth that mean. Actions with fewer visits than ``few`` come last, as
    long as there are others.

    Args:
        root: a root where players move at the same time.
        few: visits, at least 0.
    """
    means = {move.action: move.value_sum / max(move.visits, 1) for move in root.moves}
    worst = dict(means)
    for row in root.joint:
        action = row.actions[root.place]
        total = row.value_sums[root.player] + few * means[action]
        worst[action] = min(worst[action], total / (row.visits + few))
    seldom = {move.action for move in root.moves if move.visits < max(few, 1)}
    if len(seldom) < len(root.moves):
        worst.update(dict.fromkeys(seldom, -math.inf))
    return worst


def _final_key(move: RootMove, root: Root, config: SearchConfig) -> tuple[float, float]:
    """What the final move maximises; moves without visits come last."""
    visits = move.visits
    if visits == 0:
        return (-math.inf, 0.0)
    value, sure = move.value_sum / visits, -math.inf
    if config.final_proven:
        value, sure = _value(root, move), _sure_value(root, move)
    key = call_part(preference, config.final_move, value, visits, sure)
    if not (isinstance(key, tuple) and len(key) == 2 and not any(map(math.isnan, key))):
        raise FormulaError(
            f"{type(config.final_move).__name__}: preference must give two numbers, got {key!r}."
        )
    return key


def _final_moves(root: Root, config: SearchConfig, key: _Key) -> Sequence[RootMove]:
    """Those of the root's moves that the final move may be, by what is proven.

    A proven win goes first, the greatest and shortest that is known; a root whose moves are all
    solved leaves the best of them, among losses the longest. Otherwise no move is left that cannot
    be best. None is that is lost either, as long as there is another; but where somebody else's win
    still brings more for sure than the mean value of what ``key`` prefers (that of a draw, if it
    has no visits), it is taken: among more than two players, as a second place, or of two, if both
    can gain. Solved moves may have few visits, where the search passes over them: the move that is
    sure to bring most is played where this is more than that mean, a sure draw where that mean is
    below ``config.contempt``.

    Args:
        root: what is known of the root.
        config: the search's tunables.
        key: what the final move maximises otherwise.
    """
    moves = root.moves
    if not config.final_proven or not config.proves:
        return moves
    if root.outcome is not None or all(move.proof.solved for move in moves):
        return _best_solved(moves)
    sure = max(move.proof.low for move in moves)
    left = [move for move in moves if not move.proof.low < sure >= move.proof.high]
    won = [move for move in left if move.proof.won]
    if won:
        return _best_solved(won) or won
    lost = [move for move in left if move.proof.lost]
    left = [move for move in left if not move.proof.lost] or left
    chosen = max(left, key=key)
    value = _value(root, chosen)
    least = value if root.num_players > 2 else max(value, DRAW)
    worth = [move for move in lost if _sure_value(root, move) > least]
    if worth:
        return [max(worth, key=_merit)]
    surest = max(_sure_value(root, move) for move in left)
    if surest > value and surest != DRAW:
        return [move for move in left if _sure_value(root, move) == surest]
    safe = [m for m in left if m.proof.draw_proof == 0.0 or _sure_value(root, m) >= DRAW]
    return safe if safe and value < config.contempt else left


def _value(root: Root, move: RootMove) -> float:
    """A move's mean value within what is proven of it; that of a draw, if it has no visits."""
    value = move.value_sum / move.visits if move.visits > 0 else DRAW
    if root.low >= root.high:
        return value
    most = scaled(move.proof.high, root.low, root.high)
    return max(min(value, most), _sure_value(root, move))


def _sure_value(root: Root, move: RootMove) -> float:
    """The least that a move can bring, on the scale of values."""
    if root.high <= root.low:
        return 0.0
    return (move.proof.low - root.low) / (root.high - root.low)


def _best_solved(moves: Sequence[RootMove]) -> Sequence[RootMove]:
    """The best of the solved moves, equal to each other; none if none is solved."""
    best = max((_merit(move) for move in moves if move.proof.solved), default=None)
    return [move for move in moves if move.proof.solved and _merit(move) == best]


def _merit(move: RootMove) -> tuple[float, bool, int]:
    """What a solved move is worth to who takes it, by the rule of ``proofs.is_better``."""
    proof = move.proof
    return proof.low, not proof.lost, proof.distance if proof.lost else -proof.distance
