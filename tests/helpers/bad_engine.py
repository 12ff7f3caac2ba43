"""A GTP engine of ours that misbehaves in one way, at the second move of a game.

Called as ``bad_engine.py GAME WAY [NUMBER [ONCE]]``: in its NUMBERth game, by default the first, it
dies ("die"), hangs ("hang"), resigns ("resign"), plays nonsense ("nonsense"), answers in another
protocol ("babble"), or fails ("fail"); if a file ONCE is named, only while it does not exist.
"""

import os
import pathlib
import signal
import sys
import time

from rave_agents.engines.gtp_engine import GtpEngine


def main():
    game, way, *more = sys.argv[1:]
    number = int(more[0]) if more else 1
    once = pathlib.Path(more[1]) if len(more) > 1 else None
    engine = GtpEngine(game, "random", seed=1)
    games = moves = 0
    for line in sys.stdin:
        games += line.startswith("clear_board")
        moves = 0 if line.startswith("clear_board") else moves + line.startswith("genmove")
        answer = engine.answer(line)
        due = games == number and moves == 2 and line.startswith("genmove")
        if due and not (once is not None and once.exists()):
            if once is not None:
                once.touch()
            answer = misbehave(way)
        if answer is not None:
            sys.stdout.write(answer)
            sys.stdout.flush()
        if engine.ended:
            return


def misbehave(way):
    if way == "die":
        sys.stderr.write("something broke\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "hang":
        time.sleep(60)
    return {
        "resign": "= resign\n\n",
        "nonsense": "= q99\n\n",
        "babble": "bestmove e2e4\n\n",
        "fail": "? out of ideas\n\n",
    }[way]


if __name__ == "__main__":
    main()
