"""Files of learned values that are damaged, or were made to do harm."""

import io
import pickle
import random
import tracemalloc
import zipfile

import numpy as np
import pytest
from helpers.random_values import network_of_windows

from rave_agents import LinearValue
from rave_agents.evaluators import learned_file
from rave_agents.evaluators.tuple_network import network_for
from rave_agents.games import rules_class

RULES = rules_class("breakthrough")(rows=5, columns=4)
WINDOWS, NETWORK = network_of_windows(RULES), network_for(RULES)
FEATURES = WINDOWS.size + 1
RIGHT = {
    "format": 2,
    "game": str(RULES),
    "weights": np.full((2, 1, FEATURES), 0.001, np.float32),
    "utilities": (-1.0, 1.0),
    "utility_sum": 0.0,
    "board": WINDOWS.board,
    "cells": WINDOWS.cells,
    "tables": WINDOWS.tables,
    "kinds": WINDOWS.kinds,
    "players": 2,
    "made": "by a test",
}
OF_SHARED = {
    **RIGHT,
    "weights": np.full((1, 1, NETWORK.size + 1), 0.001, np.float16),
    "cells": NETWORK.cells,
    "tables": NETWORK.tables,
    "kinds": NETWORK.kinds,
}


def written(path, *, packed=True, **changes):
    arrays = {name: array for name, array in (RIGHT | changes).items() if array is not None}
    (np.savez_compressed if packed else np.savez)(path, **arrays)
    return path


def replaced(path, name, content):
    """The file with other bytes in the place of an array."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, array in (RIGHT | {name: content}).items():
            buffer = io.BytesIO()
            np.save(buffer, array) if isinstance(array, np.ndarray) or other != name else None
            archive.writestr(f"{other}.npy", content if other == name else buffer.getvalue())
    return path


def announced(shape, kind="<f4"):
    """An array's header, with four bytes after it."""
    buffer = io.BytesIO()
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + b"\0\0\0\0"


def test_a_whole_file_is_read_packed_or_not(tmp_path):
    for packed in (True, False):
        value = LinearValue.load(written(tmp_path / "value.npz", packed=packed))
        assert value.weights.shape == (2, 1, FEATURES)
        assert (value.game, value.network) == (str(RULES), WINDOWS)
    with_stages = {**OF_SHARED, "stages": np.zeros(0, np.int64)}
    value = LinearValue.load(written(tmp_path / "value.npz", **with_stages))
    assert (value.network, value.players, value.made) == (NETWORK, 2, "by a test")


def weights(*shape):
    return np.full(shape, 0.001, np.float32)


