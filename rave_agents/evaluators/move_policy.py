"""A learned policy: prior probabilities of moves, a softmax of sums of the weights of features.

The features of a move are the cell that it fills, the pattern of cells around it, the direction of
the last move from there, and the cell that a piece leaves. Programs for Go and Hex learn such
patterns (Coulom 2007; Huang et al. 2014). Players who change places by ``BaseRules.exchange`` share
all weights. ``move_features.py`` has the same in compiled code.
"""

import functools
import itertools
import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.learned_file import (
    Arrays,
    FileMatch,
    LearnedFile,
    description_in,
    number_in,
    read_arrays,
    read_learned,
)
from rave_agents.evaluators.linear_value import MEAN, LinearValue, fits_game
from rave_agents.evaluators.move_features import (
    ANSWER,
    ANSWER_PATTERN,
    AT,
    BEYOND,
    FEATURES,
    LEFT,
    LEFT_PATTERN,
    NEAR,
    NO_CELL,
    NO_PLACE,
    NUMBERS,
    PATTERN,
    SIDES,
    STEPS,
    VARIES,
    cells_changed,
    give_priors,
)
from rave_agents.evaluators.symmetries import board_of, cells_used, image_under
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.game.game_state import compiled_form
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.games.kit.values import JudgedRules, with_method

POLICY_FORMAT = 3
"""The version of the file format."""

MOST_KINDS = 16
"""The maximum number of kinds of cells in patterns."""

GAMES = 8
"""Random games from which the cells of moves are found."""

_AROUND = (
    *itertools.product((-1, 0, 1), repeat=2),
    *((2, -1), (-2, 1), (1, -2), (-1, 2), (2, 0), (-2, 0), (0, 2), (0, -2)),
)
"""Offsets (rows, columns) of the cells of patterns: the neighbourhood, then eight cells beyond it,
two steps straight ahead and the bridges of hexagons."""


class MoveCells(NamedTuple):
    """The cells of a game's moves, and the surroundings of each cell."""

    shared: bool
    """True if both players share weights: each sees the board as player 0 would."""
    cells: NDArray[np.int16]
    """[actions, 2] the cell that each action fills, and the one that it leaves: ``NO_CELL`` for
    none, ``VARIES`` if it depends on the position."""
    near: NDArray[np.int16]
    """[views, cells, CELLS] the cells of each pattern; ``NO_CELL`` outside of the board."""
    kinds: NDArray[np.int8]
    """[views, kinds] each kind of cell as a view sees it."""
    images: NDArray[np.int16]
    """[views, cells] the place of each cell in a view."""
    steps: NDArray[np.int8]
    """[views, cells, cells] the number, from 1, of the offset from one cell to another at most two
    rows and columns away; else 0."""


@functools.lru_cache(maxsize=64)
def move_cells(rules: BaseRules) -> MoveCells:
    """The cells of a game's moves.

    Raises:
        UnsupportedGameError: for a game whose rules describe no board, or too many kinds of cells.
    """
    if rules.num_board_cells == 0 or rules.cell_kinds > MOST_KINDS:
        raise UnsupportedGameError(
            f"{rules}: a policy is for games on compiled rules with a board of at most "
            f"{MOST_KINDS} kinds of cells."
        )
    size, used = rules.num_board_cells, cells_used(rules)
    rows, columns = rules.board_shape
    # Cells that no game uses, such as the corners of a hexagon's square array, count as outside.
    near = np.full((size, len(_AROUND)), NO_CELL, np.int16)
    steps = np.zeros((size, size), np.int8)
    for cell, (down, right) in itertools.product(range(size), _WITHIN_TWO):
        row, column = cell // columns + down, cell % columns + right
        if 0 <= row < rows and 0 <= column < columns:
            other = row * columns + column
            steps[cell, other] = _WITHIN_TWO.index((down, right)) + 1
            if used[other] and (down, right) in _AROUND:
                near[cell, _AROUND.index((down, right))] = other
    shared = bool(rules.exchange) and rules.cell_kinds == 3 and rules.num_players == 2
    image = image_under(rules, rules.exchange) if shared else np.arange(size)
    # The inverse of the image; NO_CELL is -1, and the last entry maps it to itself.
    back = np.append(np.argsort(image), NO_CELL)
    same = np.arange(rules.cell_kinds)
    return MoveCells(
        shared,
        _cells_of_actions(rules),
        np.stack([near, back[near[image]]]).astype(np.int16),
        np.stack([same, np.array([0, 2, 1]) if shared else same]).astype(np.int8),
        np.stack([np.arange(size), image]).astype(np.int16),
        np.stack([steps, steps[image][:, image]]),
    )


_WITHIN_TWO = tuple(itertools.product((-2, -1, 0, 1, 2), repeat=2))


