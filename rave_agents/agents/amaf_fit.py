"""Whether AMAF fits a game, seen before the first search: a few random games are enough."""

import random
import time
import warnings
from collections.abc import Callable

from rave_agents.config.search_config import SearchConfig
from rave_agents.game.game_state import GameState, PlayerId, is_simultaneous
from rave_agents.kernel.amaf import NoAmaf
from rave_agents.kernel.trust import LearnedTrust

GAMES, PLIES, SECONDS = 10, 24, 0.1
"""Random games, decisions in each, and the seconds after which no further one is made."""

FITS = 0.2
"""The least trust in AMAF at which nothing is said."""

_seen: set[str] = set()


def action_trust(state: GameState) -> float | None:
    """How far an action means the same whenever it is taken, from 0 to 1.

    The share of the actions taken in random games from this position that are not legal at later
    turns of their player, less the share of those that are: what ``kernel/trust.py`` counts in a
    search. None where players move at the same time, or too few actions were seen.
    """
    generator = random.Random(1)
    gone = again = 0
    end = time.monotonic() + SECONDS
    for _ in range(GAMES):
        if time.monotonic() > end:
            break
        counted = _count_in_a_game(state.clone(), generator, end)
        if counted is None:
            return None
        gone, again = gone + counted[0], again + counted[1]
    return max(0.0, (gone - again) / (gone + again)) if gone + again >= PLIES else None


def _count_in_a_game(
    state: GameState, generator: random.Random, end: float
) -> tuple[int, int] | None:
    gone = again = 0
    taken: dict[int, list[int]] = {}
    for _ in range(PLIES):
        while not state.is_terminal() and state.current_player() == PlayerId.CHANCE:
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(generator.choices(outcomes, probabilities)[0])
        if state.is_terminal() or time.monotonic() > end:
            break
        if is_simultaneous(state):
            return None
        legal = list(state.legal_actions())
        before = taken.setdefault(state.current_player(), [])
        repeated = len(set(legal).intersection(before))
        again += repeated
        gone += len(set(before)) - repeated
        before.append(generator.choice(legal))
        state.apply_action(before[-1])
    return gone, again


def warn_of_misfit(config: SearchConfig, game: str, start: Callable[[], GameState]) -> None:
    """Warn, once for each game, of a search that trusts AMAF where it misleads.

    Args:
        config: the search.
        game: what the game is called.
        start: makes a position of it.
    """
    trusting = not isinstance(config.amaf, NoAmaf)
    if not trusting or isinstance(getattr(config.amaf, "trust", None), LearnedTrust):
        return
    if game in _seen:
        return
    _seen.add(game)
    trust = action_trust(start())
    if trust is not None and trust < FITS:
        warnings.warn(
            f"AMAF misleads in {game}: an action is mostly legal again after it was taken, and "
            "means something else then. Use auto, which trusts AMAF as far as it fits.",
            stacklevel=4,
        )
