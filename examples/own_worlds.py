"""Compares the worlds of games that resample themselves with the exact posterior.

python examples/own_worlds.py [GAME ...] [--positions 60] [--worlds 300]

A world is a position that the player to move cannot tell from the true one. Some games draw worlds
by a method of their own, ``resample_from_infostate``, which may know too much, or too little. Here
each is compared with a posterior that has no part in it: all histories in which the player sees the
same at every moment, where these are few enough to be listed; else histories that are changed at
random many times, each time so that the player sees the same.

Positions come from games at random, and from games in which everybody takes the action that was
taken least often in that phase, so that rare phases appear. For each game four things are told:

* contradictions: the share of worlds that contradict what the player has seen;
* missing: the share of positions in which a world never comes up that should come up often;
* truth: the share of what is hidden (what only others see, or nobody) that is as in the true
  position, with the 95 % interval of its mean over the positions: in the game's own worlds, in the
  posterior, and in the worlds that a search draws (``rave_openspiel.worlds``);
* deviation: the greatest difference between how often a hidden thing comes up in the game's own
  worlds and in the posterior, in standard errors; where all histories are listed.

The posterior counts a history by the probabilities of chance and, for the others' moves, as if they
moved uniformly at random. A game's own method may leave the latter out; so does ``uniform``.
"""

import argparse
import collections
import functools
import math
import random
from collections.abc import Iterator, Sequence
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
import pyspiel
from rave_openspiel.worlds import resampled, view, world_source

GAMES = (
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "kuhn_poker(players=4)",
    "leduc_poker",
    "leduc_poker(players=3)",
    "leduc_poker(suit_isomorphism=True)",
    "bargaining",
    "blackjack",
    "universal_poker",
    "universal_poker(numHoleCards=2,numRanks=4,numSuits=4)",
    "universal_poker(betting=limit,numRounds=2,blind=50 100,firstPlayer=2 1,maxRaises=2 2)",
    "colored_trails",
    "oh_hell(num_suits=2,num_cards_per_suit=4)",
    "oh_hell(players=4,num_suits=2,num_cards_per_suit=5,num_tricks_fixed=1)",
    "oh_hell",
    "gin_rummy(num_ranks=5,num_suits=2,hand_size=3,knock_card=6)",
    "gin_rummy",
    "bridge(use_double_dummy_result=false)",
    "euchre",
    "hearts",
)
MOST_HISTORIES = 20_000
"""Histories that are listed at most; beyond, some are drawn."""

DRAWS = 400
"""Histories that are drawn for a posterior."""

BURN_IN, THINNING = 3000, 20
"""Changes before the first of these, twice, and between two of them. After the first half only the
steps are changed that a change came through at."""

OFTEN = 12.0
"""Expected number of times from which on a world should have come up."""


class Posterior(NamedTuple):
    """Possible secrets of a position, and their probabilities."""

    secrets: np.ndarray
    """One row for each: whether each hidden thing is so."""
    weights: np.ndarray
    """Their probabilities, the others moving uniformly at random."""
    uniform: np.ndarray
    """Their probabilities by chance alone, whatever the others would do."""
    complete: bool
    """True if these are all."""


def decisions(game: pyspiel.Game, count: int, draw: random.Random) -> Iterator[pyspiel.State]:
    """Positions of games at random and of directed games, from all phases alike."""
    taken: collections.Counter[tuple[str, int]] = collections.Counter()
    found: dict[str, list[pyspiel.State]] = collections.defaultdict(list)
    for number in range(max(20, count)):
        state = start(str(game)).clone()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(draw.choices(outcomes, weights)[0])
                continue
            stage = phase(state)
            found[stage].append(state.clone())
            legal = state.legal_actions()
            fewest = min(taken[stage, action] for action in legal)
            if number % 2:
                legal = [action for action in legal if taken[stage, action] == fewest]
            action = draw.choice(legal)
            taken[stage, action] += 1
            state.apply_action(action)
    for states in found.values():
        draw.shuffle(states)
    left = count
    while left > 0 and found:
        for stage in sorted(found):
            yield found[stage].pop()
            left -= 1
            if not found[stage]:
                del found[stage]
            if left == 0:
                return


