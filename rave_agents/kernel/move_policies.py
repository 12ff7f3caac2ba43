"""Playout policies that know the previous moves: n-grams, replies, decisive moves.

A custom policy implements ``move_weight``, to which a move's probability is proportional; it is
called for every legal action at each move of a playout. ``learn_move`` receives each move of a
simulation with its result. A policy stores what it learns in its own arrays, see
``compiler/runtime.py``, whose declarations state how long they are kept. ``lookahead`` states how
many moves the game must look ahead.
"""

import math
from typing import Annotated, Any, NamedTuple

from rave_agents.compiler.arrays import FLOAT, Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.entry import entry
from rave_agents.compiler.runtime import record_of, runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.declarations import gives_weights, taking_part
from rave_agents.kernel.playouts import UniformPlayouts, WeightedPlayouts
from rave_agents.kernel.utilities import HIGH, LOW, scaled
from rave_agents.simulate.frame import LOSES, WINS
from rave_agents.simulate.random_stream import random_below, random_unit

NO_ACTION = -1
"""Sentinel: no previous move in the simulation, which starts at the root."""

GREATEST_WEIGHT = 1e100


class Move(NamedTuple):
    """A move of a playout with its context."""

    player: int
    """The player who moves."""
    action: int
    """The action."""
    last: int
    """The action of the previous move by any player; ``NO_ACTION`` if there is none. With
    simultaneous moves, the player's own last action, since the others' are not visible."""
    own_last: int
    """The player's own last action, or ``NO_ACTION``."""
    wins: bool
    """True if it ends the game and the player gets more than any other. Needs a ``lookahead`` of at
    least 1 and alternating moves."""
    loses: bool
    """True if the next player can then win at once. With a ``lookahead`` of 2 it is known once the
    move has been drawn; then the move is drawn again with the new weights."""


@open_function
def move_weight(policy: Any, move: Move) -> float:
    """Weight of a legal move, at least 0; its probability is proportional to it.

    If all weights are 0, moves are equally probable.
    """
    return 1.0


@open_function
def learn_move(policy: Any, move: Move, value: float) -> None:
    """Learn from a move of a simulation; ``value`` is its player's final value, in [0, 1]."""


@open_function
def lookahead(policy: Any) -> int:
    """Moves that the game looks ahead: 0, 1 for ``Move.wins``, 2 for ``Move.loses`` as well.

    Each step of it simulates every legal move.
    """
    return 0


@open_function
def sees_others(moves: Any) -> bool:
    """True if players know each other's moves when they make theirs."""
    return True


@runs_as(move_weight)
class MovePlayouts(NamedTuple):
    """Playouts that draw each move by a policy's weights."""

    options: Any
    own: Any
    weights: Annotated[Array, Rows(Axis.ACTION, FLOAT)]
    """Cumulative weights of the actions to choose from."""


def chooses_moves(policy: Any) -> bool:
    """True if a policy chooses each move of a playout."""
    return record_of(type(policy)) is MovePlayouts


def playouts_by(policy: Any) -> Any:
    """The part that draws playouts by a policy: the policy itself if it chooses each move."""
    if chooses_moves(policy):
        return policy
    return WeightedPlayouts(policy) if gives_weights(policy) else UniformPlayouts()


@entry("the playout policy")
def choose_move(search: Any, number: int) -> int:
    """Choose one of the frame's choices; writes its place, counted from 1, to ``CHOSEN``."""
    frame, playouts = search.frame, search.playouts
    header = frame.header
    # 0 until the end: the caller sees that a policy has raised an error.
    header[codes.CHOSEN] = 0
    player, count = header[codes.CHOICE_PLAYER], header[codes.NUM_CHOICES]
    start, end = header[codes.PLAYOUT_START], header[codes.PLAYOUT_END]
    if count > search.settings.num_actions:
        raise ValueError("a position has more legal actions than the game has actions.")
    last, own_last = moves_before(search, player, header[codes.PATH_LENGTH], start, end)
    # Behind the actions themselves, the frame lists each one's lookahead: WINS, LOSES or unknown.
    known, total = header[codes.ACTION_CAPACITY], 0.0
    for place in range(count):
        foreseen = frame.choices[known + place]
        move = Move(
            int(player),
            int(frame.choices[place]),
            last,
            own_last,
            foreseen == WINS,
            foreseen == LOSES,
        )
        weight = float(move_weight(playouts.own, move))
        # Not `weight < 0.0`, which is False for NaN.
        if not weight >= 0.0:
            raise ValueError("a playout policy gave NaN, or less than 0, as a move's weight.")
        # Clipped, so that an infinite weight leaves the sum finite and the draw well defined.
        total += min(weight, GREATEST_WEIGHT)
        playouts.weights[place] = total
    chosen = count - 1
    if total > 0.0:
        drawn = random_unit(frame.playout_stream) * total
        # The first place whose cumulative weight exceeds the drawn number.
        while chosen > 0 and playouts.weights[chosen - 1] > drawn:
            chosen -= 1
        while chosen > 0 and playouts.weights[chosen] == playouts.weights[chosen - 1]:
            chosen -= 1  # Rounded up to the total, behind which all weights are 0.
    else:
        chosen = random_below(frame.playout_stream, count)
    header[codes.CHOSEN] = chosen + 1
    return int(chosen + 1)


