"""``check_game_state``: checks that a state implements ``GameState`` correctly."""

import math
import operator
import random
from collections.abc import Callable, Sequence
from typing import Any

from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import ConformanceError, GameError, UnsupportedGameError
from rave_agents.frameworks.own_games import as_game, is_maker
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import (
    GameState,
    PlayerId,
    apply_path,
    draws_chance,
    has_simultaneous_moves,
    hides_information,
    is_simultaneous,
    missing_methods,
)
from rave_agents.searcher.searcher import Searcher
from rave_agents.testing.common import TOLERANCE, drawn_move, movers, require, snapshot
from rave_agents.testing.position_keys import KeyedPositions
from rave_agents.testing.simulators import check_returns, check_simulator

SEARCHED_POSITIONS = 2
"""Positions of each random game from which the check runs a search and the simulator."""

WORLDS = 3
"""Worlds that the check draws at a position with hidden information."""


def check_game_state(
    game: Any,
    *,
    games: int = 5,
    seed: int = 0,
    max_moves: int = 2000,
) -> None:
    """Play random games and check that the state implements ``rave_agents.GameState`` correctly.

    The check verifies the player to move, the legal actions (of every player where players move at
    the same time), chance outcomes and returns; that clones are equal, share no mutable object, and
    agree after the same action; that states with equal keys, met in these games or by moves in
    another order, play on the same; ``position_key``, ``action_to_string``,
    ``simulator``, ``worlds`` and ``view`` if the state has them; and that a search plays a legal
    action and does not change the state.

    Args:
        game: a class of states or a function, which makes a new initial state at each call; or
            anything else that ``rave_agents.as_game`` takes, such as a state.
        games: the number of random games.
        seed: seeds every random choice.
        max_moves: the number of moves, chance outcomes included, after which a game is stopped.

    Raises:
        ConformanceError: with the method and the rule that it violated.
    """
    make_state = _maker(game)
    keyed = KeyedPositions(random.Random(f"{seed} keys"))
    for number in range(games):
        draw = random.Random(f"{seed} {number}")
        state = make_state()
        require(state is not make_state(), f"{game!r} must make a new state at each call.")
        _check_constants(state)
        kept: list[tuple[GameState, Any]] = []
        moves = 0
        while not state.is_terminal() and moves < max_moves:
            _check_position(state)
            keyed.look(state, max_moves)
            move = drawn_move(state, draw)
            _check_step(state, move)
            # The first position, then ever fewer, but some deep ones: kept clones are compared
            # after the game, when aliased lists have changed.
            if draw.random() < 1 / (1 + moves) or draw.random() < 0.02:
                kept.append((state.clone(), snapshot(state)))
            apply_path(state, move)
            moves += 1
        _check_position(state)
        for clone, before in kept:
            require(
                snapshot(clone) == before,
                "clone() must share nothing that can change: a clone changed when the state it was "
                "made from played on.",
            )
        draw.shuffle(kept)
        for clone, _ in kept[:SEARCHED_POSITIONS]:
            _check_playing_on(clone, draw, max_moves)
            if hides_information(clone):
                _check_worlds(clone, draw)
            elif draws_chance(clone):
                pass  # ``apply_action`` draws: a replay of the playout would differ.
            elif StateAbilities(clone).simulator is not None:  # before a search relies on it
                check_simulator(clone, seed=draw.randrange(2**30), max_moves=max_moves)
            _check_search(clone, seed)


def _maker(game: Any) -> Callable[[], Any]:
    try:
        if is_maker(game) and isinstance(game(), GameState):
            return game  # type: ignore[no-any-return]
        return as_game(game).new_initial_state
    except (GameError, TypeError) as error:
        raise ConformanceError(str(error)) from error


def _check_constants(state: GameState) -> None:
    for name in ("num_players", "num_distinct_actions"):
        number = operator.methodcaller(name)(state)
        require(number >= 1, f"{name}() must be at least 1, got {number!r}.")
    low, high = state.min_utility(), state.max_utility()
    require(low <= high, f"min_utility() {low!r} must not be above max_utility() {high!r}.")


def _check_position(state: GameState) -> None:
    player = state.current_player()
    known = [PlayerId.CHANCE, PlayerId.TERMINAL]
    if has_simultaneous_moves(state):
        known.append(PlayerId.SIMULTANEOUS)
    names = ", ".join(f"{marker.name} ({marker})" for marker in known)
    require(
        0 <= player < state.num_players() or player in known,
        f"current_player() must be from 0 to {state.num_players() - 1}, or one of {names}, got "
        f"{player!r}.",
    )
    for name, marker in (
        ("is_terminal", PlayerId.TERMINAL),
        ("is_chance_node", PlayerId.CHANCE),
    ):
        claimed = bool(operator.methodcaller(name)(state))
        require(
            claimed == (player == marker),
            f"{name}() is {claimed}, but current_player() is {player!r}.",
        )
    if player == PlayerId.TERMINAL:
        check_returns(state.returns(), state, "returns()")
    elif player == PlayerId.CHANCE:
        _check_outcomes(state.chance_outcomes())
    else:
        _check_legal(state)
    key = StateAbilities(state).position_key
    if key is not None:
        _require_hashable(key())


