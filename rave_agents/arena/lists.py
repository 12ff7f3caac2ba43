"""Parses lists of games and agents, given as one text or word by word."""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rave_agents.agents.named_agents import agent_types
from rave_agents.arena.match import load_match_game
from rave_agents.config.specs import split
from rave_agents.errors import RaveAgentsError, UnknownNameError
from rave_agents.frameworks.adapters import Game, adapters
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.object_names import split_place

_NAMED = re.compile(r"\s*([\w.-]+)\s*=\s*(.+)", re.DOTALL)
"""A named agent, ``new=rave(c=0.2)``."""


def split_games(text: str) -> list[str]:
    """The games of a text, separated by commas or semicolons: ``"hex(board_size=5),othello"``.

    Raises:
        ValueError: if parentheses or quotes do not match.
    """
    return [part.strip() for part in split(text, text, ",;") if part.strip()]


def load_games(games: Any) -> dict[str, Game]:
    """Games by the names they were given by.

    Args:
        games: a game, a list of them, or names in one text, see ``split_games``.

    Raises:
        UnknownNameError: for an unknown name.
        UnsupportedGameError: if a match cannot be played in one.
        ValueError: if there are none, or one is given twice.
    """
    if isinstance(games, str):
        games = split_games(games)
    given = list(games) if isinstance(games, list | tuple) else [games]
    if not given:
        raise ValueError("There must be at least one game.")
    loaded: dict[str, Game] = {}
    for game in given:
        found = load_match_game(game)
        name = game if isinstance(game, str) else found.name
        if name in loaded:
            raise ValueError(f"The game {name!r} is given twice.")
        loaded[name] = found
    return loaded


def parse_agents(text: str) -> list[str] | dict[str, str]:
    """The agents of a text, separated by spaces, commas or semicolons: ``"auto rave(c=0.2)"``.

    Agents may be named, as in ``"old=rave new=rave(c=0.2)"``; then all are returned by name, the
    others under their specs.

    Raises:
        ValueError: if parentheses or quotes do not match, or two have one name.
    """
    return _named([part.strip() for part in split(text, text, ",; \t\n") if part.strip()])


def _named(specs: Sequence[str]) -> list[str] | dict[str, str]:
    found = [_NAMED.fullmatch(spec) for spec in specs]
    if not any(found):
        return list(specs)
    named: dict[str, str] = {}
    for spec, match in zip(specs, found, strict=True):
        name, agent = (spec, spec) if match is None else (match[1], match[2])
        if name in named:
            raise ValueError(f"Two agents are named {name!r}.")
        named[name] = agent
    return named


def games_and_agents(
    words: Iterable[str], agents: str | None = None
) -> tuple[list[str], list[str] | dict[str, str]]:
    """Split words into games and the agents that follow, unless agents are given separately.

    Args:
        words: games; without ``agents``, the agents start at the first later word that is not a
            game, as in ``breakthrough othello auto rave uct``.
        agents: the agents, see ``parse_agents``.

    Raises:
        UnknownNameError: for a word that is neither a game nor an agent.
        ValueError: if there is no game or no agent.
    """
    words = list(words)
    start = len(words) if agents is not None else _first_agent(words)
    games = [game for word in words[:start] for game in split_games(word)]
    players = parse_agents(agents) if agents is not None else _named(words[start:])
    if not games or not players:
        raise ValueError(
            "A tournament needs games and agents, such as: tournament hex othello --agents "
            f'"auto rave uct"; got {len(games)} game{"" if len(games) == 1 else "s"} and '
            f"{len(players)} agent{'' if len(players) == 1 else 's'}."
        )
    return games, players


def _first_agent(words: Sequence[str]) -> int:
    """The index of the first word that is an agent; the first word is a game."""
    for index, word in enumerate(words):
        if index > 0 and not all(_is_game(game) for game in split_games(word)):
            return index
    return len(words)


def _is_game(word: str) -> bool:
    """True for a game, False for an agent.

    Raises:
        UnknownNameError: if it is neither.
    """
    if _names_agent(word):
        return False
    try:
        as_game(word)
    except UnknownNameError:
        if _NAMED.fullmatch(word) or split_place(word) is not None:
            return False
        if word.partition("(")[0] in _known_games():
            raise  # The game exists, but something else in the word does not.
        raise UnknownNameError(_neither(word)) from None
    except (RaveAgentsError, TypeError, ValueError):
        return False
    return True


def _names_agent(word: str) -> bool:
    return word.partition("(")[0].strip() in agent_types()


def _known_games() -> set[str]:
    return {game.name for adapter in adapters().values() for game in adapter.games()}


def _neither(word: str) -> str:
    """The message for an unknown word, with similar names."""
    known = sorted({*_known_games(), *agent_types()})
    near = difflib.get_close_matches(word.partition("(")[0], known, n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return (
        f"{word!r} is neither a game nor an agent.{hint} 'rave-agents games' and 'rave-agents "
        "agents' list them."
    )
