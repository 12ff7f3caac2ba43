"""Strength of an agent, game by game, and its trust in what it knows there.

`auto` plays thirty games against OpenSpiel's `mcts` and `uct_solver`, at equal simulations a move.
Beside the scores, with their 95 % intervals, stands how far it trusted AMAF, proof numbers and the
values that it learned from playouts, in a game against itself. Games are kept in the output folder
as they end, a twentieth of each match at a time: a second run goes on where the first was ended.

    python examples/table_of_games.py
    python examples/table_of_games.py --games 200 --simulations 300 --output table

Without options it is a sample of seconds, with two games.
"""

import itertools
import json
import pathlib
from typing import Annotated

import pyspiel
import rave_openspiel  # noqa: F401  (registers games of ours)
import typer

from rave_agents import AgentSpec, Limit, SearchConfig, Searcher
from rave_agents.arena import THIRTY_GAMES, play_match

SAMPLE = ("tic_tac_toe", "connect_four")
TRUSTED = {
    "amaf_trust": "AMAF",
    "proof_trust": "proof numbers",
    "value_trust": "learned values",
}
"""Fields of a result, and what they are called."""
PARTS = 20
"""Each match is played in so many parts, in turns with the others."""


def trust_in_play(game, agent, simulations):
    """Mean trust in each of ``TRUSTED`` over a game of the agent with itself."""
    spec = AgentSpec.parse(agent)
    searcher = Searcher(SearchConfig.preset(spec.name).replace(**spec.parameters), seed=1)
    state = pyspiel.load_game(game).new_initial_state()
    results = []
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(max(state.chance_outcomes(), key=lambda outcome: outcome[1])[0])
            continue
        results.append(searcher.search(state, Limit(simulations=simulations)))
        state.apply_action(results[-1].action)
    searched = [result for result in results if result.simulations > 0]
    return [mean(getattr(result, name) for result in searched) for name in TRUSTED]


def mean(values):
    """The mean of those that are known, or None."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def kept_trust(path, game, agent, simulations):
    """The result of ``trust_in_play``, from the file if it has it."""
    known = json.loads(path.read_text()) if path.exists() else {}
    key = f"{game} {agent} {simulations}"
    if key not in known:
        known[key] = trust_in_play(game, agent, simulations)
        path.write_text(json.dumps(known, indent=1))
    return known[key]


def scores_cell(score):
    """A score, its interval and the number of games."""
    low, high = score.interval
    return f"{score.score:.2f} ({low:.2f} to {high:.2f}; {score.games})"


def markdown(heads, rows):
    """A table as Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def table(rows, opponents):
    """The rows as Markdown; the last two have the mean and the least score of each column."""
    heads = ["game", *(f"against `{name}`" for name in opponents), *TRUSTED.values()]
    lines = []
    for game, (scores, trust) in rows.items():
        cells = [scores_cell(scores[name]) if name in scores else "-" for name in opponents]
        lines.append([game, *cells, *("-" if t is None else f"{t:.2f}" for t in trust)])
    columns = [[s[name].score for s, _ in rows.values() if name in s] for name in opponents]
    empty = [""] * len(TRUSTED)
    lines.append(["mean", *(f"{mean(column) or 0.0:.2f}" for column in columns), *empty])
    lines.append(["least", *(f"{min(column, default=0.0):.2f}" for column in columns), *empty])
    return markdown(heads, lines)


def main(
    games: Annotated[int, typer.Option(help="Games of each match.")] = 4,
    simulations: Annotated[int, typer.Option(help="Simulations a move.")] = 50,
    names: Annotated[str | None, typer.Option(help="Games, separated by semicolons.")] = None,
    agent: Annotated[str, typer.Option(help="The agent.")] = "auto",
    against: Annotated[str, typer.Option(help="Its opponents.")] = "mcts;uct_solver",
    seed: Annotated[int, typer.Option(help="Decides everything random.")] = 7,
    output: Annotated[pathlib.Path | None, typer.Option(help="Folder for games and table.")] = None,
) -> None:
    """Play an agent against others in many games, and print a table."""
    opponents = against.split(";")
    rows = {}
    if output is None:
        for game in names.split(";") if names else SAMPLE:
            options = {"games": games, "simulations": simulations, "seed": seed}
            scores = {name: play_match(game, agent, name, **options).score for name in opponents}
            rows[game] = scores, trust_in_play(game, agent, simulations)
        print(table(rows, opponents))
        return
    output.mkdir(parents=True, exist_ok=True)
    for part, game in itertools.product(
        range(1, PARTS + 1), names.split(";") if names else THIRTY_GAMES
    ):
        scores, _ = rows.setdefault(game, ({}, ()))
        for name in opponents:
            scores[name] = play_match(
                game,
                agent,
                name,
                games=games,
                simulations=simulations,
                seed=seed,
                output=output / f"{game}, {name}.jsonl",
                shard=f"{part}/{PARTS}",
            ).score
        rows[game] = scores, kept_trust(output / "trust.json", game, agent, simulations)
        (output / "table.md").write_text(table(rows, opponents) + "\n")
    print(table(rows, opponents))


if __name__ == "__main__":
    typer.run(main)
