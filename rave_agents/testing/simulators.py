"""``check_simulator``: checks a state's own provider of simulations."""

import itertools
import math
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rave_agents.errors import ConformanceError
from rave_agents.game.game_state import GameState, PlayerId, apply_path, is_simultaneous
from rave_agents.game.utility_limits import MOST_OUTCOMES
from rave_agents.simulate.action_numbers import ActionNumbers, has_tables_of_ids
from rave_agents.simulate.random_stream import make_stream
from rave_agents.simulate.simulator import (
    Frame,
    Header,
    Simulator,
    SimulatorAbilities,
    Status,
    grown_frame,
    make_frame,
    simulated,
)
from rave_agents.testing.common import TOLERANCE, drawn_move, movers, require, snapshot

PLAYOUTS = 2
"""Playouts that the check requests per simulation."""

LEAST_WEIGHT = 1e-30
"""A weight so small that an action is practically never drawn next to one of weight 1."""


def check_simulator(
    state: GameState, *, seed: int = 0, paths: int = 3, max_moves: int = 2000
) -> None:
    """Check the provider of simulations that ``state.simulator(frame, None)`` makes.

    At the state and at positions a few moves later, the provider must report the same player and
    actions as the state. Its playouts must be legal: replayed on a clone, they end in a terminal
    position with the same returns; and they must follow the weights of actions if there are any.
    Playouts of games with chance are not replayed; the check then verifies ranges only.

    Args:
        state: the root, not terminal.
        seed: seeds every random choice.
        paths: the number of leaves to simulate from; the first is the root.
        max_moves: the longest playout to replay, in moves.

    Raises:
        ConformanceError: with the rule that was violated.
    """
    of_ids = has_tables_of_ids(state)  # Otherwise weights belong to the provider's numbers.
    for weights in (None, _drawn_weights(state, seed)) if of_ids else (None,):
        _check_playing(state, weights, seed=seed, paths=paths, max_moves=max_moves)


def _drawn_weights(state: GameState, seed: int) -> NDArray[np.float64]:
    """Weights under which about half of the actions are practically never drawn."""
    # Not 0: the contract requires weights above 0, for positions where no other action is legal.
    shape = (state.num_players(), state.num_distinct_actions())
    return np.where(np.random.default_rng(seed).random(shape) < 0.5, 1.0, LEAST_WEIGHT)


def _check_playing(
    state: GameState, weights: NDArray[np.float64] | None, *, seed: int, paths: int, max_moves: int
) -> None:
    """Check a simulator under these weights of actions; None for uniform playouts."""
    draw = random.Random(seed)
    before = snapshot(state)
    frame = make_frame(
        num_players=state.num_players(),
        playouts=PLAYOUTS,
        playout_stream=make_stream(np.random.SeedSequence(seed)),
        action_weights=weights,
    )
    simulator = state.simulator(frame, None)  # type: ignore[attr-defined]
    numbers = None
    if not has_tables_of_ids(state) and SimulatorAbilities(simulator).number_actions is not None:
        numbers = ActionNumbers(state.num_players())
        numbers.capacity = MOST_OUTCOMES
        simulator.number_actions(numbers)
    for depth in range(paths):
        leaf = state.clone()
        path: list[int] = []
        while len(path) < depth and not leaf.is_terminal():
            move = drawn_move(leaf, draw)
            path += move
            apply_path(leaf, move)
        frame = _simulate(simulator, frame, path if numbers is None else numbers.of_position(path))
        _check_leaf(frame, leaf, numbers)
        _check_playouts(frame, leaf, max_moves, numbers)
        require(snapshot(state) == before, "simulator() must leave the state as it was.")


def _simulate(simulator: Simulator, frame: Frame, path: Sequence[int]) -> Frame:
    """Run ``simulate`` with expansion; return the frame that it filled, enlarged if needed."""
    # A frame that doubles exceeds any memory long before 64 rounds.
    for _ in range(64):
        header = frame.header
        frame.path[: len(path)] = path
        header[Header.PATH_LENGTH] = len(path)
        header[Header.EXPAND] = 1
        header[Header.REQUIRED_ACTIONS] = header[Header.REQUIRED_MOVES] = 0
        status = simulated(simulator, frame)
        if status == Status.DONE:
            require(
                frame.path[: len(path)].tolist() == list(path), "simulate() must keep the path."
            )
            return frame
        if status == Status.FAILED:
            simulator.raise_pending()
        require(status == Status.FRAME_FULL, f"simulate() returned {status} without a deadline.")
        frame = grown_frame(frame)
        simulator.bind(frame)
    raise ConformanceError("simulate() returns FRAME_FULL however large the frame is.")


