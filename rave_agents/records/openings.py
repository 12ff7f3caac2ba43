"""Openings, chance and the seeds of a match's games.

Openings, chance and agents have separate streams, which depend only on the match's seed and the
number of the game.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.frameworks.adapters import Game, seeded_start
from rave_agents.game.endless import until_over
from rave_agents.game.game_state import (
    GameState,
    apply_path,
    is_simultaneous,
    joint_action,
    moving_players,
)

OPENING_TRIES = 1000
"""Maximum number of openings drawn to find one that does not end the game."""

_OPENINGS, _CHANCE, _AGENTS, _STARTS = 0, 1, 2, 3
"""The streams of a match."""


def draw_opening(
    game: Game, plies: int, seed: int, pair: int, start: Sequence[int] = ()
) -> tuple[int, ...]:
    """Draw random actions that do not end the game.

    Args:
        game: the game.
        plies: number of moves; simultaneous ones count once, and chance outcomes in between are
            drawn but not counted.
        seed: the match's seed.
        pair: the number of the pair of games that starts with it.
        start: the fixed actions and chance outcomes at its beginning.

    Raises:
        ValueError: if every drawn opening ends the game.
    """
    random = _stream(seed, _OPENINGS, pair)
    for _ in range(OPENING_TRIES):
        state = start_state(game, seed, pair)
        apply_path(state, start)
        actions = list(start)
        left = plies
        for _ in until_over(state):
            if left == 0:
                break
            if is_simultaneous(state):
                joint = random_joint_action(state, random)
                left -= 1
                state.apply_actions(joint)  # type: ignore[attr-defined]
                actions += joint
                continue
            if state.is_chance_node():
                action = draw_outcome(state, random)
            else:
                single_mover(state)
                action = int(random.choice(_some_actions(game, state.legal_actions())))
                left -= 1
            state.apply_action(action)
            actions.append(action)
        if not state.is_terminal():
            return tuple(actions)
    raise ValueError(
        f"{OPENING_TRIES} random openings of {plies} plies all ended the game {game.name}: "
        "choose fewer opening plies."
    )


def _some_actions(game: Game, actions: Sequence[int]) -> Sequence[int]:
    if len(actions) == 0:
        raise GameError(f"{game.name} is not over, and the player to move has no legal action.")
    return actions


def random_joint_action(state: Any, random: np.random.Generator) -> list[int]:
    """Draw an action for each simultaneous mover."""
    movers = moving_players(state)
    drawn = [int(random.choice(state.legal_actions(mover))) for mover in movers]
    return joint_action(movers, drawn, state.num_players())


def draw_outcome(state: GameState, random: np.random.Generator) -> int:
    """Draw an outcome of a chance node by its probability."""
    outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
    weights = np.array(probabilities)
    # Some games' probabilities add up to 1 only nearly, which ``choice`` refuses.
    return int(outcomes[random.choice(len(outcomes), p=weights / weights.sum())])


def initial_decision(game: Game, seed: int) -> GameState:
    """The first position at which a player is to move, after drawn chance outcomes."""
    state = start_state(game, seed, 0)
    random = _stream(seed, _CHANCE)
    for _ in until_over(state):
        if not state.is_chance_node():
            break
        state.apply_action(draw_outcome(state, random))
    return state


def single_mover(state: GameState) -> int:
    """The seat to move at a state that is neither terminal nor a chance node."""
    player = int(state.current_player())
    if not 0 <= player < state.num_players():
        raise UnsupportedGameError(f"No single player is to move: current_player() is {player}.")
    return player


def start_state(game: Game, seed: int, pair: int) -> GameState:
    """The start of both games of a pair; states that draw chance themselves get the same seed."""
    return seeded_start(game, lambda: int(_stream(seed, _STARTS, pair).integers(2**31)))


def chance_stream(seed: int, pair: int) -> np.random.Generator:
    """The random stream for chance outcomes of both games of a pair."""
    return _stream(seed, _CHANCE, pair)


def agent_seed(seed: int, number: int, index: int) -> int:
    """The seed of the first (0) or the second (1) agent of a game."""
    stream = np.random.SeedSequence([seed, _AGENTS, number, index])
    return int(stream.generate_state(1)[0])  # Agents take one integer, not a sequence.


def _stream(*path: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(path))
