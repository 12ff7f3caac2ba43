"""Conformance checks for states and bots, to call from the tests of an adapter or of a game.

``check_game_state`` takes a GameState through random games, ``check_bot`` lets bots with the
methods of ``pyspiel.Bot`` play whole games. Both return nothing if all is well and raise
``ConformanceError`` with what was violated otherwise. Everything random follows from ``seed``.
"""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rave_agents.config import Limit, SearchConfig
from rave_agents.errors import ConformanceError
from rave_agents.game import GameState, PlayerId
from rave_agents.search.random_stream import make_stream
from rave_agents.search.simulator import (
    Frame,
    Header,
    Simulator,
    Status,
    grown_frame,
    make_frame,
    simulated,
)
from rave_agents.searcher import Searcher

SEARCHED_POSITIONS = 2
"""Positions of each random game from which a search and the state's simulator are tried."""

PLAYOUTS = 2
"""Playouts that are asked of a state's simulator at once."""

_TOLERANCE = 1e-6


def check_game_state(
    make_state: Callable[[], GameState],
    *,
    games: int = 5,
    seed: int = 0,
    max_moves: int = 2000,
) -> None:
    """Play random games and check that the state keeps to ``rave_agents.game.GameState``.

    Checked are: who is to move, legal actions, chance outcomes and returns; that clones are equal,
    share nothing that can change, and do the same after the same action; ``position_key``,
    ``action_to_string`` and ``simulator`` where the state offers them; and that a search plays a
    legal action and leaves the state as it was.

    Args:
        make_state: makes the state at a game's start, a new one at each call.
        games: random games to play.
        seed: decides everything random.
        max_moves: where to break off a game, chance outcomes included.

    Raises:
        ConformanceError: naming the method and what was wrong with it.
    """
    for game in range(games):
        draw = random.Random(f"{seed} {game}")
        state = make_state()
        _require(state is not make_state(), "make_state() must make a new state at each call.")
        _check_constants(state)
        kept: list[tuple[GameState, Any]] = []
        moves = 0
        while not state.is_terminal() and moves < max_moves:
            _check_position(state)
            action = _drawn_action(state, draw)
            _check_step(state, action)
            if draw.random() < 1 / (1 + moves) or draw.random() < 0.02:
                kept.append((state.clone(), snapshot(state)))
            state.apply_action(action)
            moves += 1
        _check_position(state)
        for clone, before in kept:
            _require(
                snapshot(clone) == before,
                "clone() must share nothing that can change: a clone changed when the state it was "
                "made from played on.",
            )
        draw.shuffle(kept)
        for clone, _ in kept[:SEARCHED_POSITIONS]:
            _check_playing_on(clone, draw, max_moves)
            if hasattr(clone, "simulator"):  # before a search relies on it
                check_simulator(clone, seed=draw.randrange(2**30), max_moves=max_moves)
            _check_search(clone, seed)


def check_simulator(
    state: GameState, *, seed: int = 0, paths: int = 3, max_moves: int = 2000
) -> None:
    """Check the provider of simulations that ``state.simulator(frame, None)`` makes.

    From the state and from positions a few moves later, it must tell the same player and actions
    as the state, and its playouts must be legal: replayed on a clone they lead to a terminal
    position with the returns that it gave. Replaying needs a game without chance; with chance only
    the ranges are checked.

    Args:
        state: the root, not terminal.
        seed: decides everything random.
        paths: how many leaves to simulate from; the first is the root itself.
        max_moves: playouts longer than that are not replayed.

    Raises:
        ConformanceError: naming what was wrong.
    """
    draw = random.Random(seed)
    before = snapshot(state)
    frame = make_frame(
        num_players=state.num_players(),
        playouts=PLAYOUTS,
        playout_stream=make_stream(np.random.SeedSequence(seed)),
    )
    simulator = state.simulator(frame, None)  # type: ignore[attr-defined]
    for depth in range(paths):
        leaf = state.clone()
        path: list[int] = []
        while len(path) < depth and not leaf.is_terminal():
            path.append(_drawn_action(leaf, draw))
            leaf.apply_action(path[-1])
        frame = _simulate(simulator, frame, path)
        _check_leaf(frame, leaf)
        _check_playouts(frame, leaf, max_moves)
        _require(snapshot(state) == before, "simulator() must leave the state as it was.")


