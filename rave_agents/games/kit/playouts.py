"""Playouts of any ``Rules``: moves are drawn, or chosen by the search's policy, until the end.

They draw what every provider draws that lists the legal actions and takes one, unless the game has
a ``draw`` or ``playout`` of its own: so that the same trees grow.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.game.endless import LONGEST_GAME
from rave_agents.games.kit.base_rules import CHANCE, TERMINAL
from rave_agents.games.kit.choices import chosen_place
from rave_agents.games.kit.refusals import (
    BAD_ACTION,
    BAD_COUNT,
    BAD_PLAYER,
    BAD_PLAYOUT,
    ENDLESS,
    refuse,
)
from rave_agents.simulate.frame import Header
from rave_agents.simulate.random_stream import random_below, random_unit

EVEN_WEIGHTS = int(Header.EVEN_WEIGHTS)
"""A plain number, which compiled code takes as a constant."""


@kernel
def outcome(actions: Any, probabilities: Any, count: int, stream: Any) -> Any:
    """An outcome of chance, drawn by the probabilities."""
    rest = random_unit(stream)
    for place in range(count):
        rest -= probabilities[place]
        if rest < 0.0:
            return actions[place]
    return actions[count - 1]


@kernel
def weight_of(rules: Any, weights: Any, action: int) -> float:
    """The weight of an action; 0 if there is no such action."""
    if not rules.is_checked or 0 <= action < weights.shape[0]:
        return weights[action]
    return 0.0


@kernel
def weighted_place(rules: Any, actions: Any, count: int, weights: Any, stream: Any) -> int:
    """The place of one of the actions, drawn in proportion to the weights."""
    total = 0.0
    for place in range(count):
        total += weight_of(rules, weights, actions[place])
    drawn = random_unit(stream) * total
    place = 0
    total = weight_of(rules, weights, actions[0])
    while total <= drawn and place + 1 < count:
        place += 1
        total += weight_of(rules, weights, actions[place])
    return place


@kernel
def draws_by_weights(frame: Any) -> bool:
    """True if playouts draw actions by their weights."""
    return frame.action_weights.shape[1] > 0 and frame.header[EVEN_WEIGHTS] == 0


@kernel
def draws_plainly(rules: Any, frame: Any) -> bool:
    """True if playouts draw actions with equal probabilities."""
    return not rules.is_chosen and not draws_by_weights(frame)


def drawn_place(rules: Any, actions: Any, count: int, player: int, frame: Any, end: int) -> int:
    """The place of one of the actions: uniformly, or by the frame's weights if there are any."""
    if draws_by_weights(frame):
        weights = frame.action_weights[player]
        return weighted_place(rules, actions, count, weights, frame.playout_stream)
    return random_below(frame.playout_stream, count)


def way_of_drawing(rules: Any) -> Callable[..., int]:
    """The function that draws the place of an action; only that is compiled."""
    return chosen_place if rules.is_chosen else drawn_place


def take_place(rules: Any, actions: Any, count: int, player: int, frame: Any, end: int) -> int:
    """The place of one of the actions, drawn or chosen by the search's policy.

    It is below 0 if that has failed.
    """
    return way_of_drawing(rules)(rules, actions, count, player, frame, end)


@kernel
def drawn_outcome(rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any) -> Any:
    """An outcome of chance; what the rules break, which is below 0, if there is none."""
    if rules.chance_is_even:
        count = rules.even_outcomes(state)
    else:
        count = rules.chance_outcomes(state, actions, probabilities)
    if rules.is_checked and not 0 < count <= rules.max_actions:
        return refuse(frame, BAD_COUNT, count)
    if rules.chance_is_even:
        return random_below(frame.playout_stream, count)
    action = np.int64(outcome(actions, probabilities, count, frame.playout_stream))
    if rules.is_checked and not 0 <= action < rules.num_outcomes:
        return refuse(frame, BAD_ACTION, action)
    return action


@kernel
def drawn_action(
    rules: Any, state: Any, player: int, actions: Any, frame: Any, end: int, plain: bool
) -> Any:
    """A player's action; what the rules break, which is below 0, if there is none."""
    if rules.is_checked and not 0 <= player < rules.num_players:
        return refuse(frame, BAD_PLAYER, player)
    if rules.draws_itself and (plain or rules.knows_better(state)):
        action = rules.draw(state, frame.playout_stream)
    else:
        count = rules.legal_actions(state, actions)
        if rules.is_checked and not 0 < count <= rules.max_actions:
            return refuse(frame, BAD_COUNT, count)
        place = take_place(rules, actions, count, player, frame, end)
        if place < 0:
            return place
        action = np.int64(actions[place])
    if rules.is_checked and not 0 <= action < rules.num_distinct_actions:
        return refuse(frame, BAD_ACTION, action)
    return action


