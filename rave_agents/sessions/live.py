"""LiveSession: a session whose agents think beside it, for all who show it at the same time."""

import contextlib
import functools
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rave_agents.agents.named_agents import AnyAgent
from rave_agents.errors import RaveAgentsError
from rave_agents.game.game_state import PlayerId, joint_action
from rave_agents.sessions.agent_runner import AgentRunner
from rave_agents.sessions.agent_worker import Reply
from rave_agents.sessions.game_file import save_game
from rave_agents.sessions.session import PERSON, Session
from rave_agents.sessions.thought import Thought

_LOOK = 0.05
"""Seconds between two looks at what an agent tells."""


class LiveSession:
    """A session that goes on by itself wherever no person is to move.

    All methods may be called from any thread. ``version`` grows with everything that shows.

    Args:
        session: the session.
        adviser: the agent who is asked for hints.
        beside: whether agents think in processes of their own, where that is possible.
        path: the file that the game is kept in after each turn; None for none.
        pace: seconds between two turns of agents, at least.
        paused: whether agents wait until ``resume``.
    """

    def __init__(
        self,
        session: Session,
        *,
        adviser: AnyAgent,
        beside: bool = True,
        path: Path | None = None,
        pace: float = 0.0,
        paused: bool = False,
    ) -> None:
        self.session: Session = session
        self.adviser: AnyAgent = adviser
        self.path: Path | None = path
        self.pace: float = pace
        """Seconds between two turns of agents, at least."""
        self.paused: bool = paused
        """True while agents wait."""
        self.thought: Thought | None = None
        """The last thought, of whoever had it."""
        self.thought_turn: int = -1
        """The number of turns before the position that it is of."""
        self.thinking: int | None = None
        """The seat that an agent thinks for; None while none thinks."""
        self.advising: bool = False
        """True while it thinks of a hint for a person."""
        self.error: str = ""
        """The reason why agents wait for ``resume``; empty while all is well."""
        self.version: int = 0
        """Grows with everything that shows."""
        self.changed: threading.Condition = threading.Condition(threading.RLock())
        """Notified with each new version."""
        self._beside = beside
        self._epoch = 0
        self._closed = False
        self._runners: dict[Any, AgentRunner] = {}
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

    @contextlib.contextmanager
    def _change(self, *, new_epoch: bool = False) -> Iterator[Session]:
        """Change something that shows; with a new epoch, what agents think of is no longer so."""
        with self.changed:
            yield self.session
            self.version += 1
            if new_epoch:
                self._epoch += 1
            self.changed.notify_all()

    # People.

    def choose(self, seat: int, action: int) -> None:
        """Choose an action for a person; see ``Session.choose``."""
        with self._change(new_epoch=not self.session.together):
            self._need_person(seat)
            before = len(self.session.turns)
            self.session.choose(seat, action)
            self._after_turns(before)

    def _need_person(self, seat: int) -> None:
        if not 0 <= seat < len(self.session.seats):
            raise ValueError(f"There is no seat {seat}.")
        if self.session.seats[seat] is not PERSON:
            raise ValueError(f"Seat {seat} is an agent's.")

    def undo(self) -> bool:
        """See ``Session.undo``; the agents begin anew. Returns whether there was anything."""
        with self._change(new_epoch=True) as session:
            undone = session.undo()
            if undone:
                self._forget()
            return undone

    def restart(self) -> None:
        """Begin another game, see ``Session.begin_anew``."""
        with self._change(new_epoch=True) as session:
            session.begin_anew()
            self._forget()

    def swap(self) -> None:
        """See ``Session.swap``."""
        with self._change(new_epoch=True) as session:
            session.swap()
            self._end_runners()

    def seat(self, seat: int, agent: AnyAgent | None) -> None:
        """Give a seat to an agent or to a person."""
        with self._change(new_epoch=True) as session:
            if not 0 <= seat < len(session.seats):
                raise ValueError(f"There is no seat {seat}.")
            session.seats[seat] = agent
            self._end_runners()

    def resign(self, seat: int) -> None:
        """Give the game up for a person."""
        with self._change(new_epoch=True) as session:
            self._need_person(seat)
            if not session.over:
                session.lose(seat, "resigned")

    def hint(self) -> None:
        """Let the adviser think for the person who is to move; its thought then is ``thought``."""
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
        """Go on, after a pause or an error."""
        with self._change(new_epoch=True) as session:
            self.paused, self.error = False, ""
            session.resume_clock()

    def step(self) -> None:
        """Play one turn in a pause."""
        with self._change(new_epoch=True):
            self.error = ""
            self._steps = 1

    _steps = 0

    def set_pace(self, seconds: float) -> None:
        """Set the seconds between two turns of agents, at least."""
        with self._change():
            self.pace = seconds

    def wait(self, version: int, seconds: float) -> int:
        """Wait until something shows that a version has not; returns the version then."""
        with self.changed:
            self.changed.wait_for(lambda: self.version != version, seconds)
            return self.version

    # The thread.

    def _run(self) -> None:
        self._prepare()
        while not self._closed:
            with self.changed:
                epoch, work = self._epoch, self._work()
                if work is None:
                    self._flagged()
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

    def _work(self) -> Any:
        """The next thing to do without a person; None for nothing."""
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
                before = len(session.turns)
                session.draw_chance()
                self._after_turns(before)

    def _rest(self, epoch: int, seconds: float) -> bool:
        """Wait; returns whether all is as it was."""
        with self.changed:
            self.changed.wait_for(lambda: epoch != self._epoch, max(0.0, seconds))
            return epoch == self._epoch

    def _think(self, epoch: int, seat: int, agent: AnyAgent) -> None:
        """Let an agent think, and play what it answers; a hint is not played."""
        with self._change() as session:
            if epoch != self._epoch:
                return
            advising, turn, started = self.advising, len(session.turns), time.monotonic()
            runner = self._runner(seat, agent, advising=advising)
            clock = None if advising else session.clock_of(seat)
            if clock is not None:
                clock.charge(0.0)
            self.thinking = seat
            state, left = session.state, None if clock is None else clock.time_left()
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
            self._failed(epoch, seat, reply, plays=not advising)
        elif not advising and self._rest(epoch, self.pace - (time.monotonic() - started)):
            self._play(epoch, seat, reply)

    def _listen(self, epoch: int, runner: AgentRunner, turn: int) -> Reply | None:
        """Show an agent's thoughts up to its final reply; None if the game went on meanwhile."""
        while epoch == self._epoch:
            reply = runner.poll(_LOOK)
            if reply is not None and reply.thought is not None:
                with self._change():
                    if epoch == self._epoch:
                        self.thought, self.thought_turn = reply.thought, turn
            if reply is not None and reply.final:
                return reply
            if self._flagged():
                return None
        return None

    def _flagged(self) -> bool:
        """End the game if somebody's time is over; returns whether it ended."""
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
            value, proven = None, False
            if reply.thought is not None:
                value = reply.thought.value_of(0, len(session.seats))
                proven = reply.thought.proven is not None
            before = len(session.turns)
            assert reply.action is not None
            session.choose(seat, reply.action, value=value, proven=proven)
            self._steps = 0
            self._after_turns(before)

    def _failed(self, epoch: int, seat: int, reply: Reply, *, plays: bool) -> None:
        with self._change() as session:
            if epoch == self._epoch and reply.forfeits and plays:
                session.lose(seat, reply.error)
                return
        self._fail(epoch, f"The agent of seat {seat} failed: {reply.error}")

    def _fail(self, epoch: int, message: str) -> None:
        with self._change():
            if epoch == self._epoch:
                self.error = message

    def _runner(self, seat: int, agent: AnyAgent, *, advising: bool) -> AgentRunner:
        key = ("adviser", seat) if advising else seat
        runner = self._runners.get(key)
        if runner is None or runner.agent is not agent:
            seed = self.session.seed * 1000 + seat
            runner = AgentRunner(agent, self.session.game, seat, seed=seed, beside=self._beside)
            self._runners[key] = runner
            for number in range(len(self.session.turns)):
                self._inform(runner, number)
        return runner

    def _inform(self, runner: AgentRunner, number: int) -> None:
        """Tell an agent of a turn."""
        session = self.session
        turn, joint = session.turns[number], tuple[int, ...]()
        if turn.player == PlayerId.SIMULTANEOUS:
            joint = tuple(joint_action(turn.players, turn.actions, len(session.seats)))
        runner.inform(session.before(number), turn, joint)

    def _after_turns(self, before: int) -> None:
        """Tell the agents of the turns since, and keep the game."""
        session = self.session
        for number in range(before, len(session.turns)):
            for runner in self._runners.values():
                self._inform(runner, number)
        if self.path is not None:
            try:
                save_game(session, self.path)
            except (OSError, RaveAgentsError) as error:
                self.error = f"The game was not saved: {error}"

    def _forget(self) -> None:
        """Forget what was thought of turns that are undone, and let agents follow the game anew."""
        self.thought, self.thought_turn, self.error, self.advising = None, -1, "", False
        for runner in self._runners.values():
            runner.drop()
            runner.restart()
        self._after_turns(0)

    def _end_runners(self) -> None:
        self.thought, self.thought_turn, self.error, self.advising = None, -1, "", False
        for runner in self._runners.values():
            runner.close()
        self._runners.clear()
