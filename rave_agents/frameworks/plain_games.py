"""Games by names out of files, which may be anybody's.

Such a game may take all memory or never come to an end, and a framework may crash over its
parameters. So another process makes it first, with bounds on its memory and time.
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
"""Bytes that games may take besides those of the process at its start, where systems limit them."""

FAILED = "it takes too much time or memory, or the game fails"
"""The reason against an item over which the process ended."""


def load_plain_game(spec: str) -> Game:
    """Load a game by a name out of a file: nothing else is made or opened.

    It loads games that an installed framework has, with parameters that are numbers or are known
    to be read as text alone, once another process has made the game within bounds.

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
    """Make a game by a name out of a file in this process, as ``load_plain_game``, unbounded."""
    adapter, name = plain_adapter(spec)
    return adapter.load_game(name)


def plain_adapter(spec: str) -> tuple[Adapter, str]:
    """The adapter of a game by a name out of a file, and the game's name there.

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
    """The answers of a module's program to items, one by one; None where it ended over an item.

    Args:
        module: the module, whose program is ``answer_items``.
        items: values of JSON.
        compiles: whether rules are compiled, if they are here: to compile them takes some time.
    """
    answers: list[Any] = []
    while len(answers) < len(items):
        done = subprocess.run(
            [sys.executable, "-P", "-m", module],
            input=json.dumps(items[len(answers) :]).encode(),
            env=_environment(compiles=compiles),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        lines = done.stdout.splitlines()
        answers += map(json.loads, lines)
        if done.returncode != 0 or not lines:  # It ended over the item after these.
            answers.append(None)
    return answers[: len(items)]


def answer_items(answer: Callable[[Any], Any]) -> None:
    """Run the program of such a process: answer each item of the input within the bounds."""
    items = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # Games may print.
    adapters()
    _limit_memory()
    for item in items:
        give_time()
        answers.write(json.dumps(answer(item)) + "\n")
        answers.flush()
    faulthandler.cancel_dump_traceback_later()
    os._exit(0)  # What games hold need not be given back.


def reason_of(error: Exception) -> str:
    """The reason that an error is, which may have no text."""
    if isinstance(error, MemoryError):
        return "it takes too much memory"
    return printable(shortened(" ".join(str(error).split()), 300)) or type(error).__name__


def give_time(seconds: float = SECONDS) -> None:
    """Let such a process end once this time is over."""
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

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _made(spec: str) -> str:
    """Make a game and its first position; the reason why that fails, if it does."""
    try:
        state = make_plain_game(spec).new_initial_state()
        state.legal_actions()
        str(state.clone())
    except Exception as error:
        return reason_of(error)
    return ""


if __name__ == "__main__":
    answer_items(_made)
