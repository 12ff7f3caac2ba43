"""The server of a session's page, for this machine alone."""

import errno
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from typing import Annotated, Any

from annotated_types import Ge, Le

from rave_agents.extras import missing
from rave_agents.game.validation import checked
from rave_agents.sessions.live import LiveSession

ADDRESS = "127.0.0.1"
"""The address of the server, which other machines cannot reach."""


class Server:
    """Serves the page of one session, in a thread.

    Args:
        live: the session, which starts and ends with the server.
        port: the port, 0 for a free one.

    Raises:
        ImportError: if starlette or uvicorn is not installed.
        OSError: if the port cannot be opened.
        ValueError: if it is not a port.
    """

    def __init__(self, live: LiveSession, *, port: int = 0) -> None:
        try:
            from rave_agents.web.app import make_server  # noqa: PLC0415  (optional: starlette)
        except ImportError as error:
            raise ImportError(missing("The page needs", "web", "starlette uvicorn")) from error
        checked("port", Annotated[int, Ge(0), Le(65535)], port)
        self.live: LiveSession = live
        # Bound here and not by uvicorn, which would end the process if the port is in use.
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((ADDRESS, port))
        except OSError as error:
            self._socket.close()
            why = "another program uses it" if error.errno == errno.EADDRINUSE else error.strerror
            raise OSError(
                f"Port {port} of {ADDRESS} cannot be opened: {why}. Give another port, or 0 "
                "(--port 0) for a free one."
            ) from error
        token = secrets.token_urlsafe(16)
        self.address: str = f"http://{ADDRESS}:{self._socket.getsockname()[1]}/{token}/"
        """The address of the page, known to this user alone."""
        self._server = make_server(live, token)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    def start(self) -> None:
        """Start the session and the server."""
        self.live.start()
        self._thread.start()
        # A page that opens at once must find the server listening.
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.01)

    def wait(self) -> None:
        """Wait for the end of the server, or KeyboardInterrupt."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def close(self) -> None:
        """End the server and the session."""
        self._server.should_exit = True
        self.live.close()
        if self._thread.ident is not None:
            self._thread.join(3.0)

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def serve(
    live: LiveSession, *, port: int = 0, opens: bool = True, say: Callable[[str], None] = print
) -> None:
    """Serve a session's page until Ctrl-C.

    Args:
        live: the session.
        port: the port, 0 for a free one.
        opens: whether to open the page in the browser.
        say: prints the address.
    """
    with Server(live, port=port) as server:
        say(f"The page: {server.address}")
        say("Ctrl-C ends it.")
        if opens:
            webbrowser.open(server.address)
        try:
            server.wait()
        except KeyboardInterrupt:
            return
