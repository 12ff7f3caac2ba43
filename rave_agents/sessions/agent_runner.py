"""AgentRunner: asks an agent that thinks beside the session, in a process where possible."""

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
from typing import Any

import cloudpickle

import rave_agents
from rave_agents.agents.named_agents import AnyAgent
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import GameState
from rave_agents.sessions.agent_worker import (
    Answer,
    Ask,
    Close,
    Failed,
    Hurry,
    Inform,
    Prepare,
    Ready,
    Restart,
    Setup,
    Tells,
    Worker,
)
from rave_agents.sessions.session import Turn

_PATIENCE = 1.0
"""Seconds that a process has to leave a question that was dropped."""

Told = Tells | Answer | Failed | Ready


class AgentRunner:
    """An agent in one seat, which is asked and does not keep the asker waiting.

    In a process of its own an agent can be stopped whatever it does, and what ends it ends nothing
    else. An agent, a game or a position that cannot be sent there thinks in a thread.

    Args:
        agent: the agent.
        game: the game.
        seat: its seat.
        seed: for whatever it draws.
        beside: whether to use a process.
    """

    def __init__(
        self, agent: AnyAgent, game: Game, seat: int, *, seed: int, beside: bool = True
    ) -> None:
        self.agent: AnyAgent = agent
        self.game: Game = game
        self.seat: int = seat
        self.seed: int = seed
        self._beside = beside
        self._numbers = itertools.count()
        self._asked = -1
        self._told: queue.SimpleQueue[Told] = queue.SimpleQueue()
        self._line: _Thread | _Process | None = None
        self._turns: list[Inform] = []
        self._has_begun = False
        self._thinks_of = self._dropped = -1

    @property
    def process_id(self) -> int | None:
        """The process that the agent thinks in; None without one."""
        return self._line.process.pid if isinstance(self._line, _Process) else None

    def ask(self, state: GameState, time_left: tuple[float, int] | None = None) -> None:
        """Begin to think; ``poll`` gives what comes of it."""
        self._end_what_is_stuck()
        self._asked = self._thinks_of = next(self._numbers)
        self._open(state).send(Ask(self._asked, state, time_left))

    def prepare(self, state: GameState) -> None:
        """Begin to make the agent, and to load what it needs; ``poll`` gives Ready."""
        self._asked = next(self._numbers)
        self._open(state).send(Prepare(self._asked, state))

    def poll(self, seconds: float) -> Told | None:
        """The next message about the question asked last; None if nothing comes in this time."""
        with contextlib.suppress(queue.Empty):
            told = self._heard(seconds)
            while told.number != self._asked:
                told = self._heard(0.0)
            return told
        return None

    def _heard(self, seconds: float) -> Told:
        """The next message, of whatever question.

        Raises:
            queue.Empty: if nothing comes in this time.
        """
        told = self._told.get(timeout=seconds)
        self._has_begun = True
        if isinstance(told, Answer | Failed) and told.number == self._thinks_of:
            self._thinks_of = self._dropped = -1
        return told

    def _end_what_is_stuck(self) -> None:
        """End a process that goes on with a question that was dropped; another one begins anew.

        Compiling, before it has told anything, is waited for.
        """
        if self._dropped < 0 or not self._has_begun or not isinstance(self._line, _Process):
            return
        ends = time.monotonic() + _PATIENCE
        with contextlib.suppress(queue.Empty):
            while self._dropped >= 0:
                self._heard(max(0.0, ends - time.monotonic()))
        if self._dropped >= 0:
            self.close()

    def inform(self, state: GameState, turn: Turn, joint: tuple[int, ...]) -> None:
        """Tell it of a turn; ``joint`` is empty where players do not move at the same time."""
        told = Inform(state, turn.player, joint or turn.actions, len(joint) > 0)
        self._turns.append(told)
        if self._line is not None:
            self._line.send(told)

    def restart(self) -> None:
        """Let it begin a new game."""
        self._turns.clear()
        if self._line is not None:
            self._line.send(Restart())

    def hurry(self) -> None:
        """Let it answer now, if it can."""
        if self._line is not None:
            self._line.hurry(self._asked)

    def drop(self) -> None:
        """Let it stop, whatever it does: what it still tells is not heard."""
        self.hurry()
        self._dropped = self._thinks_of
        self._asked = next(self._numbers)

    def close(self) -> None:
        """End it."""
        line, self._line = self._line, None
        self._thinks_of = self._dropped = -1
        self._has_begun = False
        if line is not None:
            line.close()

    def _open(self, state: GameState) -> "_Thread | _Process":
        if self._line is not None and self._line.ended:
            self.close()
        if self._line is None:
            setup = Setup(self.agent, self.game, self.seat, self.seed)
            self._line = self._process(setup, state) or _Thread(setup, self._told)
            for turn in self._turns:
                self._line.send(turn)
        return self._line

    def _process(self, setup: Setup, state: GameState) -> "_Process | None":
        if not self._beside:
            return None
        try:
            sent = cloudpickle.dumps(setup)
            pickle.loads(cloudpickle.dumps(state))
        except Exception:
            return None
        return _Process(sent, self._told, lambda: self._asked)


class _Thread:
    """A worker in a thread of this process."""

    ended = False

    def __init__(self, setup: Setup, told: "queue.SimpleQueue[Told]") -> None:
        self._messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._worker = Worker(self._messages.get, told.put)
        self._messages.put(setup)
        threading.Thread(target=self._worker.run, daemon=True).start()

    def send(self, message: Any) -> None:
        self._messages.put(message)

    def hurry(self, number: int) -> None:
        self._worker.hurried = number

    def close(self) -> None:
        self._worker.hurried = sys.maxsize
        self._messages.put(Close())


class _Process:
    """A worker in another process."""

    def __init__(self, setup: bytes, told: "queue.SimpleQueue[Told]", asked: Any) -> None:
        self._told, self._asked = told, asked
        self._closing = False
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-m", "rave_agents.sessions.agent_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
        )
        self._write(setup)
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def _read(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(Exception):
            while True:
                self._told.put(pickle.load(self.process.stdout))
        code = self.process.wait()
        if not self._closing:
            self._told.put(Failed(self._asked(), _ended_text(code), forfeits=False))

    def _write(self, message: bytes) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # It has ended, which ``_read`` tells.
            self.process.stdin.write(message)
            self.process.stdin.flush()

    def send(self, message: Any) -> None:
        self._write(cloudpickle.dumps(message))

    def hurry(self, number: int) -> None:
        self.send(Hurry(number))

    def close(self) -> None:
        self._closing = True
        self.process.kill()


def _ended_text(code: int) -> str:
    if code >= 0:
        return f"The agent's process ended with code {code}."
    with contextlib.suppress(ValueError):
        return f"The agent's process was killed ({signal.Signals(-code).name})."
    return f"The agent's process was killed (signal {-code})."


def _environment() -> Mapping[str, str]:
    """Variables of this process, with the same packages."""
    here = str(Path(rave_agents.__file__).parents[1])
    places = [here, *(place or os.getcwd() for place in sys.path)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(places))}
