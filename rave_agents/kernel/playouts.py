"""Playout policies: how playouts choose their moves.

A custom policy implements ``action_weight``, to which an action's probability is proportional.

``SteeredPlayouts`` prefer the actions with the best mean results in the playouts so far, whenever
they were taken: the move-average sampling technique with a Gibbs distribution (Finnsson & Björnsson
2008). The strength of the preference is the *trust* in these means, a product of two factors; if
either is 0, playouts are uniform:

* An action's mean is informative only if the action keeps its meaning whenever it is taken, see
  ``reuse_consistency`` in ``measures/action_persistence.py``.
* Means of few moves differ by chance. The second factor is the share of the means' variance, over
  all players, that chance does not explain, rising from 0 at a tenth to 1 at a quarter.

``AdaptivePlayouts`` have a third factor, and are steered only in games without better playout
knowledge.
"""

import math
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge

from rave_agents.compiler.arrays import FLOAT, INT, Array, Axis, Kept, Rows, one
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.declarations import (
    GameTraits,
    asks_rules,
    becomes,
    draws_by_weights,
    gives_weights,
    reads_lifetimes,
    taking_part,
)
from rave_agents.kernel.measures.action_persistence import move_independence, reuse_consistency
from rave_agents.kernel.ramp import ramp
from rave_agents.kernel.utilities import HIGH, LOW, scaled

PLAYOUTS, MOVES, REPEATED = 0, 1, 2

INSIGNIFICANT_SHARE = 0.1
SIGNIFICANT_SHARE = 0.25
"""No and full trust, by the share of the variance of means that chance does not explain. Moves
repeated within a playout add to the variance, so a small share proves nothing."""

FEW_REPEATED, MANY_REPEATED = 0.05, 0.1
"""Full and no trust of ``AdaptivePlayouts``, by the share of moves that repeat an earlier move of
the same player in the same playout."""

PLAYOUTS_BETWEEN_UPDATES = 16
"""The weights are recomputed after this many playouts."""

PLAYOUTS_COUNTED, SIMULATIONS_BETWEEN = 32, 4
"""The first 32 playouts all count; later only every fourth simulation while weights are equal.
"""

GREATEST_EXPONENT = 100.0
"""Bound of the exponent, reached at the lowest temperature; returns outside a game's bounds could
exceed it."""
LEAST_WEIGHT = math.exp(-GREATEST_EXPONENT)
GREATEST_WEIGHT = math.exp(GREATEST_EXPONENT)


class Action(NamedTuple):
    """An action as playout policies see it. Values are its player's, in [0, 1]."""

    player: int
    """The player who takes it."""
    action: int
    """The action."""
    n: float
    """Times the player took it in the playouts so far."""
    q: float
    """Its mean value in these playouts plus one virtual win, so that all actions are tried."""
    mean: float
    """The mean value of all moves of the player."""
    trust: float
    """Trust in the actions' means, from 0 to 1."""


@open_function
def action_weight(policy: Any, action: Action) -> float:
    """The weight of a legal action in playouts; its probability is proportional to it.

    Weights are clipped to [``exp(-100)``, ``exp(100)``] and recomputed every 16 playouts.
    """
    return 1.0


class UniformPlayouts(NamedTuple):
    """Uniformly random playouts; the default."""


class SensiblePlayouts(NamedTuple):
    """Uniform playouts, except where the game's compiled rules have playout knowledge.

    In Go a player saves a chain that the last stone put in atari or answers it with a local
    pattern, never fills a one-point eye, and passes only without alternative. In Hex, Y and
    Havannah a player answers an intrusion into a bridge by taking its other cell. Most games have
    no such knowledge; there they are ``UniformPlayouts``.
    """


class SteeredPlayouts(NamedTuple):
    """Playouts that prefer actions with good results in earlier playouts."""

    playout_temperature: Annotated[float, Ge(0.01)] = 0.05
    """Temperature of the distribution, at least 0.01: the lower, the more often the best actions
    are taken. The preference fades where the actions' means are unreliable: where actions stay
    legal after being taken, as in Connect Four, or where the means differ only by chance."""


class AdaptivePlayouts(NamedTuple):
    """``SteeredPlayouts``, but only where the search measures that they help.

    * Where the game's compiled rules have playout knowledge, as in Go and Hex, they are
      ``SensiblePlayouts``.
    * Trust falls where playouts repeat actions, from a twentieth of the moves on, to 0 at a tenth:
      there an action means something else later, as in Go and Checkers.
    * Trust is 0 where all actions stay legal until taken and turns alternate, as in Hex and Gomoku:
      playouts take nearly all actions anyway, and good moves depend on the opponent's. They are
      then as fast as uniform ones.
    * Where a value function cuts playouts, they are ``SensiblePlayouts``.
    """

    playout_temperature: Annotated[float, Ge(0.01)] = 0.05
    """See ``SteeredPlayouts``."""


