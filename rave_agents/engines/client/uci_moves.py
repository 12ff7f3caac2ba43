"""Moves as UCI writes them, for the games whose boards programs such as Fairy-Stockfish share.

Squares are a file's letter and a rank's number, counted from the first player's left and bottom.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.game.game_state import GameState
from rave_agents.game.notation import action_name

_Writer = Callable[[GameState, int], str]

_AMAZONS_SIZE = 10
_AMAZONS_TURN = 3
"""Actions of a turn in Amazons: the square left, the square reached, the square of the arrow."""


class UciMoves:
    """The UCI notation of a game's moves.

    Args:
        game: the game.

    Raises:
        UnsupportedGameError: if UCI has no words for its moves on this board.
    """

    def __init__(self, game: Game) -> None:
        self.short_name: str = game.name.partition("(")[0]
        """The game's name without parameters."""
        parameters = GameAbilities(game).parameters
        board = self.short_name, parameters.get("rows"), parameters.get("columns")
        size = parameters.get("board_size", _AMAZONS_SIZE)
        if board not in _VARIANTS or parameters.get("chess960") or size != _AMAZONS_SIZE:
            raise UnsupportedGameError(
                f"The moves of {game.name} cannot be written in UCI. There are words for chess, "
                "shogi, xiangqi, othello, amazons, breakthrough on 8 x 8, and clobber on 5 x 6, "
                "6 x 5 and 10 x 10."
            )
        variant, self._write = _VARIANTS[board]
        self.variant: str = variant
        """The game's name in UCI programs."""
        self.turn: int = _AMAZONS_TURN if self.short_name == "amazons" else 1
        """Actions that one word describes."""

    def write(self, state: GameState, actions: Sequence[int]) -> str:
        """Write the legal actions of a whole turn as one word."""
        if self.turn == 1:
            return self._write(state, actions[0])
        now, squares = state.clone(), []
        for action in actions:
            squares.append(self._write(now, action))
            now.apply_action(action)
        source, target, arrow = squares
        return f"{source}{target},{target}{arrow}"

    def read(self, state: GameState, word: str) -> tuple[int, ...]:
        """Return the legal actions of a word.

        Raises:
            LookupError: if there are none.
        """
        parts = [word]
        if self.turn > 1:  # Amazons: "d1d7,d7g7" moves a queen, which then shoots from its square.
            squares = re.findall(r"[a-j]\d+", word)
            if len(squares) != 4 or squares[1] != squares[2]:
                raise LookupError(word)
            parts = [squares[0], squares[1], squares[3]]
        now, actions = state.clone(), []
        for part in parts:
            # Writing all legal moves is slower than parsing the word, but cannot disagree with it.
            legal = {self._write(now, int(action)): int(action) for action in now.legal_actions()}
            action = legal[part if part in legal else self._usual(now, part, legal)]
            actions.append(action)
            now.apply_action(action)
        return tuple(actions)

    def _usual(self, state: GameState, word: str, legal: Mapping[str, int]) -> str:
        """The usual word for a move in other letter case, or for castling as in Chess960.

        Raises:
            LookupError: if it is no legal move, or ambiguous.
        """
        found = [each for each in legal if each.lower() == word.lower()]
        castling = _CASTLINGS.get(word.lower())
        if self.short_name == "chess" and castling is not None and castling in legal:
            king = _pieces(str(state)).get(castling[:2])
            found += [castling] if king in ("K", "k") else []
        if len(found) != 1:
            raise LookupError(word)
        return found[0]

    def completions(self, state: GameState, begun: Sequence[int]) -> list[str]:
        """The words of all turns that begin with these actions."""
        if len(begun) == self.turn:
            return [self.write(state, begun)]
        now = state.clone()
        for action in begun:
            now.apply_action(action)
        return [
            word
            for action in now.legal_actions()
            for word in self.completions(state, [*begun, int(action)])
        ]


def _moved(pattern: str, place: Callable[[int, int], tuple[int, int]]) -> _Writer:
    """Write an action by the squares in its name.

    Args:
        pattern: a regular expression with the two coordinates of a square; letters count from 1.
        place: the file and the rank of that square, both from 1.
    """

    def write(state: GameState, action: int) -> str:
        found = re.findall(pattern, action_name(state, action))
        squares = [place(*map(_number, coordinates)) for coordinates in found]
        return "".join(f"{chr(ord('a') + file - 1)}{rank}" for file, rank in squares)

    return write


