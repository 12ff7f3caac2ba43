"""Runs kinds, see the package."""

import collections
import json
import logging
import signal
import sys
import warnings

from helpers.broken import KINDS, Draw, rules, states  # noqa: F401  (they add kinds)

SECONDS = 200
"""After so long a run hangs."""


class Hang(BaseException):
    """A run that takes too long."""


def hangs(signum, frame):
    raise Hang


def outcome(kind, seed):
    """What comes of one run: an error's class, "played", or "not met"."""
    draw = Draw(seed)
    signal.alarm(SECONDS)
    try:
        kind.run(draw)
    except Exception as error:
        return type(error).__name__
    except Hang:
        return "hang"
    finally:
        signal.alarm(0)
    return "played" if draw.met else "not met"


def main(runs, seed, names):
    signal.signal(signal.SIGALRM, hangs)
    warnings.simplefilter("ignore")
    logging.disable()
    for name in names or KINDS:
        print(name, flush=True)
        seeds = (f"{seed} {name} {number}" for number in range(runs))
        found = collections.Counter(outcome(KINDS[name], each) for each in seeds)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
