"""Action persistence: how long actions stay legal, and how moves change that.

The search counts it at new nodes, in the first simulations and a sample of the later ones. Trust in
AMAF, proof numbers and steered playouts derives from it, see ``amaf/trust.py``, ``proofs/trust.py``
and ``playouts.py``.
"""

from typing import Annotated, Any, NamedTuple

from rave_agents.compiler.arrays import FLOAT, INT, Array, one
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.adaptive_rule import meets_chance
from rave_agents.kernel.ramp import ramp
from rave_agents.kernel.tree import edge_rows

GONE, LEGAL_AGAIN = 0, 1
LEFT, STILL_LEGAL, TURN_KEPT = 0, 1, 2

NO_PERSISTENCE, FULL_PERSISTENCE = 0.55, 0.65
"""``persistence`` is 0 and 1 at these shares of untaken actions still legal at the player's next
turn."""

NO_INDEPENDENCE = 0.95
"""``move_independence`` is 0 at this share of untaken actions still legal, and 1 at a share of
1."""

ACTIONS_COMPARED = 8
"""8 to 15 evenly spaced actions are sampled per node, and looked for at its player's next turn."""

SIMULATIONS_COUNTED, SIMULATIONS_BETWEEN = 128, 16
"""The first 128 simulations of a game all count; later only every sixteenth."""


class NoLifetimes(NamedTuple):
    """Nothing is counted, since no part reads it."""


class CountLifetimes(NamedTuple):
    """Count how long actions stay legal and how moves change that."""


@runs_as(CountLifetimes)
class Lifetimes(NamedTuple):
    """Counts of actions that stay legal and of actions that do not."""

    options: CountLifetimes
    taken: Annotated[Array, one(INT, 2)]
    """[2] see ``count_taken_actions``."""
    left: Annotated[Array, one(INT, 3)]
    """[3] see ``count_lasting_actions`` and ``count_kept_turns``."""
    chance: Annotated[Array, one(INT)]
    """[1] 1 once chance was seen, else 0."""
    trust: Annotated[Array, one(FLOAT)]
    """[1] ``reuse_consistency`` times ``persistence``, cached since selection reads it at every
    node."""


@kernel
def reuse_consistency(taken: Array) -> float:
    """How consistently an action keeps its meaning whenever it is taken, from 0 to 1.

    Of the actions taken on the path to new nodes, the share no longer legal there minus the share
    legal again. One extra count of "legal again" keeps trust at 0 until there is evidence.
    """
    # The extra count makes the first observations count little.
    gone, again = taken[GONE], taken[LEGAL_AGAIN] + 1
    return max(0.0, float(gone - again) / float(gone + again))


@kernel
def persistence(left: Array) -> float:
    """Persistence of actions until they are taken, from 0 to 1."""
    share = float(left[STILL_LEGAL]) / float(left[LEFT]) if left[LEFT] > 0 else 1.0
    return ramp(share, NO_PERSISTENCE, FULL_PERSISTENCE)


@kernel
def expiry(left: Array) -> float:
    """How quickly untaken actions expire, from 0 to 1; 1 until there is evidence."""
    return 1.0 - persistence(left) if left[LEFT] > 0 else 1.0


@kernel
def move_independence(left: Array) -> float:
    """Degree to which moves only pass the turn and leave other actions legal, from 0 to 1.

    1 without any counterexample; 0 until there is evidence.
    """
    if left[TURN_KEPT] > 0 or left[LEFT] == 0:
        return 0.0
    share = float(left[STILL_LEGAL]) / float(left[LEFT])
    return ramp(share, NO_INDEPENDENCE, 1.0)


@kernel
def placement(lifetimes: Lifetimes) -> float:
    """Degree to which the game is a placement game, from 0 to 1; 0 until there is evidence.

    In Hex, a stone occupies a cell for all players and passes the turn. All moves then leave the
    same number of replies, and playouts take nearly all actions in some order. Dots and Boxes is
    not such a game: completing a box gives another move.
    """
    # Zero once a quarter of the taken actions are legal again: consistency 0.75 - 0.25.
    return ramp(reuse_consistency(lifetimes.taken), 0.5, 1.0) * move_independence(lifetimes.left)


