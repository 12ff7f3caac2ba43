"""How far AMAF values are trusted: wholly, or as far as actions mean the same whenever taken.

An AMAF value says something about an action that means much the same whenever it is taken. In Hex
it does. There are two kinds of games in which it does not, and both show themselves in the first
dozens of simulations:

* An action is legal again after its player took it. In Connect Four, a column is another cell each
  time.
* An action that its player did not take is no longer legal at their next turn. In Checkers and in
  Amazons it was one for that moment: who takes it later takes it somewhere else.
"""

from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Le

from rave_agents.compiler.arrays import INT, Array, one
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.part_fields import Takes
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import hooks
from rave_agents.kernel.rules import meets_chance
from rave_agents.kernel.tree import edge_rows

GONE, LEGAL_AGAIN, CHANCE_SEEN, LEFT, STILL_LEGAL = 0, 1, 2, 3, 4

FLEETING, LASTING = 0.55, 0.65
"""Shares of the actions not taken that are legal at their player's next turn, up to which trust is
none and from which on it is full."""

ACTIONS_COMPARED = 8
"""Actions of a node, evenly spread, that are looked for at its player's next turn."""

SIMULATIONS_COUNTED, SIMULATIONS_BETWEEN = 128, 16
"""The first simulations of a tree, each of which counts, and how far apart those after them are."""


class FullTrust(NamedTuple):
    """AMAF values are trusted wholly: β alone says what they weigh (Gelly & Silver 2011)."""


class LearnedTrust(NamedTuple):
    """AMAF values are trusted as far as actions stay legal until they are taken, and no longer."""

    explored: Annotated[float, Ge(0), Le(1)] = 0.3
    """The share of the rule's exploration that is left under full trust, in [0, 1]: AMAF itself
    explores. Where chance has a part in the game, all of it is left."""


Trust = Annotated[Any, Takes(FullTrust, LearnedTrust)]
"""What a field takes that says how far AMAF values are trusted."""


@runs_as(LearnedTrust)
class TrustStatistics(NamedTuple):
    """What the search has seen of what its actions mean."""

    options: LearnedTrust
    counts: Annotated[Array, one(INT, 5)]
    """[5] see ``count_taken_actions``; 1 if chance has a part in the game, else 0; see
    ``count_lasting_actions``."""


@open_function
def trust_of(trust: Any) -> float:
    """How far AMAF values are trusted now, from 0 to 1."""
    return 1.0


@implements(trust_of, TrustStatistics)
def _trust_of(trust: TrustStatistics) -> float:
    return meaning(trust.counts) * endurance(trust.counts)


@kernel
def share_explored(trust: TrustStatistics, trusted: float) -> float:
    """How much of the rule's exploration is left where AMAF values are trusted so far."""
    explored = trust.options.explored if trust.counts[CHANCE_SEEN] == 0 else 1.0
    return 1.0 - trusted * (1.0 - explored)


@kernel
def meaning(counts: Array) -> float:
    """How far an action means the same whenever it is taken, from 0 to 1.

    The share of the actions taken on the way to new nodes that are gone there, less that of those
    legal again. One more is counted as legal again: nothing is trusted until something is known.
    """
    gone, again = counts[GONE], counts[LEGAL_AGAIN] + 1
    return max(0.0, float(gone - again) / float(gone + again))


@kernel
def count_taken_actions(counts: Array, search: Any, depth: int, nodes: int) -> None:
    """Count which of the actions that a new node's player took on the path are legal again."""
    tree, path = search.tree, search.path
    for place in range(depth, depth + nodes):
        player = int(tree.node_player[path.nodes[place]])
        for index in range(depth):
            if player < 0 or tree.node_player[path.nodes[index]] != player:
                continue
            found = GONE
            for edge in edge_rows(tree, path.nodes[place]):
                if tree.edge_action[edge] == tree.edge_action[path.edges[index]]:
                    found = LEGAL_AGAIN
            counts[found] += 1


@kernel
def endurance(counts: Array) -> float:
    """How far actions stay legal until they are taken, from 0 to 1."""
    if counts[LEFT] == 0:
        return 1.0
    share = float(counts[STILL_LEGAL]) / float(counts[LEFT])
    return max(0.0, min(1.0, (share - FLEETING) / (LASTING - FLEETING)))


@kernel
def count_lasting_actions(counts: Array, search: Any, depth: int, nodes: int) -> None:
    """Count which of the actions that a new node's player left at their last turn are legal now.

    A turn may have several nodes, one after the other. The one counts whose actions lasted best:
    the others are of other kinds of actions, such as to choose a piece and to choose its goal.
    """
    tree, path = search.tree, search.path
    for place in range(depth, depth + nodes):
        player = int(tree.node_player[path.nodes[place]])
        before = depth - 1
        while before >= 0 and tree.node_player[path.nodes[before]] == player:
            before -= 1
        while before >= 0 and tree.node_player[path.nodes[before]] != player:
            before -= 1
        left, still_legal = 0, 0
        while player >= 0 and before >= 0 and tree.node_player[path.nodes[before]] == player:
            others, lasting = actions_left(search, before, path.nodes[place])
            if left == 0 or lasting * left > still_legal * others:
                left, still_legal = others, lasting
            before -= 1
        counts[LEFT] += left
        counts[STILL_LEGAL] += still_legal


@kernel
def actions_left(search: Any, before: int, node: int) -> tuple[int, int]:
    """How many of the actions not taken at a place of the path are compared, and are legal later.

    ``node`` is where they may be legal.
    """
    tree, path = search.tree, search.path
    edges = edge_rows(tree, path.nodes[before])
    others, lasting = 0, 0
    for index in range(0, len(edges), max(1, len(edges) // ACTIONS_COMPARED)):
        edge = edges.start + index
        if edge != path.edges[before]:
            others += 1
            for now in edge_rows(tree, node):
                lasting += tree.edge_action[now] == tree.edge_action[edge]
    return others, lasting


@implements(hooks.on_expand, TrustStatistics)
def _on_expand(trust: TrustStatistics, search: Any, depth: int, nodes: int) -> None:
    """Count at all nodes of the first simulations, and at some later ones, which is enough."""
    simulation = search.path.simulations[0]
    if simulation < SIMULATIONS_COUNTED or simulation % SIMULATIONS_BETWEEN == 0:
        count_taken_actions(trust.counts, search, depth, nodes)
        count_lasting_actions(trust.counts, search, depth, nodes)
        if meets_chance(search, depth, nodes):
            trust.counts[CHANCE_SEEN] = 1