def draw_on(
    rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any, end: int, last: int
) -> int:
    """``play_on`` move by move."""
    plain = draws_plainly(rules, frame)
    outcomes = 0
    while True:
        player = rules.player(state)
        if player == TERMINAL:
            return end
        if rules.may_meet_chance and player == CHANCE:
            outcomes += 1
            if outcomes > LONGEST_GAME:
                return refuse(frame, ENDLESS, outcomes)
            action = drawn_outcome(rules, state, actions, probabilities, frame)
            if action < 0:
                return action
        else:
            if end == last:
                return end
            if end == frame.move_players.shape[0]:
                return -1
            action = drawn_action(rules, state, player, actions, frame, end, plain)
            if action < 0:
                return action
            frame.move_players[end] = player
            frame.move_actions[end] = action
            end += 1
        rules.play(state, action)


def place_on(
    rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any, end: int, last: int
) -> int:
    """``play_on`` where a list of actions shrinks; it stays in order, as others draw from it."""
    count = 0
    while True:
        player = rules.player(state)
        if player == TERMINAL or end == last:
            return end
        if end == frame.move_players.shape[0]:
            return -1
        if rules.is_checked and not 0 <= player < rules.num_players:
            return refuse(frame, BAD_PLAYER, player)
        if count == 0:
            count = rules.legal_actions(state, actions)
            if rules.is_checked and not 0 < count <= rules.max_actions:
                return refuse(frame, BAD_COUNT, count)
        place = take_place(rules, actions, count, player, frame, end)
        if place < 0:
            return place
        action = np.int64(actions[place])
        if rules.is_checked and not 0 <= action < rules.num_distinct_actions:
            return refuse(frame, BAD_ACTION, action)
        count -= 1
        for later in range(place, count):
            actions[later] = actions[later + 1]
        frame.move_players[end] = player
        frame.move_actions[end] = action
        end += 1
        rules.play(state, action)


def play_itself(
    rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any, end: int, last: int
) -> int:
    """``play_on`` by the game's own ``playout``, unless a policy draws or it is cut."""
    if not draws_plainly(rules, frame) or last >= 0:
        return play_moves(rules, state, actions, probabilities, frame, end, last)
    players, moves, begin = frame.move_players, frame.move_actions, end
    end = rules.playout(state, players, moves, end, frame.playout_stream)
    if end == -1 or not rules.is_checked:
        return end
    if not begin <= end <= players.shape[0]:
        return refuse(frame, BAD_PLAYOUT, end)
    signs, last_player, last_action = 0, 0, 0
    for place in range(max(begin, 0), end):  # So that the compiler knows that it is not below 0.
        signs |= players[place] | moves[place]
        last_player = max(last_player, players[place])
        last_action = max(last_action, moves[place])
    if signs < 0 or last_player >= rules.num_players:
        return refuse(frame, BAD_PLAYER, last_player)
    if last_action >= rules.num_distinct_actions:
        return refuse(frame, BAD_ACTION, last_action)
    return end


def way_of_moves(rules: Any) -> Callable[..., int]:
    """The function that plays moves one after the other; only this one is compiled."""
    return place_on if rules.placement else draw_on


def way_of_playouts(rules: Any) -> Callable[..., int]:
    """The function that plays playouts; only this one is compiled."""
    return play_itself if rules.plays_itself else way_of_moves(rules)


def play_moves(
    rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any, end: int, last: int
) -> int:
    """Play at random to the end, or to the frame's move ``last``, move by move."""
    return way_of_moves(rules)(rules, state, actions, probabilities, frame, end, last)


def play_on(
    rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any, end: int, last: int
) -> int:
    """Play at random to the end, or until the frame has ``last`` moves and a player is to move.

    Returns how many moves the frame then has, or -1 if it is full, or what the rules break. With -1
    for ``last`` it goes on to the end.
    """
    return way_of_playouts(rules)(rules, state, actions, probabilities, frame, end, last)