def _require_hashable(key: object) -> None:
    try:
        hash(key)
    except TypeError as error:
        raise ConformanceError(f"position_key() must be hashable, got {key!r}.") from error


def _check_legal(state: Any) -> None:
    several, bound = is_simultaneous(state), state.num_distinct_actions()
    together = movers(state)
    require(
        len(together) > 0,
        "legal_actions(player) must not be empty for all players where they move.",
    )
    for player, legal in together:
        call, actions = f"legal_actions({player if several else ''})", list(legal)
        require(len(actions) > 0, f"{call} must not be empty where a player is to move.")
        require(len(set(actions)) == len(actions), f"{call} has an action twice: {actions!r}.")
        require(
            all(0 <= action < bound for action in actions),
            f"{call} must be from 0 to num_distinct_actions() - 1 = {bound - 1}, got from "
            f"{min(actions)!r} to {max(actions)!r}.",
        )
        name_of = StateAbilities(state).action_to_string
        for action in actions:
            text = "" if name_of is None else name_of(player, action)
            require(isinstance(text, str), f"action_to_string() must give a string, got {text!r}.")


def _check_outcomes(outcomes: Sequence[tuple[int, float]]) -> None:
    actions = [action for action, _ in outcomes]
    require(len(actions) > 0, "chance_outcomes() must not be empty at a chance node.")
    require(
        len(set(actions)) == len(actions), f"chance_outcomes() has an outcome twice: {actions!r}."
    )
    require(
        all(0.0 <= probability <= 1.0 + TOLERANCE for _, probability in outcomes),
        f"chance_outcomes() must have probabilities in [0, 1], got {outcomes!r}.",
    )
    total = math.fsum(probability for _, probability in outcomes)
    require(
        abs(total - 1.0) < TOLERANCE,
        f"The probabilities of chance_outcomes() must sum to 1, got {total}.",
    )


def _check_step(state: GameState, move: list[int]) -> None:
    several = is_simultaneous(state)
    call = f"apply_actions() with {move!r}" if several else f"apply_action({move[0]!r})"
    before = snapshot(state)
    first, second = state.clone(), state.clone()
    require(first is not state, "clone() must make a new state.")
    require(
        not missing_methods(first),
        f"clone() must return a copy of the state, got {first!r}.",
    )
    require(snapshot(first) == before, "clone() must give an equal state.")
    returned: Any = None
    if several:
        apply_path(first, move)
    else:
        returned = first.apply_action(move[0])
    require(
        snapshot(state) == before and snapshot(second) == before,
        "clone() must share nothing that can change: a move on a clone changed another state.",
    )
    require(
        not isinstance(returned, type(state)) or returned is first or snapshot(first) != before,
        f"{call} must change the state itself: it returned a new one.",
    )
    _check_position(first)
    apply_path(second, move)
    require(
        snapshot(first) == snapshot(second),
        f"{call} must do the same on equal states: two clones differ after it.",
    )


def _check_playing_on(state: GameState, draw: random.Random, max_moves: int) -> None:
    """Play two clones to the end by the same moves."""
    before = snapshot(state)
    first, second = state.clone(), state.clone()
    for _ in range(max_moves):
        if first.is_terminal():
            break
        move = drawn_move(first, draw)
        apply_path(first, move)
        apply_path(second, move)
    require(
        snapshot(first) == snapshot(second),
        "apply_action() must do the same on equal states: two clones differ after a whole game.",
    )
    require(
        snapshot(state) == before,
        "clone() must share nothing that can change: the state changed when clones of it were "
        "played to the end.",
    )


def _check_worlds(state: Any, draw: random.Random) -> None:
    if state.is_terminal() or state.is_chance_node():
        return
    before, player = snapshot(state), state.current_player()
    try:
        source = state.worlds(player, draw.random)
    except UnsupportedGameError:
        return
    for _ in range(WORLDS):
        world = source()
        # Players know their legal actions, so worlds that differ in these could be told apart.
        require(world is not state, "worlds() must give other states, not the state itself.")
        require(
            world.current_player() == player
            and list(world.legal_actions()) == list(state.legal_actions()),
            "worlds() must give states in which the same player moves and the same is legal.",
        )
        require(
            world.view(player) == state.view(player),
            "worlds() must give states that look the same to the player: view() differs.",
        )
        apply_path(world, drawn_move(world, draw))
    require(snapshot(state) == before, "worlds() must leave the state as it was.")


def _check_search(state: GameState, seed: int) -> None:
    if state.is_terminal() or state.is_chance_node():
        return
    before = snapshot(state)
    config = SearchConfig.preset("rave").replace(search_forced_moves=True)
    # The last mover, who is not player 0 where players move at the same time.
    player, legal = movers(state)[-1]
    result = Searcher(config, seed=seed).search(state, Limit(simulations=10), player=player)
    require(snapshot(state) == before, "A search must leave the state as it was.")
    require(result.action in legal, f"A search chose {result.action}, not legal there.")
