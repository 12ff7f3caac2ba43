"""Does RAVE improve the convergence of Monte-Carlo tree search with simultaneous moves?

RAVE plays plain search at equal simulations a move: decoupled UCT and regret matching, with AMAF
for all players' choices or the searching player's alone. Where the exact values after every joint
action can be computed, the exploitability of the first move's mix is reported too: what a best
reply takes from the game's value, if play goes on exactly, as a share of the range of utilities.
Results go into a CSV file, to which each row is added as soon as it is there, and which a second
run continues; a table and a plot.

    python examples/simultaneous_experiment.py
    python examples/simultaneous_experiment.py --games 40 --budgets 50,200,1000,5000 --output out

Without options it is a sample of seconds, with five games and one budget.
"""

import csv
import functools
import pathlib
from typing import Annotated

import numpy as np
import pyspiel
import typer
from scipy import optimize

from rave_agents import AgentSpec, Limit, SearchConfig, Searcher
from rave_agents.arena import play_match
from rave_agents.parts import AllPlayers, NodeAmaf, SearchingPlayer, TiesWithin

SOLVABLE = ("matrix_brps", "goofspiel(imp_info=False,num_cards=4,points_order=descending)")
GAMES = (
    "goofspiel(imp_info=False,num_cards=5)",
    "goofspiel(imp_info=False,num_cards=8)",
    "oshi_zumo",
    "markov_soccer",
    *SOLVABLE,
)
PLAIN = {"uct": {"temperature": 1.0, "ties": TiesWithin(0.01)}, "regret_matching": {}}
"""The two searches, with what they are measured with: decoupled UCT plays the mix of its visits."""
PLAYERS = {"own": SearchingPlayer(), "all": AllPlayers()}
"""Players whose choices use AMAF: the searching player alone, or all players."""
KEY = ("game", "search", "players", "simulations")
RESULTS = ("score", "low", "high", "exploitability", "plain_exploitability")


def spec(search, players, simulations):
    """The agent: plain search, or with AMAF at every player's nodes or at the own ones."""
    parameters = {**PLAIN[search], "simulations": simulations}
    if players is not None:
        parameters["amaf"] = NodeAmaf(players=PLAYERS[players])
    return AgentSpec(search, parameters)


def matrix_value(payoffs):
    """The greatest value that a mix of the rows is sure of, by a linear program."""
    rows, columns = payoffs.shape
    found = optimize.linprog(
        c=[0.0] * rows + [-1.0],
        A_ub=np.hstack([-payoffs.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=[[1.0] * rows + [0.0]],
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * rows + [(None, None)],
    )
    return -found.fun


def exact_values(state):
    """The exact value for player 0 of every pair of actions."""
    return np.array(
        [
            [exact_value(state, own, other) for other in state.legal_actions(1)]
            for own in state.legal_actions(0)
        ]
    )


def exact_value(state, own, other):
    """The exact value for player 0 after a pair of actions: each stage is a matrix game."""
    child = state.clone()
    child.apply_actions([own, other])
    return child.returns()[0] if child.is_terminal() else matrix_value(exact_values(child))


@functools.cache
def first_values(game):
    """The exact values of the first joint actions."""
    return exact_values(pyspiel.load_game(game).new_initial_state())


@functools.cache
def exploitability(game, search, players, simulations, seeds=20):
    """Share of the value that a best reply takes, if only the first move is by search; a mean."""
    config = SearchConfig.preset(search).replace(ties=TiesWithin(0.01), temperature=1.0)
    if players is not None:
        config = config.replace(amaf=NodeAmaf(players=PLAYERS[players]))
    values = first_values(game)
    value = matrix_value(values)
    loaded = pyspiel.load_game(game)
    state, lost = loaded.new_initial_state(), []
    for seed in range(seeds):
        result = Searcher(config, seed=seed).search(state, Limit(simulations=simulations), player=0)
        mix = np.array([probability for _, probability in result.policy])
        lost.append(value - min(mix @ values))
    return float(np.mean(lost)) / (loaded.max_utility() - loaded.min_utility())


def plot(rows, path):
    """Scores by budget, one panel for each game."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    games = list(dict.fromkeys(row["game"] for row in rows))
    columns = min(len(games), 3)
    lines = -(-len(games) // columns)
    figure = Figure(figsize=(4 * columns, 3.5 * lines), layout="constrained")
    panels = np.ravel(figure.subplots(lines, columns))
    for axes in panels[len(games) :]:
        axes.set_visible(False)
    for axes, game in zip(panels, games, strict=False):
        for kind in dict.fromkeys((row["search"], row["players"]) for row in rows):
            line = [r for r in rows if r["game"] == game and (r["search"], r["players"]) == kind]
            score = np.array([row["score"] for row in line])
            errors = [
                score - [row["low"] for row in line],
                np.array([row["high"] for row in line]) - score,
            ]
            axes.errorbar(
                [row["simulations"] for row in line], score, errors, capsize=3, label=" ".join(kind)
            )
        axes.axhline(0.5, color="gray", linewidth=0.5)
        axes.set(xscale="log", xlabel="simulations a move", ylabel="score", ylim=(0, 1))
        axes.set_title(game.replace(",points", ",\npoints"), fontsize="medium")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(path)


def play(key, games, seed):
    """A row: the match of RAVE against plain search, and what both can lose at the first move."""
    game, search, players, simulations = key
    rave, plain = spec(search, players, simulations), spec(search, None, simulations)
    score = play_match(game, rave, plain, games=games, seed=seed).score
    row = dict(zip(KEY, key, strict=True), score=score.score)
    row["low"], row["high"] = score.interval
    if game in SOLVABLE:
        row["exploitability"] = exploitability(game, search, players, simulations)
        row["plain_exploitability"] = exploitability(game, search, None, simulations)
    return row


def read(path):
    """The rows of an earlier run."""
    if path is None or not path.exists():
        return []
    with path.open(newline="") as file:
        rows = [{k: v for k, v in row.items() if v != ""} for row in csv.DictReader(file)]
    return [
        {k: int(v) if k == "simulations" else v if k in KEY else float(v) for k, v in row.items()}
        for row in rows
    ]


def add(path, row):
    """Write a row behind the others."""
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, KEY + RESULTS)
        if fresh:
            writer.writeheader()
        writer.writerow(row)


def main(
    games: Annotated[int, typer.Option(help="Games of each match.")] = 4,
    budgets: Annotated[str, typer.Option(help="Simulations a move.")] = "50",
    names: Annotated[str, typer.Option(help="Games, separated by semicolons.")] = ";".join(GAMES),
    seed: Annotated[int, typer.Option(help="Decides everything random.")] = 0,
    output: Annotated[pathlib.Path | None, typer.Option(help="Folder for table and plot.")] = None,
) -> None:
    """Play RAVE against plain search and print the scores."""
    table = None
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        table = output / "simultaneous.csv"
    rows = read(table)
    done = {tuple(row[name] for name in KEY) for row in rows}
    keys = [
        (game, search, players, int(simulations))
        for game in names.split(";")
        # Four games say nothing of a game as long as soccer.
        if games >= 10 or game != "markov_soccer"
        for search in PLAIN
        for players in PLAYERS
        for simulations in budgets.split(",")
    ]
    for key in keys:
        if key in done:
            continue
        row = play(key, games, seed)
        rows.append(row)
        print(*(f"{v:.3f}" if isinstance(v, float) else v for v in row.values()), flush=True)
        if table is not None:
            add(table, row)
    if output is not None:
        plot(rows, output / "simultaneous.png")


if __name__ == "__main__":
    typer.run(main)
