"""The file of a certificate: one xz stream of lines; the first one states the claim."""

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
from rave_agents.frameworks.adapters import Game, GameAbilities, framework_errors
from rave_agents.frameworks.own_games import as_game
from rave_agents.frameworks.plain_games import FAILED, bounded, make_plain_game, plain_adapter
from rave_agents.game.game_state import GameState, compiled_form
from rave_agents.game.plain_text import printable, shortened

FORMAT = "rave-agents certificate 1"

MAGIC = b"\xfd7zXZ\0"
"""The first bytes of every xz stream."""

_LOOKED_AT = 256
"""Bytes that identify a file of another kind."""

_OTHERS = {
    b"rave-agents solver table": "a table of solve --table",
    b"PK\3\4": "a zip archive, as files of learned values and networks are",
}

_CONTROLS = bytes({*range(32)} - {*b"\t\n\f\r"})

CHUNK = 2**16
"""Bytes read at once."""

LONGEST_LINE = 2**20
"""Maximum bytes of a line."""

UNPACKING_MEMORY = 2**26
"""Maximum memory of unpacking, in bytes."""


class Header(NamedTuple):
    """The position of a certificate, and the statements about it."""

    game: str
    """The game's name, see ``as_game``."""
    position: str | None
    """The starting position of ``moves`` as text, such as a FEN; None for the game's own."""
    moves: tuple[int, ...]
    """The actions that lead to the position, including chance outcomes."""
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
        """The position of a game, on compiled rules if there are any, since these have keys.

        Raises:
            CertificateError: if the game has no such position.
        """
        state: GameState | None = game.new_initial_state()
        reason = "."
        if self.position is not None:
            of_text = GameAbilities(game).position_of
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
            if action not in _legal_steps(state):
                raise CertificateError(f"Move {action} of the certificate is not legal.")
            state.apply_action(action)
        found: GameState | None = compiled_form(state)
        return state if found is None else found


class Verified(NamedTuple):
    """A certificate that passed the check: its statements are proven."""

    header: Header
    """The position and the statements; its ``game`` is the game that was checked."""
    state: GameState
    """The position."""
    lines: int
    """The lines of the proofs."""
    named: str
    """The game named in the file; arbitrary text if another game was given for the check."""


def verify_certificate(path: str | os.PathLike[str], game: Any = None) -> Verified:
    """Check a certificate by the rules of its game.

    The file executes nothing: its game must belong to a framework or to this package, and a
    separate process checks it with limits on memory and, depending on the file's size, on time.
    Pass the game to check with another game or without limits.

    Args:
        path: the file.
        game: the game, see ``as_game``; None for the one named in the file.

    Raises:
        CertificateError: if it does not prove all of its statements.
        OSError: if the file cannot be read.
        RaveAgentsError, TypeError, ValueError: if the given game cannot be loaded.
    """
    path = os.fspath(path)
    # Read twice: the header decides how to check, and ``check_file`` makes sure it is the same.
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
                or f"The certificate is refused: {FAILED}. Pass the game in addition to the file "
                "to check it without these limits."
            )
        root = header.root(named_game(header.game))
    except MemoryError:
        raise CertificateError("The certificate is refused: it needs too much memory.") from None
    return Verified(header, root, answer, header.game)


def check_file(path: str, header: Header, game: Game) -> Verified:
    """Check a file by the rules of a game in this process.

    Raises:
        CertificateError: if it does not prove all of its statements, or has another header.
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
    """Load the game named in a certificate.

    Raises:
        CertificateError: if it cannot be loaded.
    """
    with _refusing(name):
        return make_plain_game(name)


@contextlib.contextmanager
def _refusing(game: str) -> Iterator[None]:
    """Refuse a certificate whose game cannot be loaded."""
    refused: tuple[type[Exception], ...] = (RaveAgentsError, *framework_errors())
    try:
        yield
    except refused as error:
        raise CertificateError(
            f"The certificate names the game {shortened(game, 200)!r}, but {_line(error)}: "
            "pass the game in addition to the file."
        ) from None


def _line(error: Exception) -> str:
    """An error's text on one line without its full stop; it may come from any library."""
    return printable(shortened(" ".join(str(error).split()), 300)).rstrip(".")


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """The lines of a file, read in chunks.

    Raises:
        CertificateError: during iteration, if the file is not exactly one complete, undamaged
            stream.
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
                f"{name!r} is not a certificate as written by solve --certificate: it is "
                f"{_kind_of_file(begins)}."
            )
        file.seek(0)
        while not unpacker.eof:
            packed = file.read(CHUNK) if unpacker.needs_input else b""
            if unpacker.needs_input and not packed:
                raise CertificateError(f"The certificate {name!r} is cut off.")
            try:
                # Bounded output: a small file may unpack to gigabytes.
                unpacked = unpacker.decompress(packed, CHUNK)
            except lzma.LZMAError as error:
                raise CertificateError(f"The certificate {name!r} is damaged: {error}.") from None
            *lines, rest = (rest + unpacked).split(b"\n")
            if max(map(len, [*lines, rest])) > LONGEST_LINE:
                raise CertificateError(f"{name!r} is not a certificate: a line is too long.")
            yield from (line.decode("ascii", "replace") for line in lines)
        # Exactly one stream: appended data could differ between readers.
        if rest or unpacker.unused_data or file.read(1):
            raise CertificateError(f"The certificate {name!r} is damaged: data follow its end.")


def _kind_of_file(begins: bytes) -> str:
    """The kind of a file that is not a certificate, from its first bytes."""
    if not begins:
        return "empty"
    for magic, kind in _OTHERS.items():
        if begins.startswith(magic):
            return kind
    is_text = begins.translate(None, _CONTROLS) == begins
    return "a text file" if is_text else "a file of another kind"


def read_header(lines: Iterator[str], file: str = "the file") -> Header:
    """The header, from a file's first line.

    Args:
        lines: the lines.
        file: the file's name, for messages.

    Raises:
        CertificateError: if it is not a header.
    """
    try:
        fields = strict_json(next(lines, ""))
        if fields.pop("format") != FORMAT:
            raise CertificateError(f"{file!r} is not a certificate of the format {FORMAT!r}.")
        statements = [Statement(**each) for each in fields.pop("statements")]
        header = Header(**fields | {"moves": (*fields["moves"],), "statements": (*statements,)})
    except CertificateError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError):
        raise CertificateError(
            f"{file!r} is not a certificate as written by solve --certificate: its first line "
            "does not name a game and statements."
        ) from None
    if not _is_sound(header):
        raise CertificateError(
            f"{file!r} is not a certificate: a field of its first line is invalid."
        )
    return header


def _is_sound(header: Header) -> bool:
    """True if all fields have their types."""
    return (
        isinstance(header.game, str)
        and isinstance(header.position, str | None)
        and all(type(action) is int for action in header.moves)  # No bool.
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


def _legal_steps(state: GameState) -> list[int]:
    """The legal actions, or the chance outcomes."""
    if state.is_terminal():
        return []
    if state.is_chance_node():
        return [outcome for outcome, _ in state.chance_outcomes()]
    return list(state.legal_actions())
