"""Play the levels of games as they are shipped, and write the table of their scores.

    python docs/results/level_scores.py --games 200 "hex(board_size=7)" connect_four

Each game's row takes the place of its old one as soon as it is played.
"""

import argparse
import datetime
import os
import platform

from tables import HERE, Table, commit, digest_of

from rave_agents.arena.level_ladder import LevelScores, check_levels
from rave_agents.knowledge.levels import LEVELS

CODE = ["rave_agents/knowledge", "rave_agents/arena/level_ladder.py"]


def row_of(game: str, scores: LevelScores, games: int) -> list[str]:
    """The cells of a game."""
    return [game, str(games), *(f"{score.score:.2f}" for score in scores.scores)]


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
        scores = check_levels(name, games=given.games, seed=given.seed, progress=False)
        path = HERE / "levels.json"
        old = Table.read(path) if path.exists() else None
        rows, figures = ([], {}) if old is None else (old.rows, old.figures)
        Table(
            name="levels",
            command=f"rave-agents levels GAME --check --games {given.games} --seed {given.seed}",
            commit=commit(),
            date=f"{datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}",
            machine=f"{os.cpu_count()} cores, Python {platform.python_version()}",
            columns=["game", "games a pair", *(f"level {place + 1}" for place in range(LEVELS))],
            rows=with_row(rows, row_of(name, scores, given.games)),
            figures=figures,
            code=CODE,
            digest=digest_of(CODE),
        ).write()
        print(scores)


if __name__ == "__main__":
    main()
