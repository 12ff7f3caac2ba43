"""The session as the page shows it: what its viewer may see alone, as plain values."""

from typing import Any

from rave_agents.game.plain_text import without_colours
from rave_agents.sessions.live import LiveSession
from rave_agents.sessions.session import PERSON, Session
from rave_agents.sessions.views import may_think_aloud, seen_names, seen_text, seen_thought
from rave_agents.web.page import utility_range
from rave_agents.web.pictures import Pictures

MOST_LISTED = 400
"""Legal actions that are sent, at most; others are played by their name."""


def viewer_of(session: Session, asked: int | None) -> int | None:
    """The seat whose view is shown; None for who watches agents alone, and sees all.

    Args:
        session: the session.
        asked: the seat that the page asks for; only a person's seat is shown.
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
        known: the position that the page has already, whose picture is left out.
    """
    with live.changed:
        session = live.session
        viewer = viewer_of(session, asked)
        number, state = len(session.turns), session.state
        told = _told(live, viewer)
        legal = session.legal(viewer) if viewer is not None else {}
        position = f"{number}.{id(state)}.{viewer}.{int(session.over)}"
        told["position"] = position
        told["legal"] = [
            {"action": action, "name": name} for action, name in list(legal.items())[:MOST_LISTED]
        ]
        if position != known:
            picture = pictures.picture(number, state, viewer)
            told["picture"] = {
                "svg": picture.svg,
                "image": picture.image,
                "text": without_colours(seen_text(session, viewer)),
                "places": {str(action): list(cells) for action, cells in picture.places.items()},
            }
        return told


def _told(live: LiveSession, viewer: int | None) -> dict[str, Any]:
    session = live.session
    thought = seen_thought(live, viewer)
    told = {
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
        "limits": utility_range(session.state),
        "seats": [
            {
                "who": "person" if who is PERSON else str(who),
                "side": session.sides[seat] if session.sides else "",
                "left": session.time_left(seat),
                "chosen": seat in session.chosen,
            }
            for seat, who in enumerate(session.seats)
        ],
        "turns": [_turn(session, number, viewer) for number in range(len(session.turns))],
        "thought": None,
    }
    if thought is not None:
        told["thought"] = {
            **thought.to_dict(),
            "now": live.thought_turn == len(session.turns),
            "turn": live.thought_turn,
        }
    return told


def _turn(session: Session, number: int, viewer: int | None) -> dict[str, Any]:
    turn = session.turns[number]
    aloud = may_think_aloud(session, turn.player, viewer)
    return {
        "player": turn.player,
        "names": list(seen_names(session, number, viewer)),
        "value": turn.value if aloud else None,
        "proven": turn.proven and aloud,
    }


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
    return _told_of_agents(live)


def _told_of_agents(live: LiveSession) -> str:
    if live.session.is_chance:
        return "Chance moves."
    if live.paused:
        return "Paused."
    seat = live.thinking if live.thinking is not None else next(iter(live.session.movers), 0)
    name = live.session.seat_name(seat)
    return f"{name[0].upper()}{name[1:]} thinks."


def _result(session: Session) -> str:
    returns = session.returns
    ending = f" ({session.ending})" if session.ending else ""
    if len(returns) == 1:
        return f"The game is over{ending}: {returns[0]:g}."
    best = max(returns)
    winners = [seat for seat, value in enumerate(returns) if value == best]
    if len(winners) == len(returns):
        return f"The game is over{ending}: a draw."
    who = " and ".join(map(session.seat_name, winners))
    people = session.people
    if len(people) == 1:
        who = f"you win, {who}" if people[0] in winners else f"{who} wins"
    else:
        who = f"{who} wins"
    told = ", ".join(f"{value:+g}" for value in returns)
    return f"The game is over{ending}: {who} ({told})."
