"""The names of the parts that took part in a search, see ``SearchResult.took_part``."""

import math
from typing import Any

from rave_agents.compiler.dispatch import records_of
from rave_agents.config.part_specs import call_part
from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.evaluators.move_policy import MovePolicy
from rave_agents.kernel.declarations import gives_weights, taking_part
from rave_agents.searcher.evaluators import kind_of
from rave_agents.tree.composition import SearchedGame


def parts_that_took_part(game: SearchedGame, evaluator: Any, *, patterns: bool) -> tuple[str, ...]:
    """The names of the parts that took part in simulations.

    Args:
        game: the game and the search's parts in it.
        evaluator: the evaluator of positions; None for playouts only.
        patterns: True if playouts used patterns of the game's compiled rules.
    """
    kind = kind_of(evaluator)
    learned = isinstance(evaluator, LinearValue | MovePolicy)
    words = [] if evaluator is None else [f"learned {evaluator.kind}" if learned else "evaluator"]
    declared = [word for part in records_of(game.parts) if (word := call_part(taking_part, part))]
    own = game.chooses_moves or call_part(gives_weights, game.parts.playouts)
    cut = game.judging.playout_moves if kind.positions else math.inf
    if not kind.leaves and cut > 0:
        if patterns:
            words.append("pattern playouts")
            declared = [word for word in declared if not word.endswith("playouts")]
        elif not any(word.endswith("playouts") for word in declared):
            words.append("playouts of your own" if own else "uniform playouts")
        words += ["cut playouts"] if cut < math.inf else []
    return tuple(dict.fromkeys(words + declared))
