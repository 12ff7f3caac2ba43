"""``play``: a game against an agent in a notebook cell, as a live page or as pictures."""

import html
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Any, Self

from rave_agents.agents.named_agents import DEFAULT_AGENT
from rave_agents.errors import RaveAgentsError
from rave_agents.extras import missing
from rave_agents.game.notation import Moves, apply_moves
from rave_agents.game.validation import validated
from rave_agents.plots.board_svg import STYLE, board_svg
from rave_agents.results.progress import notebook_module
from rave_agents.results.search_result import SearchResult
from rave_agents.sessions.live import LiveSession
from rave_agents.sessions.session import PERSON, Session
from rave_agents.sessions.setting_up import limited, set_up_session
from rave_agents.sessions.views import seen_names, seen_text, seen_thought
from rave_agents.web.pictures import Pictures
from rave_agents.web.server import Server
from rave_agents.web.snapshot import status_text, viewer_of

_HEIGHT = 760
"""Height of the live page in a cell, in pixels."""

_REMOTE = (
    "JUPYTERHUB_API_URL",
    "KAGGLE_KERNEL_RUN_TYPE",
    "CODESPACES",
    "BINDER_SERVICE_HOST",
    "DATABRICKS_RUNTIME_VERSION",
    "SSH_CONNECTION",
)
"""Environment variables of services whose kernels run on another machine than the browser."""

_LISTED = 40
"""Maximum number of moves listed below a picture."""


@validated
def play(
    game: Any,
    agent: Any = DEFAULT_AGENT,
    *,
    seat: int | Sequence[int] = 0,
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
    level: int | None = None,
    seed: int | None = None,
    page: bool | None = None,
) -> "NotebookGame":
    """Play against an agent in a notebook, or from any script.

    A cell that ends with it shows the board. With the extra ``web`` it is the page of
    ``rave-agents play --web``, which only works if the browser runs on the same machine. Without
    it, or with ``page=False``, it is a picture with your moves, and you play with ``move("d3")``.

    Args:
        game: the game or its name, see ``as_game``.
        agent: the agent or its spec, see ``as_agent``; several in a list for several seats.
        seat: your seat, from 0; several seats for several people, ``()`` to watch agents.
        moves: moves to play first, a text or a sequence of actions.
        position: the position to start from: a FEN, the game's text, or a file of moves.
        simulations: simulations per move of an agent without a limit.
        seconds: seconds per move of an agent without a limit; 1 if nothing else is given.
        clock: the time control of each seat, see ``Clock.parse``.
        level: the level of agents, from 1 to 10, in place of a limit.
        seed: the seed of everything random; None draws one.
        page: True for the live page, False for pictures, None for the page where it works.

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if the agent cannot play the game.
        ImportError: with ``page=True``, without the extra ``web``.
        TypeError, ValueError: for a value that is not allowed.
    """
    seats = (seat,) if isinstance(seat, int) else tuple(seat)
    session = set_up_session(
        game,
        agent,
        seats=seats,
        moves=moves,
        position=position,
        simulations=simulations,
        seconds=seconds,
        clock=clock,
        level=level,
        seed=seed,
    )
    adviser = next((who for who in session.seats if who is not PERSON), None)
    live = LiveSession(
        session,
        adviser=adviser or limited(agent, simulations, seconds),
        beside=_has_page(page),
        pace=0.0 if seats else 0.7,
    )
    return NotebookGame(live, page=_has_page(page))


def _has_page(page: bool | None) -> bool:
    there = all(importlib.util.find_spec(name) is not None for name in ("starlette", "uvicorn"))
    if page and not there:
        raise ImportError(missing("The page needs", "web", "starlette uvicorn"))
    return page if page is not None else there and not _is_remote()


def _is_remote() -> bool:
    """True if the notebook's kernel is known to run on another machine than the browser."""
    return "google.colab" in sys.modules or any(name in os.environ for name in _REMOTE)


