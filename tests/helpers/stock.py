"""OpenSpiel's own Python ``MCTSBot``, as the tests of evaluators use it."""

import numpy as np
from open_spiel.python.algorithms import mcts


def stock_bot(
    game, evaluator, simulations=60, selection=mcts.SearchNode.puct_value, *, exploration
):
    """The bot; ``exploration`` is for PUCT, and UCT has 1.4."""
    return mcts.MCTSBot(
        game,
        exploration if selection is mcts.SearchNode.puct_value else 1.4,
        simulations,
        evaluator,
        random_state=np.random.RandomState(1),
        child_selection_fn=selection,
    )


def visit_counts(root):
    return {child.action: child.explore_count for child in root.children}
