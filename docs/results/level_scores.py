"""Play the levels of games as they are shipped, and write the table of their scores.

    python docs/results/level_scores.py --games 200 "hex(board_size=7)" connect_four

Each game's row takes the place of its old one as soon as it is played.
"""

import argparse
import datetime
import os
import platform
import sys

from tables import HERE, ROOT, Table, commit, digest_of

from rave_agents.arena.statistics import MatchScore
from rave_agents.evaluators.levels import LEVELS

sys.path.insert(0, str(ROOT / "examples"))
from level_ladder import checked_levels

CODE = ["rave_agents/evaluators", "examples/level_ladder.py"]


def row_of(game: str, scores: list[MatchScore], games: int) -> list[str]:
    """The cells of a game."""
    return [game, str(games), *(f"{score.score:.2f}" for score in scores)]


def with_row(rows: list[list[str]], new: list[str]) -> list[list[str]]:
    """The rows with another one for its game."""
    return sorted([*(row for row in rows if row[0] != new[0]), new])


def main() -> None:
    """Measure the games of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="+", help="games")
    parser.add_argument("--games", type=int, default=200, help="of each match")
    parser.add_argument("--seed", type=int, default=1000)
    given = parser.parse_args()
    for name in given.names:
        scores = checked_levels(name, given.games, given.seed)
        path = HERE / "levels.json"
        old = Table.read(path) if path.exists() else None
        rows, figures = ([], {}) if old is None else (old.rows, old.figures)
        Table(
            name="levels",
            command=f"python examples/level_ladder.py GAME --check --games {given.games} "
            f"--seed {given.seed}",
            commit=commit(),
            date=f"{datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}",
            machine=f"{os.cpu_count()} cores, Python {platform.python_version()}",
            columns=["game", "games a pair", *(f"level {place + 1}" for place in range(LEVELS))],
            rows=with_row(rows, row_of(name, scores, given.games)),
            figures=figures,
            code=CODE,
            digest=digest_of(CODE),
        ).write()
        print(row_of(name, scores, given.games))


if __name__ == "__main__":
    main()