def _check_leaf(frame: Frame, leaf: GameState, numbers: ActionNumbers | None) -> None:
    header = frame.header
    player, count = leaf.current_player(), int(header[Header.NUM_ACTIONS])
    require(
        header[Header.PLAYER] == player,
        f"simulate() says that {header[Header.PLAYER]} moves at the leaf, not {player}.",
    )
    given = _ids(frame.actions[:count], numbers)
    outcomes = leaf.chance_outcomes() if player == PlayerId.CHANCE else []
    actions = [action for action, _ in outcomes]
    if player != PlayerId.CHANCE and not leaf.is_terminal():
        actions = [action for _, legal in movers(leaf) for action in legal]
    if is_simultaneous(leaf):
        _check_movers(frame, leaf)
    require(
        given == actions,
        f"simulate() must list the leaf's actions in the state's order, {actions!r}: got "
        f"{given!r}.",
    )
    if header[Header.UNIFORM] or count == 0:
        expected = [1.0 / max(count, 1)] * len(outcomes)
    else:
        expected = frame.probabilities[:count].tolist()
    require(
        all(abs(p - q) < TOLERANCE for (_, p), q in zip(outcomes, expected, strict=False)),
        f"simulate() must report the chance outcomes {outcomes!r}, got {expected!r}.",
    )


def _ids(given: NDArray[np.int32], numbers: ActionNumbers | None) -> list[int]:
    """The actions behind a provider's numbers."""
    listed: list[int] = given.tolist()
    return listed if numbers is None else numbers.ids(listed)


def _check_movers(frame: Frame, leaf: GameState) -> None:
    """Check the players who move at the same time at a leaf, and their actions."""
    number = int(frame.header[Header.NUM_MOVERS])
    given = list(
        zip(frame.movers[:number].tolist(), frame.mover_ends[:number].tolist(), strict=True)
    )
    players, counts = zip(*((player, len(legal)) for player, legal in movers(leaf)), strict=True)
    expected = list(zip(players, itertools.accumulate(counts), strict=True))
    require(
        given == expected,
        f"simulate() must report each player to move with the end of their actions, "
        f"{expected!r}: got {given!r}.",
    )


def _check_playouts(
    frame: Frame, leaf: GameState, max_moves: int, numbers: ActionNumbers | None
) -> None:
    count = int(frame.header[Header.NUM_PLAYOUTS])
    wanted = 1 if leaf.is_terminal() else PLAYOUTS
    require(count == wanted, f"simulate() must run {wanted} playouts, got {count}.")
    start = 0
    for playout in range(count):
        end = int(frame.playout_ends[playout])
        require(
            start <= end <= frame.header[Header.MOVE_CAPACITY],
            f"simulate() has playout_ends {frame.playout_ends.tolist()!r}.",
        )
        moves = list(
            zip(
                frame.move_players[start:end].tolist(),
                _ids(frame.move_actions[start:end], numbers),
                strict=True,
            )
        )
        start = end
        bounds = (leaf.num_players(), leaf.num_distinct_actions())
        require(
            all(0 <= player < bounds[0] and 0 <= action < bounds[1] for player, action in moves),
            "simulate() recorded a move outside the ranges of players and actions.",
        )
        returns = frame.returns[playout].tolist()
        check_returns(returns, leaf, "The returns of a playout")
        if len(moves) <= max_moves:
            _check_replay(moves, returns, leaf.clone(), frame.action_weights)


def _check_replay(
    moves: list[tuple[int, int]],
    returns: list[float],
    state: GameState,
    weights: NDArray[np.float64],
) -> None:
    # Outcomes of chance are not recorded, so a replay ends where chance moves.
    while moves and not state.is_chance_node():
        legal = [] if state.is_terminal() else movers(state)
        together, moves = moves[: max(len(legal), 1)], moves[max(len(legal), 1) :]
        require(
            len(together) == len(legal)
            and all(
                player == mover and action in actions
                for (player, action), (mover, actions) in zip(together, legal, strict=True)
            ),
            f"simulate() recorded the moves {together!r} (player, action) where "
            f"{[(player, list(actions)) for player, actions in legal]!r} are legal.",
        )
        for player, actions in legal if weights.shape[1] > 0 else []:
            taken = next(action for mover, action in together if mover == player)
            require(
                weights[player, taken] == max(weights[player, action] for action in actions),
                f"simulate() played {taken} for player {player} at random, not by action_weights, "
                f"by which others of {list(actions)!r} are next to certain.",
            )
        apply_path(state, [action for _, action in together])
    if state.is_chance_node():
        return
    require(state.is_terminal(), "simulate() must play to the end of the game.")
    actual = list(state.returns())
    require(
        all(abs(a - b) < TOLERANCE for a, b in zip(actual, returns, strict=True)),
        f"simulate() gave the returns {returns!r} for a playout that ends with {actual!r}.",
    )


def check_returns(returns: Sequence[float], state: GameState, source: str) -> None:
    """Check the number and range of returns; ``source`` names their origin in the message."""
    values = [float(value) for value in returns]
    require(
        len(values) == state.num_players(),
        f"{source} must be one number for each of {state.num_players()} players, got {values!r}.",
    )
    require(all(map(math.isfinite, values)), f"{source} must be finite, got {values!r}.")
    low, high = state.min_utility() - TOLERANCE, state.max_utility() + TOLERANCE
    require(
        all(low <= value <= high for value in values),
        f"{source} must be from min_utility() {state.min_utility()!r} to max_utility() "
        f"{state.max_utility()!r}, got {values!r}.",
    )
