"""The process of an agent, started as ``python -m rave_agents.sessions.agent_process``.

Messages are pickles on its standard input and output: they come from the process that started it,
and from nowhere else.
"""

import os
import pickle
import queue
import sys
import threading
from typing import Any

from rave_agents.sessions.agent_worker import Hurry, Worker


def main() -> None:
    """Answer until the end, or until whoever has started it is gone."""
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # Games and agents may print.
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def send(message: Any) -> None:
        pickle.dump(message, answers)
        answers.flush()

    worker = Worker(messages.get, send)

    def read() -> None:
        while True:
            try:
                message = pickle.load(sys.stdin.buffer)
            except Exception:  # Its parent is gone, or what was sent cannot be made here.
                os._exit(1)
            if isinstance(message, Hurry):
                worker.hurried = message.number
            else:
                messages.put(message)

    threading.Thread(target=read, daemon=True).start()
    worker.run()
    os._exit(0)


if __name__ == "__main__":
    main()
