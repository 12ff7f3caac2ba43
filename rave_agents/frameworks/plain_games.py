"""Games named in untrusted files.

Such a game may exhaust memory, never end, or crash its framework by its parameters. So another
process makes it first, with limits on memory and time.
"""

import contextlib
import faulthandler
import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.frameworks.adapters import Adapter, AdapterAbilities, Game, adapters
from rave_agents.game.plain_text import printable, shortened

SECONDS = 20
"""Time limit of each item of such a process."""

MEMORY = 2**31
"""Bytes that games may take on top of the process at its start, where the system can limit them."""

FAILED = "it takes too much time or memory, or the game fails"
"""The reason given for an item that ended the process."""


def load_plain_game(spec: str) -> Game:
    """Load a game by a name from a file, without making or opening anything else.

    It must be a game of an installed framework, with numbers or plain text as parameters, that
    another process could make within the limits.

    Raises:
        UnknownNameError: for any other game.
        UnsupportedGameError: if the search cannot play the game, or it takes too much.
    """
    plain_adapter(spec)
    reason = _reason_against(spec)
    if reason:
        raise UnsupportedGameError(f"The game {spec!r} cannot be made: {reason}.")
    try:
        return make_plain_game(spec)
    except MemoryError:
        raise UnsupportedGameError(f"The game {spec!r} takes too much memory.") from None


def make_plain_game(spec: str) -> Game:
    """Make a game by a name from a file in this process, without limits."""
    adapter, name = plain_adapter(spec)
    return adapter.load_game(name)


def plain_adapter(spec: str) -> tuple[Adapter, str]:
    """The adapter of a game named in a file, and the game's name there.

    Raises:
        UnknownNameError: for a game that is not made from a file.
    """
    prefix, colon, rest = spec.partition(":")
    named = bool(colon) and "(" not in prefix
    for framework, adapter in adapters().items():
        is_plain = AdapterAbilities(adapter).is_plain
        wanted = rest if named else spec
        if (not named or prefix == framework) and is_plain(wanted):
            return adapter, wanted
    raise UnknownNameError(
        "only games that an installed framework has, with plain parameters, are made from a file"
    )


@functools.lru_cache(maxsize=256)
def _reason_against(spec: str) -> str:
    (reason,) = bounded(__name__, [spec])
    return FAILED if reason is None else str(reason).rstrip(".")


def bounded(module: str, items: Sequence[Any], *, compiles: bool = False) -> list[Any]:
    """The answers of a module's program to items; None for an item that ended the process.

    Args:
        module: the module, whose program is ``answer_items``.
        items: values of JSON.
        compiles: whether rules may be compiled, which takes some time.
    """
    answers: list[Any] = []
    while len(answers) < len(items):
        done = subprocess.run(
            # -P: the current folder may hold a module with the name of one of ours.
            [sys.executable, "-P", "-m", module],
            input=json.dumps(items[len(answers) :]).encode(),
            env=_environment(compiles=compiles),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        lines = done.stdout.splitlines()
        answers += map(json.loads, lines)
        if done.returncode != 0 or not lines:  # The next item ended it: go on after that one.
            answers.append(None)
    return answers[: len(items)]


def answer_items(answer: Callable[[Any], Any]) -> None:
    """Run the program of such a process: answer each item of the input within the bounds."""
    items = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # Games may print: answers keep a descriptor of their own.
    adapters()
    _limit_memory()
    for item in items:
        give_time()
        answers.write(json.dumps(answer(item)) + "\n")
        answers.flush()
    faulthandler.cancel_dump_traceback_later()
    os._exit(0)  # Without clean-up, in which a game could hang.


def reason_of(error: Exception) -> str:
    """An error as a reason: its text, or its class if it has none."""
    if isinstance(error, MemoryError):
        return "it takes too much memory"
    return printable(shortened(" ".join(str(error).split()), 300)) or type(error).__name__


def give_time(seconds: float = SECONDS) -> None:
    """Let such a process end once this time is over."""
    # A thread in C ends it: a signal handler would wait for a game's C code to return.
    faulthandler.dump_traceback_later(seconds, exit=True)


def _environment(*, compiles: bool) -> Mapping[str, str]:
    """Variables of this process, with the same packages, and without the current folder."""
    places = [str(Path(__file__).parents[2]), *filter(os.path.isabs, sys.path)]
    interpreted = {} if compiles else {"NUMBA_DISABLE_JIT": "1"}
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(places),
        "RAVE_AGENTS_NATIVE": "0",
        **interpreted,
    }


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limit.
        import resource  # noqa: PLC0415  (optional: Windows has none)

        # The limit is on address space: add to the pages in use, which differ between systems.
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _error_of_making(spec: str) -> str:
    """Make a game and its first position; the reason why that fails, if it does."""
    try:
        state = make_plain_game(spec).new_initial_state()
        state.legal_actions()
        str(state.clone())
    except Exception as error:
        return reason_of(error)
    return ""


if __name__ == "__main__":
    answer_items(_error_of_making)