def _cells_of_actions(rules: BaseRules) -> NDArray[np.int16]:
    if not rules.fills_own_cells:
        return cells_in_random_games(rules)
    cells = np.full((rules.num_distinct_actions, 2), NO_CELL, np.int16)
    cells[: rules.num_board_cells, 0] = np.arange(rules.num_board_cells)
    return cells


def cells_in_random_games(rules: BaseRules) -> NDArray[np.int16]:
    """Each action's cells, found in random games: ``VARIES`` unless they were always the same."""
    found: dict[int, set[tuple[int, int]]] = {}
    draw = np.random.default_rng(0)
    for _ in range(GAMES):
        state: Any = rules.new_initial_state()  # type: ignore[attr-defined]
        for _ in range(2 * rules.num_board_cells):
            if state.is_terminal():
                break
            player, action = state.current_player(), int(draw.choice(state.legal_actions()))
            before = board_of(state)
            state.apply_action(action)
            if player >= 0:  # Not chance.
                found.setdefault(action, set()).add(_cells_of_move(action, before, board_of(state)))
    cells = np.full((rules.num_distinct_actions, 2), VARIES, np.int16)
    for action, pairs in found.items():
        if len(pairs) == 1:
            cells[action] = next(iter(pairs))
    return cells


def _cells_of_move(
    action: int, before: NDArray[np.int8], after: NDArray[np.int8]
) -> tuple[int, int]:
    """The cells of a move; the one with the action's number if it changes."""
    if action < before.size and before[action] != after[action]:
        return action, NO_CELL
    to, left = cells_changed(before, after)
    return int(to), int(left)


class Moves(NamedTuple):
    """Moves in positions, from which features are computed."""

    boards: NDArray[np.int8]
    """[moves, cells] the board before each."""
    players: NDArray[np.int64]
    """[moves] who moves."""
    actions: NDArray[np.int64]
    """[moves] the actions."""
    cells: NDArray[np.int64]
    """[moves, 2] the cell that each fills and the one that it leaves, or ``NO_CELL``."""
    last: NDArray[np.int64]
    """[moves] the cell that the previous move filled, or ``NO_CELL``."""


def moves_at(rules: BaseRules, state: Any) -> Moves:
    """The legal moves of a position on compiled rules."""
    known, actions, board = move_cells(rules), state.legal_actions(), board_of(state)
    cells = known.cells[actions].astype(np.int64)
    # Cells that depend on the position, such as the top of a column, are found by playing.
    for place in np.flatnonzero(cells[:, 0] == VARIES):
        after = state.clone()
        after.apply_action(actions[place])
        cells[place] = cells_changed(board, board_of(after))
    history, last = state.history(), NO_CELL
    # With chance the last entry of the history may be an outcome, which fills no cell.
    if history and not rules.has_chance:
        last = int(known.cells[history[-1], 0])
    count = len(actions)
    return Moves(
        np.broadcast_to(board, (count, board.size)),
        np.full(count, state.current_player(), np.int64),
        np.array(actions, np.int64),
        cells,
        np.full(count, last, np.int64),
    )


def features_of(known: MoveCells, moves: Moves) -> NDArray[np.int64]:
    """[moves, FEATURES] the places of each move's weights; ``NUMBERS`` for a feature it lacks."""
    # Players share weights by their view, or have weights of their own by their side.
    views = moves.players if known.shared else np.zeros_like(moves.players)
    sides = moves.players - views
    found = np.full((len(moves.actions), FEATURES), NUMBERS, np.int64)

    def put(feature: int, where: NDArray[np.bool_], content: NDArray[Any]) -> None:
        places = ((content * SIDES + sides) * FEATURES + feature) % NUMBERS
        found[where, feature] = places[where]

    def pattern(cells: NDArray[np.int64], first: int, end: int) -> NDArray[np.int64]:
        near = known.near[views, cells][:, first:end]
        kinds = known.kinds.shape[1]
        held = np.take_along_axis(moves.boards, np.maximum(near, 0).astype(np.int64), axis=1)
        seen = np.where(near == NO_CELL, kinds, known.kinds[views[:, None], held])
        code = np.zeros(len(near), np.int64)
        for column in range(end - first):  # Digits in base kinds + 1; the last kind is outside.
            code = code * (kinds + 1) + seen[:, column]
        return code

    to, left = moves.cells.T
    placed, leaves = to >= 0, left >= 0
    # Any cell will do where there is none: ``placed`` and ``leaves`` mask the result.
    at, behind = np.maximum(to, 0), np.maximum(left, 0)
    around = pattern(at, 0, NEAR)
    step = known.steps[views, at, np.maximum(moves.last, 0)].astype(np.int64)
    answers = placed & (moves.last >= 0) & (step > 0)
    put(NO_PLACE, ~placed, moves.actions)
    put(AT, placed, known.images[views, at].astype(np.int64))
    put(PATTERN, placed, around)
    put(BEYOND, placed, pattern(at, NEAR, len(_AROUND)))
    put(ANSWER, answers, step)
    put(ANSWER_PATTERN, answers, around * STEPS + step)
    put(LEFT, placed & leaves, known.images[views, behind].astype(np.int64))
    put(LEFT_PATTERN, placed & leaves, pattern(behind, 0, NEAR))
    return found


