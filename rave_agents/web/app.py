"""The server's application: the page, its state, and the actions of people on it.

It serves this machine alone: the address contains a token, and requests with another ``Host`` or
``Origin`` are refused, so no other page in the browser can reach it.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

import uvicorn
from annotated_types import Ge, Le
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rave_agents.agents.named_agents import (
    DEFAULT_AGENT,
    AgentSpec,
    agent_types,
)
from rave_agents.errors import RaveAgentsError, UnknownNameError
from rave_agents.evaluators.levels import LEVELS
from rave_agents.game.arguments import unknown_name
from rave_agents.game.validation import checked
from rave_agents.sessions.live import LiveSession
from rave_agents.sessions.setting_up import check_plays, limited
from rave_agents.web.page import page_file, script_source
from rave_agents.web.pictures import Pictures
from rave_agents.web.reviewing import Reviewing
from rave_agents.web.snapshot import snapshot

HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine; requests for others are refused."""

SLOWEST = 5.0
"""Maximum seconds between two moves of agents."""

_POLICY = (
    f"default-src 'none'; script-src 'self' {script_source()}; style-src 'self' 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'"
)
"""Nothing is loaded from elsewhere. The hash allows the script that a review contains."""

_TYPES = {"page.js": "text/javascript", "page.css": "text/css"}

_OPENED = ("command", "evaluator")
"""Parameters of agents that name programs or files; requests may not set them."""

_REFUSED = (RaveAgentsError, ValueError, TypeError, KeyError, OverflowError, RecursionError)
"""Errors that a request can cause; the last two by huge numbers and by nested JSON."""

_MOST = {
    "max_memory_mb": 4_000,
    "playout_count": 1_000,
    "rollouts": 1_000,
    "seconds": 3_600,
    "simulations": 10**9,
    "threads": 64,
}
"""Maxima of parameters that take memory, time or threads."""

LONGEST_NAME = 40
"""Maximum characters of an unknown name that an answer repeats."""


class Page:
    """The application of one session.

    Args:
        live: the session.
        token: the secret part of the address.
    """

    def __init__(self, live: LiveSession, token: str) -> None:
        self.live: LiveSession = live
        self._pictures = Pictures(live.session)
        self._reviewing = Reviewing(live.session.game, live.adviser)
        self.app: Starlette = Starlette(
            routes=[
                Route(f"/{token}/", self._page),
                Route(f"/{token}/state", self._state),
                Route(f"/{token}/do", self._do, methods=["POST"]),
                Route(f"/{token}/review", self._review),
                Route(f"/{token}/{{name:str}}", self._file),
            ],
            middleware=[Middleware(GZipMiddleware)],
        )
        """The application."""
        self.guarded: Any = _Guard(self.app)
        """The application behind the checks that every request must pass."""

    async def _page(self, request: Request) -> Response:
        levels = (f"{DEFAULT_AGENT}(level={level})" for level in range(1, LEVELS + 1))
        known = ("person", *levels, *agent_types())
        names = "".join(f'<option value="{name}">' for name in known)
        return HTMLResponse(page_file("page.html").replace("<!-- agents -->", names))

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _TYPES:
            return PlainTextResponse("There is no such page.", 404)
        return Response(page_file(name), media_type=_TYPES[name])

    async def _state(self, request: Request) -> Response:
        asked = request.query_params
        if asked.get("version") == str(self.live.version + self._reviewing.version):
            return Response(status_code=204)
        return await self._snapshot(asked)

    async def _snapshot(self, asked: Mapping[str, Any]) -> Response:
        seat = asked.get("seat")
        text = str(seat) if isinstance(seat, str | int) else ""
        # Python refuses to convert thousands of digits.
        seat = int(text) if text.isdecimal() and len(text) < 4 else None
        known = str(asked.get("position", ""))

        def answer() -> str:
            shown = snapshot(self.live, self._pictures, asked=seat, known=known)
            shown["review"] = self._reviewing.state
            shown["version"] += self._reviewing.version
            return json.dumps(shown, allow_nan=False)

        # In a thread: a game may take long to draw.
        return Response(await run_in_threadpool(answer), media_type="application/json")

    async def _review(self, request: Request) -> Response:
        if not self._reviewing.page:
            return PlainTextResponse("There is no review yet.", 404)
        return HTMLResponse(self._reviewing.page)

    async def _do(self, request: Request) -> Response:
        # A form of another page cannot send this type without asking the server first.
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return JSONResponse({"error": "JSON is expected."}, 415)
        try:
            asked = json.loads(await request.body())
            if not isinstance(asked, dict):
                raise ValueError("An object is expected.")
            await run_in_threadpool(self._act, asked)
        except _REFUSED as error:
            return JSONResponse({"error": str(error) or type(error).__name__}, 400)
        return await self._snapshot(asked)

    def _act(self, asked: Mapping[str, Any]) -> None:
        live = self.live
        seat = asked.get("seat")
        actions: dict[str, Callable[[], object]] = {
            "move": lambda: live.choose(
                _integer(seat, "seat"), _integer(asked.get("action"), "action")
            ),
            "undo": live.undo,
            "hint": live.hint,
            "hurry": live.hurry,
            "swap": live.swap,
            "new": live.restart,
            "pause": live.pause,
            "resume": live.resume,
            "step": live.step,
            "review": self._begin_review,
            "resign": lambda: live.resign(_integer(seat, "seat")),
            "pace": lambda: live.set_pace(_pace(asked["seconds"])),
            "seat": lambda: self._sit(_integer(asked["place"], "place"), str(asked["who"])),
        }
        name = asked.get("do")
        if name not in actions:
            raise ValueError(f"do must be one of {', '.join(actions)}: got {name!r}.")
        actions[name]()

    def _begin_review(self) -> None:
        with self.live.changed:
            session = self.live.session
            if session.hides and not session.over:
                raise ValueError("A game that hides something is reviewed when it is over.")
            start, actions = session.beginning, session.actions
        self._reviewing.begin(start, actions)

    def _sit(self, place: int, who: str) -> None:
        agent = None if who.strip() == "person" else _named(who.strip())
        if not 0 <= place < len(self.live.session.seats):
            raise ValueError(f"There is no seat {place}.")
        if agent is not None:
            check_plays(agent, self.live.session.game, place)
        self.live.seat(place, agent)


