"""``set_up_session``: makes a session from a user's arguments, for all commands and pages."""

import os
import secrets
from collections.abc import Sequence
from typing import Annotated, Any

from annotated_types import Ge, Le

from rave_agents.agents.named_agents import (
    DEFAULT_AGENT,
    LIMITS,
    AgentSpec,
    as_agent,
)
from rave_agents.arena.arguments import limited_agent
from rave_agents.evaluators.levels import LEVELS
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.notation import Moves
from rave_agents.game.validation import Natural, checked
from rave_agents.records.positions import set_up
from rave_agents.sessions.session import PERSON, Session

DEFAULT_SECONDS = 1.0
"""Seconds per move of an agent without a limit."""


def set_up_session(
    game: Any,
    agents: Any = (),
    *,
    seats: Sequence[int] = (0,),
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
    level: int | None = None,
    seed: int | None = 0,
) -> Session:
    """Set up a session.

    Args:
        game: the game or its name, see ``as_game``.
        agents: the agent, or several in the order of the seats that no person has; the last one
            takes all remaining seats. By default ``auto``.
        seats: the seats of people.
        moves: moves to play first, a text or a sequence of actions, see
            ``rave_agents.game.notation.apply_moves``.
        position: the position to start from, see ``rave_agents.records.positions.set_up``.
        simulations: simulations a move, for agents whose spec has no limit.
        seconds: seconds a move, for agents whose spec has no limit; 1 if nothing else is given.
        clock: the time of each seat, see ``Clock.parse``; agents without a limit plan by it.
        level: the level of agents, from 1 to 10, in place of a limit.
        seed: the seed of everything random, an integer of at least 0; None draws one.

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if an agent cannot play the game.
        TypeError, ValueError: for a value that is not allowed.
        OSError: if a file cannot be read.
    """
    loaded = as_game(game)
    if seed is None:
        seed = secrets.randbelow(1 << 31)
    checked("seed", Natural, seed)
    for seat in seats:
        checked("seat", Annotated[int, Ge(0), Le(loaded.num_players - 1)], seat)
    given = list(agents) if isinstance(agents, list | tuple) else [agents]
    who = [limited(each, simulations, seconds, clock, level) for each in given or [DEFAULT_AGENT]]
    others = [seat for seat in range(loaded.num_players) if seat not in seats]
    if len(given) > max(1, len(others)):
        raise ValueError(f"{len(given)} agents are given, and {len(others)} seats are theirs.")
    sitting: list[AgentSpec | None] = [PERSON] * loaded.num_players
    for place, seat in enumerate(others):
        sitting[seat] = who[min(place, len(who) - 1)]
        check_plays(who[min(place, len(who) - 1)], loaded, seat)
    begun = set_up(loaded, moves, position, seed)
    return Session(loaded, sitting, position=begun, clock=clock, seed=seed)


def limited(
    agent: Any,
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
    level: int | None = None,
) -> AgentSpec:
    """An agent; a spec without a limit gets these, by default a second per move.

    Raises:
        UnknownNameError: for an agent that does not exist.
        TypeError, ValueError: for an invalid agent or limit.
    """
    who = as_agent(agent)
    if not who.is_named:
        return who
    if level is not None:
        if simulations is not None or seconds is not None:
            raise ValueError("Give a level, or simulations or seconds, not both.")
        if not who.takes("level"):
            raise ValueError(f"{who.name} has no levels.")
        checked("level", Annotated[int, Ge(1), Le(LEVELS)], level)
        return who.with_defaults({"level": level})
    if (simulations, seconds, clock) == (None, None, None):
        return who.with_defaults({"seconds": DEFAULT_SECONDS})
    # An agent that takes no limit at all, such as random, may sit next to one that does.
    takes_limits = any(map(who.takes, LIMITS))
    return limited_agent(who, simulations, seconds, clock) if takes_limits else who


def check_plays(agent: AgentSpec, game: Any, seat: int) -> None:
    """Refuse an agent that cannot play the game, before it must move.

    Raises:
        UnknownNameError: for a parameter that does not exist.
        UnsupportedGameError: if it cannot play the game.
        TypeError, ValueError: for a value that is not allowed.
    """
    if agent.is_named:
        agent.check()
        if agent.kind.config is not None:  # Making another agent may start a program.
            agent.make(game, seat)
