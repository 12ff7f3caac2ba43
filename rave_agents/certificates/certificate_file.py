"""The file of a certificate: one xz stream of lines, of which the first says what is proven."""

import json
import lzma
import math
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from rave_agents.certificates.checker import AT_LEAST, AT_MOST, Statement, check_statement
from rave_agents.errors import CertificateError, UnknownNameError
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.own_games import as_game
from rave_agents.frameworks.plain_games import load_plain_game
from rave_agents.game.game_state import GameState, compiled_form

FORMAT = "rave-agents certificate 1"

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
        if self.position is not None:
            of_text = getattr(game, "position_of", None)
            state = None if of_text is None else of_text(self.position)
        if state is None:
            raise CertificateError(f"{game.name} has no position {self.position!r}.")
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


def verify_certificate(path: str | os.PathLike[str], game: Any = None) -> Verified:
    """Check a certificate by the rules of its game.

    The file runs nothing: its game must be a framework's or this package's own. For another, give
    the game.

    Args:
        path: the file.
        game: the game, see ``as_game``; None for the one that the file names.

    Raises:
        CertificateError: if it does not prove all that it states.
        OSError: if the file cannot be read.
        RaveAgentsError, TypeError, ValueError: if the game cannot be made.
    """
    lines = read_lines(path)
    header = read_header(lines)
    loaded = _named_game(header.game) if game is None else as_game(game)
    root = header.root(loaded)
    count = sum(check_statement(lines, root, statement) for statement in header.statements)
    if next(lines, None) is not None:
        raise CertificateError("The certificate is refused: lines follow the last proof.")
    checked = header.game if game is None else game if isinstance(game, str) else loaded.name
    return Verified(header._replace(game=checked), root, count)


def _named_game(name: str) -> Game:
    try:
        return load_plain_game(name)
    except UnknownNameError as error:
        raise UnknownNameError(
            f"The certificate names the game {name!r}, and {error}: give the game beside the file."
        ) from None


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """The lines of a file, a part at a time.

    Raises:
        CertificateError: while they are taken, if the file is not one whole stream of which every
            byte is right.
    """
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, UNPACKING_MEMORY)
    rest = b""
    with open(path, "rb") as file:
        while not unpacker.eof:
            packed = file.read(CHUNK) if unpacker.needs_input else b""
            if unpacker.needs_input and not packed:
                raise CertificateError(f"{path} is cut off.")
            try:
                unpacked = unpacker.decompress(packed, CHUNK)
            except lzma.LZMAError as error:
                raise CertificateError(f"{path} is no certificate, or damaged: {error}.") from None
            *lines, rest = (rest + unpacked).split(b"\n")
            if max(map(len, [*lines, rest])) > LONGEST_LINE:
                raise CertificateError(f"{path} is no certificate: it has too long a line.")
            yield from (line.decode("ascii", "replace") for line in lines)
        if rest or unpacker.unused_data or file.read(1):
            raise CertificateError(f"{path} is no certificate, or damaged: it goes on at its end.")


def read_header(lines: Iterator[str]) -> Header:
    """The header from the first of a file's lines.

    Raises:
        CertificateError: if that is none.
    """
    try:
        fields = json.loads(next(lines, ""))
        if fields.pop("format") != FORMAT:
            raise CertificateError(f"The file is no certificate of the form {FORMAT!r}.")
        statements = [Statement(**each) for each in fields.pop("statements")]
        header = Header(**fields | {"moves": (*fields["moves"],), "statements": (*statements,)})
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise CertificateError(f"The file is no certificate: its first line has {error}.") from None
    if not _is_sound(header):
        raise CertificateError("The file is no certificate: a field of its first line is wrong.")
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
    try:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:  # An integer beyond any float.
        return False


def _steps(state: GameState) -> list[int]:
    """The actions, or the outcomes of chance."""
    if state.is_terminal():
        return []
    if state.is_chance_node():
        return [outcome for outcome, _ in state.chance_outcomes()]
    return list(state.legal_actions())
