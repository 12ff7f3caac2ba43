"""LiveSession: a session whose agents think on their own, shown in several places at once."""

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, as_agent
from rave_agents.errors import RaveAgentsError
from rave_agents.results.search_result import SearchResult
from rave_agents.sessions.agent_runner import AgentRunner
from rave_agents.sessions.agent_worker import Reply
from rave_agents.sessions.game_file import save_game
from rave_agents.sessions.session import PERSON, Session

_LOOK = 0.05
"""Seconds between two looks for an agent's replies."""


class LiveSession:
    """A session that plays on by itself wherever no person is to move.

    All methods may be called from any thread. ``version`` grows with every visible change.

    Args:
        session: the session.
        adviser: the agent that gives hints, see ``as_agent``.
        beside: whether agents think in processes of their own, where possible.
        path: the file that keeps the game after each turn; None for none.
        pace: minimum seconds between two turns of agents.
    """

    def __init__(
        self,
        session: Session,
        *,
        adviser: Any,
        beside: bool = True,
        path: Path | None = None,
        pace: float = 0.0,
    ) -> None:
        self.session: Session = session
        self.adviser: AgentSpec = as_agent(adviser)
        self.path: Path | None = path
        self.pace: float = pace
        """Minimum seconds between two turns of agents."""
        self.paused: bool = False
        """True while agents wait."""
        self.thought: SearchResult | None = None
        """The last search of any agent, which may still run."""
        self.thought_turn: int = -1
        """The number of turns before the position of ``thought``."""
        self.thinking: int | None = None
        """The seat for which an agent thinks; None if none does."""
        self.advising: bool = False
        """True while the adviser thinks about a hint."""
        self.error: str = ""
        """The reason why agents wait for ``resume``; empty without an error."""
        self.version: int = 0
        """Grows with every visible change."""
        # Reentrant, since a change may consist of others.
        self.changed: threading.Condition = threading.Condition(threading.RLock())
        """Notified of each new version."""
        self._beside = beside
        self._epoch = 0
        """Work that began in an earlier epoch is out of date: its outcome is dropped."""
        self._steps = 0
        self._closed = False
        self._runners: dict[tuple[bool, int], AgentRunner] = {}
        """The agents, by whether they advise, and seat."""
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to play."""
        self._thread.start()

    def close(self) -> None:
        """End all agents."""
        with self._change(new_epoch=True):
            self._closed = True
        for runner in self._runners.values():
            runner.close()

    def __enter__(self) -> "LiveSession":
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def wait(self, version: int, seconds: float) -> int:
        """Wait until the version differs from this one, or this time; returns the version."""
        with self.changed:
            self.changed.wait_for(lambda: self.version != version, seconds)
            return self.version

    @contextlib.contextmanager
    def _change(self, *, new_epoch: bool = False, forget: bool = False) -> Iterator[Session]:
        """Apply a visible change.

        Args:
            new_epoch: whether running searches are then out of date.
            forget: whether thought, hint and error are, too.
        """
        with self.changed:
            yield self.session
            self.version += 1
            self._epoch += new_epoch
            if forget:
                self.thought, self.thought_turn, self.error = None, -1, ""
                self.advising = False
            self.changed.notify_all()

    # What people do.

    def choose(self, seat: int, action: int) -> None:
        """Choose an action for a person; see ``Session.choose``."""
        with self._change(new_epoch=not self.session.together) as session:
            self._need_person(seat)
            session.choose(seat, action)
            self._keep()

    def undo(self) -> bool:
        """See ``Session.undo``; returns whether there was anything to undo."""
        with self._change(new_epoch=True, forget=True) as session:
            undone = session.undo()
            self._keep()
            return undone

    def restart(self) -> None:
        """Begin another game, see ``Session.begin_anew``."""
        with self._change(new_epoch=True, forget=True) as session:
            session.begin_anew()
            self._keep()

    def swap(self) -> None:
        """See ``Session.swap``."""
        with self._change(new_epoch=True, forget=True) as session:
            session.swap()

    def seat(self, seat: int, agent: AgentSpec | None) -> None:
        """Give a seat to an agent or to a person."""
        with self._change(new_epoch=True, forget=True) as session:
            if not 0 <= seat < len(session.seats):
                raise ValueError(f"There is no seat {seat}.")
            session.seats[seat] = agent

    def resign(self, seat: int) -> None:
        """Resign for a person."""
        with self._change(new_epoch=True) as session:
            self._need_person(seat)
            if not session.over:
                session.lose(seat, "resigned")

    def hint(self) -> None:
        """Let the adviser think for the person to move; ``thought`` is then its thought."""
        with self._change() as session:
            if any(session.seats[seat] is PERSON for seat in session.movers):
                self.advising = True

    def hurry(self) -> None:
        """Let the agent that thinks answer now."""
        with self.changed:
            for runner in self._runners.values():
                runner.hurry()

    def pause(self) -> None:
        """Let agents wait."""
        with self._change(new_epoch=True):
            self.paused = True

    def resume(self) -> None:
        """Play on after a pause or an error."""
        with self._change(new_epoch=True) as session:
            self.paused, self.error = False, ""
            session.resume_clock()

    def step(self) -> None:
        """Play one turn in a pause."""
        with self._change(new_epoch=True):
            self.error, self._steps = "", 1

    def set_pace(self, seconds: float) -> None:
        """Set the minimum seconds between two turns of agents."""
        with self._change():
            self.pace = seconds

    def _need_person(self, seat: int) -> None:
        if not 0 <= seat < len(self.session.seats):
            raise ValueError(f"There is no seat {seat}.")
        if self.session.seats[seat] is not PERSON:
            raise ValueError(f"Seat {seat} is an agent's.")

    def _keep(self) -> None:
        if self.path is not None:
            try:
                save_game(self.session, self.path)
            except (OSError, RaveAgentsError) as error:
                self.error = f"The game was not saved: {error}"

    # What the thread does.

    def _run(self) -> None:
        self._prepare()
        while not self._closed:
            with self.changed:
                epoch, work = self._epoch, self._work()
                if work is None:
                    self._check_time()
                    self.changed.wait(0.1 if self.session.clock else 1.0)
                    continue
            try:
                work(epoch)
            except Exception as error:
                self._fail(epoch, f"{type(error).__name__}: {error}")

    def _prepare(self) -> None:
        """Let agents load what they need, before clocks run."""
        with self.changed:
            session, epoch = self.session, self._epoch
            runners = [
                self._runner(seat, who, advising=False)
                for seat, who in enumerate(session.seats)
                if who is not PERSON
            ]
            for runner in runners:
                runner.prepare(session.state)
        for runner in runners if session.clock is not None else ():
            while epoch == self._epoch and runner.poll(_LOOK) is None:
                pass
        with self._change():
            session.resume_clock()

    def _work(self) -> Callable[[int], None] | None:
        """The next thing to do without a person, given the epoch; None if there is none."""
        session = self.session
        if session.over or self.error or self._closed:
            return None
        movers = session.movers
        if self.advising:
            person = next((seat for seat in movers if session.seats[seat] is PERSON), None)
            if person is not None:
                return functools.partial(self._think, seat=person, agent=self.adviser)
            self.advising = False
        if self.paused and not self._steps:
            return None
        if session.is_chance:
            return self._draw
        for seat in movers:
            agent = session.seats[seat]
            if agent is not PERSON:
                return functools.partial(self._think, seat=seat, agent=agent)
        return None

    def _draw(self, epoch: int) -> None:
        if not self._rest(epoch, self.pace / 2):
            return
        with self._change() as session:
            if epoch == self._epoch and session.is_chance:
                session.draw_chance()
                self._keep()

    def _rest(self, epoch: int, seconds: float) -> bool:
        """Wait; returns whether the epoch is still the same."""
        with self.changed:
            self.changed.wait_for(lambda: epoch != self._epoch, max(0.0, seconds))
            return epoch == self._epoch

    def _think(self, epoch: int, seat: int, agent: AgentSpec) -> None:
        with self._change() as session:
            if epoch != self._epoch:
                return
            advising, turn, started = self.advising, len(session.turns), time.monotonic()
            runner = self._runner(seat, agent, advising=advising)
            clock = None if advising else session.clocks[seat]
            left = None
            if clock is not None:
                seconds, moves = clock.time_left()
                left = max(0.0, seconds - session.elapsed), moves
            self.thinking, state = seat, session.state
        try:
            runner.ask(state, left)
            reply = self._listen(epoch, runner, turn)
        finally:
            with self._change():
                self.thinking = None
                self.advising = self.advising and not advising
        if reply is None:
            runner.drop()
        elif reply.error:
            with self._change() as session:
                if epoch == self._epoch and reply.forfeits and not advising:
                    session.lose(seat, reply.error)
                    return
            self._fail(epoch, f"The agent of seat {seat} failed: {reply.error}")
        elif not advising and self._rest(epoch, self.pace - (time.monotonic() - started)):
            self._play(epoch, seat, reply)

    def _listen(self, epoch: int, runner: AgentRunner, turn: int) -> Reply | None:
        while epoch == self._epoch:
            reply = runner.poll(_LOOK)
            if reply is not None and reply.result is not None:
                with self._change():
                    if epoch == self._epoch:
                        self.thought, self.thought_turn = reply.result, turn
            if reply is not None and reply.final:
                return reply
            if self._check_time():
                return None
        return None

    def _check_time(self) -> bool:
        """End the game if a player is out of time; returns whether it ended."""
        with self.changed:
            ended = self.session.clock is not None and self.session.check_time()
            if ended:
                with self._change(new_epoch=True):
                    pass
            return ended

    def _play(self, epoch: int, seat: int, reply: Reply) -> None:
        with self._change() as session:
            if epoch != self._epoch:
                return
            value = None if reply.result is None else reply.result.value_for(0)
            assert reply.action is not None
            session.choose(seat, reply.action, value=value)
            self._steps = 0
            self._keep()

    def _fail(self, epoch: int, message: str) -> None:
        with self._change():
            if epoch == self._epoch:
                self.error = message

    def _runner(self, seat: int, agent: AgentSpec, *, advising: bool) -> AgentRunner:
        key = (advising, seat)
        runner = self._runners.get(key)
        if runner is not None and runner.agent is not agent:
            runner.close()
            runner = None
        if runner is None:
            seed = self.session.seed * 1000 + seat
            runner = AgentRunner(agent, self.session.game, seat, seed=seed, beside=self._beside)
            self._runners[key] = runner
        runner.follow(self.session)
        return runner
