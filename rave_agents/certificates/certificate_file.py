"""The file of a certificate: one xz stream of lines, of which the first says what is proven."""

import contextlib
import json
import lzma
import math
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from rave_agents.certificates.checker import AT_LEAST, AT_MOST, Statement, check_statement
from rave_agents.errors import CertificateError, RaveAgentsError
from rave_agents.files import strict_json
from rave_agents.frameworks.adapters import Game, framework_errors
from rave_agents.frameworks.own_games import as_game
from rave_agents.frameworks.plain_games import FAILED, bounded, make_plain_game, plain_adapter
from rave_agents.game.game_state import GameState, compiled_form
from rave_agents.game.plain_text import printable, shortened

FORMAT = "rave-agents certificate 1"

MAGIC = b"\xfd7zXZ\0"
"""The first bytes of every xz stream."""

_LOOKED_AT = 256
"""Bytes by which a file of another kind is named."""

_OTHERS = {
    b"rave-agents solver table": "a table of solve --table",
    b"PK\3\4": "a zip archive, as files of learned values and networks are",
}

_CONTROLS = bytes({*range(32)} - {*b"\t\n\f\r"})

CHUNK = 2**16
"""Bytes that are read at once."""

LONGEST_LINE = 2**20
"""Bytes of a line, at most."""

UNPACKING_MEMORY = 2**26
"""Bytes that unpacking takes, at most."""


class Header(NamedTuple):
    """The position that a certificate is of, and what it states of it."""

    game: str
    """The game's name, see ``as_game``."""
    position: str | None
    """The text of the position that ``moves`` begin at, such as a FEN; None for the game's own."""
    moves: tuple[int, ...]
    """The actions that lead to the position, chance outcomes included."""
    statements: tuple[Statement, ...]
    """The statements, in the order of their proofs."""

    def to_line(self) -> str:
        """The first line of the file."""
        statements = [
            {key: value for key, value in each._asdict().items() if value is not None}
            for each in self.statements
        ]
        return json.dumps({"format": FORMAT, **self._asdict(), "statements": statements})

    def root(self, game: Game) -> GameState:
        """The position of a game, on compiled rules if there are any: they tell positions apart.

        Raises:
            CertificateError: if there is no such one.
        """
        state: GameState | None = game.new_initial_state()
        reason = "."
        if self.position is not None:
            of_text = getattr(game, "position_of", None)
            refused: tuple[type[Exception], ...] = (ValueError, *framework_errors())
            try:
                state = None if of_text is None else of_text(self.position)
            except refused as error:
                state, reason = None, f": {_line(error)}"
        if state is None:
            raise CertificateError(
                f"{game.name} has no position {shortened(self.position or '', 200)!r}{reason}"
            )
        for action in self.moves:
            if action not in _steps(state):
                raise CertificateError(f"Move {action} of the certificate is not legal.")
            state.apply_action(action)
        found: GameState | None = compiled_form(state)
        return state if found is None else found


class Verified(NamedTuple):
    """A certificate that was checked: what it states is proven."""

    header: Header
    """The position and the statements; its ``game`` is the game that was checked."""
    state: GameState
    """The position."""
    lines: int
    """The lines of the proofs."""
    named: str
    """The game that the file names: any text, if another game was given to check."""


def verify_certificate(path: str | os.PathLike[str], game: Any = None) -> Verified:
    """Check a certificate by the rules of its game.

    The file runs nothing: its game must be a framework's or this package's own, and another process
    checks the file, with bounds on its memory and, by the size of the file, on its time. For
    another game, or to check it without these bounds, give the game.

    Args:
        path: the file.
        game: the game, see ``as_game``; None for the one that the file names.

    Raises:
        CertificateError: if it does not prove all that it states.
        OSError: if the file cannot be read.
        RaveAgentsError, TypeError, ValueError: if the game that you give cannot be made.
    """
    path = os.fspath(path)
    header = read_header(read_lines(path), path)
    try:
        if game is not None:
            loaded = as_game(game)
            checked = game if isinstance(game, str) else loaded.name
            return check_file(path, header, loaded)._replace(
                header=header._replace(game=checked), named=header.game
            )
        with _refusing(header.game):
            plain_adapter(header.game)
        (answer,) = bounded(
            "rave_agents.certificates.checking", [[path, header.to_line()]], compiles=True
        )
        if not isinstance(answer, int):
            raise CertificateError(
                answer
                or f"The certificate is refused: {FAILED}. With the game beside the file it is "
                "checked without these bounds."
            )
        root = header.root(named_game(header.game))
    except MemoryError:
        raise CertificateError("The certificate is refused: it takes too much memory.") from None
    return Verified(header, root, answer, header.game)


