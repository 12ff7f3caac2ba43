"""Points of handicap stones, as the Go Text Protocol names them for each size of board."""

from rave_agents.games.coordinates import point_name

SMALLEST = 7
"""The smallest board with points for a handicap."""


def handicap_points(size: int, count: int) -> list[str]:
    """The points of a handicap, or of the greatest one that the board has if that is smaller.

    Args:
        size: the board's size.
        count: how many stones; fewer than two are none.
    """
    near, middle = (3 if size > 12 else 2), size // 2
    far = size - 1 - near
    points = [(near, near), (far, far), (near, far), (far, near)]
    has_middle = size % 2 == 1 and size > SMALLEST
    if has_middle:
        points += [(near, middle), (far, middle), (middle, near), (middle, far), (middle, middle)]
    if size < SMALLEST or count < 2:
        return []
    points = points[:count]
    if has_middle and count in (5, 7):
        points[-1] = (middle, middle)
    return [point_name(column, row).upper() for column, row in points]