def phase(state: pyspiel.State) -> str:
    """The name of a position's phase, as its text tells it, and who is to move; else the depth."""
    for line in str(state).splitlines():
        name, _, rest = line.partition(":")
        if name.strip().lower() == "phase":
            return f"{rest.strip()} {state.current_player()}"
    moves = sum(move.player >= 0 for move in state.full_history())
    return f"{min(moves, 6):02d} {state.current_player()}"


def looks(state: pyspiel.State, player: int) -> object:
    """A player's view, and the player to move; None where that cannot be asked."""
    if state.is_terminal():
        return None
    try:
        return state.current_player(), view(state, player)
    except pyspiel.SpielError:
        return state.current_player(), None


def secret(state: pyspiel.State, player: int) -> np.ndarray:
    """Secrets of the others, or of nobody, as an array of bits."""
    kind = state.get_game().get_type()
    others = [other for other in range(state.num_players()) if other != player]
    if not others:  # Blackjack: the dealer's card.
        cards = np.zeros(52, bool)
        cards[state.history()[2]] = True
        return cards
    tensor = (
        pyspiel.State.observation_tensor
        if kind.provides_observation_tensor
        else pyspiel.State.information_state_tensor
    )
    seen = [np.asarray(tensor(state, other)) > 0 for other in others]
    moves = [move for move in state.full_history() if move.player in others]
    done = np.zeros((len(moves), state.num_distinct_actions()), bool)
    done[range(len(moves)), [move.action for move in moves]] = True
    return np.concatenate([*seen, done.ravel()])


def posterior(state: pyspiel.State, player: int, draw: random.Random) -> Posterior:
    """The possible secrets of the others at a position, and their probabilities."""
    found = listed(state, player)
    return walked(state, player, draw) if found is None else found


@functools.cache
def start(name: str) -> pyspiel.State:
    """The initial state of a game, which some make slowly."""
    return pyspiel.load_game(name).new_initial_state()


def begun(state: pyspiel.State) -> pyspiel.State:
    """A new game."""
    return start(str(state.get_game())).clone()


def path(state: pyspiel.State) -> Iterator[pyspiel.State]:
    """The positions before each action of a history."""
    now = begun(state)
    for action in state.history():
        yield now.clone()
        now.apply_action(action)


def listed(state: pyspiel.State, player: int) -> Posterior | None:
    """List all histories in which a player sees the same at every moment."""
    expected = [looks(now, player) for now in path(state)] + [looks(state, player)]
    true = state.full_history()
    sums: dict[bytes, list[float]] = {}
    secrets: dict[bytes, np.ndarray] = {}
    stack = [(begun(state), 0, 1.0, 1.0)]
    visited = 0
    while stack:
        now, step, weight, chance = stack.pop()
        if looks(now, player) != expected[step]:
            continue
        visited += 1
        if visited > MOST_HISTORIES:
            return None
        if step == len(true):
            bits = secret(now, player)
            key = bits.tobytes()
            secrets[key] = bits
            total = sums.setdefault(key, [0.0, 0.0])
            total[0] += weight
            total[1] += chance
            continue
        if now.is_chance_node():
            for outcome, probability in now.chance_outcomes():
                if probability > 0:
                    after = now.child(outcome)
                    stack.append((after, step + 1, weight * probability, chance * probability))
        elif now.current_player() == player:
            stack.append((now.child(true[step].action), step + 1, weight, chance))
        else:
            legal = now.legal_actions()
            stack += [(now.child(a), step + 1, weight / len(legal), chance) for a in legal]
    weights, chances = np.array(list(sums.values())).T
    return Posterior(
        np.array(list(secrets.values())), weights / weights.sum(), chances / chances.sum(), True
    )