def check_bot(
    make_bot: Callable[[int, int], Any], game: Any, *, games: int = 2, seed: int = 0
) -> None:
    """Let bots with the methods of ``pyspiel.Bot`` play whole games against each other.

    Checked are: that ``step`` gives legal actions from every seat and leaves the state as it was,
    that ``inform_action`` and ``restart`` are accepted, that the policy of a bot which provides one
    covers the legal actions and sums to 1, and that bots made anew with the same seed play the same
    moves.

    Args:
        make_bot: called as ``make_bot(player, seed)``.
        game: has ``new_initial_state()``, whose states have the methods of ``pyspiel.State``.
        games: games that each set of bots plays, one after the other.
        seed: decides everything random; bots get seeds that follow from it.

    Raises:
        ConformanceError: naming the method and what was wrong with it.
    """
    num_players = int(game.new_initial_state().num_players())
    records = []
    for _ in range(2):
        bots = [make_bot(player, seed + player) for player in range(num_players)]
        records.append([_bots_game(bots, game, f"{seed} {number}") for number in range(games)])
    _require(
        records[0] == records[1],
        "step() must play the same moves for the same seed: two sets of bots made with equal seeds "
        "played different games.",
    )


def snapshot(state: GameState) -> tuple[Any, ...]:
    """All that can be asked of a position, to compare two of them."""
    player = int(state.current_player())
    parts: list[Any] = [player, bool(state.is_terminal()), bool(state.is_chance_node())]
    if player == PlayerId.CHANCE:
        parts.append(tuple((int(action), float(p)) for action, p in state.chance_outcomes()))
    elif player == PlayerId.TERMINAL:
        parts.append(tuple(map(float, state.returns())))
    else:
        parts.append(tuple(map(int, state.legal_actions())))
    if hasattr(state, "position_key"):
        parts.append(state.position_key())
    if type(state).__str__ is not object.__str__:
        parts.append(str(state))
    return tuple(parts)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConformanceError(message)


def _check_constants(state: GameState) -> None:
    for name in ("num_players", "num_distinct_actions"):
        number = getattr(state, name)()
        _require(number >= 1, f"{name}() must be at least 1, got {number!r}.")
    low, high = state.min_utility(), state.max_utility()
    _require(low <= high, f"min_utility() {low!r} must not be above max_utility() {high!r}.")


def _check_position(state: GameState) -> None:
    """Check what the state says of itself."""
    player = state.current_player()
    _require(
        0 <= player < state.num_players() or player in (PlayerId.CHANCE, PlayerId.TERMINAL),
        f"current_player() must be from 0 to {state.num_players() - 1}, CHANCE (-1) or "
        f"TERMINAL (-4), got {player!r}.",
    )
    for name, marker in (
        ("is_terminal", PlayerId.TERMINAL),
        ("is_chance_node", PlayerId.CHANCE),
    ):
        claimed = bool(getattr(state, name)())
        _require(
            claimed == (player == marker),
            f"{name}() is {claimed}, but current_player() is {player!r}.",
        )
    if player == PlayerId.TERMINAL:
        _check_returns(state.returns(), state, "returns()")
    elif player == PlayerId.CHANCE:
        _check_outcomes(state.chance_outcomes())
    else:
        _check_legal(state)
    if hasattr(state, "position_key"):
        _require_hashable(state.position_key())


def _require_hashable(key: object) -> None:
    try:
        hash(key)
    except TypeError as error:
        raise ConformanceError(f"position_key() must be hashable, got {key!r}.") from error


def _check_legal(state: GameState) -> None:
    actions = list(state.legal_actions())
    _require(len(actions) > 0, "legal_actions() must not be empty where a player is to move.")
    _require(
        len(set(actions)) == len(actions), f"legal_actions() has an action twice: {actions!r}."
    )
    bound = state.num_distinct_actions()
    _require(
        all(0 <= action < bound for action in actions),
        f"legal_actions() must be from 0 to num_distinct_actions() - 1 = {bound - 1}, got from "
        f"{min(actions)!r} to {max(actions)!r}.",
    )
    if hasattr(state, "action_to_string"):
        for action in actions:
            text = state.action_to_string(state.current_player(), action)
            _require(isinstance(text, str), f"action_to_string() must give a string, got {text!r}.")


def _check_outcomes(outcomes: Sequence[tuple[int, float]]) -> None:
    actions = [action for action, _ in outcomes]
    _require(len(actions) > 0, "chance_outcomes() must not be empty at a chance node.")
    _require(
        len(set(actions)) == len(actions), f"chance_outcomes() has an outcome twice: {actions!r}."
    )
    _require(
        all(0.0 <= probability <= 1.0 + _TOLERANCE for _, probability in outcomes),
        f"chance_outcomes() must have probabilities in [0, 1], got {outcomes!r}.",
    )
    total = math.fsum(probability for _, probability in outcomes)
    _require(
        abs(total - 1.0) < _TOLERANCE,
        f"The probabilities of chance_outcomes() must sum to 1, got {total}.",
    )


