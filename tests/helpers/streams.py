"""Where a searcher's random streams begin."""

import numpy as np


def first_words(seed):
    """The first states of the tree's and of the playouts' stream, in a searcher's first search."""
    spawned = np.random.SeedSequence(seed).spawn(4)
    return [spawned[index].generate_state(4, np.uint32) for index in (0, 3)]
