"""Moves as UCI writes them, for the games whose boards programs such as Fairy-Stockfish share.

Squares are a file's letter and a rank's number, counted from the first player's left and bottom.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.game.game_state import GameState
from rave_agents.game.notation import action_name

_Writer = Callable[[GameState, int], str]

_XIANGQI_RANKS = 10
_SHOGI_SIZE = 9
_AMAZONS_SIZE = 10
_AMAZONS_TURN = 3
"""Actions of a turn in Amazons: the square left, the square reached, the square of the arrow."""


class UciMoves:
    """The UCI notation of a game's moves.

    Args:
        game: the game.

    Raises:
        UnsupportedGameError: if UCI has no words for its moves, or not on a board of this size.
    """

    def __init__(self, game: Game) -> None:
        self.short_name: str = game.name.partition("(")[0]
        """The game's name without parameters."""
        parameters = GameAbilities(game).parameters
        variant, self._write = _variant(self.short_name, parameters, game.name)
        self.variant: str = variant
        """The game's name in UCI programs."""
        self.turn: int = _AMAZONS_TURN if self.short_name == "amazons" else 1
        """Actions that one word describes."""

    def write(self, state: GameState, actions: Sequence[int]) -> str:
        """The word of a turn's legal actions, from its beginning."""
        if self.turn == 1:
            return self._write(state, actions[0])
        now, squares = state.clone(), []
        for action in actions:
            squares.append(self._write(now, action))
            now.apply_action(action)
        source, target, arrow = squares
        return f"{source}{target},{target}{arrow}"

    def read(self, state: GameState, word: str) -> tuple[int, ...]:
        """The legal actions of a word.

        Raises:
            LookupError: if there are none.
        """
        parts = [word]
        if self.turn > 1:
            squares = re.findall(r"[a-j]\d+", word)
            if len(squares) != 4 or squares[1] != squares[2]:
                raise LookupError(word)
            parts = [squares[0], squares[1], squares[3]]
        now, actions = state.clone(), []
        for part in parts:
            legal = {self._write(now, int(action)): int(action) for action in now.legal_actions()}
            action = legal[part if part in legal else self._usual(now, part, legal)]
            actions.append(action)
            now.apply_action(action)
        return tuple(actions)

    def _usual(self, state: GameState, word: str, legal: Mapping[str, int]) -> str:
        """The usual word for a move that is written in another way, with other letter case.

        Raises:
            LookupError: if it is no legal move, or not certain which.
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


def _variant(short_name: str, parameters: Mapping[str, Any], name: str) -> tuple[str, _Writer]:
    sides = parameters.get("rows"), parameters.get("columns")
    size = parameters.get("board_size", _AMAZONS_SIZE)
    usual = not parameters.get("chess960") and size == _AMAZONS_SIZE
    if short_name in _VARIANTS and usual:
        return _VARIANTS[short_name]
    if short_name == "breakthrough" and sides == (8, 8):
        return "breakthrough", _breakthrough
    if short_name == "clobber" and sides in _CLOBBERS:
        return _CLOBBERS[sides]
    raise UnsupportedGameError(
        f"The moves of {name} cannot be written in UCI. There are words for chess, shogi, xiangqi, "
        "othello, amazons, breakthrough on 8 x 8, and clobber on 5 x 6, 6 x 5 and 10 x 10."
    )


def _upside_down(rows: int) -> _Writer:
    """The ranks are counted from the top: the first player's stone is in that corner there."""

    def write(state: GameState, action: int) -> str:
        squares = re.findall(r"([a-z])(\d+)", action_name(state, action))
        return "".join(f"{letter}{rows + 1 - int(digits)}" for letter, digits in squares)

    return write


def _breakthrough(state: GameState, action: int) -> str:
    """OpenSpiel's first player comes from the top: the board is turned by half."""
    return "".join(
        chr(ord("a") + 7 - (ord(letter) - ord("a"))) + str(9 - int(digit))
        for letter, digit in re.findall(r"([a-h])(\d)", action_name(state, action))
    )


def _clobber_5_by_6(state: GameState, action: int) -> str:
    """Five rows of six: the board is mirrored at its diagonal from the top left."""
    return "".join(
        chr(ord("a") + 5 - int(digit)) + str(6 - (ord(letter) - ord("a")))
        for letter, digit in re.findall(r"([a-f])(\d)", action_name(state, action))
    )


_CLOBBERS: dict[tuple[Any, Any], tuple[str, _Writer]] = {
    (5, 6): ("clobber", _clobber_5_by_6),
    (6, 5): ("clobber", _upside_down(6)),
    (10, 10): ("clobber10", _upside_down(10)),
}


def _othello(state: GameState, action: int) -> str:
    """Ranks are counted from the top there; who passes moves their first stone to where it is."""
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


def _amazons(state: GameState, action: int) -> str:
    """The square of a part of a turn: rows are counted from the top there."""
    row, column = map(int, re.findall(r"\d+", action_name(state, action)))
    return f"{chr(ord('a') + column - 1)}{_AMAZONS_SIZE + 1 - row}"


def _xiangqi(state: GameState, action: int) -> str:
    numbers = list(map(int, re.findall(r"\d+", action_name(state, action))))
    rows, columns = numbers[0::2], numbers[1::2]
    return "".join(
        f"{chr(ord('a') + column)}{_XIANGQI_RANKS - row}"
        for row, column in zip(rows, columns, strict=True)
    )


def _shogi(state: GameState, action: int) -> str:
    """Write a move of shogi, with files from the right and ranks as letters, as in USI."""
    name = action_name(state, action)
    squares = "".join(
        f"{chr(ord('a') + _SHOGI_SIZE - int(file))}{_SHOGI_SIZE - (ord(rank) - ord('a'))}"
        for file, rank in re.findall(r"([1-9])([a-i])", name)
    )
    if "*" in name:
        return f"{name[0]}@{squares}"
    return squares + ("+" if name.endswith("+") else "")


def _chess(state: GameState, action: int) -> str:
    """Seen from the positions before and after the move, both as FEN."""
    after = state.clone()
    after.apply_action(action)
    before, then = _pieces(str(state)), _pieces(str(after))
    own = str.isupper if str(state).split()[1] == "w" else str.islower
    gone = [s for s, piece in before.items() if own(piece) and then.get(s) != piece]
    come = [s for s, piece in then.items() if own(piece) and before.get(s) != piece]
    if len(gone) == 2:  # castling: the king's squares tell
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
"""Castling written as in Chess960: the king takes its own rook."""

_VARIANTS: dict[str, tuple[str, _Writer]] = {
    "chess": ("chess", _chess),
    "shogi": ("shogi", _shogi),
    "xiangqi": ("xiangqi", _xiangqi),
    "othello": ("flipello", _othello),
    "amazons": ("amazons", _amazons),
}
"""Games with one board: what programs call them, and how actions are written."""
