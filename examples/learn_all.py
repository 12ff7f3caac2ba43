"""Make the learned values and policies anew that are shipped with the package.

Each game is learned for some minutes, and measured against ``auto`` without: a file that
is worse is not kept. Then ``auto`` plays with minimax backups against averages, and with a value
against none on boards of a row and a column more or less. The file says what has won. On two cores
all games take a night:

    python examples/learn_all.py --minutes 30 --jobs 2

Each file tells the command, the seed, the minutes and the commit that made it. With ``--measure``
nothing is learned: the files that there are are measured again, and written where what they say has
changed.
"""

import argparse
import contextlib
import itertools
import pathlib
import subprocess
import tempfile
from typing import Any

from rave_agents import as_game
from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena.match import play_match
from rave_agents.arena.statistics import MatchScore
from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.evaluators.move_policy import load_learned
from rave_agents.evaluators.other_sizes import at_other_size, size_parameters
from rave_agents.evaluators.shipped import FOLDER, file_name
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.learning.learn import learn, rules_with_board
from rave_agents.learning.to_file import choose_backup

GAMES = (
    "amazons",
    "backgammon",
    "breakthrough",
    "checkers",
    "clobber",
    "connect_four",
    "dots_and_boxes(num_rows=4,num_cols=4)",
    "einstein_wurfelt_nicht",
    "go(board_size=7)",
    "go(board_size=9)",
    "havannah(board_size=5)",
    "hex(board_size=7)",
    "hex(board_size=9)",
    "lines_of_action",
    "mancala",
    "nine_mens_morris",
    "othello",
    "oware",
    "pentago",
    "quoridor(board_size=5)",
    "quoridor(board_size=9)",
    "twixt(board_size=8)",
    "ultimate_tic_tac_toe",
    "y(board_size=7)",
)
"""The games, with their parameters."""

SETTINGS: dict[str, dict[str, Any]] = {
    "breakthrough": {"windows": "large"},
    "connect_four": {"windows": "strips", "opening": 22},
    "go(board_size=9)": {"what": "policy", "simulations": 800, "rounds": 5},
    "lines_of_action": {"windows": "lines"},
    "othello": {"windows": "lines"},
    "pentago": {"windows": "lines"},
}
"""Settings of games that are learned better otherwise than by default, see ``learn``."""


def commit() -> str:
    """The commit of the code that learns; "unknown" outside of a repository."""
    here = pathlib.Path(__file__).parent
    command = ["git", "-C", str(here), "rev-parse", "--short", "HEAD"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def learn_one(game: str, given: argparse.Namespace) -> None:
    """Learn a game, and keep its file if it is at least as good as none."""
    rules = rules_with_board(as_game(game).new_initial_state())
    assert rules is not None
    value = learn(
        game,
        minutes=None if given.learn_games else given.minutes,
        games=given.learn_games,
        jobs=given.jobs,
        **{"rounds": given.rounds, **SETTINGS.get(game, {})},
        seed=given.seed,
        fitted=None if given.checkpoint is None else lambda found: found.save(given.checkpoint),
    )
    length = (
        f"--learn-games {given.learn_games} --rounds {given.rounds}"
        if given.learn_games
        else f"--minutes {given.minutes:g}"
    )
    value.made = (
        f"examples/learn_all.py {length} --jobs {given.jobs} --seed {given.seed} {game}, "
        f"commit {commit()}"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / file_name(rules)
        value.save(path)
        score = play_match(
            game,
            f"auto(evaluator={path})",
            "auto(known=False)",
            games=given.games,
            seconds=given.seconds,
            seed=given.seed,
        ).score
        kept = score.score >= 0.5
        print(f"{game}: {told(score)}", kept)
        if kept:
            if isinstance(value, LinearValue):
                measure(value, rules, given)
            given.folder.mkdir(parents=True, exist_ok=True)
            value.save(given.folder / path.name)


def measure(value: LinearValue, rules: BaseRules, given: argparse.Namespace) -> None:
    """Find out which backup a value is better with, and if it helps on boards of other sizes."""
    limits = {"seconds": given.choice_seconds, "seed": given.seed}
    if given.choice_games:
        score = choose_backup(rules, value, games=given.choice_games, **limits)
        print(f"{rules}: minimax {told(score)} against averages: {value.backup}", flush=True)
    helps = []
    for other in sizes_near(rules) if given.size_games else ():
        resized = at_other_size(value, other)
        if resized is not None:
            with_it = AgentSpec("auto", {"evaluator": resized})
            match = play_match(
                other, with_it, "auto(known=False)", games=given.size_games, **limits
            )
            helps.append(match.score.interval[0] > 0.5)
            print(f"{other}: {told(match.score)} against known=False", flush=True)
    value.other_sizes = len(helps) > 0 and all(helps)


def sizes_near(rules: BaseRules) -> list[BaseRules]:
    """The same game on boards of one row and one column more or less."""
    names = size_parameters(rules)
    found = []
    for steps in itertools.product((-1, 1), repeat=len(names)):
        sizes = {name: rules.parameters[name] + by for name, by in zip(names, steps, strict=True)}
        with contextlib.suppress(ValueError, TypeError):
            found.append(rules.replace(**sizes))
    return found if names else []


def measure_again(game: str, given: argparse.Namespace) -> None:
    """Measure the file of a game again, and write it if it says something else from now on."""
    rules = rules_with_board(as_game(game).new_initial_state())
    assert rules is not None
    path = given.folder / file_name(rules)
    if not path.exists():
        return
    value = load_learned(path)
    if not isinstance(value, LinearValue):
        return
    before = value.backup, value.other_sizes
    measure(value, rules, given)
    if (value.backup, value.other_sizes) != before:
        value.save(path)


def told(score: MatchScore) -> str:
    """A score with its interval."""
    return f"{score.score:.3f} [{score.interval[0]:.3f}, {score.interval[1]:.3f}]"


def main() -> None:
    """Learn the games of the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=GAMES, help="games, by default all")
    parser.add_argument("--minutes", type=float, default=30.0, help="of learning, for each game")
    parser.add_argument("--learn-games", type=int, help="games of learning, in place of minutes")
    parser.add_argument("--rounds", type=int, default=1, help="how often --checkpoint is written")
    parser.add_argument("--checkpoint", type=pathlib.Path, help="a file to write after each round")
    parser.add_argument("--jobs", type=int, default=1, help="processes that play")
    parser.add_argument("--games", type=int, default=40, help="of the match that decides")
    parser.add_argument("--seconds", type=float, default=0.1, help="a move in that match")
    parser.add_argument(
        "--choice-games", type=int, default=60, help="of minimax against averages; 0 for none"
    )
    parser.add_argument("--choice-seconds", type=float, default=0.02, help="a move of these")
    parser.add_argument(
        "--size-games", type=int, default=20, help="on each board of another size; 0 for none"
    )
    parser.add_argument("--measure", action="store_true", help="learn nothing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    given = parser.parse_args()
    for game in given.names:
        (measure_again if given.measure else learn_one)(game, given)


if __name__ == "__main__":
    main()
