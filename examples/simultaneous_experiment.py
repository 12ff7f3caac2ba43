"""Does RAVE improve the convergence of Monte-Carlo tree search with simultaneous moves?

RAVE plays plain search at equal simulations a move: decoupled UCT and regret matching, with AMAF
for all players' choices or the searching player's alone. On the matrix game, whose equilibrium is
known, the distance of the mix to it is told too. Results go into a CSV file, a table and a plot.

    python examples/simultaneous_experiment.py
    python examples/simultaneous_experiment.py --games 40 --budgets 50,200,1000,5000 --output out

Without options it is a sample of seconds, with four games and one budget.
"""

import csv
import pathlib
from typing import Annotated

import numpy as np
import pyspiel
import typer

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.arena import play_match

GAMES = (
    "goofspiel(imp_info=False,num_cards=5)",
    "goofspiel(imp_info=False,num_cards=8)",
    "oshi_zumo",
    "markov_soccer",
    "matrix_brps",
)
BRPS = np.array([1 / 16, 10 / 16, 5 / 16])
"""The equilibrium of biased rock-paper-scissors."""

PLAIN = {"uct": "temperature=1,tie_tolerance=0.01", "regret_matching": ""}
"""The two searches, with what they are measured with: decoupled UCT plays the mix of its visits."""


def spec(search, amaf_players, simulations):
    """The agent: plain search, or with AMAF at every player's nodes or at the own ones."""
    parts = [PLAIN[search], f"simulations={simulations}"]
    if amaf_players is not None:
        parts.append(f"amaf=node,amaf_players={amaf_players}")
    return f"{search}({','.join(filter(None, parts))})"


def distance(search, amaf_players, simulations, seeds=20):
    """Mean total variation between the mix for biased rock-paper-scissors and its equilibrium."""
    config = SearchConfig.preset(search)
    config = config.replace(tie_tolerance=0.01, temperature=1.0)
    if amaf_players is not None:
        config = config.replace(amaf="node", amaf_players=amaf_players)
    state = pyspiel.load_game("matrix_brps").new_initial_state()
    found = []
    for seed in range(seeds):
        result = Searcher(config, seed=seed).search(state, Limit(simulations=simulations), player=0)
        mix = np.array([probability for _, probability in result.policy])
        found.append(abs(mix - BRPS).sum() / 2)
    return float(np.mean(found))


def plot(rows, path):
    """Scores by budget, one panel for each game."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    games = list(dict.fromkeys(row["game"] for row in rows))
    figure = Figure(figsize=(4 * len(games), 4), layout="constrained")
    for axes, game in zip(np.atleast_1d(figure.subplots(1, len(games))), games, strict=True):
        for kind in dict.fromkeys((row["search"], row["amaf_players"]) for row in rows):
            line = [
                r for r in rows if r["game"] == game and (r["search"], r["amaf_players"]) == kind
            ]
            score = np.array([row["score"] for row in line])
            errors = [
                score - [row["low"] for row in line],
                np.array([row["high"] for row in line]) - score,
            ]
            axes.errorbar(
                [row["simulations"] for row in line], score, errors, capsize=3, label=" ".join(kind)
            )
        axes.axhline(0.5, color="gray", linewidth=0.5)
        axes.set(title=game, xscale="log", xlabel="simulations a move", ylim=(0, 1))
    axes.legend()
    figure.savefig(path)


def main(
    games: Annotated[int, typer.Option(help="Games of each match.")] = 4,
    budgets: Annotated[str, typer.Option(help="Simulations a move.")] = "50",
    names: Annotated[str, typer.Option(help="Games, separated by semicolons.")] = ";".join(GAMES),
    seed: Annotated[int, typer.Option(help="Decides everything random.")] = 0,
    output: Annotated[pathlib.Path | None, typer.Option(help="Folder for table and plot.")] = None,
) -> None:
    """Play RAVE against plain search and print the scores."""
    rows = []
    short = games < 10  # Four games say nothing of a game as long as soccer.
    for game in names.split(";"):
        if short and game == "markov_soccer":
            continue
        for search in PLAIN:
            for amaf_players in ("own", "all"):
                for simulations in map(int, budgets.split(",")):
                    rave = spec(search, amaf_players, simulations)
                    result = play_match(
                        game, rave, spec(search, None, simulations), games=games, seed=seed
                    )
                    low, high = result.score.interval
                    row = {
                        "game": game,
                        "search": search,
                        "amaf_players": amaf_players,
                        "simulations": simulations,
                        "score": result.score.score,
                        "low": low,
                        "high": high,
                    }
                    if game == "matrix_brps":
                        row["distance"] = distance(search, amaf_players, simulations)
                        row["plain_distance"] = distance(search, None, simulations)
                    rows.append(row)
                    print(*(f"{v:.3f}" if isinstance(v, float) else v for v in row.values()))
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        fields = list(dict.fromkeys(field for row in rows for field in row))
        with (output / "simultaneous.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, fields)
            writer.writeheader()
            writer.writerows(rows)
        plot(rows, output / "simultaneous.png")


if __name__ == "__main__":
    typer.run(main)
