"""Learned values on boards of other sizes, with the same weights.

A window of the new board takes the weights of the window of the learned board that is as far from
the nearer edges; in the middle of a larger board, of the one nearest to it. So several windows may
share weights.
"""

import itertools
import operator
from collections import defaultdict

import numpy as np

from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.evaluators.symmetries import image_under
from rave_agents.evaluators.tuple_network import Cells, TupleNetwork, padded_views
from rave_agents.games.kit.base_rules import BaseRules

MOST_CHANGE = 2
"""The maximum number of rows or columns by which a step of a size parameter changes the board: in
Havannah two."""

_alike = operator.attrgetter(
    "cell_kinds", "num_players", "utility_sum", "min_utility", "max_utility", "exchange"
)
"""Attributes that the rules of both sizes must have in common."""


def at_other_size(value: LinearValue, rules: BaseRules) -> LinearValue | None:
    """A value for a game that differs only in the size of its board; None if it does not fit.

    Its backup is by averages: minimax was not measured on that size.
    """
    learned = rules_named(value.game, type(rules))
    if learned is None or value.network is None or not _differ_in_size(learned, rules):
        return None
    network = _network_at_size(value.network, rules)
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
    """The rules that the text of a game names; None if they are not of this class."""
    name, _, rest = game.removesuffix(")").partition("(")
    if name != kind.name:
        return None
    kinds = {key: type(default) for key, default in kind.parameter_defaults().items()}
    given = dict(pair.split("=") for pair in rest.split(",") if pair)
    return kind(
        **{
            key: text == "True" if kinds[key] is bool else kinds[key](text)
            for key, text in given.items()
        }
    )


def size_parameters(rules: BaseRules) -> list[str]:
    """The parameters that set the number of rows or columns of a game's board."""
    return [
        name
        for name, given in rules.parameters.items()
        if type(given) is int and any(_changes_board(rules, name, given + by) for by in (1, -1))
    ]


def _changes_board(rules: BaseRules, name: str, number: int) -> bool:
    try:
        shape = rules.replace(**{name: number}).board_shape
    except (ValueError, TypeError):
        return False
    changes = [abs(now - before) for now, before in zip(shape, rules.board_shape, strict=True)]
    return 0 < max(changes) <= MOST_CHANGE


def _differ_in_size(one: BaseRules, other: BaseRules) -> bool:
    apart = {name for name, given in one.parameters.items() if given != other.parameters[name]}
    return (
        one.board_shape != other.board_shape
        and apart <= {*size_parameters(one), *size_parameters(other)}
        and _alike(one) == _alike(other)
    )


def _network_at_size(network: TupleNetwork, rules: BaseRules) -> TupleNetwork | None:
    """A network's tuples on a board of another size; None if none fits."""
    rows, columns = rules.board_shape
    learned = _by_box(network)
    cells: list[Cells] = []
    tables: list[int] = []
    for height, width in sorted({box[2:] for box in learned}):
        for row, column in itertools.product(range(rows - height + 1), range(columns - width + 1)):
            # Position of the learned window with the same distances from the nearer edges.
            top = _place_before(row, rows - height, network.board[0] - height)
            left = _place_before(column, columns - width, network.board[1] - width)
            for offsets, table in learned.get((top, left, height, width), ()):
                cells.append(tuple((row + down) * columns + column + on for down, on in offsets))
                tables.append(table)
    if not cells:
        return None
    image = image_under(rules, rules.exchange) if network.shared else None
    try:
        return TupleNetwork(
            (rows, columns, network.board[2]),
            padded_views(cells, image),
            np.array(tables, np.int32),
            network.kinds,
        )
    except ValueError:  # Too many tuples.
        return None


_Box = tuple[int, int, int, int]
_Tuple = tuple[list[tuple[int, int]], int]


def _by_box(network: TupleNetwork) -> dict[_Box, list[_Tuple]]:
    """The tuples by their bounding box (top, left, height, width): their offsets and table."""
    found: dict[_Box, list[_Tuple]] = defaultdict(list)
    for padded, length, table in zip(
        network.cells[0], network.lengths, network.tables, strict=True
    ):
        rows, columns = np.divmod(padded[:length].astype(int), network.board[1])
        top, left = int(rows.min()), int(columns.min())
        box = top, left, int(rows.max()) - top + 1, int(columns.max()) - left + 1
        offsets = list(zip((rows - top).tolist(), (columns - left).tolist(), strict=True))
        found[box].append((offsets, int(table)))
    return dict(found)


def _place_before(place: int, last: int, last_before: int) -> int:
    """The place on the learned board: as far from the nearer edge, at most in the middle.

    Args:
        place: of a window, from 0 to ``last``.
        last: its last place.
        last_before: the last place of such a window on the learned board.
    """
    if place <= last - place:
        return min(place, last_before // 2)
    return last_before - min(last - place, last_before // 2)