def walked(state: pyspiel.State, player: int, draw: random.Random) -> Posterior:
    """Change histories at random, and keep each change of which the player sees nothing.

    Changes are symmetric, so that in the long run all these histories come up equally often. They
    are weighed by the probabilities of the others' moves.
    """
    expected = [looks(now, player) for now in path(state)] + [looks(state, player)]
    actions, (weight, now) = state.history(), replayed(state, player, state.history(), expected)
    movers = [move.player for move in state.full_history()]
    deals = [step for step, mover in enumerate(movers) if mover == pyspiel.PlayerId.CHANCE]
    others = [step for step, mover in enumerate(movers) if mover != player]
    assert now is not None
    secrets, weights = [], []
    moved = swappable(state, player, deals, expected)
    deals = [step for step in deals if step in moved] or deals
    for number in range(2 * BURN_IN + DRAWS * THINNING):
        if number == BURN_IN and moved:
            deals, others = ([step for step in each if step in moved] for each in (deals, others))
        proposed = changed(state, actions, deals, others, draw)
        found = replayed(state, player, proposed, expected)
        if found[1] is not None:
            moved |= {step for step in others if proposed[step] != actions[step]}
            actions, (weight, now) = proposed, found
        if number >= 2 * BURN_IN and number % THINNING == 0:
            secrets.append(secret(now, player))
            weights.append(weight)
    shares = np.exp(np.array(weights) - max(weights))
    even = np.full(len(secrets), 1 / len(secrets))
    return Posterior(np.array(secrets), shares / shares.sum(), even, False)


def swappable(
    state: pyspiel.State, player: int, deals: Sequence[int], expected: Sequence[object]
) -> set[int]:
    """Steps of chance whose outcome can be swapped with that of another, unseen by the player.

    Not within a hand, where the order of the cards means nothing.
    """
    found: set[int] = set()
    truth = secret(state, player)
    for place, late in enumerate(deals):
        for early in deals[:place]:
            actions = state.history()
            actions[early], actions[late] = actions[late], actions[early]
            if {early, late} <= found:
                continue
            now = replayed(state, player, actions, expected)[1]
            if now is not None and (secret(now, player) != truth).any():
                found |= {early, late}
    return found


def changed(
    state: pyspiel.State,
    actions: list[int],
    deals: Sequence[int],
    others: Sequence[int],
    draw: random.Random,
) -> list[int]:
    """Swap the outcomes of two or three steps of chance, or replace one action or outcome."""
    new, kind = actions.copy(), draw.random()
    if kind < 0.8 and len(deals) > 1:
        places = draw.sample(deals, 2 if kind < 0.6 else min(3, len(deals)))
        for place, source in zip(places, (*places[1:], places[0]), strict=True):
            new[place] = actions[source]
        return new
    step = draw.choice(others)
    now = begun(state)
    for action in actions[:step]:
        now.apply_action(action)
    new[step] = draw.choice(now.legal_actions())
    return new


def replayed(
    state: pyspiel.State, player: int, actions: Sequence[int], expected: Sequence[object]
) -> tuple[float, pyspiel.State | None]:
    """Log probability of the others' moves, and the position; None if the player sees others."""
    now, weight = begun(state), 0.0
    for step, action in enumerate(actions):
        mover, legal = now.current_player(), now.legal_actions()
        if mover != expected[step][0] or action not in legal:
            return weight, None
        if mover == player and looks(now, player) != expected[step]:
            return weight, None
        if mover >= 0 and mover != player:
            weight -= math.log(len(legal))
        now.apply_action(action)
    return weight, now if looks(now, player) == expected[-1] else None


class Shares(NamedTuple):
    """Shares of the secrets that are as in the true position, on average."""

    own: float
    posterior: float
    uniform: float
    used: float


class Row(NamedTuple):
    """Findings at one position."""

    contradictions: float
    missing: bool
    deviation: float
    shares: Shares


