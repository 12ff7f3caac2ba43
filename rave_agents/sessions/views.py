"""The view of a session from a seat: the position, the turns, and the agents' thoughts."""

import weakref

from rave_agents.environments.frames import text_frame
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState, PlayerId, apply_path, hides_information
from rave_agents.game.notation import legal_names, position_text
from rave_agents.results.search_result import SearchResult
from rave_agents.sessions.live import LiveSession
from rave_agents.sessions.session import Session, Turn

_MOST_COMPARED = 64
"""If more actions were possible, a player is not shown which one was played."""

UNSEEN = "?"
"""Shown for an action that a seat does not see."""


def seen_text(session: Session, viewer: int | None, state: GameState | None = None) -> str:
    """A position as a seat sees it: all of it if nothing is hidden, or the game is over.

    Args:
        session: the session.
        viewer: the seat; None to show everything, as without people.
        state: a position of the session; None for the current one.
    """
    state = session.state if state is None else state
    if viewer is None or session.over or not hides_information(state):
        return text_frame(state) or position_text(state)
    seen = state.view(viewer)  # type: ignore[attr-defined]
    observed = StateAbilities(state).observation
    return str(seen if isinstance(seen, str) or observed is None else observed(viewer))


def seen_names(session: Session, number: int, viewer: int | None) -> tuple[str, ...]:
    """The names of a turn's actions as a seat sees them.

    With hidden information, a seat sees an action if no other possible action would give it the
    same view.

    Args:
        session: the session.
        number: the turn.
        viewer: the seat; None to show everything.
    """
    turn = session.turns[number]
    if viewer is None or session.over or not session.hides or turn.players == (viewer,):
        return turn.names
    known = _known.setdefault(turn, {})
    if viewer not in known:
        known[viewer] = _seen_names(session.before(number), turn, viewer)
    return known[viewer]


_known: weakref.WeakKeyDictionary[Turn, dict[int, tuple[str, ...]]] = weakref.WeakKeyDictionary()
"""The names of turns by viewer, since finding them takes a copy of the position per action."""


def _seen_names(state: GameState, turn: Turn, viewer: int) -> tuple[str, ...]:
    seats = turn.players or (None,)  # Nobody acts for chance.
    return tuple(
        name if seat == viewer or _sees(state, turn, place, viewer) else UNSEEN
        for place, (seat, name) in enumerate(zip(seats, turn.names, strict=True))
    )


def _sees(state: GameState, turn: Turn, place: int, viewer: int) -> bool:
    """True if any other action at this place of the turn would change what the viewer sees."""
    actor = turn.players[place] if turn.player == PlayerId.SIMULTANEOUS else None
    others = [each for each in legal_names(state, actor) if each != turn.actions[place]]
    if len(others) > _MOST_COMPARED:
        return False

    def view_after(action: int) -> object:
        after = state.clone()
        apply_path(after, (*turn.actions[:place], action, *turn.actions[place + 1 :]))
        return after.view(viewer)  # type: ignore[attr-defined]

    found = view_after(turn.actions[place])
    return all(view_after(other) != found for other in others)


def may_see_thoughts(session: Session, player: int, viewer: int | None) -> bool:
    """True if a viewer may see the thoughts of a player's agent, which reveal what it knows."""
    return not session.hides or session.over or viewer is None or viewer == player


def seen_thought(live: LiveSession, viewer: int | None) -> SearchResult | None:
    """The last thought, if a viewer may see it, else None.

    With simultaneous moves, nobody sees what another player is about to play.
    """
    session, thought = live.session, live.thought
    if thought is None or not may_see_thoughts(session, thought.player, viewer):
        return None
    is_open = session.together and live.thought_turn == len(session.turns)
    return None if is_open and viewer not in (None, thought.player) else thought
