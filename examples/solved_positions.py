"""Counts the random small positions that each preset with a solver solves, beside MCTSBot.

python examples/solved_positions.py [--positions 500] [--simulations 2000] [--agent uct_solver ...]

The positions are random ones of small games, from some moves after the beginning on, in turn; all
sides get the same ones, the same number of simulations and a seed for each position. "Stock alone"
counts the positions that the stock bot solves and the preset does not, "ours alone" the others.
"""

import json
import random
from collections.abc import Iterator
from typing import Annotated

import pyspiel
import typer
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.agents.named_agents import AgentSpec

GAMES = (
    "tic_tac_toe",
    "connect_four(rows=4,columns=4)",
    "breakthrough(rows=5,columns=3)",
    "hex(board_size=4)",
    "clobber(rows=4,columns=4)",
    "mnk(m=4,n=4,k=4)",
)
UCT_C = 1.4
MEMORY_MB = 500


def proving_presets() -> list[str]:
    """The presets with a solver or proof numbers."""
    return [name for name in SearchConfig.preset_names() if SearchConfig.preset(name).proves]


def random_position(spec: str, draw: random.Random) -> pyspiel.State:
    """A position with two legal actions or more, at any depth of a random game."""
    while True:
        state = pyspiel.load_game(spec).new_initial_state()
        decisions = []
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(draw.choices(outcomes, weights)[0])
                continue
            if len(state.legal_actions()) > 1:
                decisions.append(state.clone())
            state.apply_action(draw.choice(state.legal_actions()))
        if decisions:
            return draw.choice(decisions)


def solved_by_stock(state: pyspiel.State, simulations: int, seed: int) -> bool:
    """True if OpenSpiel's C++ bot with its solver solves a position."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    bot = pyspiel.MCTSBot(
        state.get_game(), evaluator, UCT_C, simulations, MEMORY_MB, True, seed, False
    )
    return len(bot.mcts_search(state).outcome) > 0


def solved_by(spec: AgentSpec, state: pyspiel.State, simulations: int, seed: int) -> bool:
    """True if a preset, with changes, solves a position.

    Without the solver, that is to prove whether the player to move can force a win.
    """
    config = SearchConfig.preset(spec.name).replace(max_memory_mb=MEMORY_MB, **spec.parameters)
    result = Searcher(config, seed=seed).search(state, Limit(simulations=simulations))
    return result.outcome is not None or 0.0 in (result.proof_number, result.disproof_number)


def followed(states: list[pyspiel.State], label: str) -> Iterator[tuple[int, pyspiel.State]]:
    """The positions and their places, with a bar that shows how many are done."""
    return enumerate(track(states, label, console=Console(stderr=True), transient=True))


def main(
    positions: Annotated[int, typer.Option(min=1)] = 500,
    simulations: Annotated[int, typer.Option(min=1)] = 2000,
    agent: Annotated[list[str] | None, typer.Option()] = None,
    game: Annotated[list[str] | None, typer.Option()] = None,
    seed: Annotated[int, typer.Option()] = 0,
    json_output: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Search every position with every agent, and print how many each solved."""
    draw = random.Random(seed)
    games = game or list(GAMES)
    states = [random_position(games[place % len(games)], draw) for place in range(positions)]
    stock = [
        solved_by_stock(state, simulations, place)
        for place, state in enumerate(
            track(states, "mcts", console=Console(stderr=True), transient=True)
        )
    ]
    results = {}
    for text in agent or proving_presets():
        spec = AgentSpec.parse(text)
        ours = [
            solved_by(spec, state, simulations, place)
            for place, state in enumerate(
                track(states, text, console=Console(stderr=True), transient=True)
            )
        ]
        for place, name in enumerate(games):
            pairs = list(zip(stock[place :: len(games)], ours[place :: len(games)], strict=True))
            results[text, name] = {
                "positions": len(pairs),
                "stock": sum(theirs for theirs, _ in pairs),
                "ours": sum(own for _, own in pairs),
                "stock_alone": sum(theirs and not own for theirs, own in pairs),
                "ours_alone": sum(own and not theirs for theirs, own in pairs),
            }
    rows = [{"agent": text, "game": name, **row} for (text, name), row in results.items()]
    if json_output:
        print(json.dumps(rows))
        return
    table = Table(*map(str, rows[0]), box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
