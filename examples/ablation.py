"""Ablation of an agent's parts over many games: which ones earn their place?

The agent plays against itself without a part, such as `auto` against `auto(amaf=no_amaf)`, in every
game, a tenth of each match at a time. After each tenth, a sequential test over all games together
asks whether the part helps (by 30 normalized Elo points, a score of about 0.54 without draws) or
does not, and ends its matches when that is clear. A part that does not help can go. The scores of
single games tell where: those whose 95 % interval lies on one side of 0.5 are named. Games are kept
in the output folder as they end: a second run goes on where the first was ended.

    python examples/ablation.py
    python examples/ablation.py --games 100 --simulations 300 --output ablation

``--agent uct --parts "power mean;UCB1-Tuned"`` plays the agent with a published part that it lacks
against the agent as it is; ``n-grams`` needs ``my_ngrams.py`` of the tutorial "Four parts of your
own" in this folder.
Without options it is a sample of seconds, with two parts of `auto` in two games.
"""

import math
import pathlib
import tempfile
from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

import rave_openspiel  # noqa: F401  (registers games of ours)
import typer
from table_of_games import SAMPLE, markdown

from rave_agents.arena import THIRTY_GAMES, MatchResult, Sprt, play_match

PARTS = {
    "nodes on first visit": "expand_visits=2",
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
"""The parts of `auto`, and the change that takes each away."""
PUBLISHED = {
    "power mean": "backup=power_mean(p=2)",
    "UCB1-Tuned": "rule=ucb1_tuned",
    "first-play-urgency reduction": "first_play_value=reduced_parent_value",
    "decisive moves": "playouts=decisive_moves",
    "n-grams": "playouts=my_ngrams:NGrams",
}
"""Parts that no agent has, and the change that puts each in."""
CHANGES = PARTS | PUBLISHED
SAMPLE_PARTS = ("AMAF", "proofs")
TENTHS = 10
VERDICTS = {"elo1": "helps", "elo0": "does not help", None: "open"}


class Trial(NamedTuple):
    """A part, and the matches against the agent without it."""

    part: str
    verdict: str | None
    """Verdict of the sequential test over all games."""
    results: dict[str, MatchResult]
    """Results by game."""


def verdict(sprt: Sprt, results: dict[str, MatchResult]) -> str | None:
    """The verdict of the test on the pairs of all games together."""
    counts = [result.pairs.counts for result in results.values()]
    return sprt.verdict([sum(column) for column in zip(*counts, strict=True)])


def mean_score(results: dict[str, MatchResult]) -> tuple[float, float, float]:
    """The mean over games of the score, with its 95 % interval."""
    scores = [result.score.score for result in results.values()]
    halves = [(result.interval[1] - result.interval[0]) / 2 for result in results.values()]
    mean, half = sum(scores) / len(scores), math.hypot(*halves) / len(halves)
    return mean, mean - half, mean + half


def table(trials: list[Trial]) -> str:
    """A row for each part: its score, the verdict, and the games that stand out."""
    heads = ["part", "change", "score with it", "games", "verdict", "better in", "worse in"]
    lines = []
    for part, said, results in trials:
        mean, low, high = mean_score(results)
        games = sum(len(result.records) for result in results.values())
        score = f"{mean:.3f} ({low:.3f} to {high:.3f})"
        better = [name(game, r) for game, r in results.items() if r.interval[0] > 0.5]
        worse = [name(game, r) for game, r in results.items() if r.interval[1] < 0.5]
        cells = [f"`{CHANGES[part]}`", score, str(games), VERDICTS[said]]
        lines.append([part, *cells, ", ".join(better) or "-", ", ".join(worse) or "-"])
    return markdown(heads, lines)


def name(game: str, result: MatchResult) -> str:
    """A game with its score and number of games."""
    return f"{game} {result.score.score:.2f} ({len(result.records)})"


def trials_of(
    part: str,
    agent: str,
    games: Sequence[str],
    sprt: Sprt,
    folder: pathlib.Path,
    options: dict[str, int],
) -> Iterator[Trial]:
    """The trial of a part after each tenth of its matches, until the test ends them."""
    changed = f"{agent}({CHANGES[part]})"
    with_it, without_it = (changed, agent) if part in PUBLISHED else (agent, changed)
    for tenth in range(1, TENTHS + 1):
        results = {
            game: play_match(
                game,
                with_it,
                without_it,
                output=folder / f"{game}, {part}.jsonl",
                shard=f"{tenth}/{TENTHS}",
                **options,
            )
            for game in games
        }
        trial = Trial(part, verdict(sprt, results), results)
        yield trial
        if trial.verdict is not None:
            return


def main(
    games: Annotated[int, typer.Option(help="Games of each match, at most.")] = 10,
    simulations: Annotated[int, typer.Option(help="Simulations a move.")] = 50,
    names: Annotated[str | None, typer.Option(help="Games, separated by semicolons.")] = None,
    parts: Annotated[str | None, typer.Option(help="Parts, separated by semicolons.")] = None,
    agent: Annotated[str, typer.Option(help="The agent.")] = "auto",
    sprt: Annotated[str, typer.Option(help="Bounds of the sequential test.")] = "0,30",
    seed: Annotated[int, typer.Option(help="Decides everything random.")] = 7,
    output: Annotated[pathlib.Path | None, typer.Option(help="Folder for games and table.")] = None,
) -> None:
    """Play an agent against itself without each of its parts, or with others; print a table."""
    sample, test = output is None, Sprt.parse(sprt)
    chosen = names.split(";") if names else SAMPLE if sample else THIRTY_GAMES
    trials: dict[str, Trial] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = output or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for part in parts.split(";") if parts else SAMPLE_PARTS if sample else PARTS:
            options = {
                "games": games,
                "simulations": simulations,
                "seed": seed + 1000 * list(CHANGES).index(part),  # Luck of its own for each part.
            }
            for trial in trials_of(part, agent, chosen, test, folder, options):
                trials[part] = trial
                (folder / "table.md").write_text(table(list(trials.values())) + "\n")
    print(table(list(trials.values())))


if __name__ == "__main__":
    typer.run(main)
