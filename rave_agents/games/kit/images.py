"""Keys that a position shares with its images: turns and mirrors of a board.

Where rules stay the same under a turn of the board, a position and its image are worth the same. So
a solver has one key for all images: each cell's content has a random number for each image, the
sums over the cells are taken for all images at once, and the smallest sum is the key.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel
from rave_agents.games.kit.position_hash import mixed_first, mixed_second

TURNS = {
    "mirrored": lambda board: board[:, ::-1],
    "upside_down": lambda board: board[::-1],
    "half_turn": lambda board: board[::-1, ::-1],
    "transposed": lambda board: board.T,
}
"""Turns of a board by their names."""

MOST_NUMBERS = 2**15
"""Random numbers of one game, at most; games that need more have keys of their own positions."""


def images_of(shape: tuple[int, int], turns: tuple[str, ...]) -> NDArray[np.int64]:
    """Each cell's place in each image of a board, the board itself first: [images, cells].

    A turn that changes the board's shape has no image.

    Raises:
        ValueError: for a turn that there is not.
    """
    board = np.arange(shape[0] * shape[1]).reshape(shape)
    found = {board.tobytes(): board}
    waiting = [board]
    for name in turns:
        if name not in TURNS:
            raise ValueError(f"{name!r} is no turn of a board: there are {', '.join(TURNS)}.")
    while waiting:
        image = waiting.pop()
        for name in turns:
            turned = np.ascontiguousarray(TURNS[name](image))
            if turned.shape == shape and turned.tobytes() not in found:
                found[turned.tobytes()] = turned
                waiting.append(turned)
    return np.array([image.ravel() for image in found.values()])


@functools.lru_cache(maxsize=64)
def image_numbers(
    shape: tuple[int, int], kinds: int, turns: tuple[str, ...]
) -> tuple[int, NDArray[np.uint64]]:
    """The number of images, and the numbers of contents: [cells * kinds * 2 * images].

    There is one image, and no number, where there are no turns, or too many numbers.
    """
    images = images_of(shape, turns)
    count, cells = images.shape
    if count == 1 or cells * kinds * 2 * count > MOST_NUMBERS:
        return 1, np.zeros(1, np.uint64)
    draw = np.random.default_rng(cells)
    numbers = draw.integers(2**64, size=(2, cells, kinds), dtype=np.uint64)
    told = numbers[:, images]  # [2, images, cells, kinds]
    return count, np.ascontiguousarray(told.transpose(2, 3, 0, 1)).ravel()


@kernel
def hash_images(rules: Any, state: Any, listing: Any, at: int) -> None:
    """Write the key of a position and its images to two places of the keys, and whose it is.

    Args:
        rules: the rules.
        state: the record.
        listing: the buffers of an expansion and of the rules.
        at: the first of the two places.
    """
    sums, count = listing.sums, rules.num_images
    cells = listing.cells[: rules.num_board_cells]
    rest: Any = np.uint64(rules.describe_position(state, cells))
    for image in range(2 * count):
        sums[image] = np.uint64(0)
    kinds = rules.position_kinds
    for cell in range(rules.num_board_cells):
        content = min(max(int(cells[cell]), 0), kinds - 1)  # int: in Python, an int8 overflows.
        begin = (cell * kinds + content) * 2 * count
        for image in range(2 * count):
            sums[image] += rules.image_numbers[begin + image]
    least = 0
    for image in range(1, count):
        if sums[image] < sums[least]:
            least = image
    listing.images[at // 2] = least
    listing.keys[at] = mixed_first(sums[least], rest)
    listing.keys[at + 1] = mixed_second(sums[count + least], rest)
