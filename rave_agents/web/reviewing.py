"""Reviewing: reviews the game of a session in the background."""

import threading
from collections.abc import Mapping
from typing import Any

from rave_agents.agents.named_agents import AgentSpec
from rave_agents.analysis.review import review_game
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import GameState
from rave_agents.web.review_page import review_page


class Reviewing:
    """Reviews one game at a time, in a thread.

    Args:
        game: the game.
        agent: the agent that reviews.
    """

    def __init__(self, game: Game, agent: AgentSpec) -> None:
        self._game = game
        self._agent = agent if agent.is_named else "auto"
        self._lock = threading.Lock()
        self._actions: tuple[int, ...] | None = None
        self.page: str = ""
        """The page of the last finished review; empty before."""
        self.state: Mapping[str, Any] = {}
        """Progress of the review: ``done`` of ``all`` positions, ``ready``, ``error``."""
        self.version: int = 0
        """Grows with every change of ``state``."""

    def begin(self, start: GameState, actions: tuple[int, ...]) -> None:
        """Begin a review, unless one of the same game is in progress.

        Args:
            start: the initial position.
            actions: the actions and chance outcomes from there.

        Raises:
            ValueError: without moves, or while another review is in progress.
        """
        with self._lock:
            if not actions:
                raise ValueError("There are no moves to review yet.")
            if self.state and not (self.state["ready"] or self.state["error"]):
                if actions != self._actions:
                    raise ValueError("Another review is in progress.")
                return
            self._actions = actions
            self._note(done=0, all=len(actions) + 1, ready=False, error="")
        threading.Thread(target=self._make, args=(start, actions), daemon=True).start()

    def _note(self, **changes: Any) -> None:
        self.state = {**self.state, **changes}
        self.version += 1

    def _make(self, start: GameState, actions: tuple[int, ...]) -> None:
        def note(done: int, planned: int) -> None:
            self._note(done=done, all=planned)

        try:
            found = review_game(self._game, actions, self._agent, start=start, progress=note)
            self.page = review_page(found)
            self._note(ready=True)
        except Exception as error:
            self._note(error=f"{type(error).__name__}: {error}")
