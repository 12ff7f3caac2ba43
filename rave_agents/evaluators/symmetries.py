"""Symmetries of a board: rotations and reflections under which a game's rules stay the same.

They are found, not declared: a game and its image are played side by side, and at each move the
boards after all actions must be images of one another.
"""

import functools
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.games.kit.images import TURNS

GAMES = 2
"""Random games played side by side."""

LOOKS = 8
"""The number of moves of each game at which all actions are compared."""

_OF_SQUARES = [
    *(((a, 0), (0, b)) for a in (1, -1) for b in (1, -1)),
    *(((0, a), (b, 0)) for a in (1, -1) for b in (1, -1)),
]

# The third neighbours of a hexagon are (1, -1) and (-1, 1); on other boards (1, 1) and (-1, -1).
_OF_HEXAGONS = [
    *(((a, a * lean), (-a * lean, 0)) for a in (1, -1) for lean in (1, -1)),
    *(((0, -a * lean), (a * lean, a)) for a in (1, -1) for lean in (1, -1)),
    *(((a, a * lean), (0, -a)) for a in (1, -1) for lean in (1, -1)),
    *(((-a, 0), (a * lean, a)) for a in (1, -1) for lean in (1, -1)),
]

_TURNS = (*_OF_SQUARES, *_OF_HEXAGONS)
"""Matrices of rotations and reflections, of squares and of hexagons."""


def board_of(state: Any) -> NDArray[np.int8]:
    """The contents of a position's cells."""
    cells = np.zeros(state.rules.num_board_cells, np.int8)
    with np.errstate(over="ignore"):
        state.rules.describe_board(state.record, cells)
    return cells


@functools.lru_cache(maxsize=64)
def symmetries_of(rules: BaseRules) -> list[NDArray[np.int64]]:
    """Each cell's image, for each symmetry of a game's board but the identity.

    None with chance, or for other numbers of players than two.
    """
    if rules.has_chance or rules.num_players != 2:
        return []
    used, identity = cells_used(rules), np.arange(rules.num_board_cells)
    images: dict[bytes, NDArray[np.int64]] = {}
    for part in (used, np.ones_like(used)):  # A few random games may not fill a board.
        for image in _images(rules.board_shape, part):
            images.setdefault(image[used].tobytes(), image)
    # Images that differ only in unused cells are the same.
    images.pop(identity[used].tobytes(), None)
    return [image for image in images.values() if _holds(rules, image)]


def image_under(rules: BaseRules, turn: str) -> NDArray[np.int64]:
    """Each cell's image under a turn of ``BaseRules.exchange``."""
    board = np.arange(rules.num_board_cells).reshape(rules.board_shape)
    return (board if turn == "same" else TURNS[turn](board)).ravel().copy()


def cells_used(rules: BaseRules) -> NDArray[np.bool_]:
    """The cells that are ever occupied in a few random games."""
    draw, used = np.random.default_rng(0), np.zeros(rules.num_board_cells, bool)
    for _ in range(2 * GAMES):
        state: Any = rules.new_initial_state()  # type: ignore[attr-defined]
        for ply in itertools.count():
            used |= board_of(state) != 0
            if state.is_terminal() or ply > 2 * used.size:
                break
            state.apply_action(int(draw.choice(state.legal_actions())))
    return used


def _images(shape: tuple[int, int], used: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """The images of cells under each matrix that maps the used cells to themselves."""
    places = np.argwhere(used.reshape(shape))
    found = []
    for matrix in _TURNS:
        turned = places @ np.array(matrix).T
        # A symmetry keeps the centre of the used cells.
        shift = places.mean(axis=0) - turned.mean(axis=0)
        if not np.allclose(shift, np.round(shift), atol=1e-6):
            continue
        moved = turned + np.round(shift).astype(np.int64)
        if {*map(tuple, moved.tolist())} == {*map(tuple, places.tolist())}:
            image = np.arange(used.size)  # Unused cells stay.
            image[places @ [shape[1], 1]] = moved @ [shape[1], 1]
            found.append(image)
    return found


def _holds(rules: BaseRules, image: NDArray[np.int64]) -> bool:
    """True if a game played next to its image remains the image."""
    draw = np.random.default_rng(1)
    for _ in range(GAMES):
        one: Any = rules.new_initial_state()  # type: ignore[attr-defined]
        other = one.clone()
        if _turned(board_of(one), image) != board_of(other).tobytes():
            return False
        for ply in range(2 * image.size):
            if one.is_terminal():
                break
            action = int(draw.choice(one.legal_actions()))
            if ply % max(1, image.size // LOOKS) == 0 and not _alike(one, other, image):
                return False
            one.apply_action(action)
            wanted = _turned(board_of(one), image), one.current_player(), *one.returns()
            # The image of an action is not known, but the image of its board is.
            after = next((each for each in _children(other) if _outcome_of(each) == wanted), None)
            if after is None:
                return False
            other = after
    return True


def _alike(one: Any, other: Any, image: NDArray[np.int64]) -> bool:
    """True if the boards after all actions of a position are images of those of another."""
    images = sorted(
        (_turned(board_of(each), image), each.current_player(), *each.returns())
        for each in _children(one)
    )
    return images == sorted(map(_outcome_of, _children(other)))


def _children(state: Any) -> Any:
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        yield after


def _outcome_of(state: Any) -> tuple[Any, ...]:
    return board_of(state).tobytes(), state.current_player(), *state.returns()


def _turned(board: NDArray[np.int8], image: NDArray[np.int64]) -> bytes:
    turned = np.empty_like(board)
    turned[image] = board
    return turned.tobytes()