@implements(taking_part, SteeredPlayouts, AdaptivePlayouts)
def _takes_part_steered_playouts(part: Any) -> str:
    return "steered playouts"


@implements(becomes, AdaptivePlayouts)
def _becomes(policy: AdaptivePlayouts, game: GameTraits) -> AdaptivePlayouts | SensiblePlayouts:
    return SensiblePlayouts() if game.valued else policy


@implements(action_weight, SteeredPlayouts, AdaptivePlayouts)
def gibbs_weight(policy: Any, action: Action) -> float:
    """``exp(trust (q - mean) / playout_temperature)`` (Finnsson & Björnsson 2008)."""
    exponent = action.trust * (action.q - action.mean) / policy.playout_temperature
    return math.exp(max(-GREATEST_EXPONENT, min(GREATEST_EXPONENT, exponent)))


@open_function
def share_adapted(policy: Any, counts: Array, left: Array) -> float:
    """A third factor of the trust."""
    return 1.0


@implements(share_adapted, AdaptivePlayouts)
def _share_adapted(policy: AdaptivePlayouts, counts: Array, left: Array) -> float:
    """1 if playouts hardly repeat actions, 0 if they do or if moves leave all others legal."""
    if move_independence(left) == 1.0:  # One counterexample is enough: in NoGo they come late.
        return 0.0
    repeated = float(counts[REPEATED]) / max(1.0, float(counts[MOVES]))
    return ramp(repeated, MANY_REPEATED, FEW_REPEATED)


@open_function
def is_uniform(policy: Any, trust: float) -> bool:
    """True if actions are drawn without weights."""
    return False


@implements(is_uniform, AdaptivePlayouts)
def _is_uniform(policy: AdaptivePlayouts, trust: float) -> bool:
    return trust == 0.0


@implements(gives_weights, UniformPlayouts, SensiblePlayouts)
def _gives_none(policy: Any) -> bool:
    return False


@implements(asks_rules, SensiblePlayouts, AdaptivePlayouts)
def _asks_rules(policy: Any) -> bool:
    return True


class WeightedPlayouts(NamedTuple):
    """Playouts that draw actions by a policy's weights."""

    policy: Any
    """A part that implements ``action_weight``."""


@implements(draws_by_weights, WeightedPlayouts)
def _draws_by_weights(playouts: WeightedPlayouts) -> bool:
    return True


@implements(reads_lifetimes, WeightedPlayouts)
def _reads_lifetimes(playouts: WeightedPlayouts) -> bool:
    return True


@runs_as(WeightedPlayouts)
class PlayoutStatistics(NamedTuple):
    """Statistics of all moves in the search's playouts."""

    options: WeightedPlayouts
    visits: Annotated[Array, Rows(Axis.PLAYER, INT, (Axis.ACTION,), kept=Kept.SEARCH)]
    """Times that each player took each action."""
    return_sum: Annotated[Array, Rows(Axis.PLAYER, FLOAT, (Axis.ACTION,), kept=Kept.SEARCH)]
    """The sum of the player's returns in these playouts, in the game's utilities."""
    square_sum: Annotated[Array, Rows(Axis.PLAYER, FLOAT, kept=Kept.SEARCH)]
    """The sum of the squares of each player's returns, over all of their moves."""
    last: Annotated[Array, Rows(Axis.PLAYER, INT, (Axis.ACTION,), kept=Kept.SEARCH)]
    """The number of the last playout in which each player took each action."""
    counts: Annotated[Array, one(INT, 3, kept=Kept.SEARCH)]
    """[3] numbers of playouts, of their moves, and of moves repeated within a playout."""


@implements(hooks.on_backup, PlayoutStatistics)
def _learn_playouts(playouts: PlayoutStatistics, search: Any, depth: int, nodes: int) -> None:
    """Count the frame's playouts, and update the weights from time to time.

    Playouts without moves do not count. While all weights are equal, a sample of the playouts is
    enough to detect a difference.
    """
    known = playouts.counts[PLAYOUTS] >= PLAYOUTS_COUNTED
    evenly = known and search.frame.header[codes.EVEN_WEIGHTS] != 0
    if evenly and search.path.simulations[0] % SIMULATIONS_BETWEEN != 0:
        return
    frame, bounds = search.frame, search.utilities.bounds
    first_move = 0
    for playout in range(frame.header[codes.NUM_PLAYOUTS]):
        end = int(frame.playout_ends[playout])
        if end > first_move:
            count_playout(playouts, search, playout, first_move, end)
            due = playouts.counts[PLAYOUTS] % PLAYOUTS_BETWEEN_UPDATES == 0
            if due and bounds[HIGH] > bounds[LOW]:
                weigh_actions(playouts, search)
        first_move = end


