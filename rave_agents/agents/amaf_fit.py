"""Estimate whether AMAF fits a game before the first search, from a few random games."""

import itertools
import random
import time
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rave_agents.config.search_config import SearchConfig
from rave_agents.game.game_state import (
    GameState,
    PlayerId,
    drawn_outcome,
    hides_information,
    is_simultaneous,
)
from rave_agents.game.utility_limits import MOST_LEGAL
from rave_agents.kernel.amaf.hidden_trust import LEAST_VISITS, trust_by_spread
from rave_agents.kernel.amaf.trust import is_learned
from rave_agents.kernel.declarations import keeps_amaf
from rave_agents.kernel.measures.action_persistence import (
    GONE,
    LEFT,
    LEGAL_AGAIN,
    STILL_LEGAL,
    persistence,
    reuse_consistency,
)

GAMES, PLIES, SECONDS = 10, 24, 0.1
"""Number of random games, decisions in each, and the time limit in seconds."""

MOST_GAMES = 100
"""Maximum number of random games, if they are too short to meet actions again."""

GAMES_TO_THE_END = 300
"""Maximum number of complete random games, with hidden information."""

FITS = 0.2
"""Minimum trust in AMAF below which a warning is given."""

_seen: set[str] = set()


def action_trust(state: GameState) -> float | None:
    """Trust in AMAF values at this position, from 0 to 1: does an action keep its meaning?

    The search's measure, see ``kernel/measures/action_persistence.py``, in random games from this
    position. If it is low and information is hidden, the spread of values counts too, see
    ``kernel/amaf/hidden_trust.py``. None for simultaneous moves, or if too few actions were seen.
    """
    # A fixed seed: a warning must not come and go with the search's seed.
    generator = random.Random(1)
    counts, left = np.zeros(2, np.int64), np.zeros(3, np.int64)
    end = time.monotonic() + SECONDS
    for game in range(MOST_GAMES):
        if time.monotonic() > end or (game >= GAMES and counts.sum() >= PLIES):
            break
        if not _count_in_a_game(counts, left, state.clone(), generator, end):
            return None
    if counts.sum() < PLIES:
        return None
    trust = reuse_consistency(counts) * persistence(left)
    if trust < FITS and hides_information(state):
        return max(trust, _spread_trust(state, generator))
    return trust


def _spread_trust(state: GameState, generator: random.Random) -> float:
    """Trust by the spread of actions' values, as first actions and when taken later."""
    end = time.monotonic() + SECONDS
    played: list[tuple[int, list[int], float]] = []
    for _ in range(GAMES_TO_THE_END):
        if time.monotonic() > end:
            break
        played += _own_actions(state.clone(), generator, end)
    # Ids may be large: each action that was taken has a row.
    row = {action: row for row, action in enumerate({a for _, taken, _ in played for a in taken})}
    players = state.num_players()
    # Index 0: the action was played later in the game; index 1: as the player's first action.
    visits, values = np.zeros((2, players, len(row))), np.zeros((2, players, len(row)))
    for player, taken, value in played:
        # Each later action once, as AMAF counts it.
        later = [row[action] for action in dict.fromkeys(taken[1:]) if action != taken[0]]
        for when, of_time in enumerate((later, [row[taken[0]]])):
            visits[when, player, of_time] += 1
            values[when, player, of_time] += value
    later_squares = own_squares = 0.0
    for player in range(players):
        enough = (visits[:, player] >= LEAST_VISITS).all(axis=0)
        if enough.any():
            means = values[:, player, enough] / visits[:, player, enough]
            # Sums of squares, so that players with more actions count for more.
            later, own = means.var(axis=1) * enough.sum()
            later_squares, own_squares = later_squares + later, own_squares + own
    return trust_by_spread(later_squares, own_squares)


def _own_actions(
    state: GameState, generator: random.Random, end: float
) -> list[tuple[int, list[int], float]]:
    """Play a random game: each player's actions and return. Nothing if it does not end."""
    taken: dict[int, list[int]] = {}
    while not state.is_terminal():
        if is_simultaneous(state) or time.monotonic() > end:
            return []
        if state.current_player() == PlayerId.CHANCE:
            state.apply_action(drawn_outcome(state, generator))
            continue
        legal = state.legal_actions()
        if len(legal) == 0:  # An error of the game, which the search reports.
            return []
        action = generator.choice(legal)
        taken.setdefault(int(state.current_player()), []).append(action)
        state.apply_action(action)
    returns = state.returns()
    return [(player, actions, float(returns[player])) for player, actions in taken.items()]


def _count_in_a_game(
    counts: NDArray[np.int64],
    left: NDArray[np.int64],
    state: GameState,
    generator: random.Random,
    end: float,
) -> bool:
    """Count actions that stay legal in a random game; False if players move simultaneously."""
    taken: dict[int, set[int]] = {}
    turn: dict[int, list[set[int]]] = {}
    turn_before: dict[int, list[set[int]]] = {}
    last = None
    for _ in range(PLIES):
        while state.current_player() == PlayerId.CHANCE and time.monotonic() <= end:
            state.apply_action(drawn_outcome(state, generator))
            last = None
        if state.is_terminal() or time.monotonic() > end:
            break
        if is_simultaneous(state):
            return False
        player, actions = int(state.current_player()), state.legal_actions()
        if not 0 < len(actions) <= MOST_LEGAL:  # Likewise an error for the search to report.
            break
        legal = set(actions)
        if player != last:  # A turn begins; it may have several actions.
            turn_before[player], turn[player] = turn.get(player, []), []
        last = player
        own = taken.setdefault(player, set())
        counts[[GONE, LEGAL_AGAIN]] += len(own - legal), len(own & legal)
        left[[LEFT, STILL_LEGAL]] += _left_and_lasting(turn_before[player], legal)
        # Sorted, so that equal seeds give equal games whatever the order of the set.
        action = generator.choice(sorted(legal))
        own.add(action)
        # A taken action is no longer one that was left, in anybody's turn.
        for others in itertools.chain(*turn.values(), *turn_before.values()):
            others.discard(action)
        turn[player].append(legal - {action})
        state.apply_action(action)
    return True


def _left_and_lasting(turn: list[set[int]], legal: set[int]) -> tuple[int, int]:
    """Actions not taken at a turn, and those of them still legal, where the share is highest."""
    counts = [(len(others), len(others & legal)) for others in turn if others]
    return max(counts, key=lambda count: count[1] / count[0], default=(0, 0))


def warn_of_misfit(config: SearchConfig, game: str, start: Callable[[], GameState]) -> None:
    """Warn, once for each game, of a search that trusts AMAF where it misleads.

    Args:
        config: the search.
        game: the game's name.
        start: makes its initial position.
    """
    learned = is_learned(getattr(config.amaf, "trust", None))
    if learned or not keeps_amaf(config.amaf):
        return
    if game in _seen:
        return
    _seen.add(game)
    trust = action_trust(start())
    if trust is not None and trust < FITS:
        warnings.warn(
            f"AMAF misleads in {game}: an action means something else when it is played later. Use "
            "auto, which trusts AMAF only where it fits.",
            stacklevel=4,
        )
