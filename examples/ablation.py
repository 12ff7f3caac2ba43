"""Which parts of an agent earn their place, and in which games?

The agent plays against itself without a part, such as `auto` against `auto(amaf=no_amaf)`, for
every part and every game. A sequential test ends each match as soon as it is clear that the part
helps (by 60 normalized Elo points, a score of about 0.59 without draws) or that it does not. Beside
the games' verdicts stands the mean score over all games, with its 95 % interval: a part whose mean
is not above 0.5 can go. Games are kept in the output folder as they end: a second run goes on where
the first was ended.

    python examples/ablation.py
    python examples/ablation.py --games 200 --simulations 300 --output ablation

Without options it is a sample of seconds, with two parts of `auto` in two games.
"""

import itertools
import math
import pathlib
from typing import Annotated

import rave_openspiel  # noqa: F401  (registers games of ours)
import typer
from table_of_games import GAMES, SAMPLE, markdown

from rave_agents.arena import MatchResult, play_match

PARTS = {
    "nodes on first visit": "expand_visits=2",
    "first-play urgency": "first_play_urgency=inf",
    "exploration that adapts": "rule=ucb1(c=0.35)",
    "AMAF": "amaf=no_amaf",
    "trust in AMAF": "amaf.trust=full_trust",
    "steered playouts": "playouts=uniform_playouts",
    "learned values": "learning=no_learning",
    "proofs": "proofs=no_proofs",
    "skipping what is proven": "proofs.skipping=no_skipping",
    "refutations": "proofs.checks=check_terminal",
    "proof numbers": "proofs.numbers=no_proof_numbers",
    "trust in proof numbers": "proofs.numbers.bonus_trust=full_trust",
    "search of forced moves": "search_forced_moves=False",
}
"""The parts of `auto`, and what takes each away."""
SAMPLE_PARTS = ("AMAF", "proofs")
VERDICTS = {"elo1": "helps", "elo0": "does not", None: "open"}


def mean_score(results: list[MatchResult]) -> tuple[float, float, float]:
    """The mean over games of the score, with its 95 % interval."""
    scores = [result.score.score for result in results]
    halves = [(result.interval[1] - result.interval[0]) / 2 for result in results]
    mean, half = sum(scores) / len(scores), math.hypot(*halves) / len(halves)
    return mean, mean - half, mean + half


def table(results: dict[tuple[str, str], MatchResult]) -> str:
    """A row for each part: its mean score, and the games by verdict."""
    heads = ["part", "without it", "score of the agent with it", *VERDICTS.values()]
    lines = []
    for part in dict.fromkeys(part for _, part in results):
        own = {game: result for (game, other), result in results.items() if other == part}
        mean, low, high = mean_score(list(own.values()))
        score = f"{mean:.3f} ({low:.3f} to {high:.3f})"
        cells = {name: [] for name in VERDICTS.values()}
        for game, result in own.items():
            cell = f"{game} {result.score.score:.2f} ({len(result.records)})"
            cells[VERDICTS[result.verdict]].append(cell)
        games = [", ".join(cell) or "-" for cell in cells.values()]
        lines.append([part, f"`{PARTS[part]}`", score, *games])
    return markdown(heads, lines)


def main(
    games: Annotated[int, typer.Option(help="Games of each match, at most.")] = 4,
    simulations: Annotated[int, typer.Option(help="Simulations a move.")] = 50,
    names: Annotated[str | None, typer.Option(help="Games, separated by semicolons.")] = None,
    parts: Annotated[str | None, typer.Option(help="Parts, separated by semicolons.")] = None,
    agent: Annotated[str, typer.Option(help="The agent.")] = "auto",
    sprt: Annotated[str, typer.Option(help="Bounds of the sequential test.")] = "0,60",
    seed: Annotated[int, typer.Option(help="Decides everything random.")] = 7,
    output: Annotated[pathlib.Path | None, typer.Option(help="Folder for games and table.")] = None,
) -> None:
    """Play an agent against itself without each of its parts, and print a table."""
    sample = output is None
    chosen = names.split(";") if names else SAMPLE if sample else GAMES
    without = parts.split(";") if parts else SAMPLE_PARTS if sample else list(PARTS)
    results = {}
    for game, part in itertools.product(chosen, without):
        results[game, part] = play_match(
            game,
            agent,
            f"{agent}({PARTS[part]})",
            games=games,
            simulations=simulations,
            seed=seed,
            sprt=sprt,
            output=output and output / f"{game}, {part}.jsonl",
        )
        if output is not None:
            (output / "table.md").write_text(table(results) + "\n")
    print(table(results))


if __name__ == "__main__":
    typer.run(main)
