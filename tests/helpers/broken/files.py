"""Files of learned values that are damaged."""

import os
import tempfile

import numpy as np
from helpers.broken import add_kind
from helpers.random_values import network_of_windows

from rave_agents import Limit, LinearValue, SearchConfig, Searcher
from rave_agents.games import rules_class

RULES = rules_class("connect_four")(rows=4, columns=4, x_in_row=3)
NETWORK = network_of_windows(RULES)
FEATURES = NETWORK.size + 1


def weights(*shape):
    return np.full(shape, 0.001, np.float32)


def right():
    return {
        "format": 2,
        "game": str(RULES),
        "weights": weights(2, 1, FEATURES),
        "utilities": (-1.0, 1.0),
        "utility_sum": 0.0,
        "board": NETWORK.board,
        "cells": NETWORK.cells,
        "tables": NETWORK.tables,
        "kinds": NETWORK.kinds,
        "players": 2,
        "made": "",
    }


CHANGES = {
    "many outputs": {"weights": weights(2, 1500, FEATURES)},
    "three outputs": {"weights": weights(2, 3, FEATURES)},
    "no outputs": {"weights": weights(2, 0, FEATURES)},
    "few features": {"weights": weights(2, 1, 5)},
    "NaN": {"weights": weights(2, 1, FEATURES) * np.nan},
    "another dtype": {"weights": weights(2, 1, FEATURES).astype(np.int8)},
    "a great board": {"board": (10**9, 10**9, 3)},
    "a board of another size": {"board": (5, 5, 3)},
    "cells outside of the board": {"cells": NETWORK.cells + 9},
    "utilities upside down": {"utilities": (1.0, -1.0)},
    "a sum of NaN": {"utility_sum": np.nan},
    "objects": {"game": np.array(print, object)},
    "another format": {"format": 9},
}


def played(content, draw):
    """What a search makes of a file."""
    handle, path = tempfile.mkstemp(suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as file:
            content(file)
        value = LinearValue.load(path)
        config = SearchConfig.preset("uct").replace(playout_moves=draw.choice((0, 2)))
        searcher = Searcher(config, seed=draw.randrange(1000), evaluator=value)
        return searcher.search(RULES.new_initial_state(), Limit(simulations=60))
    finally:
        os.unlink(path)


def with_bytes(draw, change):
    with tempfile.TemporaryFile() as file:
        draw.choice((np.savez, np.savez_compressed))(file, **right())
        file.seek(0)
        content = change(bytearray(file.read()), draw)
    return played(lambda file: file.write(content), draw)


def cut(content, draw):
    return content[: draw.randrange(len(content))]


def hole(content, draw):
    place = draw.randrange(len(content) - 50)
    return content[:place] + content[place + draw.randint(1, 50) :]


def noise(content, draw):
    for _ in range(draw.choice((1, 3, 30))):
        content[draw.randrange(len(content))] = draw.randrange(256)
    return content


def nothing(content, draw):
    return draw.randbytes(draw.randrange(200))


for label, changes in CHANGES.items():
    add_kind(
        f"file {label}",
        lambda d, c=changes: played(lambda file: np.savez(file, **(right() | c)), d),
    )
add_kind("file cut off", lambda draw: with_bytes(draw, cut))
add_kind("file with a hole", lambda draw: with_bytes(draw, hole))
add_kind("file with noise", lambda draw: with_bytes(draw, noise), refused=False)
add_kind("file of noise", lambda draw: with_bytes(draw, nothing))
