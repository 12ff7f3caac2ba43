"""Plots of the search tree near its root."""

from typing import Any

from rave_agents.frameworks.adapters import as_game_state
from rave_agents.game.game_state import GameState, is_simultaneous
from rave_agents.game.notation import action_name
from rave_agents.game.validation import Count, checked
from rave_agents.plots.figures import Axes, Picture, literal, panels


def plot_tree(root: Any, state: Any, *, depth: int = 3, width: int = 3) -> Picture:
    """Return a picture of a tree near its root; see ``draw_tree``."""
    leaves = width**depth
    picture, (axes,) = panels(1, width=max(4.0, 0.42 * leaves), height=1.0 + 0.9 * depth)
    draw_tree(axes, root, state, depth=depth, width=width)
    return picture


def draw_tree(axes: Axes, root: Any, state: Any, *, depth: int = 3, width: int = 3) -> None:
    """Draw the most visited nodes near the root, with name, visits, and value or proven outcome.

    The width of an edge grows with its visits.

    Args:
        axes: where to draw.
        root: the root from ``RaveBot.mcts_search``, or any node with ``action``, ``explore_count``,
            ``total_reward``, ``outcome``, ``player`` and ``children``, such as those of OpenSpiel's
            own bots.
        state: the root's position, for the names of actions; it is not changed.
        depth: the number of levels below the root, at least 1.
        width: the largest number of children per node, at least 1.

    Raises:
        ValueError: for a depth or width below 1.
    """
    depth, width = checked("depth", Count, depth), checked("width", Count, width)
    _draw(axes, root, as_game_state(state).clone(), (0.0, 1.0), (depth, width), root.explore_count)
    axes.set(xlim=(0, 1), ylim=(-depth - 0.4, 0.4))
    axes.axis("off")


def _draw(
    axes: Axes,
    node: Any,
    state: GameState,
    span: tuple[float, float],
    size: tuple[int, int],
    simulations: int,
    level: int = 0,
    name: str = "",
) -> None:
    depth, width = size
    middle = sum(span) / 2
    proven = node.outcome is not None and len(node.outcome) > 0
    text = axes.text(
        middle,
        -level,
        "\n".join([name, str(node.explore_count), _value(node)] if name else [_value(node)])
        if level
        else str(node.explore_count),
        ha="center",
        va="center",
        fontsize=6,
        bbox={
            "facecolor": "#fff3c4" if proven else "white",
            "edgecolor": "grey",
            "boxstyle": "round",
        },
    )
    text.set_gid(f"node {level}")
    visited = [child for child in node.children if child.explore_count > 0]
    best = sorted(visited, key=lambda child: -child.explore_count)[:width]
    if level == depth or not best or state.is_terminal() or is_simultaneous(state):
        return
    part = (span[1] - span[0]) / len(best)  # Children share the width of their parent.
    for index, child in enumerate(best):
        below = (span[0] + part * index, span[0] + part * (index + 1))
        axes.plot(
            [middle, sum(below) / 2],
            [-level, -level - 1],
            color="grey",
            linewidth=0.5 + 5 * child.explore_count / max(1, simulations),
            zorder=0,
        )
        after = state.clone()
        after.apply_action(child.action)
        _draw(
            axes,
            child,
            after,
            below,
            size,
            simulations,
            level + 1,
            literal(action_name(state, child.action)),
        )


def _value(node: Any) -> str:
    """The proven return of the player who took the action, else their mean return."""
    outcome, player = node.outcome, node.player
    if outcome is not None and 0 <= player < len(outcome):
        return f"proven {outcome[player]:+g}"
    return f"{node.total_reward / max(1, node.explore_count):+.2f}"
