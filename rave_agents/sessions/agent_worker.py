"""The side of an agent: it answers calls, in a thread or in a process of its own.

The process calls ``main``. Calls and replies are pickles on its standard input and output: they
come from the process that started it, and from nowhere else.
"""

import os
import pickle
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import cloudpickle

from rave_agents.agents.answers import checked_action
from rave_agents.agents.named_agents import make_agent
from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.errors import ForfeitError
from rave_agents.frameworks.agent import AgentAbilities
from rave_agents.game.game_state import legal_actions_of
from rave_agents.results.search_result import SearchResult


class Setup(NamedTuple):
    """The agent to make."""

    agent: Any
    game: Any
    seat: int
    seed: int


class Call(NamedTuple):
    """A call of one of the worker's methods, or ``hurry`` or ``close``."""

    number: int
    """The number of the question that it belongs to; its replies have it, too."""
    method: str
    arguments: tuple[Any, ...] = ()


class Reply(NamedTuple):
    """A reply to a question: findings of a running search, or the last one, which is final."""

    number: int
    final: bool = True
    action: int | None = None
    """The chosen action; None until it is chosen, and for ``prepare``."""
    result: SearchResult | None = None
    """The search so far; None for an agent without one."""
    error: str = ""
    """The reason why the agent failed or gives up; empty if it did neither."""
    forfeits: bool = False
    """True if it gives the game up."""


class _HurriedError(Exception):
    """Ends a running search."""


class Worker:
    """Makes an agent and answers calls, one after the other.

    Args:
        setup: the agent.
        send: sends a reply.
    """

    def __init__(self, setup: Setup, send: Callable[[Reply], None]) -> None:
        self._setup, self._send = setup, send
        self._calls: queue.SimpleQueue[Call] = queue.SimpleQueue()
        self._hurried = -1
        self._number = -1
        self._agent: Any = None

    def accept(self, call: Call) -> None:
        """Take a call, from any thread; ``hurry`` and ``close`` act on a running search."""
        # Not queued: the queue is read only after the search that must end.
        if call.method in ("hurry", "close"):
            self._hurried = call.number
        if call.method != "hurry":
            self._calls.put(call)

    def run(self) -> None:
        """Answer until ``close``."""
        while (call := self._calls.get()).method != "close":
            self._number = call.number
            try:
                if self._agent is None:
                    self._agent = make_agent(*self._setup[:3], seed=self._setup.seed)
                    self._agent.restart()
                getattr(self, f"_{call.method}")(*call.arguments)
            except ForfeitError as error:
                self._reply(error=str(error), forfeits=True)
            except Exception as error:
                if is_raised_by_handler(error):
                    raise
                self._reply(error=f"{type(error).__name__}: {error}")
        AgentAbilities(self._agent).close()

    def _reply(self, **content: Any) -> None:
        self._send(Reply(self._number, **content))

    def _prepare(self, state: Any) -> None:
        searcher = AgentAbilities(self._agent).searcher
        if searcher is not None and not state.is_terminal() and not state.is_chance_node():
            searcher.prepare(state)
        self._reply()

    def _restart(self) -> None:
        self._agent.restart()

    def _inform(self, state: Any, player: int, actions: Sequence[int], joint: bool) -> None:
        if not joint:
            self._agent.inform_action(state, player, actions[0])
        elif (inform := AgentAbilities(self._agent).inform_actions) is not None:
            inform(state, list(actions))

    def _ask(self, state: Any, time_left: tuple[float, int] | None) -> None:
        """Choose an action; ``time_left`` as ``Clock.set_left`` takes it, None without a clock."""
        agent = self._agent
        clock = AgentAbilities(agent).clock
        if clock is not None and time_left is not None:
            clock.set_left(*time_left)

        def report(result: SearchResult) -> None:
            self._reply(final=False, result=result)
            if self._hurried >= self._number:
                raise _HurriedError

        searches = hasattr(agent, "progress")
        if searches:
            agent.progress = report
        try:
            chosen = agent.step(state.clone())
            result = AgentAbilities(agent).last_result
        except _HurriedError:
            result = agent.searcher.result()
            chosen = result.action
        finally:
            if searches:
                agent.progress = None
        legal = [int(each) for each in legal_actions_of(state, self._setup.seat)]
        action = checked_action(chosen, legal, AgentAbilities(agent).advice)
        self._reply(action=action, result=result if isinstance(result, SearchResult) else None)


def main() -> None:
    """Answer until the end, or until the process that started this one is gone."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Games and agents may print, also from C.

    def send(reply: Reply) -> None:
        cloudpickle.dump(reply, replies)
        replies.flush()

    def read() -> None:
        try:
            while True:
                worker.accept(pickle.load(sys.stdin.buffer))
        except Exception:  # The parent is gone, or sent something that cannot be made here.
            os._exit(1)

    worker = Worker(pickle.load(sys.stdin.buffer), send)
    threading.Thread(target=read, daemon=True).start()
    worker.run()
    os._exit(0)
