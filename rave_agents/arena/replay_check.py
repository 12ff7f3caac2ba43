"""Check that games out of a file can be replayed, in a process of its own.

A file may be anybody's: its game may take all memory or never come to an end, and a framework may
crash over what it says. So another process goes first, with bounds on its memory and time.
"""

import contextlib
import faulthandler
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import rave_agents
from rave_agents.arena.record import GameRecord
from rave_agents.arena.replay import replay
from rave_agents.frameworks.adapters import adapters, load_plain_game

SECONDS = 20
"""Time limit of one game's replay."""

MEMORY = 2**31
"""Bytes that games may take beside what the process has at its start, where systems can tell."""


class Replayable(NamedTuple):
    """A game out of a file."""

    game: str
    """The game, as the file names it."""
    seed: int
    """The match's."""
    record: GameRecord
    """The recorded game."""


def reasons_against(games: Sequence[Replayable]) -> list[str]:
    """Reasons that each of these games cannot be replayed here; empty for one that can.

    Args:
        games: out of a file.
    """
    answers: list[str] = []
    while len(answers) < len(games):
        told = [(g.game, g.seed, g.record.to_dict()) for g in games[len(answers) :]]
        done = subprocess.run(
            [sys.executable, "-P", "-m", __name__],
            input=json.dumps(told).encode(),
            env=_environment(),
            capture_output=True,
            check=False,
        )
        lines = done.stdout.splitlines()
        answers += [str(json.loads(line)) for line in lines]
        if done.returncode != 0 or not lines:  # It ended over the game after these.
            answers.append("it takes too much time or memory, or the game fails")
    return answers[: len(games)]


def _environment() -> Mapping[str, str]:
    """Variables of this process, with the same packages, and without the current folder.

    Rules run interpreted: a game is played but once, and to compile them could take all the time.
    """
    places = [str(Path(rave_agents.__file__).parents[1]), *filter(os.path.isabs, sys.path)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(places),
        "RAVE_AGENTS_NATIVE": "0",
        "NUMBA_DISABLE_JIT": "1",
    }


def _main() -> None:

    given = json.load(sys.stdin)
    answers, sys.stdout = sys.stdout, sys.stderr  # Games may print.
    adapters()
    _limit_memory()
    for game, seed, values in given:
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        answers.write(json.dumps(_reason_against(game, seed, GameRecord.from_dict(values))) + "\n")
        answers.flush()
    faulthandler.cancel_dump_traceback_later()
    os._exit(0)  # What games hold need not be given back.


def _reason_against(game: str, seed: int, record: GameRecord) -> str:

    try:
        for step in replay(load_plain_game(game), (None, None), record, seed):
            str(step.state)
    except Exception as error:
        return str(error) or type(error).__name__
    return ""


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limit.
        import resource  # noqa: PLC0415  (optional: Windows has none)

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    _main()