class NotebookGame:
    """A game in a notebook, see ``rave_agents.play``.

    Args:
        live: the session, which is started.
        page: whether to show the live page.
    """

    def __init__(self, live: LiveSession, *, page: bool) -> None:
        self._live = live
        self._pictures = Pictures(live.session)
        self._server: Any = None
        if page:
            self._server = Server(live)
            self._server.start()
        else:
            live.start()

    @property
    def session(self) -> Session:
        """The session."""
        return self._live.session

    @property
    def address(self) -> str | None:
        """The address of the live page; None without one."""
        return None if self._server is None else str(self._server.address)

    @property
    def thought(self) -> SearchResult | None:
        """The agent's last search; None if you may not see it."""
        return seen_thought(self._live, viewer_of(self.session, None))

    @property
    def legal_moves(self) -> list[str]:
        """The names of your legal moves; none if you are not to move."""
        viewer = viewer_of(self.session, None)
        return [] if viewer is None else list(self.session.legal(viewer).values())

    def move(self, name: str | int) -> Self:
        """Play a move by its name or its number, and wait for the agents.

        Raises:
            ValueError: if it is not legal, or you are not to move.
            RaveAgentsError: if an agent fails.
        """
        seat = next(iter(seat for seat in self.session.movers if seat in self.session.people), None)
        if seat is None:
            raise ValueError(f"You are not to move. {status_text(self._live)}")
        names = self.session.legal(seat)
        fitting = [a for a, word in names.items() if name in (word, a, str(a))]
        # A name comes before a number: in some games the name of a move is another one's number.
        exact = [action for action in fitting if names[action] == name]
        if not fitting:
            apply_moves(self.session.state.clone(), str(name))  # Its message offers the nearest.
            raise ValueError(f"No legal move is called {name!r}.")
        self._live.choose(seat, (exact or fitting)[0])
        return self.wait()

    def undo(self) -> Self:
        """Take your last move back."""
        self._live.undo()
        return self

    def hint(self) -> Self:
        """Let the agent search for you; ``thought`` has its findings."""
        self._live.hint()
        return self.wait()

    def wait(self) -> Self:
        """Wait until a person is to move or the game is over; a notebook shows the search.

        Raises:
            RaveAgentsError: if an agent fails.
        """
        live, handle = self._live, _display()
        version = -1
        # The live page shows the search itself; a picture must be updated from here.
        while not self._waits_for_people():
            version = live.wait(version, 0.3)
            if handle is not None and self._server is None:
                handle.update({"text/html": self._picture()}, raw=True)
        if handle is not None:
            handle.update({"text/html": "", "text/plain": ""}, raw=True)
        if live.error:
            raise RaveAgentsError(live.error)
        return self

    def _waits_for_people(self) -> bool:
        live, session = self._live, self.session
        with live.changed:
            people = any(seat in session.people for seat in session.movers)
            agents = any(seat not in session.people for seat in session.movers)
            waits = people and not agents and not live.advising
            return bool(waits or session.over or live.error)

    def close(self) -> None:
        """End the agents and the page."""
        if self._server is not None:
            self._server.close()
            self._server = None  # Fall back to the static picture.
        else:
            self._live.close()

    def __repr__(self) -> str:
        return f"<NotebookGame of {self.session.game.name}: {status_text(self._live)}>"

    def _repr_html_(self) -> str:
        if self._server is not None:
            return (
                f'<iframe src="{self.address}" title="{html.escape(self.session.game.name)}" '
                f'style="width:100%;height:{_HEIGHT}px;border:0"></iframe>'
                "<small>An empty frame: the browser runs on another machine than the kernel, or "
                "this notebook was opened anew. <code>page=False</code> shows pictures.</small>"
            )
        return self._picture()

    def _picture(self) -> str:
        live = self._live
        with live.changed:
            session = live.session
            viewer = viewer_of(session, None)
            board = self._pictures.board(session.state, viewer)
            thought = self.thought if live.thought_turn == len(session.turns) else None
            status, seating, names = status_text(live), session.seating, self.legal_moves
            turns = [seen_names(session, n, viewer) for n in range(len(session.turns))]
            text = seen_text(session, viewer)
            picture = self._pictures.picture(len(turns), session.state, viewer)
        shown = f"<pre>{html.escape(text)}</pre>"
        if board is not None:
            heat = _heat(thought, picture.places)
            svg = board_svg(board, heat=heat, label=f"Board of {session.game.name}")
            shown = f'<style>{STYLE}</style><div style="max-width:420px">{svg}</div>'
        elif picture.image:
            shown = f'<img alt="{html.escape(text)}" src="{picture.image}" style="max-width:420px">'
        lines = [seating]
        if thought is not None:
            lines.append(thought.summary())
        if turns:
            lines.append("Moves: " + " ".join(" ".join(turn) for turn in turns))
        if names:
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            lines.append("Yours: " + " ".join(names[:_LISTED]) + more)
        below = "".join(f"<div>{html.escape(line)}</div>" for line in lines)
        return f"{shown}<div><b>{html.escape(status)}</b></div>{below}"


def _heat(thought: SearchResult | None, places: Any) -> dict[int, float]:
    """Visits by the target cells of actions, as shares of the most visits."""
    heat: dict[int, float] = {}
    most = max((row.visits for row in thought.actions), default=0) if thought else 0
    for row in thought.actions if thought else ():
        if row.action in places and row.visits > 0.004 * most:
            cell = places[row.action][0]
            heat[cell] = max(heat.get(cell, 0.0), row.visits / most)
    return heat


def _display() -> Any:
    module = notebook_module()
    empty = {"text/html": "", "text/plain": ""}
    return None if module is None else module.display(empty, raw=True, display_id=True)
