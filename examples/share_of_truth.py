"""Measures how much of the true state a search's worlds reveal, beside a reference posterior.

python examples/share_of_truth.py [GAME:PLIES ...] [--positions 24] [--simulations 1000]

A world is a position that the player to move cannot tell from the true one. A source of worlds that
knows too much gives the truth, or parts of it, more often than the posterior does: the distribution
of what may have happened, the others moving uniformly at random, given all that the player saw.

Positions come from random games. The reference is a plain particle filter: histories are drawn
forward from the start, action by action, and one in which the player would see something else is
dropped; another one is drawn in its place. It never looks at the hidden part of the truth. Where it
dies, or few different histories are left in it, the position is left out, and counted as such.

In some games every action is either unseen when it is taken, as a deal or a ship's place, or
announced, as a question or a shot. There the filter would wait in vain for the actions that were
announced, and the reference is importance sampling: what is unseen is drawn, what was announced is
played, and counts with its probability; a history in which the player would see something else is
dropped. A position is left out where the effective sample size stays small.

Two shares are printed, each with the 95 % interval of its mean over the positions: of worlds that
are the true position, and of hidden actions, chance outcomes included, that are the true ones. An
action counts as hidden if the reference does not always have the true one.
"""

import argparse
import math
import random
from collections.abc import Callable, Sequence
from statistics import fmean, stdev
from typing import NamedTuple

import pyspiel
from rave_openspiel.worlds import view, world_source

GAMES = (
    "dark_chess:10",
    "dark_chess:20",
    "dark_chess:30",
    "kriegspiel:20",
    "go_fish:8",
    "battleship:20",
    "battleship(board_height=4,board_width=4,ship_sizes=[2;3],ship_values=[1;1],num_shots=8):10",
)
WORLDS = 200
"""Worlds drawn at a position."""

TRIES = 300
"""Tries for each particle and action, on average, before the reference is given up."""

FEWEST = 100
"""Different histories that a filter must have in the end; an effective sample size, at least."""

ANNOUNCED = frozenset(["battleship", "go_fish"])
"""Games in which every action of another, and of chance, is either unseen or announced."""

DRAWS = 50
"""Histories drawn for each particle, at most, by importance sampling."""

SEES_WHILE_CHANCE_MOVES = frozenset(["go_fish"])
"""Games that tell what a player sees at chance nodes too, so that each card can be checked."""


class Shares(NamedTuple):
    """Shares of the truth in many draws at a position."""

    worlds: float
    """Share of draws that are the true position."""
    actions: float
    """Share of the hidden actions that are the true ones; NaN where none is hidden."""


def position(name: str, plies: int, draw: random.Random) -> pyspiel.State:
    """A position of a random game after this number of player moves, with a player to move."""
    game = pyspiel.load_game(name)
    while True:
        state, moves = game.new_initial_state(), 0
        while not state.is_terminal() and (moves < plies or state.is_chance_node()):
            moves += not state.is_chance_node()
            state.apply_action(drawn(state, draw))
        if not state.is_terminal():
            return state


def drawn(state: pyspiel.State, draw: random.Random) -> int:
    """A random action or outcome."""
    if state.is_chance_node():
        outcomes, weights = zip(*state.chance_outcomes(), strict=True)
        return int(draw.choices(outcomes, weights)[0])
    return int(draw.choice(state.legal_actions()))


def reference(state: pyspiel.State, particles: int, draw: random.Random) -> list[list[int]] | None:
    """Histories from the posterior; None if there are too few."""
    if state.get_game().get_type().short_name in ANNOUNCED:
        return sampled(state, particles, draw)
    found = filtered(state, particles, draw)
    return None if found is None or len(set(map(tuple, found))) < FEWEST else found


def eyes(state: pyspiel.State) -> Callable[[pyspiel.State], object]:
    """A function of the view that the player to move at a state has of others."""
    player, name = state.current_player(), state.get_game().get_type().short_name

    def seen(now: pyspiel.State) -> object:
        shown = now.current_player() >= 0 or name in SEES_WHILE_CHANCE_MOVES
        return now.current_player(), view(now, player) if shown else None

    return seen


def sampled(state: pyspiel.State, particles: int, draw: random.Random) -> list[list[int]] | None:
    """Histories by importance sampling, drawn again by their weights; None if too few count."""
    seen, steps = eyes(state), announced(state)
    histories: list[list[int]] = []
    weights: list[float] = []
    for _ in range(DRAWS * particles):
        now, weight = state.get_game().new_initial_state(), 1.0
        for action, expected in steps:
            if action is not None and now.current_player() != state.current_player():
                weight *= probabilities(now).get(action, 0.0)
                if weight == 0.0:
                    break
            now.apply_action(drawn(now, draw) if action is None else action)
            if seen(now) != expected:
                break
        else:
            histories.append(now.history())
            weights.append(weight)
            if len(histories) == particles:
                break
    if not weights or sum(weights) ** 2 / sum(weight**2 for weight in weights) < FEWEST:
        return None
    return draw.choices(histories, weights, k=particles)


