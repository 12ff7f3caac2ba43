"""The writer of certificates, from the answers of a solver or any other source."""

import hashlib
import lzma
import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rave_agents.certificates.certificate_file import Header
from rave_agents.certificates.checker import AT_LEAST, Statement, after, key_of
from rave_agents.errors import CertificateError
from rave_agents.files import written_whole
from rave_agents.game.game_state import GameState

Answers = Callable[[GameState], int]
"""Returns the proving side's action at a position where it is to move."""

LeftOut = Callable[[Statement, GameState], bool]
"""Returns True for a position that need not be searched; it then counts as the worst value."""

ANSWER, REPLIES, OVER, LEFT_OUT, SAME = range(5)
"""Kinds of lines."""

COMPRESSION = 2
"""The xz preset: higher ones take several times as long for a few percent."""


def write_certificate(
    path: str | os.PathLike[str],
    header: Header,
    root: GameState,
    answers: Sequence[Answers],
    left_out: LeftOut | None = None,
) -> int:
    """Write a certificate; returns the number of lines of its proofs.

    Transpositions are written once, if states have a ``position_key``. For this the writer keeps a
    16-byte digest per position.

    Args:
        path: the file, which is replaced once everything is written.
        header: the position and the statements.
        root: the position.
        answers: the answers for each statement.
        left_out: selects positions that need not be searched; None for no position.

    Raises:
        CertificateError: if the answers prove nothing, because they repeat a position.
        OSError: if the file cannot be written.
    """
    count = 0
    with (
        written_whole(path) as file,
        lzma.open(file, "wb", preset=COMPRESSION) as packed,
    ):
        packed.write(f"{header.to_line()}\n".encode())
        for statement, answer in zip(header.statements, answers, strict=True):
            walk = _walk(root, statement, answer, left_out)
            count += len(walk.kinds)
            packed.writelines(f"{line}\n".encode() for line in _lines(walk))
            packed.write(b"end\n")
    return count


class _Walk(NamedTuple):
    """The lines of a proof: the kind and the number of each."""

    kinds: bytearray
    numbers: "array[int]"
    """The action; the number of replies; the line of the same position; else 0."""


class _Step(NamedTuple):
    """A position to be written: a state, or the one after an action."""

    state: GameState
    action: int | None = None


def _walk(
    root: GameState, statement: Statement, answers: Answers, left_out: LeftOut | None
) -> _Walk:
    """Walk the proof as the checker does."""
    walk, known = _Walk(bytearray(), array("q")), dict[bytes, int]()
    line_of_play: set[int] = set()
    # A stack in place of recursion; an integer marks the end of that line's subtree.
    pending: list[_Step | int] = [_Step(root)]
    while pending:
        step = pending.pop()
        if isinstance(step, int):  # The subtree of this line is complete.
            line_of_play.discard(step)
            continue
        state = step.state if step.action is None else after(step.state, step.action)
        line, digest = len(walk.kinds), _digest(state)
        before = known.get(digest)
        if before is not None:
            if before in line_of_play and statement.endless is None:
                raise CertificateError(
                    "No certificate can be written: the answers lead back to an earlier position "
                    "of the same line."
                )
            walk.kinds.append(SAME)
            walk.numbers.append(before)
            continue
        if left_out is not None and not state.is_terminal() and left_out(statement, state):
            kind, number, steps = LEFT_OUT, 0, list[int]()
        else:
            kind, number, steps = _describe_position(state, statement, answers)
        walk.kinds.append(kind)
        walk.numbers.append(number)
        # Leaves are not worth a reference: their line is as short as one.
        if kind in (ANSWER, REPLIES):
            if digest:
                known[digest] = line
            line_of_play.add(line)
            pending.append(line)
            # Reversed: the stack pops them in the game's order, as the checker reads them.
            pending += [_Step(state, action) for action in reversed(steps)]
    return walk


def _describe_position(
    state: GameState, statement: Statement, answers: Answers
) -> tuple[int, int, list[int]]:
    """The kind of a position's line, its number, and the actions and outcomes that follow."""
    if state.is_terminal():
        return OVER, 0, []
    if state.is_chance_node():
        outcomes = [outcome for outcome, _ in state.chance_outcomes()]
        return REPLIES, len(outcomes), outcomes
    if (state.current_player() == statement.player) != (statement.bound == AT_LEAST):
        legal = list(state.legal_actions())
        return REPLIES, len(legal), legal
    answer = answers(state)
    return ANSWER, answer, [answer]


def _digest(state: GameState) -> bytes:
    """A digest that identifies a position; empty without a key.

    If two positions shared a digest, the check would fail; nothing wrong would be proven.
    """
    key = key_of(state)
    if key is None:
        return b""
    return hashlib.blake2b(repr(key).encode(), digest_size=16).digest()


def _lines(walk: _Walk) -> Iterator[str]:
    """The lines of a walk in the file's format; positions referenced later are marked."""
    # The last reference to a position lets the checker forget it.
    last = {number: line for line, number in _references(walk)}
    numbers: dict[int, int] = {}
    for line, (kind, number) in enumerate(zip(walk.kinds, walk.numbers, strict=True)):
        if kind == SAME:
            yield f"={numbers[number]}{'-' if last[number] == line else ''}"
            continue
        text = {ANSWER: str(number), REPLIES: f"*{number}", OVER: ".", LEFT_OUT: "?"}[kind]
        if line in last:
            numbers[line] = len(numbers)
            text += "+"
        yield text


def _references(walk: _Walk) -> Iterator[tuple[int, int]]:
    """Each line that refers to an earlier position, and the line of that position."""
    for line, kind in enumerate(walk.kinds):
        if kind == SAME:
            yield line, walk.numbers[line]