@pytest.mark.parametrize(
    "changes",
    [
        *({"weights": weights(2, outputs, FEATURES)} for outputs in (0, 3, 9, 40, 1500)),
        {"weights": weights(2, 1, FEATURES), "utility_sum": np.nan},
        {"weights": weights(3, 1, FEATURES)},
        {"weights": weights(2, 1, FEATURES - 1)},
        {"weights": weights(2, FEATURES)},
        {"weights": weights(0, 0, FEATURES)},
        {"weights": np.full((2, 1, FEATURES), np.nan, np.float32)},
        {"weights": np.full((2, 1, FEATURES), np.inf, np.float32)},
        {"weights": weights(2, 1, FEATURES).astype(np.float64)},
        {"weights": "text"},
        {"weights": None},
        {"format": 1},
        {"format": "2"},
        {"game": 7},
        {"game": np.array(print, object)},
        {"game": "\x1b[31mred"},
        {"game": "x" * 2000},
        {"utilities": (1.0, -1.0)},
        {"utilities": (-1.0, np.nan)},
        {"utilities": (-1.0, 0.0, 1.0)},
        {"utilities": 1.0},
        {"utility_sum": np.inf},
        {"board": (5, 4)},
        {"board": (10**9, 10**9, 3)},
        {"board": (5.0, 4.0, 3.0)},
        {"board": (5, 4, 10**6)},
        {"board": 5},
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(changes, tmp_path):
    with pytest.raises(ValueError, match=r"is not a learned value, .*: \S"):
        LinearValue.load(written(tmp_path / "value.npz", **changes))


def changed(array, place, number):
    array = array.copy()
    array[place] = number
    return array


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": np.full((2, 1, NETWORK.size + 1), 0.001, np.float16)},
        {"weights": np.full((1, 2, NETWORK.size + 1), 0.001, np.float16)},
        {"weights": np.full((1, 1, NETWORK.size), 0.001, np.float16)},
        {"weights": np.full((1, 1, NETWORK.size + 1), np.inf, np.float16)},
        {"cells": None},
        {"cells": NETWORK.cells[0]},
        {"cells": NETWORK.cells[:, :0]},
        {"cells": NETWORK.cells.astype(float)},
        {"cells": changed(NETWORK.cells, (0, 0, 0), 20)},
        {"cells": changed(NETWORK.cells, (0, 0, 0), -1)},
        {"cells": changed(NETWORK.cells, (0, 0, 5), -1)},
        {"cells": changed(NETWORK.cells, (0, 0, 2), -2)},
        {"tables": changed(NETWORK.tables, 0, -1)},
        {"tables": changed(NETWORK.tables, 0, 2**31 - 1)},
        {"tables": NETWORK.tables[1:]},
        {"kinds": changed(NETWORK.kinds, (1, 0), 2)},
        {"kinds": changed(NETWORK.kinds, (0, 0), 3)},
        {"kinds": NETWORK.kinds[:1]},
        {"stages": np.array([5])},
        {"players": 3},
        {"players": np.nan},
        {"players": None},
        {"made": 5},
        {"made": "\x1b[31mred"},
        {"board": (5, 4, 4)},
        {"board": (3, 4, 3)},
        {"board": (10**9, 10**9, 3)},
    ],
)
def test_a_file_of_tuples_that_does_not_fit_together_is_refused(changes, tmp_path):
    with pytest.raises(ValueError, match=r"is not a learned value, .*: \S"):
        LinearValue.load(written(tmp_path / "value.npz", **{**OF_SHARED, **changes}))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no array",
        announced((2, 1, 10**12)),
        announced((-1, 1)),
        announced((2**40, 2**40)),
        announced((1,) * 40),
        announced((), "|O"),
        announced((4,), "|V1"),
        announced((1,), "<U0"),
        pickle.dumps(print),
    ],
    ids=range(10),
)
def test_an_array_whose_bytes_are_not_there_is_refused(content, tmp_path):
    with pytest.raises(ValueError, match="is not a learned value"):
        LinearValue.load(replaced(tmp_path / "value.npz", "weights", content))


def test_a_file_that_unpacks_to_very_much_takes_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(learned_file, "MOST_BYTES", 1 << 20)
    path = written(tmp_path / "value.npz", weights=np.zeros((2, 1, 2_000_000), np.float32))
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    with pytest.raises(ValueError, match="more than 1048576"):
        LinearValue.load(path)
    assert tracemalloc.get_traced_memory()[1] < 4_000_000
    tracemalloc.stop()


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path):
    for path in (tmp_path / "none.npz", tmp_path):
        with pytest.raises(OSError, match=r"none\.npz|directory|Permission"):
            LinearValue.load(path)


def damaged(content, draw):
    """Some bytes changed, cut out, doubled, or the end cut off."""
    content = bytearray(content)
    kind, place = draw.randrange(5), draw.randrange(len(content))
    if kind == 0:
        del content[place:]
    elif kind == 1:
        del content[place : place + draw.randint(1, 40)]
    elif kind == 2:
        content[place:place] = content[place : place + draw.randint(1, 40)]
    else:
        for _ in range(draw.choice((1, 1, 2, 10))):
            content[draw.randrange(len(content))] = draw.choice((0, 255, draw.randrange(256)))
    return bytes(content)


@pytest.mark.parametrize("files", [300, pytest.param(16_498, marks=pytest.mark.full)])
def test_damaged_files_are_values_or_no_learned_values(files, tmp_path):
    draw, path, taken = random.Random(1), tmp_path / "value.npz", 0
    small = {"weights": weights(2, 1, 29), "board": None}
    originals = []
    for packed in (True, False):
        for changes in ({}, small, OF_SHARED):
            originals.append(written(path, packed=packed, **changes).read_bytes())
    for _ in range(files):
        path.write_bytes(damaged(draw.choice(originals), draw))
        try:
            value = LinearValue.load(path)
        except ValueError as error:
            assert "is not a learned value" in str(error)  # noqa: PT017
        else:
            taken += 1
            assert np.isfinite(value.weights).all()
    assert taken < files / 5
