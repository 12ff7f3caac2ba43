"""What users give to the functions of the arena, as typed objects: games, agents and limits.

Below these functions nothing is a text that somebody has to parse.
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rave_agents.agents.named_agents import (
    LIMITS,
    AgentSpec,
    agent_type,
    agent_types,
    as_agent,
    make_agent,
)
from rave_agents.agents.searching_agent import limit_and_clock
from rave_agents.arena.play import Table
from rave_agents.config.limit import DEFAULT_SIMULATIONS
from rave_agents.config.specs import format_call, split
from rave_agents.errors import RaveAgentsError, UnknownNameError, UnsupportedGameError
from rave_agents.frameworks.adapters import Game, adapters
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import has_simultaneous_moves
from rave_agents.game.object_names import split_place
from rave_agents.searcher.clock import Clock

OPENING_PLIES = 2
"""Default number of random opening moves in games with alternating moves."""

OWN = "Python"
"""Marks custom agents in a journal."""

_NAMED = re.compile(r"\s*([\w.-]+)\s*=\s*(.+)", re.DOTALL)
"""A named agent, ``new=rave(c=0.2)``."""


def load_match_game(game: Any) -> Game:
    """Load a game by its name, or wrap an object.

    Raises:
        UnknownNameError: for an unknown name.
        UnsupportedGameError: if it is not a two-player game.
    """
    loaded = as_game(game)
    if loaded.num_players != 2:
        raise UnsupportedGameError(
            f"A match needs a game for two players; {loaded.name} has {loaded.num_players}."
        )
    return loaded


def game_name(game: Any, loaded: Game) -> str:
    """The game's name in results and journals: as given, or its own."""
    return game if isinstance(game, str) else loaded.name


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
        name = game_name(game, found)
        if name in loaded:
            raise ValueError(f"The game {name!r} is given twice.")
        loaded[name] = found
    return loaded


def split_games(text: str) -> list[str]:
    """The games of a text, separated by commas or semicolons: ``"hex(board_size=5),othello"``.

    Raises:
        ValueError: if parentheses or quotes do not match.
    """
    return [part.strip() for part in split(text, text, ",;") if part.strip()]


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


def named_agents(agents: Mapping[str, Any] | Sequence[Any]) -> dict[str, AgentSpec]:
    """Agents by their names in tables.

    Args:
        agents: a dictionary by name; a list named after specs or functions; or one text, see
            ``parse_agents``.

    Raises:
        TypeError, ValueError: for an object that is not an agent, or two agents of one name.
    """
    if isinstance(agents, str):
        agents = parse_agents(agents)
    if isinstance(agents, Mapping):
        return {str(name): as_agent(agent, str(name)) for name, agent in agents.items()}
    if not isinstance(agents, Sequence):
        raise TypeError(f"agents must be a list or a dictionary by name, got {agents!r}.")
    found: dict[str, AgentSpec] = {}
    for agent in agents:
        who = as_agent(agent)
        if str(who) in found:
            raise ValueError(f"Two agents are named {str(who)!r}: pass {{name: agent}} instead.")
        found[str(who)] = who
    return found


def label(who: AgentSpec) -> str:
    """The agent's label in a journal: its spec, or the location or type of a custom agent."""
    if who.is_named:
        return str(who)
    place = None if who.source is None else who.source.place
    if place is None:
        return f"{OWN} {who.shape}"
    # Without the folder, which differs between machines.
    return f"{OWN} {format_call(f'{Path(place.place).name}:{place.name}', dict(who.parameters))}"


def limited_agent(
    agent: Any,
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | Clock | None = None,
) -> AgentSpec:
    """Parse an agent; a spec gets these limits if it has none and its agent takes them.

    Args:
        agent: an agent, see ``as_agent``.
        simulations: simulations per move; 1,000 if none of the limits is given.
        seconds: seconds per move.
        clock: the time per side and game, see ``Clock.parse``.

    Raises:
        UnknownNameError: for an agent that does not exist.
        TypeError, ValueError: for an invalid limit, or if the agent takes limits but none of these:
            it would silently use its default.
    """
    who = as_agent(agent)
    if not who.is_named:
        who.check()
        return who
    limit, parsed_clock = limit_and_clock(simulations, seconds, clock)
    limits = {
        "simulations": None if limit is None else limit.simulations,
        "seconds": None if limit is None else limit.seconds,
        "clock": None if parsed_clock is None else str(parsed_clock),
    }
    given = {name: value for name, value in limits.items() if value is not None}
    known = agent_type(who.name).parameters.keys()
    # Agents without any limit, such as ``random``, need none.
    takes = {"simulations", "seconds"} & known
    asked = (simulations, seconds, clock) != (None, None, None)
    if asked and takes and not LIMITS & known & (given.keys() | who.parameters.keys()):
        own = min(takes)
        example = DEFAULT_SIMULATIONS if own == "simulations" else 1.0
        raise ValueError(
            f"{who.name} takes no {' or '.join(given)}; put a limit into its spec, such as "
            f"{who.name}({own}={example})."
        )
    return who.with_defaults(given)


def usual_opening_plies(game: Game, opening_plies: int | None) -> int:
    """Number of random opening moves: the given number or the default."""
    if opening_plies is not None:
        return opening_plies
    return 0 if has_simultaneous_moves(game.new_initial_state()) else OPENING_PLIES


def make_tables(
    game: Game, pairs: Iterable[tuple[AgentSpec, AgentSpec]], **settings: Any
) -> list[Table]:
    """Tables of a game for pairs of agents, after checking each agent and the opening.

    Args:
        game: the game.
        pairs: the first and the second agent of each table.
        **settings: the other fields of ``Table``; the default of ``opening_plies`` depends on the
            game.

    Raises:
        UnknownNameError: for an unknown agent or parameter.
        UnsupportedGameError: if an agent cannot play the game.
        TypeError, ValueError: for an invalid value, or if no opening can be found.
    """
    settings["opening_plies"] = usual_opening_plies(game, settings.get("opening_plies"))
    tables = [Table(game, pair, **settings) for pair in pairs]
    # By identity: agents of one spec are one object here, and objects may not be hashable.
    for who in {id(who): who for table in tables for who in table.agents}.values():
        if who.is_named:
            for seat in range(game.num_players):
                make_agent(who, game, seat, seed=0)
    if tables:
        tables[0].opening(0)  # All tables have the same openings.
    return tables


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
    name = word.partition("(")[0]
    if name.strip() in agent_types():
        return False
    try:
        as_game(word)
    except UnknownNameError:
        if _NAMED.fullmatch(word) or split_place(word) is not None:
            return False
        games = {game.name for adapter in adapters().values() for game in adapter.games()}
        if name in games:
            raise  # The game exists, but something else in the word does not.
        known = sorted({*games, *agent_types()})
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise UnknownNameError(
            f"{word!r} is neither a game nor an agent.{hint} 'rave-agents games' and 'rave-agents "
            "agents' list them."
        ) from None
    except (RaveAgentsError, TypeError, ValueError):
        return False
    return True