def _number(coordinate: str) -> int:
    return int(coordinate) if coordinate.isdecimal() else ord(coordinate) - ord("a") + 1


_SQUARE, _NUMBERS = r"([a-j])(\d+)", r"(\d+)\D+(\d+)"

# OpenSpiel's first player comes from the top: turned by half.
_breakthrough = _moved(_SQUARE, lambda letter, digit: (9 - letter, 9 - digit))
# A part of a turn, by row from the top and column.
_amazons = _moved(_NUMBERS, lambda row, column: (column, 11 - row))
# Row from the top and column, both from 0.
_xiangqi = _moved(_NUMBERS, lambda row, column: (column + 1, 10 - row))
# Files count from the right, and ranks are letters.
_shogi_squares = _moved(r"([1-9])([a-i])", lambda file, rank: (10 - file, 10 - rank))


def _othello(state: GameState, action: int) -> str:
    """Ranks count from the top; a pass moves the player's first stone to where it is."""
    name = action_name(state, action)
    if name != "pass":
        return f"P@{name[0]}{9 - int(name[1])}"
    rows = re.findall(r"^\d((?: [-xo]){8})", str(state), re.MULTILINE)
    stone = "xo"[int(state.current_player())]
    for rank, row in enumerate(reversed(rows), 1):
        if stone in row:
            square = f"{'abcdefgh'[row.index(stone) // 2]}{rank}"
            return square * 2
    raise LookupError(name)


def _shogi(state: GameState, action: int) -> str:
    """A move, or a drop such as ``P@e5``; OpenSpiel names them as USI does."""
    name, squares = action_name(state, action), _shogi_squares(state, action)
    if "*" in name:
        return f"{name[0]}@{squares}"
    return squares + ("+" if name.endswith("+") else "")


def _chess(state: GameState, action: int) -> str:
    """The move that leads from one FEN to the other: OpenSpiel names moves by SAN."""
    after = state.clone()
    after.apply_action(action)
    before, then = _pieces(str(state)), _pieces(str(after))
    own = str.isupper if str(state).split()[1] == "w" else str.islower
    gone = [s for s, piece in before.items() if own(piece) and then.get(s) != piece]
    come = [s for s, piece in then.items() if own(piece) and before.get(s) != piece]
    if len(gone) == 2:  # Castling is written by the king's squares.
        gone = [square for square in gone if before[square] in "Kk"]
        come = [square for square in come if then[square] in "Kk"]
    source, target = gone[0], come[0]
    promoted = then[target].lower() if before[source] != then[target] else ""
    return f"{source}{target}{promoted}"


def _pieces(fen: str) -> dict[str, str]:
    """The pieces of a FEN by their squares."""
    found = {}
    for rank, row in zip(range(8, 0, -1), fen.split(maxsplit=1)[0].split("/"), strict=True):
        file = 0
        for character in row:
            if character.isdigit():
                file += int(character)
            else:
                found[f"{'abcdefgh'[file]}{rank}"] = character
                file += 1
    return found


_CASTLINGS = {"e1h1": "e1g1", "e1a1": "e1c1", "e8h8": "e8g8", "e8a8": "e8c8"}
"""Castling as in Chess960, where the king takes its own rook, and as usual."""

_VARIANTS: dict[tuple[str, int | None, int | None], tuple[str, _Writer]] = {
    ("chess", None, None): ("chess", _chess),
    ("shogi", None, None): ("shogi", _shogi),
    ("xiangqi", None, None): ("xiangqi", _xiangqi),
    ("othello", None, None): ("flipello", _othello),
    ("amazons", None, None): ("amazons", _amazons),
    ("breakthrough", 8, 8): ("breakthrough", _breakthrough),
    # Mirrored at the diagonal from the top left, since programs have six rows of five.
    ("clobber", 5, 6): (
        "clobber",
        _moved(_SQUARE, lambda letter, digit: (6 - digit, 7 - letter)),
    ),
    # Ranks count from the top.
    ("clobber", 6, 5): ("clobber", _moved(_SQUARE, lambda letter, digit: (letter, 7 - digit))),
    ("clobber", 10, 10): ("clobber10", _moved(_SQUARE, lambda letter, digit: (letter, 11 - digit))),
}
"""By game, rows and columns: the program's name of it, and how actions are written."""
