"""Measures how often agents keep the game's value in Connect Four, by an exact solver.

pip install bitbully
python examples/value_kept.py [AGENT ...] [--positions 1000] [--simulations 1000 ...] [--seconds 1]

The positions come from random play, 6 to 25 moves after the beginning; those are kept where some
move loses value: a win becomes a draw or a loss, or a draw a loss. An agent keeps the value if no
move is better than its own, by bitbully, which solves every position. All agents get the same
positions, and begin each of them anew. "random" is the share of moves that keep the value.
"""

import json
import random
from statistics import fmean
from typing import Annotated, Any, NamedTuple

import bitbully
import typer
from rich.console import Console
from rich.progress import track

from rave_agents import GameState, as_game
from rave_agents.agents.named_agents import make_agent
from rave_agents.arena.statistics import score_interval

GAME = "connect_four"
AGENTS = ("mcts", "uct_solver", "auto(known=False)", "auto")
SIMULATIONS = (100, 300, 1000, 3000, 10_000)
LEAST_MOVES, MOST_MOVES = 6, 25
"""Random moves before a position."""


class Position(NamedTuple):
    """A position with what a solver says of it."""

    state: GameState
    keeping: frozenset[int]
    """The moves that keep the game's value."""


def solved_position(solver: bitbully.BitBully, draw: random.Random) -> Position | None:
    """A position of a random game; None if the game is over, or no move loses value."""
    state, board = as_game(GAME).new_initial_state(), bitbully.Board()
    for _ in range(draw.randint(LEAST_MOVES, MOST_MOVES)):
        action = draw.choice(state.legal_actions())
        state.apply_action(action)
        board.play(action)
        if state.is_terminal():
            return None
    scores = solver.score_all_moves(board)  # They tell how soon a game is won, too.
    values = {move: (score > 0) - (score < 0) for move, score in scores.items()}
    keeping = frozenset(move for move in values if values[move] == max(values.values()))
    return Position(state, keeping) if len(keeping) < len(values) else None


def solved_positions(count: int, seed: int) -> list[Position]:
    """Positions where a move can lose value."""
    solver, draw = bitbully.BitBully(opening_book="12-ply-dist"), random.Random(seed)
    found: list[Position] = []
    while len(found) < count:
        position = solved_position(solver, draw)
        if position is not None:
            found.append(position)
    return found


def kept(agent: str, positions: list[Position], label: str, **limit: Any) -> int:
    """The number of positions in which an agent keeps the value."""
    player = make_agent(agent, GAME, seed=1, **limit)
    count = 0
    for position in track(positions, label, console=Console(stderr=True), transient=True):
        player.restart()
        count += player.step(position.state) in position.keeping
    return count


def main(
    agents: Annotated[list[str] | None, typer.Argument()] = None,
    positions: Annotated[int, typer.Option(min=1)] = 1000,
    simulations: Annotated[list[int] | None, typer.Option(min=1)] = None,
    seconds: Annotated[list[float] | None, typer.Option(min=0.001)] = None,
    seed: Annotated[int, typer.Option()] = 1,
    json_output: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Print the share of positions in which each agent keeps the value, with 95 % intervals."""
    found = solved_positions(positions, seed)
    shares = [len(each.keeping) / len(each.state.legal_actions()) for each in found]
    limits: list[dict[str, Any]] = [{"seconds": each} for each in seconds or []]
    if simulations or not limits:
        limits = [{"simulations": each} for each in simulations or SIMULATIONS] + limits
    if not json_output:
        print(f"{positions} positions, random {fmean(shares):.3f}", flush=True)
    rows = []
    for limit in limits:
        ((name, amount),) = limit.items()
        for agent in agents or AGENTS:
            label = f"{amount:,} {name} {agent}"
            share = kept(agent, found, label, **limit) / positions
            low, high = score_interval(share, positions)
            rows.append({name: amount, "agent": agent, "kept": share, "interval": [low, high]})
            if not json_output:
                print(f"{label}: {share:.3f} ({low:.3f} to {high:.3f})", flush=True)
    if json_output:
        print(json.dumps(rows))


if __name__ == "__main__":
    typer.run(main)
