"""Reads games of chess from PGN files, using python-chess for rules and moves."""

import importlib
import itertools
import logging
import re
from pathlib import Path
from typing import Any

from rave_agents.engines.client.uci_moves import UciMoves
from rave_agents.extras import missing
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.game.game_state import GameState, apply_path
from rave_agents.records.pgn_text import BrokenText, GameText, decoded, games_of
from rave_agents.records.record import ReadGame, ending

_USUAL = ("standard", "chess", "normal", "from position")
"""Values of the tag ``Variant`` that mean ordinary chess."""

_NUMBERED = re.compile(r"(\d{1,4})?(\.+|…)?(.*)", re.DOTALL)
_MOVE = re.compile(
    r"(?P<piece>[KQRBN]?)(?P<source>[a-h]?[1-8]?)(?P<takes>[-x:×]?)(?P<target>[a-h][1-8])"
    r"(?:[=/]?(?P<becomes>[QRBNqrbn]))?"
)
_CASTLING = re.compile(r"[O0o](-[O0o]){1,2}")
_SUFFIX = re.compile(r"(?:e\.?p\.?)?[+#†‡]*[!?‼⁇⁉⁈]*$")
_REMARK = re.compile(r"[!?‼⁇⁉⁈]+|e\.?p\.?|[±∓⩲⩱∞=]|\+[-=]|[-=]\+|\+/[-=]|[-=]/\+")
"""Words between moves that comment on them."""
_NULL_MOVES = ("--", "Z0", "0000", "@@@@", "null", "pass")
_FIGURINES = str.maketrans("♔♕♖♗♘♚♛♜♝♞", "KQRBNKQRBN", "♙♟\ufe0e\ufe0f")
_IN_SAN = (
    "is not in standard algebraic notation, whose pieces are K, Q, R, B and N in capitals or as "
    "figurines; letters of other languages are not read"
)

_log = logging.getLogger("rave_agents")


def read_pgn(path: Path, game: Game, number: int = 1) -> ReadGame:
    """The main line of a game in a PGN file, which may start from a FEN.

    Args:
        path: the file.
        game: the game, which must be chess.
        number: the number of the game in the file, from 1.

    Raises:
        ValueError: if python-chess is not installed, or the game cannot be read unambiguously, with
            the move and the reason.
        OSError: if the file cannot be read.
    """
    if game.name.partition("(")[0] != "chess":
        raise ValueError(f"{path} is a PGN, and so a game of chess, not of {game.name}.")
    moves = UciMoves(game)
    games = games_of(decoded(path))
    before = sum(1 for _ in itertools.islice(games, number - 1))
    text = next(games, None)
    if text is None:
        raise ValueError(f"{path} has only {before} games, not number {number}.")
    variant = text.tags.get("variant", "standard")
    if variant.lower() not in _USUAL:
        raise ValueError(f"{path} is a game of {variant}, not of chess.")
    try:
        board = _beginning(text)
        start = _state_of(game, board)
        found = _moves(text, board.copy())
        # Text after the result that begins no game may be moves, so nothing is sure.
        following = next(games, None)
        if following is not None and not following.begins:
            raise ValueError(
                f"after {found[-1][0] if found else 'the tags'}, text follows the result"
            )
    except ValueError as error:
        raise ValueError(f"{path} is not a PGN of chess: {error}.") from error
    read = _actions(start, moves, board, found)
    usual = str(start) == str(game.new_initial_state())
    if not read.goes_on:
        _warn_of_result(text, start, read)
    return read._replace(laid=() if usual else None)


def count_games(path: Path) -> int:
    """The number of games in a PGN file, up to 2.

    Raises:
        OSError: if the file cannot be read.
    """
    return sum(1 for _ in itertools.islice(games_of(decoded(path)), 2))


def _beginning(text: GameText) -> Any:
    chess = _chess()
    fen, set_up = text.tags.get("fen", "").strip(), text.tags.get("setup", "").strip()
    if fen in ("", "?", "startpos"):
        if set_up == "1":
            raise ValueError("its tag SetUp says that it begins at a FEN, and it has none")
        return chess.Board()
    try:
        board = chess.Board(fen)
    except ValueError as error:
        raise ValueError(f"it begins at {fen!r}: {error}") from error
    if set_up == "0" and board.fen() != chess.STARTING_FEN:
        raise ValueError("its tag SetUp says that it begins as usual, and its FEN is another")
    wrong = board.status() & (chess.STATUS_OPPOSITE_CHECK | chess.STATUS_PAWNS_ON_BACKRANK)
    if wrong:
        reason = "the king of the side not to move is in check"
        if wrong & chess.STATUS_PAWNS_ON_BACKRANK:
            reason = "a pawn is on the first or last rank"
        raise ValueError(f"it begins at {fen!r}, where {reason}")
    if board.has_chess960_castling_rights():
        raise ValueError(f"it begins at {fen!r}, a position of Chess960")
    return board


def _state_of(game: Game, board: Any) -> GameState:
    if board.fen() == _chess().STARTING_FEN:
        return game.new_initial_state()
    own = GameAbilities(game).position_of
    state = None if own is None else own(board.fen())
    if state is None:
        raise ValueError(f"it begins at {board.fen()!r}, and {game.name} takes no FEN")
    return state  # type: ignore[no-any-return]