def _check_returns(returns: Sequence[float], state: GameState, source: str) -> None:
    values = [float(value) for value in returns]
    _require(
        len(values) == state.num_players(),
        f"{source} must be one number for each of {state.num_players()} players, got {values!r}.",
    )
    _require(all(map(math.isfinite, values)), f"{source} must be finite, got {values!r}.")
    low, high = state.min_utility() - _TOLERANCE, state.max_utility() + _TOLERANCE
    _require(
        all(low <= value <= high for value in values),
        f"{source} must be from min_utility() {state.min_utility()!r} to max_utility() "
        f"{state.max_utility()!r}, got {values!r}.",
    )


def _check_step(state: GameState, action: int) -> None:
    """Check clones of the state, and that an action does the same to each of them."""
    before = snapshot(state)
    first, second = state.clone(), state.clone()
    _require(first is not state, "clone() must make a new state.")
    _require(snapshot(first) == before, "clone() must give an equal state.")
    first.apply_action(action)
    _require(
        snapshot(state) == before and snapshot(second) == before,
        "clone() must share nothing that can change: apply_action() on a clone changed another "
        "state.",
    )
    _check_position(first)
    second.apply_action(action)
    _require(
        snapshot(first) == snapshot(second),
        f"apply_action({action!r}) must do the same on equal states: two clones differ after it.",
    )


def _check_playing_on(state: GameState, draw: random.Random, max_moves: int) -> None:
    """Play two clones to the end by the same moves."""
    before = snapshot(state)
    first, second = state.clone(), state.clone()
    for _ in range(max_moves):
        if first.is_terminal():
            break
        action = _drawn_action(first, draw)
        first.apply_action(action)
        second.apply_action(action)
    _require(
        snapshot(first) == snapshot(second),
        "apply_action() must do the same on equal states: two clones differ after a whole game.",
    )
    _require(
        snapshot(state) == before,
        "clone() must share nothing that can change: the state changed when clones of it were "
        "played to the end.",
    )


def _check_search(state: GameState, seed: int) -> None:
    """Check that a search leaves the state as it was."""
    if state.is_terminal() or state.is_chance_node():
        return
    before = snapshot(state)
    config = SearchConfig.preset("rave").replace(search_forced_moves=True)
    result = Searcher(config, seed=seed).search(state, Limit(simulations=10))
    _require(snapshot(state) == before, "A search must leave the state as it was.")
    _require(
        result.action in state.legal_actions(), f"A search chose {result.action}, not legal there."
    )


def _drawn_action(state: GameState, draw: random.Random) -> int:
    if state.is_chance_node():
        actions, weights = zip(*state.chance_outcomes(), strict=True)
        return int(draw.choices(actions, weights)[0])
    return int(draw.choice(list(state.legal_actions())))


def _simulate(simulator: Simulator, frame: Frame, path: Sequence[int]) -> Frame:
    """Run ``simulate`` with expansion; returns the frame that it filled, maybe a larger one."""
    for _ in range(64):
        header = frame.header
        frame.path[: len(path)] = path
        header[Header.PATH_LENGTH] = len(path)
        header[Header.EXPAND] = 1
        header[Header.REQUIRED_ACTIONS] = header[Header.REQUIRED_MOVES] = 0
        status = simulated(simulator, frame)
        if status == Status.DONE:
            _require(
                frame.path[: len(path)].tolist() == list(path), "simulate() must keep the path."
            )
            return frame
        if status == Status.FAILED:
            simulator.raise_pending()
        _require(status == Status.FRAME_FULL, f"simulate() returned {status} without a deadline.")
        frame = grown_frame(frame)
        simulator.bind(frame)
    raise ConformanceError("simulate() returns FRAME_FULL however large the frame is.")


def _check_leaf(frame: Frame, leaf: GameState) -> None:
    """Check what the simulator tells of the leaf itself."""
    header = frame.header
    player, count = leaf.current_player(), int(header[Header.NUM_ACTIONS])
    _require(
        header[Header.PLAYER] == player,
        f"simulate() says that {header[Header.PLAYER]} moves at the leaf, not {player}.",
    )
    told = frame.actions[:count].tolist()
    outcomes = leaf.chance_outcomes() if player == PlayerId.CHANCE else []
    if player == PlayerId.CHANCE:
        actions = [action for action, _ in outcomes]
    else:
        actions = [] if leaf.is_terminal() else list(leaf.legal_actions())
    _require(
        told == actions,
        f"simulate() must list the leaf's actions in the state's order, {actions!r}: got {told!r}.",
    )
    if header[Header.UNIFORM] or count == 0:
        expected = [1.0 / max(count, 1)] * len(outcomes)
    else:
        expected = frame.probabilities[:count].tolist()
    _require(
        all(abs(p - q) < _TOLERANCE for (_, p), q in zip(outcomes, expected, strict=False)),
        f"simulate() must tell the chances of the outcomes, {outcomes!r}: got {expected!r}.",
    )


