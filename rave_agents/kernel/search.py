"""The record of a search: tree, buffers, settings and parts."""

import math
from typing import Annotated, Any, NamedTuple

from rave_agents.compiler.arrays import FLOAT, INT, Array, Axis, Rows, one
from rave_agents.kernel.tree import Tree
from rave_agents.simulate.frame import Frame
from rave_agents.simulate.random_stream import Stream

SCORED_AT_ONCE = 64
"""Number of edges that are scored before their scores are compared."""


class Path(NamedTuple):
    """The path of one simulation, and its values."""

    nodes: Annotated[Array, Rows(Axis.PATH, INT)]
    """Nodes from the root on, including all nodes of a leaf with simultaneous moves."""
    edges: Annotated[Array, Rows(Axis.PATH, INT)]
    """Edges taken at them."""
    entries: Annotated[Array, Rows(Axis.PATH, INT)]
    """The entry that each edge leads to in the table of children, if there is one, see
    ``Children``."""
    movers: Annotated[Array, Rows(Axis.PATH, INT)]
    """The player whose value each edge holds."""
    values: Annotated[Array, Rows(Axis.PLAYER, FLOAT)]
    """Each player's value of a playout or simulation, in [0, 1]."""
    urgencies: Annotated[Array, one(FLOAT, SCORED_AT_ONCE)]
    """Scores of a node's edges, before they are compared."""
    simulations: Annotated[Array, one(INT)]
    """[1] simulations backed up."""


class Settings(NamedTuple):
    """The settings of a search. Utilities are the game's; values lie in [0, 1]."""

    num_players: int
    """Players of the game."""
    num_actions: int
    """Distinct actions of the game."""
    searching_player: int
    """The player whose move is searched for."""
    least_utility: float
    """The game's least utility; minus infinity if unknown."""
    greatest_utility: float
    """The game's greatest utility; infinity if unknown."""
    utility_sum: float
    """The sum of two players' utilities at every end; NaN if it varies or is unknown."""
    first_play_urgency: float
    """The value of an edge without visits and AMAF visits."""
    expand_visits: int
    """A child gets a node on this visit."""
    ends_when_proven: bool
    """True if the search ends as soon as its root is proven."""
    may_expand: bool
    """True if nodes may be added."""
    simulate_address: int
    """The address of the provider's ``simulate``."""
    header_address: int
    """The address of the frame's header, its argument."""


def neutral_settings(num_players: int, num_actions: int, searching_player: int) -> Settings:
    """Settings of a record that is never searched."""
    return Settings(
        num_players,
        num_actions,
        searching_player,
        least_utility=0.0,
        greatest_utility=1.0,
        utility_sum=math.nan,
        first_play_urgency=math.inf,
        expand_visits=1,
        ends_when_proven=True,
        may_expand=True,
        simulate_address=0,
        header_address=0,
    )


class Search(NamedTuple):
    """Everything the loop works on. The classes of its parts determine what is compiled."""

    tree: Tree
    """The nodes and edges, and their statistics."""
    frame: Frame
    """The buffers shared with the provider; two-dimensional ones are flat."""
    path: Path
    """The path of the present simulation."""
    stream: Stream
    """Random numbers for ties, mixed strategies and chance nodes in the tree."""
    settings: Settings
    """The settings of the search."""
    utilities: Any
    """The range that is scaled to [0, 1], see ``utilities.py``."""
    rule: Any
    """The selection rule, see ``rules.py``."""
    ties: Any
    """The rule for ties, see ``selection.py``."""
    amaf: Any
    """AMAF statistics, see ``amaf/views.py``."""
    proofs: Any
    """Proofs, see ``proofs/part.py``."""
    moves: Any
    """The kind of moves, see ``moves/``: alternating, simultaneous, or with hidden information."""
    playouts: Any
    """The playout policy, see ``playouts.py``."""
    judging: Any
    """The use of a value function, see ``values/implicit_minimax.py``."""
    backup: Any
    """The backup: an edge's value from its statistics, see ``backup.py``."""
    first_play: Any
    """The value of edges without visits, see ``selection.py``."""
    lifetimes: Any
    """Action persistence, see ``measures/action_persistence.py``."""
