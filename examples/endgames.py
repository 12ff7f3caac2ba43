"""Games between an agent that asks the exact solver near the end and the same without.

python examples/endgames.py GAME [--moves-left 20] [--pairs 30] [--seconds 0.05] [--share 0.3]

Games begin so many moves before the end of one that a short search played, with three moves in ten
at random; each position is played twice, with the seats exchanged. Seconds are CPU seconds.
"""

import random
import time
from typing import Annotated, Any

import typer

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.arena.statistics import score_interval
from rave_agents.frameworks.own_games import as_game

AUTO = SearchConfig.preset("auto").replace(endgame_share=0.0)


def position(game: Any, moves_left: int, draw: random.Random, searcher: Searcher) -> Any:
    """A position so many moves before the end of a game."""
    while True:
        state, line = game.new_initial_state(), []
        while not state.is_terminal():
            line.append(state.clone())
            action = draw.choice(list(state.legal_actions()))
            if draw.random() >= 0.3:
                action = searcher.search(state, Limit(simulations=30)).action
            state.apply_action(action)
        if len(line) >= moves_left:
            return line[-moves_left]


def play(start: Any, seat: int, solving: SearchConfig, seconds: float, seed: int) -> float:
    """A game in which one seat asks the solver; its score."""
    state = start.clone()
    searchers = [
        Searcher(solving if player == seat else AUTO, seed=2 * seed + player) for player in (0, 1)
    ]
    since: list[list[int] | None] = [None, None]
    """The moves since each player's last search."""
    for searcher in searchers:
        searcher.prepare(state)
    while not state.is_terminal():
        player = state.current_player()
        limit = Limit(seconds=seconds)
        action = searchers[player].search(state, limit, moves=since[player]).action
        since[player] = []
        for moves in since:
            if moves is not None:
                moves.append(action)
        state.apply_action(action)
    own, other = state.returns()[seat], state.returns()[1 - seat]
    return 1.0 if own > other else 0.5 if own == other else 0.0


def main(
    game: str,
    moves_left: Annotated[int, typer.Option(min=1)] = 20,
    pairs: Annotated[int, typer.Option(min=1)] = 30,
    seconds: Annotated[float, typer.Option()] = 0.05,
    share: Annotated[float, typer.Option(help="The share of a move's time.")] = 0.3,
) -> None:
    """Play all games, and print the score of the agent that asks the solver."""
    time.perf_counter = time.process_time  # type: ignore[assignment]  # Seconds are CPU seconds.
    loaded, draw, searcher = as_game(game), random.Random(11), Searcher(AUTO, seed=3)
    solving = AUTO.replace(endgame_share=share)
    scores = []
    for _ in range(pairs):
        start = position(loaded, moves_left, draw, searcher)
        scores += [play(start, seat, solving, seconds, len(scores) + seat) for seat in (0, 1)]
    wins, draws, games = scores.count(1.0), scores.count(0.5), len(scores)
    low, high = score_interval(sum(scores) / games, games)
    shown = f"{wins}-{draws}-{games - wins - draws}, {sum(scores) / games:.3f}"
    print(f"{game}: {shown} ({low:.3f} to {high:.3f})")


if __name__ == "__main__":
    typer.run(main)
