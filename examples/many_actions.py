"""Measures a search and its result at positions with very many legal actions.

python examples/many_actions.py [--actions 25000 --actions 200000] [--simulations 200]

The first rows are a game in Python in which one player picks two numbers below ``--actions``; the
last one is OpenSpiel's universal_poker with the betting of the full game, whose bets may be any
amount of chips. Twice as many actions should take about twice as long, not four times.
"""

import time
from typing import Annotated, Self

import pyspiel
import typer
from rich import box
from rich.console import Console
from rich.table import Table

from rave_agents import Limit, SearchConfig, Searcher

POKER = (
    "universal_poker(betting=nolimit,bettingAbstraction=fullgame,blind=50 100,firstPlayer=2 1 1 1,"
    "numBoardCards=0 3 1 1,numHoleCards=2,numPlayers=2,numRanks=13,numRounds=4,numSuits=4,"
    "stack=40000 40000)"
)


class TwoNumbers:
    """One player picks two numbers; the return is their sum, as a share of the most."""

    def __init__(self, count: int, picked: tuple[int, ...] = ()) -> None:
        self.count, self.picked = count, picked

    def clone(self) -> Self:
        """An independent copy."""
        return type(self)(self.count, self.picked)

    def current_player(self) -> int:
        """0, or TERMINAL."""
        return -4 if self.is_terminal() else 0

    def is_terminal(self) -> bool:
        """True if both numbers are picked."""
        return len(self.picked) == 2

    def is_chance_node(self) -> bool:
        """Never."""
        return False

    def legal_actions(self) -> list[int]:
        """All numbers."""
        return [] if self.is_terminal() else list(range(self.count))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """No outcomes: the game has no chance."""
        return []

    def apply_action(self, action: int) -> None:
        """Pick a number."""
        self.picked = (*self.picked, int(action))

    def returns(self) -> list[float]:
        """The sum as a share of the greatest possible sum."""
        return [sum(self.picked) / (2 * self.count)]

    def num_players(self) -> int:
        """1."""
        return 1

    def num_distinct_actions(self) -> int:
        """Number of actions: that of the numbers."""
        return self.count

    def min_utility(self) -> float:
        """0."""
        return 0.0

    def max_utility(self) -> float:
        """1."""
        return 1.0


def poker_decision() -> pyspiel.State:
    """The first decision of a hand of poker."""
    state = pyspiel.load_game(POKER).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    return state


def seconds_of(state: object, preset: str, simulations: int) -> tuple[int, float, float]:
    """Legal actions; CPU seconds of a search, the forms of its result left out, and of these."""
    config = SearchConfig.preset(preset)
    Searcher(config, seed=1).search(state, Limit(simulations=2))  # Compiles what it takes.
    searcher = Searcher(config, seed=1)
    started = time.process_time()
    result = searcher.search(state, Limit(simulations=simulations))
    searched = time.process_time()
    str(result)
    result.to_dict()
    len(result.policy)
    return len(result.actions), searched - started, time.process_time() - searched


def main(
    actions: Annotated[list[int] | None, typer.Option(min=1)] = None,
    simulations: Annotated[int, typer.Option(min=1)] = 200,
    preset: Annotated[list[str] | None, typer.Option()] = None,
) -> None:
    """Search each game with each preset, and print how long it took."""
    table = Table(
        "game", "preset", "actions", "search s", "result s", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for name in preset or ["uct", "rave", "grave"]:
        games: list[tuple[str, object]] = [
            ("two numbers", TwoNumbers(count)) for count in actions or [50_000, 100_000, 200_000]
        ]
        for label, state in [*games, ("poker", poker_decision())]:
            count, searched, shown = seconds_of(state, name, simulations)
            table.add_row(label, name, str(count), f"{searched:.2f}", f"{shown:.2f}")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
