"""Learned values on boards of other sizes: windows are taken over from where they lay before.

A window of the new board has the numbers of the one that lies as far from the nearer edges on the
board that was learned; in the middle of a larger board, of the one nearest to it. So all numbers
stay as they are, and several windows may share them.
"""

import contextlib
import itertools
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.evaluators.symmetries import image_under
from rave_agents.evaluators.tuple_network import PADDING, TupleNetwork
from rave_agents.games.kit.base_rules import BaseRules

MOST_CHANGE = 2
"""Rows or columns that a step of a size changes at most: in Havannah, two."""


def at_other_size(value: LinearValue, rules: BaseRules) -> LinearValue | None:
    """A value for a game that differs in the size of its board alone; None if it cannot be.

    Averages back it up: nothing has shown that minimax would be better on that size.
    """
    learned = rules_named(value.game, type(rules))
    if learned is None or value.network is None or not _differ_in_size(learned, rules):
        return None
    network = network_at_size(value.network, rules)
    if network is None:
        return None
    weights = value.weights
    return LinearValue(
        str(rules),
        np.concatenate([weights[..., : network.size], weights[..., -1:]], axis=-1),
        utilities=value.utilities,
        utility_sum=value.utility_sum,
        network=network,
        players=value.players,
        made=value.made,
        learned_on=value.game,
    )


def rules_named(game: str, kind: type[BaseRules]) -> BaseRules | None:
    """The rules of a game that a file names; None if they are not of this class."""
    name, _, rest = game.removesuffix(")").partition("(")
    if name != kind.name:
        return None
    defaults = kind.parameter_defaults()
    given = dict(pair.split("=") for pair in rest.split(",") if pair)
    kinds = {key: type(default) for key, default in defaults.items()}
    return kind(
        **{
            key: text == "True" if kinds[key] is bool else kinds[key](text)
            for key, text in given.items()
        }
    )


def size_parameters(rules: BaseRules) -> list[str]:
    """The parameters that set the number of rows or columns of a game's board."""
    found = []
    for name, given in rules.parameters.items():
        if type(given) is int and any(_changes_board(rules, name, given + by) for by in (1, -1)):
            found.append(name)
    return found


def sizes_near(rules: BaseRules) -> list[BaseRules]:
    """The same game on boards of one row and one column more or less, as far as there are any."""
    names = size_parameters(rules)
    found = []
    for steps in itertools.product((-1, 1), repeat=len(names)):
        sizes = {name: rules.parameters[name] + by for name, by in zip(names, steps, strict=True)}
        with contextlib.suppress(ValueError, TypeError):
            found.append(rules.replace(**sizes))
    return found if names else []


def _changes_board(rules: BaseRules, name: str, number: int) -> bool:
    """True if a parameter's next number gives the board a few rows or columns more or less."""
    try:
        shape = rules.replace(**{name: number}).board_shape
    except (ValueError, TypeError):
        return False
    changes = [abs(now - before) for now, before in zip(shape, rules.board_shape, strict=True)]
    return 0 < max(changes) <= MOST_CHANGE


def _differ_in_size(one: BaseRules, other: BaseRules) -> bool:
    """True if two games of one name have boards of different sizes, and nothing else differs."""
    apart = {name for name, given in one.parameters.items() if given != other.parameters[name]}
    return (
        one.board_shape != other.board_shape
        and apart <= set(size_parameters(one)) | set(size_parameters(other))
        and all(getattr(one, name) == getattr(other, name) for name in _ALIKE)
    )


_ALIKE = ("cell_kinds", "num_players", "utility_sum", "min_utility", "max_utility", "exchange")
"""Attributes that the rules of both sizes have in common."""


def network_at_size(network: TupleNetwork, rules: BaseRules) -> TupleNetwork | None:
    """A network's tuples on a game's board; None if none fits."""
    rows, columns = rules.board_shape
    at = _by_place(network)
    cells: list[tuple[int, ...]] = []
    tables: list[int] = []
    for height, width in sorted({(box[2], box[3]) for box in at}):
        for row, column in itertools.product(range(rows - height + 1), range(columns - width + 1)):
            top = _place_before(row, rows - height, network.board[0] - height)
            left = _place_before(column, columns - width, network.board[1] - width)
            for offsets, table in at.get((top, left, height, width), ()):
                cells.append(tuple((row + down) * columns + column + on for down, on in offsets))
                tables.append(table)
    if not cells:
        return None
    longest = max(map(len, cells))
    padded = np.array([(*each, *[PADDING] * (longest - len(each))) for each in cells], np.int16)
    views: NDArray[Any] = padded[None]
    if network.shared:
        image = np.append(image_under(rules, rules.exchange), PADDING)
        views = np.stack([padded, image[padded]]).astype(np.int16)
    share = rows * columns / (network.board[0] * network.board[1])
    stages = tuple(round(share * filled) for filled in network.stages)
    try:
        return TupleNetwork(
            (rows, columns, network.board[2]),
            views,
            np.array(tables, np.int32),
            network.kinds,
            stages,
        )
    except ValueError:
        return None


_Box = tuple[int, int, int, int]
_Tuple = tuple[list[tuple[int, int]], int]


def _by_place(network: TupleNetwork) -> dict[_Box, list[_Tuple]]:
    """The tuples by the box around them (top, left, height, width): their offsets, their table."""
    found: dict[_Box, list[_Tuple]] = defaultdict(list)
    for padded, table in zip(network.cells[0], network.tables, strict=True):
        rows, columns = np.divmod(padded[padded != PADDING].astype(int), network.board[1])
        top, left = int(rows.min()), int(columns.min())
        box = top, left, int(rows.max()) - top + 1, int(columns.max()) - left + 1
        offsets = list(zip((rows - top).tolist(), (columns - left).tolist(), strict=True))
        found[box].append((offsets, int(table)))
    return dict(found)


def _place_before(place: int, last: int, last_before: int) -> int:
    """The place on the board before that is as far from the nearer edge, or from the middle on.

    Args:
        place: of a window, from 0 to ``last``.
        last: its last place there.
        last_before: the last place of such a window before.
    """
    if place <= last - place:
        return min(place, last_before // 2)
    return last_before - min(last - place, last_before // 2)