@kernel
def moves_before(search: Any, player: int, depth: int, start: int, end: int) -> tuple[int, int]:
    """The last action, and the player's own last action, of a path and its playout.

    Args:
        search: the search.
        player: the player.
        depth: edges of the path.
        start: place of the playout's first move in the frame.
        end: place after that of the last one.
    """
    frame, tree, path = search.frame, search.tree, search.path
    last, own_last = NO_ACTION, NO_ACTION
    place = end - 1
    while place >= start and own_last == NO_ACTION:
        action = int(frame.move_actions[place])
        last = action if last == NO_ACTION else last
        own_last = action if frame.move_players[place] == player else NO_ACTION
        place -= 1
    place = depth - 1
    while place >= 0 and own_last == NO_ACTION:
        mover = int(tree.node_player[path.nodes[place]])
        if mover >= 0:
            action = int(tree.edge_action[path.edges[place]])
            last = action if last == NO_ACTION else last
            own_last = action if mover == player else NO_ACTION
        place -= 1
    return (last if sees_others(search.moves) else own_last), own_last


@implements(hooks.on_backup, MovePlayouts)
def _learn(playouts: MovePlayouts, search: Any, depth: int, nodes: int) -> None:
    """Let the policy learn from the moves of each playout and of the path before it."""
    frame, path, tree = search.frame, search.path, search.tree
    # Without a range of returns there are no values in [0, 1] yet.
    if not search.utilities.bounds[HIGH] > search.utilities.bounds[LOW]:
        return
    start = 0
    for playout in range(frame.header[codes.NUM_PLAYOUTS]):
        end = int(frame.playout_ends[playout])
        for index in range(depth):
            player = int(tree.node_player[path.nodes[index]])
            if player >= 0:
                action = int(tree.edge_action[path.edges[index]])
                last, own_last = moves_before(search, player, index, 0, 0)
                move = Move(player, action, last, own_last, False, False)
                learn_move(playouts.own, move, value_in(search, playout, player))
        for place in range(start, end):
            player = int(frame.move_players[place])
            last, own_last = moves_before(search, player, depth, start, place)
            action = int(frame.move_actions[place])
            move = Move(player, action, last, own_last, False, False)
            learn_move(playouts.own, move, value_in(search, playout, player))
        start = end


@kernel
def value_in(search: Any, playout: int, player: int) -> float:
    """A player's value of a playout, in [0, 1]."""
    place = playout * search.settings.num_players + player
    return float(scaled(search.utilities, search.frame.returns[place]))


class DecisiveMoves(NamedTuple):
    """Playouts win at once if possible, and avoid moves that let the next player win at once.

    Decisive and anti-decisive moves (Teytaud & Teytaud 2010); otherwise uniform. Each move of a
    playout simulates all of its alternatives, and twice as many moves with both kinds.
    """

    anti_decisive: bool = True
    """True to avoid moves after which the next player can win at once."""


@implements(taking_part, DecisiveMoves)
def _takes_part(policy: DecisiveMoves) -> str:
    return "decisive playouts"


@implements(lookahead, DecisiveMoves)
def _lookahead(policy: DecisiveMoves) -> int:
    return 2 if policy.anti_decisive else 1


@implements(move_weight, DecisiveMoves)
def decisive_weight(policy: DecisiveMoves, move: Move) -> float:
    """Infinite for a move that wins at once, 0 for one that lets the next player win."""
    if move.wins:
        return math.inf
    return 0.0 if move.loses else 1.0