@kernel
def count_taken_actions(sums: Array, search: Any, depth: int, nodes: int) -> None:
    """Count how many actions that the new node's player took on the path are legal again."""
    tree, path = search.tree, search.path
    for place in range(depth, depth + nodes):
        player = int(tree.node_player[path.nodes[place]])
        for index in range(depth):
            if player < 0 or tree.node_player[path.nodes[index]] != player:
                continue
            # Legal again at the new node means that taking it did not use it up.
            found = GONE
            for edge in edge_rows(tree, path.nodes[place]):
                if tree.edge_action[edge] == tree.edge_action[path.edges[index]]:
                    found = LEGAL_AGAIN
            sums[found] += 1


@kernel
def count_lasting_actions(sums: Array, search: Any, depth: int, nodes: int) -> None:
    """Count how many actions left untaken at the player's last turn are legal at the new node.

    A turn may consist of several nodes. The node whose actions lasted best counts: the others hold
    another kind of action, such as choosing a piece before choosing its destination.
    """
    tree, path = search.tree, search.path
    for place in range(depth, depth + nodes):
        player = int(tree.node_player[path.nodes[place]])
        before = depth - 1
        # Skip the nodes of the player's present turn, then the other players' nodes.
        while before >= 0 and tree.node_player[path.nodes[before]] == player:
            before -= 1
        while before >= 0 and tree.node_player[path.nodes[before]] != player:
            before -= 1
        left, still_legal = 0, 0
        while player >= 0 and before >= 0 and tree.node_player[path.nodes[before]] == player:
            others, lasting = actions_left(search, before, depth, path.nodes[place])
            # Compare lasting / others > still_legal / left without dividing.
            if left == 0 or lasting * left > still_legal * others:
                left, still_legal = others, lasting
            before -= 1
        sums[LEFT] += left
        sums[STILL_LEGAL] += still_legal


@kernel
def actions_left(search: Any, before: int, depth: int, node: int) -> tuple[int, int]:
    """The number of sampled actions of a path's node, and of those legal at the new node.

    Actions that any player has taken since are left out.
    """
    tree, path = search.tree, search.path
    edges = edge_rows(tree, path.nodes[before])
    others, lasting = 0, 0
    # A stride of n // 8 yields 8 to 15 actions, spread evenly over the list.
    for index in range(0, len(edges), max(1, len(edges) // ACTIONS_COMPARED)):
        action = tree.edge_action[edges.start + index]
        if not was_taken(search, action, before, depth):
            others += 1
            # Actions are unique at a node: at most one of these comparisons is true.
            for now in edge_rows(tree, node):
                lasting += tree.edge_action[now] == action
    return others, lasting


@kernel
def was_taken(search: Any, action: int, first: int, depth: int) -> bool:
    """True if any player takes the action on the path, from ``first`` on."""
    tree, path = search.tree, search.path
    for place in range(first, depth):
        is_players = tree.node_player[path.nodes[place]] >= 0
        if is_players and tree.edge_action[path.edges[place]] == action:
            return True
    return False


@kernel
def count_kept_turns(sums: Array, search: Any, depth: int) -> None:
    """Count how often a player moves twice in a row in a simulation, its first playout included."""
    tree, path, frame = search.tree, search.path, search.frame
    kept = 0
    for place in range(1, depth):
        player = tree.node_player[path.nodes[place]]
        # Chance nodes (player < 0) keep nobody's turn.
        kept += player >= 0 and player == tree.node_player[path.nodes[place - 1]]
    moves = frame.playout_ends[0] if frame.header[codes.NUM_PLAYOUTS] > 0 else 0
    for move in range(1, moves):
        kept += frame.move_players[move] == frame.move_players[move - 1]
    sums[TURN_KEPT] += kept


@kernel
def counts_now(simulation: int) -> bool:
    """True if this simulation counts: all of the first ones, later only a sample."""
    return simulation < SIMULATIONS_COUNTED or simulation % SIMULATIONS_BETWEEN == 0


@implements(hooks.on_expand, Lifetimes)
def _on_expand(lifetimes: Lifetimes, search: Any, depth: int, nodes: int) -> None:
    if counts_now(search.path.simulations[0]):
        count_taken_actions(lifetimes.taken, search, depth, nodes)
        count_lasting_actions(lifetimes.left, search, depth, nodes)
        lifetimes.trust[0] = reuse_consistency(lifetimes.taken) * persistence(lifetimes.left)
        if meets_chance(search, depth, nodes):
            lifetimes.chance[0] = 1


@implements(hooks.on_backup, Lifetimes)
def _on_backup(lifetimes: Lifetimes, search: Any, depth: int, nodes: int) -> None:
    if counts_now(search.path.simulations[0]):
        count_kept_turns(lifetimes.left, search, depth)
