"""The session as the page shows it: plain values of what its viewer may see."""

import functools
from typing import Any

from rave_agents.game.plain_text import without_colours
from rave_agents.results.numbers import finite
from rave_agents.sessions.live import LiveSession
from rave_agents.sessions.session import PERSON, Session
from rave_agents.sessions.views import may_see_thoughts, seen_names, seen_text, seen_thought
from rave_agents.web.page import search_figures, utility_range
from rave_agents.web.pictures import Pictures

MOST_LISTED = 400
"""Maximum number of legal actions sent; the others are played by name."""


def viewer_of(session: Session, asked: int | None) -> int | None:
    """The seat whose view is shown; None without people: then everything is shown.

    Args:
        session: the session.
        asked: the seat that the page asks for; it counts only if it is a person's.
    """
    people = session.people
    if not people:
        return None
    if asked in people:
        return asked
    return next((seat for seat in session.movers if seat in people), people[0])


def snapshot(
    live: LiveSession, pictures: Pictures, *, asked: int | None = None, known: str = ""
) -> dict[str, Any]:
    """Everything that the page shows.

    Args:
        live: the session.
        pictures: draws its positions.
        asked: the seat that the page asks for.
        known: the position that the page shows already, whose picture is left out.
    """
    with live.changed:
        session = live.session
        viewer = viewer_of(session, asked)
        number, state = len(session.turns), session.state
        # The end of a game reveals what was hidden, which changes the picture of its position.
        position = f"{number}.{id(state)}.{viewer}.{int(session.over)}"
        legal = session.legal(viewer) if viewer is not None else {}
        thought = seen_thought(live, viewer)
        sees = functools.partial(may_see_thoughts, session, viewer=viewer)
        shown: dict[str, Any] = {
            "version": live.version,
            "game": session.game.name.removesuffix("()"),
            "viewer": viewer,
            "people": session.people,
            "hides": session.hides,
            "status": status_text(live),
            "movers": session.movers,
            "thinking": live.thinking,
            "advising": live.advising,
            "paused": live.paused,
            "pace": live.pace,
            "error": live.error,
            "over": session.over,
            "returns": session.returns if session.over else None,
            "ending": session.ending,
            "limits": utility_range(state),
            "seats": [
                {
                    "who": "person" if who is PERSON else str(who),
                    "side": session.sides[seat] if session.sides else "",
                    "left": session.time_left(seat),
                    "chosen": seat in session.chosen,
                }
                for seat, who in enumerate(session.seats)
            ],
            "turns": [
                {
                    "player": turn.player,
                    "names": list(seen_names(session, place, viewer)),
                    "value": finite(turn.value) if sees(turn.player) else None,
                }
                for place, turn in enumerate(session.turns)
            ],
            "thought": None,
            "position": position,
            "legal": [{"action": a, "name": name} for a, name in [*legal.items()][:MOST_LISTED]],
        }
        if thought is not None:
            now = live.thought_turn == number
            shown["thought"] = search_figures(thought, live.thought_turn, now=now)
        if position != known:
            picture = pictures.picture(number, state, viewer)
            shown["picture"] = {
                "svg": picture.svg,
                "image": picture.image,
                "text": without_colours(seen_text(session, viewer)),
                "places": {str(action): list(cells) for action, cells in picture.places.items()},
            }
        return shown


def status_text(live: LiveSession) -> str:
    """One sentence on what happens now."""
    session = live.session
    if live.error:
        return live.error
    if session.over:
        return _result(session)
    if live.advising:
        return "The agent thinks of a hint."
    people = [seat for seat in session.movers if session.seats[seat] is PERSON]
    if people:
        together = ": all play at the same time" if session.together else ""
        return f"Your move, {session.seat_name(people[0])}{together}."
    if session.is_chance or live.paused:
        return "Chance moves." if session.is_chance else "Paused."
    seat = live.thinking if live.thinking is not None else next(iter(session.movers), 0)
    name = session.seat_name(seat)
    return f"{name[0].upper()}{name[1:]} thinks."


def _result(session: Session) -> str:
    returns = session.returns
    over = f"The game is over{f' ({session.ending})' if session.ending else ''}"
    if len(returns) == 1:
        return f"{over}: {returns[0]:g}."
    winners = [seat for seat, value in enumerate(returns) if value == max(returns)]
    if len(winners) == len(returns):
        return f"{over}: a draw."
    who = " and ".join(map(session.seat_name, winners))
    people = session.people
    won = len(people) == 1 and people[0] in winners
    numbers = ", ".join(f"{value:+g}" for value in returns)
    return f"{over}: {f'you win, {who}' if won else f'{who} wins'} ({numbers})."
