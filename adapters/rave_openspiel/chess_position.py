"""Rules of chess that OpenSpiel does not apply to a FEN, and moves where it sees a draw."""

from collections.abc import Iterator, Sequence

from rave_agents.games.chess_pieces import (
    KNIGHT_STEPS,
    LINE_STEPS,
    RANKS,
    Position,
    read_fen,
    square_name,
)

_STEPS = {
    "K": LINE_STEPS,
    "Q": LINE_STEPS,
    "R": LINE_STEPS[:4],
    "B": LINE_STEPS[4:],
    "N": KNIGHT_STEPS,
    "P": ((-1, 1), (1, 1)),
    "p": ((-1, -1), (1, -1)),
}
"""Steps in files and ranks by which pieces take; the first four of ``LINE_STEPS`` are a rook's."""

_CASTLING = {
    "K": ("e1", "h1"),
    "Q": ("e1", "a1"),
    "k": ("e8", "h8"),
    "q": ("e8", "a8"),
}
"""The squares of the king and the rook for each right to castle."""

_SHREDDER = str.maketrans("HAha", "KQkq")
"""Rights to castle that are written as the rook's file."""


def mistake_in(fen: str, *, chess960: bool) -> str:
    """Describe the first violation of the rules of chess in a FEN; empty if it is legal.

    Args:
        fen: a FEN of six fields.
        chess960: whether kings and rooks may castle from other squares than usual.
    """
    try:
        position = read_fen(fen)
    except ValueError as error:
        return str(error).rpartition("is no FEN: ")[2]  # The caller adds its own prefix.
    pieces = position.pieces
    for square, letter in enumerate(pieces):
        # Squares run file by file, a1 = 0, a2 = 1: the remainder is the rank.
        if letter in "Pp" and square % RANKS in (0, RANKS - 1):
            return f"there is a pawn on {square_name(square)}."
    # The side that just moved cannot have left its own king in check.
    if is_in_check(pieces, white=not position.is_white):
        side = "Black" if position.is_white else "White"
        return f"{side} is in check, and it is not {side}'s turn."
    return "" if chess960 else _castling_mistake(position)


def _castling_mistake(position: Position) -> str:
    named = dict(zip(map(square_name, range(len(position.pieces))), position.pieces, strict=True))
    rights = position.castling.translate(_SHREDDER).replace("-", "")
    if len(set(rights)) < len(rights):
        return f"{position.castling!r} names a right to castle twice."
    for right in rights:
        king, rook = _CASTLING.get(right, ("", ""))
        own = str.upper if right.isupper() else str.lower
        if named.get(king) != own("k") or named.get(rook) != own("r"):
            return f"{right!r} allows castling, and king and rook are not where they began."
    return ""


def is_in_check(pieces: Sequence[str], *, white: bool) -> bool:
    """Whether a side's king can be taken."""
    king = pieces.index("K" if white else "k")
    return any(
        king in _attacked(pieces, square)
        for square, letter in enumerate(pieces)
        if letter.isalpha() and letter.isupper() != white
    )


def _attacked(pieces: Sequence[str], start: int) -> Iterator[int]:
    """The squares on which a piece could take."""
    letter = pieces[start]
    # Only pawns attack in one direction by colour: other pieces share the upper-case entry.
    for files, ranks in _STEPS.get(letter, _STEPS[letter.upper()]):
        file, rank = start // RANKS + files, start % RANKS + ranks
        while 0 <= file < RANKS and 0 <= rank < RANKS:
            yield RANKS * file + rank
            # Kings, knights and pawns take one step; others slide up to the first piece.
            if letter.upper() in "KNP" or pieces[RANKS * file + rank] != " ":
                break
            file, rank = file + files, rank + ranks


def moves_of_bare_kings(fen: str) -> dict[str, str]:
    """The legal moves where neither side can mate, in UCI notation: the FEN after each.

    OpenSpiel ends the game there and lists no moves. Only kings, knights and bishops are left.
    """
    position, moves = read_fen(fen), {}
    pieces, white = position.pieces, position.is_white
    for start, letter in enumerate(pieces):
        if not letter.isalpha() or letter.isupper() != white:
            continue
        # No pawns and no castling are left: pieces move exactly where they attack.
        for end in _attacked(pieces, start):
            if pieces[end].isalpha() and pieces[end].isupper() == white:
                continue
            after = list(pieces)
            after[start], after[end] = " ", letter
            if not is_in_check(after, white=white):
                quiet = 0 if pieces[end].isalpha() else position.quiet + 1
                number = position.number + (not white)
                moves[square_name(start) + square_name(end)] = str(
                    Position(after, not white, "-", -1, quiet, number)
                )
    return moves