def compared(state: pyspiel.State, worlds: int, draw: random.Random) -> Row | None:
    """Compare the worlds at a position with the posterior; None where nothing is hidden."""
    player = state.current_player()
    found = posterior(state, player, draw)
    truth = secret(state, player)
    (hidden,) = np.nonzero((found.secrets != truth).any(axis=0))
    if not len(hidden):
        return None
    own = [resampled(state, player, draw.random) for _ in range(worlds)]
    drawn = np.array([secret(world, player) for world in own])
    expected = [looks(now, player) for now in path(state)] + [looks(state, player)]
    wrong = [not agrees(world, player, expected) for world in own]
    source = world_source(state, player, draw.random)
    getattr(source, "begin", lambda *_: None)(worlds, math.inf)
    used = np.array([secret(source(), player) for _ in range(worlds)])
    return Row(
        fmean(wrong),
        misses(found, drawn),
        deviation(found, drawn),
        Shares(
            *(
                share_of_truth(truth, hidden, *each)
                for each in (
                    (drawn, None),
                    (found.secrets, found.weights),
                    (found.secrets, found.uniform),
                    (used, None),
                )
            )
        ),
    )


def agrees(world: pyspiel.State, player: int, expected: Sequence[object]) -> bool:
    """True if the player sees in a world what they saw; along its history, if it has its own."""
    if looks(world, player) != expected[-1]:
        return False
    _, now = replayed(world, player, world.history(), expected)
    return now is not None


def share_of_truth(
    truth: np.ndarray, hidden: np.ndarray, secrets: np.ndarray, weights: np.ndarray | None
) -> float:
    """The share of the true things that are in a world, weighted."""
    true = [place for place in hidden if truth[place]]
    shares = secrets[:, true or hidden] == truth[true or hidden]
    return float(np.average(shares.mean(axis=1), weights=weights))


def misses(found: Posterior, drawn: np.ndarray) -> bool:
    """True if something that should come up often never does."""
    seen = drawn.any(axis=0)
    often = OFTEN / len(drawn)
    least = np.minimum(found.weights @ found.secrets, found.uniform @ found.secrets)
    if ((least > often) & ~seen).any():
        return True
    if not found.complete:
        return False
    keys = {row.tobytes() for row in drawn}
    likely = np.minimum(found.weights, found.uniform) > often
    return any(row.tobytes() not in keys for row in found.secrets[likely])


def deviation(found: Posterior, drawn: np.ndarray) -> float:
    """The greatest difference of a frequency from the posterior, in standard errors.

    It is not a number where the posterior's histories were drawn one from another.
    """
    frequency, result = drawn.mean(axis=0), math.inf
    if not found.complete:
        return math.nan
    for weights in (found.weights, found.uniform):
        expected = weights @ found.secrets
        error = np.sqrt(np.maximum(expected * (1 - expected), 1e-3) / len(drawn))
        result = min(result, float((abs(frequency - expected) / error).max()))
    return result


def interval(values: Sequence[float]) -> str:
    """The mean and its 95 % interval, by the normal approximation."""
    if len(values) < 2:
        return "-"
    return f"{fmean(values):.3f} ± {1.96 * stdev(values) / math.sqrt(len(values)):.3f}"


def greatest(values: Sequence[float]) -> str:
    """The greatest number, if there is any."""
    numbers = [value for value in values if not math.isnan(value)]
    return f"{max(numbers):.1f}" if numbers else "-"


def row(name: str, positions: int, worlds: int) -> str:
    """One row of the table."""
    game, draw = pyspiel.load_game(name), random.Random(name)
    rows, phases = [], set()
    for state in decisions(game, positions, draw):
        result = compared(state, worlds, draw)
        if result is not None:
            rows.append(result)
            phases.add(phase(state))
    cells = [
        name,
        f"{len(rows)}",
        f"{fmean(each.contradictions for each in rows):.3f}",
        f"{fmean(each.missing for each in rows):.3f}",
        greatest([each.deviation for each in rows]),
        *(interval([getattr(each.shares, which) for each in rows]) for which in Shares._fields),
    ]
    return " | ".join(cells)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("games", nargs="*", default=GAMES, metavar="GAME")
    parser.add_argument("--positions", type=int, default=60)
    parser.add_argument("--worlds", type=int, default=300)
    options = parser.parse_args()
    print(
        "| game | positions | contradictions | missing | deviation | truth in its own worlds "
        "| in the posterior | by chance alone | in the worlds used |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in options.games:
        print(f"| {row(name, options.positions, options.worlds)} |", flush=True)


if __name__ == "__main__":
    main()
