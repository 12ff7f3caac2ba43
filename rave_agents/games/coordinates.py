"""Points of a board as Go players write them: a letter without i for the column, a row's number."""

LETTERS = "abcdefghjklmnopqrstuvwxyz"
"""The columns from the left; i is left out, since it is easily mistaken for j."""


def point_name(column: int, row: int) -> str:
    """The name of a point, both counted from 0 at the lower left: (0, 0) is a1."""
    return f"{LETTERS[column]}{row + 1}"


def point_number(name: str) -> tuple[int, int]:
    """The column and the row of a point, from 0; the reverse of ``point_name``.

    Raises:
        ValueError: if it is not the name of a point.
    """
    letter, number = name[:1].lower(), name[1:]
    if letter not in LETTERS or not letter or not number.isdecimal() or int(number) < 1:
        raise ValueError(f"{name!r} is not a point: a point has a letter and a number, such as c4.")
    return LETTERS.index(letter), int(number) - 1