def check_file(path: str, header: Header, game: Game) -> Verified:
    """Check a file by the rules of a game in this process.

    Raises:
        CertificateError: if it does not prove all that it states, or has another header.
    """
    lines = read_lines(path)
    if read_header(lines, path) != header:
        raise CertificateError("The certificate is refused: the file has changed.")
    root = header.root(game)
    count = sum(check_statement(lines, root, statement) for statement in header.statements)
    if next(lines, None) is not None:
        raise CertificateError("The certificate is refused: lines follow the last proof.")
    return Verified(header, root, count, header.game)


def named_game(name: str) -> Game:
    """Make the game that a certificate names.

    Raises:
        CertificateError: if it cannot be made.
    """
    with _refusing(name):
        return make_plain_game(name)


@contextlib.contextmanager
def _refusing(game: str) -> Iterator[None]:
    """Refuse a certificate where its game cannot be made."""
    refused: tuple[type[Exception], ...] = (RaveAgentsError, *framework_errors())
    try:
        yield
    except refused as error:
        raise CertificateError(
            f"The certificate names the game {shortened(game, 200)!r}, and {_line(error)}: "
            "give the game beside the file."
        ) from None


def _line(error: Exception) -> str:
    """An error's text without its full stop, which may be of anybody's words."""
    return printable(shortened(" ".join(str(error).split()), 300)).rstrip(".")


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """The lines of a file, a part at a time.

    Raises:
        CertificateError: while they are taken, if the file is not one whole stream of which every
            byte is right.
    """
    name = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"No such file: {name!r}.")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{name!r} is a folder, not a certificate.")
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, UNPACKING_MEMORY)
    rest = b""
    with open(path, "rb") as file:
        begins = file.read(_LOOKED_AT)
        if not begins.startswith(MAGIC):
            raise CertificateError(
                f"{name!r} is not a certificate, as solve --certificate writes: it is "
                f"{_kind_of_file(begins)}."
            )
        file.seek(0)
        while not unpacker.eof:
            packed = file.read(CHUNK) if unpacker.needs_input else b""
            if unpacker.needs_input and not packed:
                raise CertificateError(f"The certificate {name!r} is cut off.")
            try:
                unpacked = unpacker.decompress(packed, CHUNK)
            except lzma.LZMAError as error:
                raise CertificateError(f"The certificate {name!r} is damaged: {error}.") from None
            *lines, rest = (rest + unpacked).split(b"\n")
            if max(map(len, [*lines, rest])) > LONGEST_LINE:
                raise CertificateError(f"{name!r} is not a certificate: it has too long a line.")
            yield from (line.decode("ascii", "replace") for line in lines)
        if rest or unpacker.unused_data or file.read(1):
            raise CertificateError(f"The certificate {name!r} is damaged: it goes on at its end.")


def _kind_of_file(begins: bytes) -> str:
    """What a file is that is no certificate, by its first bytes."""
    if not begins:
        return "empty"
    for magic, kind in _OTHERS.items():
        if begins.startswith(magic):
            return kind
    is_text = begins.translate(None, _CONTROLS) == begins
    return "a text file" if is_text else "a file of another kind"


def read_header(lines: Iterator[str], file: str = "the file") -> Header:
    """The header from the first of a file's lines.

    Args:
        lines: the lines.
        file: the file's name, for messages.

    Raises:
        CertificateError: if that is none.
    """
    try:
        fields = strict_json(next(lines, ""))
        if fields.pop("format") != FORMAT:
            raise CertificateError(f"{file!r} is not a certificate of the form {FORMAT!r}.")
        statements = [Statement(**each) for each in fields.pop("statements")]
        header = Header(**fields | {"moves": (*fields["moves"],), "statements": (*statements,)})
    except CertificateError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError):
        raise CertificateError(
            f"{file!r} is not a certificate, as solve --certificate writes: its first line names "
            "no game and no statements."
        ) from None
    if not _is_sound(header):
        raise CertificateError(
            f"{file!r} is not a certificate: a field of its first line is wrong."
        )
    return header


def _is_sound(header: Header) -> bool:
    """True if all fields are of their types."""
    return (
        isinstance(header.game, str)
        and isinstance(header.position, str | None)
        and all(type(action) is int for action in header.moves)
        and len(header.statements) > 0
        and all(
            type(each.player) is int
            and each.bound in (AT_LEAST, AT_MOST)
            and _is_finite(each.value)
            and (each.endless is None or _is_finite(each.endless))
            for each in header.statements
        )
    )


def _is_finite(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) < math.inf


def _steps(state: GameState) -> list[int]:
    """The actions, or the outcomes of chance."""
    if state.is_terminal():
        return []
    if state.is_chance_node():
        return [outcome for outcome, _ in state.chance_outcomes()]
    return list(state.legal_actions())
