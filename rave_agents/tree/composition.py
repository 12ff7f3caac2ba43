"""The parts of a search of one game: those of its configuration, and how players move there."""

from typing import Any, NamedTuple

from rave_agents.config.search_config import SearchConfig
from rave_agents.kernel.alternating import Alternating
from rave_agents.kernel.information_sets import InformationSets
from rave_agents.kernel.playouts import SensiblePlayouts, UniformPlayouts, WeightedPlayouts
from rave_agents.kernel.rules import PUCT, UCB1, Greedy, UCB1Tuned
from rave_agents.kernel.simultaneous import Simultaneous


class Parts(NamedTuple):
    """The parts of a search, in the order of ``kernel.search.Search``."""

    rule: Any
    ties: Any
    amaf: Any
    proofs: Any
    moves: Any
    playouts: Any


def compose(config: SearchConfig, *, simultaneous: bool, hidden: bool, judged: bool) -> Parts:
    """The parts of a search.

    Args:
        config: the search's tunables.
        simultaneous: whether players may move at the same time.
        hidden: whether each simulation begins in another world.
        judged: whether an evaluator judges leaves, so that there are no playouts.
    """
    moves: Any = Alternating()
    if hidden:
        moves = InformationSets()
    elif simultaneous:
        moves = Simultaneous(_without_idle_exploration(config.simultaneous))
    return Parts(
        rule=_without_idle_exploration(config.rule),
        ties=config.ties,
        amaf=config.amaf,
        proofs=config.proofs,
        moves=moves,
        playouts=UniformPlayouts() if judged else _weighted(config.playouts),
    )


def _without_idle_exploration(rule: Any) -> Any:
    """A rule with c = 0 as the one that computes no exploration."""
    idle = isinstance(rule, UCB1 | PUCT | UCB1Tuned) and rule.c == 0.0
    return Greedy() if idle else rule


def _weighted(playouts: Any) -> Any:
    uniform = isinstance(playouts, UniformPlayouts | SensiblePlayouts)
    return UniformPlayouts() if uniform else WeightedPlayouts(playouts)


def draws_by_weights(parts: Parts) -> bool:
    """Whether playouts draw actions by the frame's weights."""
    return isinstance(parts.playouts, WeightedPlayouts)
