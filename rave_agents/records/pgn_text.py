"""The text of a PGN file: its games, with tags and the words of the main line.

Lenient PGN readers skip unknown characters, so that the French knight move Cf3 becomes the pawn
move f3. Here every character must belong to a tag, a comment, a variation or a word.
"""

import codecs
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

_RESULTS = {word: word for word in ("1-0", "0-1", "1/2-1/2", "*")} | {"1/2": "1/2-1/2"}
"""Words that end a game."""

_FAULTS = {
    "{": "the comment that begins with '{' does not end",
    "(": "the variation that begins with '(' does not end",
    ")": "')' ends a variation that has not begun",
}

_TOKEN = re.compile(
    r"""
    (?P<space> \s+ | (?m:^)%[^\n]* | ;[^\n]* | \{[^}]*\} | \$\d+ )
    | (?P<tag> \[\s*(?P<name>\w+)\s+"(?P<value>(?:[^"\\\n]|\\.)*)"\s*\] )
    | (?P<line> (?m:^)\[[^\n]* )
    | (?P<sign> [()] )
    | (?P<word> [^\s{}();$\[]+ )
    | (?P<fault> . )
    """,
    re.VERBOSE,
)
_LOOSE_TAG = re.compile(r"\[\s*(\w+)\s+\"([^\[]*)\"\s*\]\s*")
"""A tag on its own line, whose value contains quotation marks."""

_OF_POSITION = ("fen", "setup", "variant")
"""Tags that change the starting position or the rules."""


class BrokenText(str):
    """The reason why a word is missing."""


@dataclasses.dataclass
class GameText:
    """One game of a PGN file as text."""

    tags: dict[str, str] = dataclasses.field(default_factory=dict)
    """The tags by lower-case name."""
    words: list[str] = dataclasses.field(default_factory=list)
    """Move numbers and moves of the main line, with a ``BrokenText`` where it is unreadable."""
    result: str = ""
    """The result at the end of the moves; empty if there is none."""

    @property
    def begins(self) -> bool:
        """True if it has tags or the number of a first move."""
        return bool(self.tags) or re.match(r"1(?!\d)", "".join(self.words[:1])) is not None


def decoded(path: Path) -> str:
    """The text of a file in UTF-8, UTF-16 with a byte order mark, or Latin-1.

    Raises:
        OSError: if the file cannot be read.
    """
    data = path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", errors="replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    return text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")


def games_of(text: str) -> Iterator[GameText]:
    """The games of a PGN file.

    As in the standard, a game ends with its result or before the next tag; empty lines have no
    meaning.
    """
    game, depth = GameText(), 0  # depth: of nested variations, whose words are skipped
    for token in _TOKEN.finditer(re.sub(r"(?m)^[ \t]+", "", text)):
        kind, word = token.lastgroup, token[0]
        if kind in ("tag", "line") and not depth:
            if game.words or game.result:
                yield game
                game = GameText()
            _read_tag(token, game)
        elif kind == "fault":
            game.words.append(BrokenText(_FAULTS.get(word, f"{word!r} has no meaning in PGN")))
            if word == "{":  # The rest of the file is in this comment.
                break
        elif kind == "sign":
            depth += 1 if word == "(" else -1
            if depth < 0:
                game.words.append(BrokenText(_FAULTS[word]))
                depth = 0
        elif kind == "word" and not depth:
            if game.result:
                yield game
                game = GameText()
            game.result = _RESULTS.get(word.replace("½", "1/2"), "")
            if not game.result:
                game.words.append(word)
    if depth:
        game.words.append(BrokenText(_FAULTS["("]))
    if game.tags or game.words or game.result:
        yield game


def _read_tag(token: re.Match[str], game: GameText) -> None:
    """Read a tag; malformed lines are skipped unless they may matter."""
    line = token[0].strip()
    loose = _LOOSE_TAG.fullmatch(line)
    if token.lastgroup == "tag":
        game.tags[token["name"].lower()] = token["value"]
    elif loose is not None:
        game.tags[loose[1].lower()] = loose[2]
    elif any(name in line.lower() for name in _OF_POSITION):
        game.words.append(BrokenText(f'the tag {line} has not the form [Name "value"]'))
