"""Where a searcher's random streams begin."""

import numpy as np


def first_words(seed):
    """The first states of the tree's and of the playouts' stream, in a searcher's first search."""
    return [
        np.random.SeedSequence(seed).spawn(1)[0].generate_state(4, np.uint32),
        playouts(seed, 0),
    ]


def playouts(seed, search):
    """The first state of the playouts' stream in a searcher's search with this number, from 0."""
    words = np.random.SeedSequence(seed).spawn(4)[3].generate_state(4 * search + 4, np.uint32)
    return words[4 * search :]