def _moves(text: GameText, board: Any) -> list[tuple[str, str]]:
    """The moves of the main line in UCI, each with its number and text for messages.

    Raises:
        ValueError: for a word that is not a move, or a wrong move number.
    """
    found: list[tuple[str, str]] = []
    shift: int | None = None
    for whole in text.words:
        here = _label(board, shift or 0)
        if isinstance(whole, BrokenText):
            raise ValueError(f"at {here}, {whole}" if found else whole)
        number, dots, word = _NUMBERED.fullmatch(whole).groups()  # type: ignore[union-attr]
        # "0000" is no move number, nor are digits that belong to a move, as in "0-0".
        if whole in _NULL_MOVES or (number and word and not dots):
            number, dots, word = None, None, whole
        if number is not None:
            if shift is None:
                shift = _shift(int(number), board, text)
            if int(number) != board.fullmove_number + shift:
                raise ValueError(f"the number {number} comes where {here} is expected")
        if dots is not None and len(dots.replace("…", "...")) > 1 and board.turn:
            raise ValueError(f"{whole!r} is a move of Black, and {here} is expected")
        if not word or _REMARK.fullmatch(word):
            continue
        here = _label(board, shift or 0)
        try:
            move = _move(word.translate(_FIGURINES), board)
        except ValueError as error:
            raise ValueError(f"{here}, {word!r}, {error}") from error
        found.append((f"{here}, {word}", move.uci()))
        board.push(move)
    return found


def _shift(number: int, board: Any, text: GameText) -> int:
    """Offset of the file's move numbers; a game from a FEN may count from any number."""
    if "fen" not in text.tags and number != board.fullmove_number:
        raise ValueError(
            f"its moves begin with number {number}, and no tag has the FEN at which they begin"
        )
    return number - int(board.fullmove_number)


def _label(board: Any, shift: int) -> str:
    return f"move {board.fullmove_number + shift} of {'White' if board.turn else 'Black'}"


def _move(word: str, board: Any) -> Any:
    """The move in a word.

    Raises:
        ValueError: with a reason that continues the sentence after the word.
    """
    chess = _chess()
    if word in _NULL_MOVES:
        raise ValueError("passes, which chess does not have")
    plain = _SUFFIX.sub("", word)
    found = _MOVE.fullmatch(plain)
    if _CASTLING.fullmatch(plain):
        san = plain.upper().replace("0", "O")
    elif found is None or not _is_exact(found):
        raise ValueError(_IN_SAN)
    else:
        becomes = found["becomes"] or ""
        san = f"{found['piece']}{found['source']}{found['target']}{becomes.upper()}"
    try:
        move = board.parse_san(san)
    except chess.AmbiguousMoveError:
        raise ValueError("fits several pieces") from None
    except ValueError:
        raise ValueError(f"is illegal in {board.fen()}") from None
    # python-chess reads "bc4" as the pawn's capture, but some programs write bishops so.
    if re.fullmatch(r"b[a-h][1-8]", plain) and _reaches(board, "B", plain[1:]):
        raise ValueError("is a move of a pawn or of a bishop: B is the bishop, and bx... the pawn")
    return move


def _is_exact(found: "re.Match[str]") -> bool:
    """False for a pawn's move with a source that no pawn's move has."""
    source, target = found["source"], found["target"]
    return bool(found["piece"]) or len(source) != 1 or (source.isalpha() and source != target[0])


def _reaches(board: Any, piece: str, square: str) -> bool:
    try:
        board.parse_san(piece + square)
    except _chess().AmbiguousMoveError:
        return True
    except ValueError:
        return False
    return True


def _actions(
    start: GameState, moves: UciMoves, board: Any, found: list[tuple[str, str]]
) -> ReadGame:
    """The actions of the moves up to the end of the game; the file may continue after it."""
    state, board = start.clone(), board.copy()
    actions: list[int] = []
    for count, (_, move) in enumerate(found):
        if state.is_terminal():
            last = found[count - 1][0] if count else "no move"
            how = _end(board)
            return ReadGame(start, tuple(actions), goes_on=ending(last, how, len(found) - count))
        # A move of chess is one action in OpenSpiel's chess, but may be several elsewhere.
        turn = moves.read(state, move)
        apply_path(state, list(turn))
        board.push_uci(move)
        actions += turn
    return ReadGame(start, tuple(actions))


def _end(board: Any) -> str:
    """The rule by which OpenSpiel ends a game that continues in the file."""
    if board.is_insufficient_material():
        return "since neither side can mate"
    if board.is_repetition(3):
        return "by the third repetition, claimed or not"
    if board.halfmove_clock >= 100:
        return "by fifty moves without a capture or a pawn's move, claimed or not"
    return "by the rules of OpenSpiel's chess"


def _warn_of_result(text: GameText, start: GameState, read: ReadGame) -> None:
    """Log differing results: in the tag, after the moves, and on the board."""
    state = start.clone()
    apply_path(state, list(read.actions))
    stated = {text.tags.get("result", "*").strip() or "*", text.result or "*"} - {"*", "?"}
    if len(stated) > 1:
        _log.warning("The file has the results %s.", " and ".join(sorted(stated)))
    elif stated and state.is_terminal():
        black, white = state.returns()
        real = "1/2-1/2" if white == black else "1-0" if white > black else "0-1"
        if stated != {real}:
            _log.warning("The file has the result %s; by the moves it is %s.", stated.pop(), real)


def _chess() -> Any:
    try:
        return importlib.import_module("chess")
    except ImportError as error:
        raise ValueError(missing("Reading PGN needs", "pgn", "chess")) from error