@kernel
def count_playout(
    playouts: PlayoutStatistics, search: Any, playout: int, first_move: int, end: int
) -> None:
    """Count one playout's moves, from ``first_move`` to before ``end``."""
    frame, settings = search.frame, search.settings
    playouts.counts[PLAYOUTS] += 1
    playouts.counts[MOVES] += end - first_move
    for move in range(first_move, end):
        player = frame.move_players[move]
        row = player * settings.num_actions + frame.move_actions[move]
        utility = frame.returns[playout * settings.num_players + player]
        # `last` holds playout numbers, so nothing needs clearing between playouts.
        playouts.counts[REPEATED] += playouts.last[row] == playouts.counts[PLAYOUTS]
        playouts.last[row] = playouts.counts[PLAYOUTS]
        playouts.visits[row] += 1
        playouts.return_sum[row] += utility
        playouts.square_sum[player] += utility * utility


@kernel
def weigh_actions(playouts: PlayoutStatistics, search: Any) -> None:
    """Compute the weights of all players' actions."""
    weights, settings, utilities = search.frame.action_weights, search.settings, search.utilities
    policy = playouts.options.policy
    trust = reuse_consistency(search.lifetimes.taken) * significance(playouts, search)
    trust *= share_adapted(policy, playouts.counts, search.lifetimes.left)
    header = search.frame.header
    were_even, header[codes.EVEN_WEIGHTS] = header[codes.EVEN_WEIGHTS], is_uniform(policy, trust)
    if were_even != 0 and header[codes.EVEN_WEIGHTS] != 0:
        return  # All weights are still 1.
    for player in range(settings.num_players):
        mean_utility, _ = mean_return(playouts, search, player)
        mean = scaled(utilities, mean_utility)
        first = player * settings.num_actions
        for row in range(first, first + settings.num_actions):
            visits = playouts.visits[row]
            # The virtual win: untried actions are taken eagerly.
            utility = (playouts.return_sum[row] + utilities.bounds[HIGH]) / (visits + 1)
            q = scaled(utilities, utility)
            known = Action(player, row - first, float(visits), q, mean, trust)
            weight = action_weight(policy, known)
            if math.isnan(weight):
                raise ValueError("a playout policy gave NaN as an action's weight.")
            weights[row] = max(LEAST_WEIGHT, min(GREATEST_WEIGHT, weight))


@kernel
def significance(playouts: PlayoutStatistics, search: Any) -> float:
    """Significance of the differences of the actions' means beyond chance, from 0 to 1.

    One number for all players: steering only one of them would shift the values of all moves.
    """
    settings = search.settings
    spread = 0.0
    chance = 0.0
    for player in range(settings.num_players):
        mean, moves = mean_return(playouts, search, player)
        variance = playouts.square_sum[player] / moves - mean * mean
        first = player * settings.num_actions
        for row in range(first, first + settings.num_actions):
            visits = playouts.visits[row]
            if visits > 0:
                difference = playouts.return_sum[row] - visits * mean
                # Squared deviation of the action's mean, weighted by its visits.
                spread += difference * difference / visits
                # Its expectation by chance: a sample without replacement from all playouts, whose
                # variance vanishes as the sample becomes the whole.
                chance += variance * max(0.0, 1.0 - visits / playouts.counts[PLAYOUTS])
    if spread <= 0.0:
        return 0.0
    return ramp(1.0 - chance / spread, INSIGNIFICANT_SHARE, SIGNIFICANT_SHARE)


@kernel
def mean_return(playouts: PlayoutStatistics, search: Any, player: int) -> tuple[float, int]:
    """The mean of a player's returns over all of their moves, and the number of moves.

    Before the first move it is one virtual win, as for an action.
    """
    actions = search.settings.num_actions
    total, moves = 0.0, 0
    for row in range(player * actions, (player + 1) * actions):
        total += playouts.return_sum[row]
        moves += playouts.visits[row]
    if moves == 0:
        return search.utilities.bounds[HIGH], 1
    return total / moves, moves