def _named(text: str) -> AgentSpec:
    # Checked before anything else reads the text: as_agent imports modules and runs files.
    if text.partition("(")[0].strip() not in agent_types():
        raise UnknownNameError(unknown_name("agent", text[:LONGEST_NAME], agent_types()))
    spec = AgentSpec.parse(text)
    for name, value in spec.parameters.items():
        if name in _OPENED or (isinstance(value, str) and ":" in value):
            raise ValueError(
                "On the page, agents have names, and no command, no evaluator and no "
                f"parameter from a module or a file: got {name}."
            )
        if name in _MOST and isinstance(value, int | float) and not value <= _MOST[name]:
            most = f"{_MOST[name]:,}"
            raise ValueError(f"On the page, {name} is at most {most}: got {value:.6g}.")
    return limited(spec)


def _integer(value: Any, name: str) -> int:
    bounds = Annotated[int, Ge(-(2**31)), Le(2**31 - 1)]
    return checked(name, bounds, value, ValueError)  # type: ignore[no-any-return]


def _pace(value: Any) -> float:
    seconds: float = checked("seconds", float, value, ValueError)
    return min(max(0.0, seconds), SLOWEST)


class _Guard:
    """Refuses requests for other machines and from other pages."""

    def __init__(self, app: Callable[[Any, Any, Any], Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {key.lower(): value.decode("latin-1") for key, value in scope["headers"]}
        # A foreign host is DNS rebinding, a foreign origin another page in the browser.
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if not _is_here(host) or (origin is not None and origin != f"http://{host}"):
            refusal = PlainTextResponse("Only this machine's own page is answered.", 403)
            await refusal(scope, receive, send)
            return

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    (b"content-security-policy", _POLICY.encode()),
                    (b"x-content-type-options", b"nosniff"),
                    (b"referrer-policy", b"no-referrer"),
                    (b"cache-control", b"no-store"),
                ]
            await send(message)

        await self._app(scope, receive, send_guarded)


def _is_here(host: str) -> bool:
    name, colon, port = host.rpartition(":")
    if host.endswith("]") or not colon:  # [::1] has colons, but no port.
        name, port = host, "80"
    return name in HOSTS and port.isdecimal()


def make_server(live: LiveSession, token: str) -> uvicorn.Server:
    """Make the server of a session's page; it listens once it is given a socket."""
    config = uvicorn.Config(
        Page(live, token).guarded,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
