"""Playout policies that see the moves before: n-grams, replies, decisive moves.

A policy of your own implements ``move_weight``: what a move's probability is proportional to. It is
asked at each move of a playout about every legal action. ``learn_move`` tells it how the moves of a
simulation ended; what it keeps of that are arrays of its own, see ``compiler/runtime.py``; how
long, their declarations say. ``lookahead`` says what it needs to know of the game.
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
"""Mark in place of a move before the first of a simulation, which begins at the root."""

GREATEST_WEIGHT = 1e100


class Move(NamedTuple):
    """A move of a playout, and what is known of it."""

    player: int
    """The player who moves."""
    action: int
    """The action."""
    last: int
    """The action of the move before, whoever made it; ``NO_ACTION`` if there is none. In a game in
    which players may move at the same time, the player's own: the others' is not seen."""
    own_last: int
    """The player's own last action; ``NO_ACTION`` if there is none."""
    wins: bool
    """True if it ends the game with more for the player than for any other. Known with a
    ``lookahead`` of at least 1, where players move in turn."""
    loses: bool
    """True if the next player can win so at once after it. Known with a ``lookahead`` of 2 once the
    move has been drawn: then another draw follows, by the weights as they are now."""


@open_function
def move_weight(policy: Any, move: Move) -> float:
    """Weight of a legal move, at least 0, to which its probability is proportional.

    Where all weights are 0, moves are equally probable.
    """
    return 1.0


@open_function
def learn_move(policy: Any, move: Move, value: float) -> None:
    """Learn from a move of a simulation; ``value`` is what its player got at the end, in [0, 1]."""


@open_function
def lookahead(policy: Any) -> int:
    """Moves that the game is asked to look ahead: 0, 1 for ``Move.wins``, 2 for ``loses``, too.

    That takes as many simulated moves as there are legal ones.
    """
    return 0


@open_function
def sees_others(moves: Any) -> bool:
    """True if players know each other's moves when they make theirs."""
    return True


@runs_as(move_weight)
class MovePlayouts(NamedTuple):
    """Playouts draw each move by the weights of a policy."""

    options: Any
    own: Any
    weights: Annotated[Array, Rows(Axis.ACTION, FLOAT)]
    """The sums of weights up to each of the actions that are compared."""


def chooses_moves(policy: Any) -> bool:
    """True if a policy chooses each move of a playout."""
    return record_of(type(policy)) is MovePlayouts


def playouts_by(policy: Any) -> Any:
    """The part that draws playouts by a policy: itself if it chooses each move."""
    if chooses_moves(policy):
        return policy
    return WeightedPlayouts(policy) if gives_weights(policy) else UniformPlayouts()


@entry("the playout policy")
def choose_move(search: Any, number: int) -> int:
    """Choose one of the frame's choices; writes its place, counted from 1, to ``CHOSEN``."""
    frame, playouts = search.frame, search.playouts
    header = frame.header
    header[codes.CHOSEN] = 0
    player, count = header[codes.CHOICE_PLAYER], header[codes.NUM_CHOICES]
    start, end = header[codes.PLAYOUT_START], header[codes.PLAYOUT_END]
    if count > search.settings.num_actions:
        raise ValueError("a position has more legal actions than the game has actions.")
    last, own_last = moves_before(search, player, header[codes.PATH_LENGTH], start, end)
    known, total = header[codes.ACTION_CAPACITY], 0.0
    for place in range(count):
        told = frame.choices[known + place]
        move = Move(
            int(player), int(frame.choices[place]), last, own_last, told == WINS, told == LOSES
        )
        weight = float(move_weight(playouts.own, move))
        if not weight >= 0.0:
            raise ValueError("a playout policy gave NaN, or less than 0, as a move's weight.")
        total += min(weight, GREATEST_WEIGHT)
        playouts.weights[place] = total
    chosen = count - 1
    if total > 0.0:
        drawn = random_unit(frame.playout_stream) * total
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
    """The last action, and the player's own last, of a path and the playout behind it.

    Args:
        search: the search.
        player: the player.
        depth: edges of the path.
        start: place of the playout's first move in the frame.
        end: one more than that of the last one.
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
    """Playouts win at once where they can, and let nobody else win at once where they need not.

    Decisive and anti-decisive moves (Teytaud & Teytaud 2010); otherwise uniform. Each move of a
    playout costs as many simulated moves as it has alternatives, and twice as many with both.
    """

    anti_decisive: bool = True
    """True if moves after which the next player can win at once are avoided."""


@implements(taking_part, DecisiveMoves)
def _takes_part(policy: DecisiveMoves) -> str:
    return "decisive playouts"


@implements(lookahead, DecisiveMoves)
def _lookahead(policy: DecisiveMoves) -> int:
    return 2 if policy.anti_decisive else 1


@implements(move_weight, DecisiveMoves)
def decisive_weight(policy: DecisiveMoves, move: Move) -> float:
    """Infinitely much for a move that wins at once, 0 for one that lets the next player win."""
    if move.wins:
        return math.inf
    return 0.0 if move.loses else 1.0
