"""AgentRunner: asks an agent and never waits for it; the agent has a process where possible."""

import contextlib
import itertools
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import cloudpickle

import rave_agents
from rave_agents.agents.named_agents import AgentSpec
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import GameState, PlayerId, joint_action
from rave_agents.sessions.agent_worker import Call, Reply, Setup, Worker
from rave_agents.sessions.session import Session, Turn

_PATIENCE = 1.0
"""Seconds that a process has to leave a question that was dropped."""


class AgentRunner:
    """An agent in one seat.

    In a process of its own an agent can always be stopped, and a crash ends nothing else. If the
    agent, the game or the position cannot be sent there, the agent thinks in a thread.

    Args:
        agent: the agent.
        game: the game.
        seat: its seat.
        seed: the seed of its random numbers.
        beside: whether to use a process.
    """

    def __init__(
        self, agent: AgentSpec, game: Game, seat: int, *, seed: int, beside: bool = True
    ) -> None:
        self.agent: AgentSpec = agent
        self._setup = Setup(agent, game, seat, seed)
        self._beside = beside
        self._numbers = itertools.count()
        self._asked = -1
        """The number of the question asked last; replies to others are ignored."""
        self._replies: queue.SimpleQueue[Reply] = queue.SimpleQueue()
        self._worker: Worker | subprocess.Popen[bytes] | None = None
        self._turns: dict[Turn, Call] = {}
        """The turns that the agent knows, in order."""
        self._has_replied = False
        self._running = self._dropped = -1

    @property
    def process_id(self) -> int | None:
        """The agent's process; None without one."""
        return None if isinstance(self._worker, Worker | None) else self._worker.pid

    def ask(self, state: GameState, time_left: tuple[float, int] | None = None) -> None:
        """Ask for an action; ``poll`` gives the replies."""
        self._end_stuck_process()
        self._question(state, "ask", state, time_left)
        self._running = self._asked

    def prepare(self, state: GameState) -> None:
        """Make the agent and load what it needs; ``poll`` gives a final reply without an action."""
        self._question(state, "prepare", state)

    def poll(self, seconds: float) -> Reply | None:
        """The next reply to the question asked last; None if none comes in this time."""
        with contextlib.suppress(queue.Empty):
            reply = self._receive(seconds)
            while reply.number != self._asked:
                reply = self._receive(0.0)
            return reply
        return None

    def follow(self, session: Session) -> None:
        """Report the turns that the agent does not know; after an undo, all from the start."""
        known = list(self._turns)
        # Turns are compared by identity: after an undo, equal moves are new turns.
        if known != session.turns[: len(known)]:
            self._turns.clear()
            self._send(Call(-1, "restart"))
        for number in range(len(self._turns), len(session.turns)):
            turn, joint = session.turns[number], tuple[int, ...]()
            if turn.player == PlayerId.SIMULTANEOUS:
                joint = tuple(joint_action(turn.players, turn.actions, len(session.seats)))
            arguments = session.before(number), turn.player, joint or turn.actions, bool(joint)
            self._turns[turn] = Call(-1, "inform", arguments)
            self._send(self._turns[turn])

    def hurry(self) -> None:
        """Let it answer now with what it has found, if it can."""
        self._send(Call(self._asked, "hurry"))

    def drop(self) -> None:
        """Drop the question: let the agent stop, and ignore its replies."""
        self.hurry()
        self._dropped = self._running
        self._asked = next(self._numbers)

    def close(self) -> None:
        """End the agent."""
        worker, self._worker = self._worker, None
        self._running = self._dropped = -1
        self._has_replied = False
        if isinstance(worker, Worker):
            worker.accept(Call(sys.maxsize, "close"))
        elif worker is not None:
            worker.kill()

    def _question(self, state: GameState, method: str, *arguments: object) -> None:
        self._asked = next(self._numbers)
        if isinstance(self._worker, subprocess.Popen) and self._worker.poll() is not None:
            self.close()
        if self._worker is None:
            self._start(state)
        self._send(Call(self._asked, method, arguments))

    def _start(self, state: GameState) -> None:
        setup, sent = self._setup._replace(agent=self.agent), b""
        if self._beside:
            with contextlib.suppress(Exception):  # They cannot be pickled: then it is a thread.
                pickle.loads(cloudpickle.dumps(state))
                sent = cloudpickle.dumps(setup)
        if sent:
            self._worker = self._started_process(sent)
        else:
            self._worker = Worker(setup, self._replies.put)
            threading.Thread(target=self._worker.run, daemon=True).start()
        for call in self._turns.values():
            self._send(call)

    def _started_process(self, setup: bytes) -> subprocess.Popen[bytes]:
        # With -m the module's classes would belong to __main__, and not be found by this process.
        program = "from rave_agents.sessions.agent_worker import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
        )
        _write(process, setup)
        threading.Thread(target=self._read, args=[process], daemon=True).start()
        return process

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with contextlib.suppress(Exception):
            while True:
                self._replies.put(pickle.load(process.stdout))
        code = process.wait()
        if process is self._worker:  # It was not closed, so it ended by itself.
            self._replies.put(Reply(self._asked, error=_ended_text(code)))

    def _send(self, call: Call) -> None:
        if isinstance(self._worker, Worker):
            self._worker.accept(call)
        elif self._worker is not None:
            _write(self._worker, cloudpickle.dumps(call))

    def _receive(self, seconds: float) -> Reply:
        """The next reply to any question.

        Raises:
            queue.Empty: if none comes in this time.
        """
        reply = self._replies.get(timeout=seconds)
        self._has_replied = True  # From now on, silence means that it is stuck.
        if reply.final and reply.number == self._running:
            self._running = self._dropped = -1
        return reply

    def _end_stuck_process(self) -> None:
        """End a process that does not leave a dropped question; another one begins anew.

        A process that has not replied yet may be compiling, and is waited for.
        """
        is_process = isinstance(self._worker, subprocess.Popen)
        if self._dropped < 0 or not self._has_replied or not is_process:
            return
        ends = time.monotonic() + _PATIENCE
        with contextlib.suppress(queue.Empty):
            while self._dropped >= 0:
                self._receive(max(0.0, ends - time.monotonic()))
        if self._dropped >= 0:
            self.close()


def _write(process: subprocess.Popen[bytes], message: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # It has ended, which ``_read`` reports.
        process.stdin.write(message)
        process.stdin.flush()


def _ended_text(code: int) -> str:
    if code >= 0:
        return f"The agent's process ended with code {code}."
    with contextlib.suppress(ValueError):
        return f"The agent's process was killed ({signal.Signals(-code).name})."
    return f"The agent's process was killed (signal {-code})."


def _environment() -> Mapping[str, str]:
    here = str(Path(rave_agents.__file__).parents[1])
    places = [here, *(place or os.getcwd() for place in sys.path)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(places))}