def announced(state: pyspiel.State) -> list[tuple[int | None, object]]:
    """Announced actions: each step's action if the player took it or heard of it, and their view.

    An action was announced if there were others, and the player would have seen something else
    after each of them.
    """
    seen, player = eyes(state), state.current_player()
    now, steps = state.get_game().new_initial_state(), []
    for move in state.full_history():
        after = now.child(move.action)
        expected = seen(after)
        others = [action for action in probabilities(now) if action != move.action]
        known = move.player == player or (
            len(others) > 0 and all(seen(now.child(action)) != expected for action in others)
        )
        steps.append((move.action if known else None, expected))
        now = after
    return steps


def probabilities(state: pyspiel.State) -> dict[int, float]:
    """Probabilities of the actions or outcomes, the players moving uniformly at random."""
    if state.is_chance_node():
        return dict(state.chance_outcomes())
    legal = state.legal_actions()
    return dict.fromkeys(legal, 1.0 / len(legal))


def filtered(state: pyspiel.State, particles: int, draw: random.Random) -> list[list[int]] | None:
    """Histories by a particle filter; None if it died."""
    seen, player = eyes(state), state.current_player()
    true = state.get_game().new_initial_state()
    lines = [true.clone() for _ in range(particles)]
    for move in state.full_history():
        true.apply_action(move.action)
        expected, tries = seen(true), 0
        survivors: list[pyspiel.State] = []
        while len(survivors) < particles:
            draw.shuffle(lines)
            for line in lines:
                tries += 1
                action = move.action if move.player == player else drawn(line, draw)
                after = line.child(action)
                if seen(after) == expected:
                    survivors.append(after)
            if tries > TRIES * particles or (not survivors and move.player == player):
                return None
        lines = survivors[:particles]
    return [line.history() for line in lines]


def shares(
    state: pyspiel.State, histories: Sequence[Sequence[int]], hidden: Sequence[int]
) -> Shares:
    """Compute the shares of the truth in some histories."""
    true = state.history()
    position_of: Callable[[Sequence[int]], str] = lambda line: str(_replayed(state, line))  # noqa: E731
    equal = fmean(position_of(line) == str(state) for line in histories)
    if not hidden:
        return Shares(equal, math.nan)
    same = fmean(line[step] == true[step] for line in histories for step in hidden)
    return Shares(equal, same)


def _replayed(state: pyspiel.State, line: Sequence[int]) -> pyspiel.State:
    now = state.get_game().new_initial_state()
    for action in line:
        now.apply_action(action)
    return now


def worlds(state: pyspiel.State, simulations: int, draw: random.Random) -> list[list[int]]:
    """The histories of the worlds of a search with this number of simulations."""
    source = world_source(state, state.current_player(), draw.random)
    if hasattr(source, "begin"):
        source.begin(simulations, math.inf)
    return [source().history() for _ in range(min(WORLDS, simulations))]


def measured(name: str, plies: int, positions: int, simulations: int, particles: int) -> str:
    """One row of the table."""
    ours, references, left_out = [], [], 0
    for seed in range(positions):
        draw = random.Random(f"{name} {plies} {seed}")
        state = position(name, plies, draw)
        found = reference(state, particles, draw)
        if found is None:
            left_out += 1
            continue
        true = state.history()
        hidden = [
            step for step in range(len(true)) if any(line[step] != true[step] for line in found)
        ]
        references.append(shares(state, found, hidden))
        ours.append(shares(state, worlds(state, simulations, draw), hidden))
    columns = [
        interval([value for value in map(which, rows) if not math.isnan(value)])
        for which in (lambda row: row.worlds, lambda row: row.actions)
        for rows in (ours, references)
    ]
    return " | ".join([f"{name}, {plies} plies", f"{len(ours)} ({left_out})", *columns])


def interval(values: Sequence[float]) -> str:
    """The mean and its 95 % interval, by the normal approximation."""
    if len(values) < 2:
        return "-"
    half = 1.96 * stdev(values) / math.sqrt(len(values))
    return f"{fmean(values):.3f} ± {half:.3f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("games", nargs="*", default=GAMES, metavar="GAME:PLIES")
    parser.add_argument("--positions", type=int, default=24)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--particles", type=int, default=2000)
    options = parser.parse_args()
    print("| game | positions (left out) | true worlds | reference | true actions | reference |")
    print("|---|---|---|---|---|---|")
    for spec in options.games:
        name, _, plies = spec.rpartition(":")
        row = measured(name, int(plies), options.positions, options.simulations, options.particles)
        print(f"| {row} |", flush=True)


if __name__ == "__main__":
    main()
