"""The commands that learn a game: learn, train."""

from functools import partial
from pathlib import Path
from typing import Any, get_args

from rave_agents.cli.output import Output, check_writable
from rave_agents.cli.program import command, interrupted
from rave_agents.evaluators.tuple_network import WINDOWS
from rave_agents.learning.learn import KINDS, learn
from rave_agents.learning.to_file import learn_to_file, train_to_file
from rave_agents.learning.train import Targets, train

_FILES: dict[str, dict[str, Any]] = {
    "output": {
        "option": "--output",
        "help": "The file to write: agents take it as evaluator=FILE.",
    },
    "start": {"option": "--from", "help": "A file of this command to go on from."},
    "made": {},
}
"""What the options of both commands add to the docstrings of the functions."""


@command(
    learn_to_file,
    learn,
    name="learn",
    **_FILES,
    simulations="Simulations a move of self-play, for a policy or without compiled rules.",
    what={"metavar": f"[{'|'.join(KINDS)}]"},
    windows={"metavar": f"[{'|'.join(WINDOWS)}]"},
)
def learn_values(call: partial[Any], output: Output, *, curve: Path | None = None) -> None:
    """Learn a value or a policy by self-play, for auto(evaluator=FILE) and other agents.

    It takes some minutes for a board game. The file is written after every round: what was learned
    by then is there after Ctrl-C.

    Options:
        curve: a picture to write: strength over time; needs --checks.
    """
    learn_and_show("learn", call, output, curve)


@command(
    train_to_file,
    train,
    learn_to_file,
    learn,
    name="train",
    **_FILES,
    simulations="Simulations a move of self-play.",
    network={
        "option": "--network",
        "metavar": "PLACE",
        "help": "What makes the network, called with the shape of observations and the number of "
        "actions: module:Net or './nets.py:Net(width=64)'. By default a small one of torch.",
    },
    targets={"metavar": f"[{'|'.join(get_args(Targets))}]"},
)
def train_network(call: partial[Any], output: Output, *, curve: Path | None = None) -> None:
    """Train a network by self-play with search, for puct(evaluator=FILE) and other agents.

    The file is written after every round: what was learned by then is there after Ctrl-C. It holds
    numbers alone: for a network of your own say evaluator="FILE(network=PLACE)".

    Options:
        curve: a picture to write: strength over time; needs --checks.
    """
    learn_and_show("train", call, output, curve)


def learn_and_show(name: str, call: partial[Any], output: Output, curve: Path | None) -> None:
    """Learn, write the file after each round, and show the result.

    Args:
        name: the command's name, which the file records with the seed.
        call: learns.
        output: the forms of the table.
        curve: the picture's file.
    """
    path: Path = call.keywords["output"]
    output.check()
    check_writable(path, "--output")
    # 0 checks have no curve, either.
    if curve is not None and not call.keywords.get("checks"):
        raise ValueError("--curve shows checks of strength: give --checks, such as 20.")
    check_writable(curve, "--curve")
    seed = call.keywords.get("seed", 0)
    before = _last_change(path)  # An interrupted run may not have written the file yet.
    try:
        result = call(made=f"rave-agents {name} '{call.keywords['game']}', seed {seed}")
    except KeyboardInterrupt:
        if _last_change(path) == before:
            raise interrupted(f"no round had ended, and nothing was written to {path}.") from None
        raise interrupted(
            f"{path} has what was learned until the last round; --from {path} goes on."
        ) from None
    if curve is not None:
        result.plot().savefig(curve)
    output.give(result)


def _last_change(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None