def _check_playouts(frame: Frame, leaf: GameState, max_moves: int) -> None:
    """Check that the playouts of the frame are games that the leaf can have."""
    count = int(frame.header[Header.NUM_PLAYOUTS])
    wanted = 1 if leaf.is_terminal() else PLAYOUTS
    _require(count == wanted, f"simulate() must run {wanted} playouts, got {count}.")
    start = 0
    for playout in range(count):
        end = int(frame.playout_ends[playout])
        _require(
            start <= end <= frame.header[Header.MOVE_CAPACITY],
            f"simulate() has playout_ends {frame.playout_ends.tolist()!r}.",
        )
        moves = list(
            zip(
                frame.move_players[start:end].tolist(),
                frame.move_actions[start:end].tolist(),
                strict=True,
            )
        )
        start = end
        bounds = (leaf.num_players(), leaf.num_distinct_actions())
        _require(
            all(0 <= player < bounds[0] and 0 <= action < bounds[1] for player, action in moves),
            "simulate() recorded a move outside the ranges of players and actions.",
        )
        returns = frame.returns[playout].tolist()
        _check_returns(returns, leaf, "The returns of a playout")
        if len(moves) <= max_moves:
            _check_replay(moves, returns, leaf.clone())


def _check_replay(moves: list[tuple[int, int]], returns: list[float], state: GameState) -> None:
    for player, action in moves:
        if state.is_chance_node():
            return
        _require(
            state.current_player() == player and action in state.legal_actions(),
            f"simulate() recorded that {player} plays {action} where "
            f"{state.current_player()} is to move and {list(state.legal_actions())!r} are legal.",
        )
        state.apply_action(action)
    if state.is_chance_node():
        return
    _require(state.is_terminal(), "simulate() must play to the end of the game.")
    actual = list(state.returns())
    _require(
        all(abs(a - b) < _TOLERANCE for a, b in zip(actual, returns, strict=True)),
        f"simulate() gave the returns {returns!r} for a playout that ends with {actual!r}.",
    )


def _bots_game(bots: Sequence[Any], game: Any, seed: str) -> list[int]:
    """Play one game; returns all actions, chance outcomes included."""
    draw = random.Random(seed)
    state = game.new_initial_state()
    actions: list[int] = []
    for bot in bots:
        bot.restart()
    while not state.is_terminal():
        player = int(state.current_player())
        if state.is_chance_node():
            action = _drawn_action(state, draw)
        else:
            _require(player >= 0, f"The game has a position where current_player() is {player}.")
            action = _bot_action(bots[player], state, with_policy=draw.random() < 0.5)
        for other, bot in enumerate(bots):
            if other != player:
                before = _written(state)
                bot.inform_action(state, player, action)
                _require(
                    _written(state) == before, "inform_action() must leave the state as it was."
                )
        state.apply_action(action)
        actions.append(action)
    return actions


def _bot_action(bot: Any, state: Any, *, with_policy: bool) -> int:
    before, legal = _written(state), list(state.legal_actions())
    if with_policy and bot.provides_policy():
        _check_policy(bot.get_policy(state), legal, "get_policy()")
        _require(_written(state) == before, "get_policy() must leave the state as it was.")
        policy, action = bot.step_with_policy(state)
        _check_policy(policy, legal, "step_with_policy()")
    else:
        action = bot.step(state)
    _require(_written(state) == before, "step() must leave the state as it was.")
    _require(action in legal, f"step() gave {action!r} at a state where {legal!r} are legal.")
    return int(action)


def _check_policy(policy: Sequence[tuple[int, float]], legal: list[int], source: str) -> None:
    actions = [action for action, _ in policy]
    _require(
        sorted(actions) == sorted(legal),
        f"{source} must cover exactly the legal actions {legal!r}, got {actions!r}.",
    )
    _require(
        all(probability >= 0.0 for _, probability in policy)
        and abs(math.fsum(probability for _, probability in policy) - 1.0) < _TOLERANCE,
        f"{source} must have probabilities that sum to 1, got {policy!r}.",
    )


def _written(state: Any) -> tuple[Any, ...]:
    """What a framework's state is, for comparison."""
    history = tuple(state.history()) if callable(getattr(state, "history", None)) else ()
    return (str(state), history, int(state.current_player()))