class MovePolicy(LearnedFile):
    """A learned policy; ``evaluator=`` takes it or its file.

    Args:
        game: the game that it was learned on, as text, with its parameters.
        numbers: [NUMBERS] the weights, which the features of all moves share.
        made: a line on how it was learned.
        match: the match of ``auto`` with it against ``auto`` without; None if it was not measured.
    """

    kind = "policy"

    learned_on: str | None = None
    """A value's may have another size; a policy's does not."""

    backup = MEAN
    """The backup of ``auto`` with a policy."""

    other_sizes = False
    """A policy does not fit boards of other sizes."""

    def __init__(
        self,
        game: str,
        numbers: NDArray[np.float32],
        *,
        made: str = "",
        match: FileMatch | None = None,
    ) -> None:
        super().__init__(game, made, match)
        if numbers.shape != (NUMBERS,) or not np.isfinite(numbers).all():
            raise ValueError(f"a policy has {NUMBERS} finite numbers, got {numbers.shape}")
        self.numbers: NDArray[np.float32] = np.ascontiguousarray(numbers, np.float32)

    def arrays(self) -> dict[str, Any]:
        """The content of its file, in half precision."""
        return {
            "format": POLICY_FORMAT,
            **self.description(),
            "policy": self.numbers.astype(np.float16),
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "MovePolicy":
        """Read its file.

        Raises:
            OSError: if there is no such file.
            ValueError: if it is not a learned policy.
        """
        return read_learned(path, "learned policy", cls._parsed)

    @classmethod
    def _parsed(cls, arrays: Arrays) -> "MovePolicy":
        numbers = arrays["policy"]
        if number_in(arrays, "format") != POLICY_FORMAT or numbers.dtype != np.float16:
            raise ValueError("it has another format")
        return cls(numbers=numbers.astype(np.float32), **description_in(arrays))

    def prior(self, state: Any) -> list[tuple[int, float]]:
        """The probabilities of a state's legal actions.

        Raises:
            UnsupportedGameError: if it was learned on another game.
        """
        found = as_game_state(state)
        on_rules: Any = compiled_form(found)
        if on_rules is None:
            raise self.refusal(str(found))
        self.check_rules(on_rules.rules)
        moves = moves_at(on_rules.rules, on_rules)
        # Features that a move lacks have the place NUMBERS, the appended 0.
        numbers = np.append(self.numbers, np.float32(0.0)).astype(np.float64)
        logits = numbers[features_of(move_cells(on_rules.rules), moves)].sum(axis=1)
        weights = np.exp(logits - logits.max())
        return list(zip(moves.actions.tolist(), (weights / weights.sum()).tolist(), strict=True))

    def with_priors(self, rules: BaseRules) -> JudgedRules:
        """A game's rules with this policy compiled.

        Raises:
            UnsupportedGameError: if it was learned on another game.
        """
        self.check_rules(rules)
        return JudgedRules(_rules_with_priors(rules), self.numbers)

    def check_rules(self, rules: BaseRules) -> None:
        """Refuse rules of another game, or with another value of a parameter."""
        if not fits_game(self.game, rules):
            raise self.refusal(str(rules))


def load_learned(path: str | os.PathLike[str]) -> LinearValue | MovePolicy:
    """Read a learned value or a learned policy.

    Raises:
        OSError: if there is no such file.
        ValueError: if it is neither.
    """
    try:
        is_policy = "policy" in read_arrays(path)
    except ValueError:
        is_policy = False  # Loading it below raises the error.
    return MovePolicy.load(path) if is_policy else LinearValue.load(path)


@functools.lru_cache(maxsize=64)
def _rules_with_priors(rules: BaseRules) -> BaseRules:
    known = move_cells(rules)
    return with_method(
        rules,
        "give_priors",
        give_priors,
        gives_priors=True,
        num_weights=NUMBERS,
        moves_shared=known.shared,
        action_cells=known.cells.ravel(),
        move_near=known.near.ravel(),
        move_kinds=known.kinds.ravel(),
        move_images=known.images.ravel(),
        move_steps=known.steps.ravel(),
    )
