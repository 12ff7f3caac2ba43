"""Self-play that learns a value, compiled with the rules of the game.

Players take the action after which the value is best for them, or sometimes a random one. The value
of each position moves towards that of its best action and of the rest of the game, by TD(λ) (Sutton
1988). Each weight has its own step size, by temporal coherence (Beal & Smith 1999): it shrinks if
the weight's errors cancel. A game ends once its winner is foreseen.
"""

from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.evaluators.tuples import expected_share, read_board, row_of, update_places
from rave_agents.games.kit.base_rules import CHANCE, TERMINAL
from rave_agents.games.kit.leaves import take_winner
from rave_agents.games.kit.memory import array_at, clear, copy_state, states_at, table_at
from rave_agents.games.kit.playouts import drawn_outcome
from rave_agents.games.kit.refusals import (
    BAD_ACTION,
    BAD_COUNT,
    BAD_PLAYER,
    BAD_RETURNS,
    BAD_VALUE,
    refuse,
)
from rave_agents.simulate.evaluations import is_value
from rave_agents.simulate.frame import HEADER_LENGTH
from rave_agents.simulate.random_stream import random_below, random_unit

FIRST, ROOT, CHILD = 0, 1, 2
"""Records: the start of the game, the current position, and the position after an action."""

HERE, AFTER, LEVELS = 0, 1, 2
"""Rows of shares and of lists of actions: of the current position, and of that after an action."""

LONGEST = 1000
"""Positions of a game to learn from; longer games are ignored."""

ROWS = LONGEST + 1
"""A row for each position of a game, and a last one for a position after an action."""

GAMES, MOST_OPENING, POSITIONS, COUNTS = 0, 1, 2, 3
"""Places of ``counts``: games to play, the maximum of random moves at the beginning, and positions
learned from; and the length of ``counts``."""

LAMBDA, RANDOM, STEP, ERROR = 0, 1, 2, 3
"""Places of ``numbers``: λ, the probability of a random move, the step size, and the sum of squared
errors."""

NUMBERS = 4

ARRAYS = 21
"""Arrays of ``Lesson``, whose addresses ``entry`` takes."""


class Lesson(NamedTuple):
    """The memory of self-play."""

    header: Any
    playout_stream: Any
    counts: Any
    numbers: Any
    states: Any
    actions: Any
    """[LEVELS, room] legal actions, or outcomes of chance."""
    probabilities: Any
    scratch: Any
    """[players] the rules write returns here."""
    cells: Any
    shares: Any
    """[LEVELS, players] each player's expected return, scaled to [0, 1]."""
    weights: Any
    sums: Any
    """The sum of the errors of each weight."""
    sizes: Any
    """The sum of their absolute values."""
    places: Any
    """[ROWS, tuples] the places of each position's weights in their tables."""
    latest_boards: Any
    """[2, cells] the previous board in each view."""
    latest_places: Any
    """[2, tuples] the places of their weights."""
    rows: Any
    """[ROWS] the first weight of each position's player."""
    movers: Any
    """[ROWS] the player to move; -1 - player if a random action was taken."""
    values: Any
    """[LONGEST, players] the shares after each position's best action."""
    carrier: Any
    """[carrier_words] the rules write the cells of a foreseen win here."""
    room: Any
    """[foresight_room] workspace of the rules for foreseeing the winner."""


@kernel
def take_returns(rules: Any, state: Any, lesson: Any, level: Any) -> bool:
    """Write each player's return as a share. Returns False if one is outside of the utilities."""
    clear(lesson.scratch)
    rules.returns(state, lesson.scratch)
    return share_returns(rules, lesson, level)


@kernel
def share_returns(rules: Any, lesson: Any, level: Any) -> bool:
    """Write the returns in ``scratch`` as shares. Returns False as above."""
    fine = True
    for player in range(rules.num_players):
        won = lesson.scratch[player]
        fine = fine and is_value(won, rules.least_return, rules.greatest_return)
        won = (won - rules.min_utility) / (rules.max_utility - rules.min_utility)
        lesson.shares[level, player] = won
    return fine


@kernel
def take_foreseen(rules: Any, state: Any, player: Any, lesson: Any, level: Any) -> bool:
    """Write the shares if the winner is foreseen, with ``player`` to move; else return False."""
    if not rules.foresees:
        return False
    moves = rules.foresee_end(state, 1 - player, lesson.carrier, lesson.room)
    if moves == 0:
        return False
    take_winner(rules, lesson.scratch, 1 - player if moves > 0 else player)
    return share_returns(rules, lesson, level)


@kernel
def note_position(rules: Any, state: Any, player: Any, lesson: Any, row: Any) -> bool:
    """Write the places of a position's weights to a row; False for an unknown kind of cell."""
    if not read_board(rules, state, player, lesson.cells):
        return False
    # Each view has a latest board of its own, from which places are updated.
    view = player if rules.players_share else np.int64(0)
    places = lesson.latest_places[view]
    update_places(rules, view, lesson.cells, lesson.latest_boards[view], places)
    for number in range(rules.num_tuples):
        lesson.places[row, number] = places[number]
    lesson.rows[row] = row_of(rules, player, 0)
    lesson.movers[row] = player
    return True


@kernel
def expect(rules: Any, lesson: Any, row: Any, level: Any) -> None:
    """Write each player's expected share in the position of a row."""
    player = lesson.movers[row]
    for output in range(rules.num_outputs):
        start = lesson.rows[row] + output * rules.num_features
        whose = player if rules.players_share else output
        lesson.shares[level, whose] = expected_share(
            rules, lesson.weights[start:], lesson.places[row]
        )
    if rules.num_outputs < rules.num_players:
        whose = player if rules.players_share else 0
        # The sum is constant: the shares of two players sum to 1.
        lesson.shares[level, 1 - whose] = 1.0 - lesson.shares[level, whose]


@kernel
def move_towards(rules: Any, lesson: Any, row: Any) -> None:
    """Move a position's value towards the shares ``HERE``, by the step size of each weight."""
    player = lesson.movers[row]
    # The step is shared by all weights of the position: its tuples and the bias.
    step = lesson.numbers[STEP] / (rules.num_tuples + 1)
    for output in range(rules.num_outputs):
        start = lesson.rows[row] + output * rules.num_features
        wanted = lesson.shares[HERE, player if rules.players_share else output]
        error = wanted - expected_share(rules, lesson.weights[start:], lesson.places[row])
        lesson.numbers[ERROR] += error * error
        for number in range(rules.num_tuples):
            place = np.int64(rules.tuple_tables[number]) + np.int64(lesson.places[row, number])
            update_weight(lesson, start + place, error, step)
        update_weight(lesson, start + rules.num_features - 1, error, step)


@kernel
def update_weight(lesson: Any, place: Any, error: float, step: float) -> None:
    """One step of temporal coherence: its size is |sum of errors| / sum of |errors|."""
    size = np.float64(lesson.sizes[place])
    # 1 while all errors have one sign, near 0 once they cancel; 1 before the first.
    rate = abs(np.float64(lesson.sums[place])) / size if size > 0.0 else 1.0
    lesson.weights[place] += np.float32(step * rate * error)
    lesson.sums[place] += np.float32(error)
    lesson.sizes[place] += np.float32(abs(error))


@kernel
def advance(rules: Any, lesson: Any, record: Any) -> Any:
    """Draw outcomes of chance until a player moves. Returns them, TERMINAL or an error code."""
    state = lesson.states[record]
    player = np.int64(rules.player(state))
    # The outcome is drawn, not averaged: over many games the value learns the mean.
    while player == CHANCE:
        outcome = np.int64(
            drawn_outcome(rules, state, lesson.actions[AFTER], lesson.probabilities, lesson)
        )
        if outcome < 0:
            return outcome
        rules.play(state, outcome)
        player = np.int64(rules.player(state))
    if player != TERMINAL and not 0 <= player < rules.num_players:
        return refuse(lesson, BAD_PLAYER, player)
    return player


@kernel
def advance_or_end(rules: Any, lesson: Any, record: Any, level: Any) -> Any:
    """Draw outcomes of chance until a player moves. Returns the player or an error code.

    If the game is over or its winner is foreseen, it writes the shares and returns TERMINAL.
    """
    player = np.int64(advance(rules, lesson, record))
    state = lesson.states[record]
    if player == TERMINAL:
        fine = take_returns(rules, state, lesson, level)
        return player if fine else refuse(lesson, BAD_RETURNS, 0)
    if player >= 0 and take_foreseen(rules, state, player, lesson, level):
        return np.int64(TERMINAL)
    return player


@kernel
def list_actions(rules: Any, lesson: Any) -> Any:
    """List the legal actions of the current position. Returns their number or an error code."""
    count = np.int64(rules.legal_actions(lesson.states[ROOT], lesson.actions[HERE]))
    if not 0 < count <= rules.max_actions:
        return refuse(lesson, BAD_COUNT, count)
    for place in range(count):
        action = lesson.actions[HERE, place]
        if not 0 <= action < rules.num_distinct_actions:
            return refuse(lesson, BAD_ACTION, action)
    return count


@kernel
def value_after(rules: Any, lesson: Any, action: Any) -> Any:
    """Play an action in a copy, and write the shares ``AFTER`` it. Returns 0 or an error code."""
    copy_state(lesson.states, ROOT, CHILD)
    state = lesson.states[CHILD]
    rules.play(state, action)
    player = np.int64(advance_or_end(rules, lesson, CHILD, AFTER))
    if player == TERMINAL:
        return np.int64(0)
    if player < 0:
        return player
    # Row LONGEST is that of the position after an action.
    if not note_position(rules, state, player, lesson, LONGEST):
        return refuse(lesson, BAD_VALUE, 0)
    expect(rules, lesson, LONGEST, AFTER)
    return np.int64(0)


@kernel
def look_ahead(rules: Any, lesson: Any, count: Any) -> Any:
    """Find the best action of the player to move. Returns its place or an error code.

    The shares after it become those ``HERE``.
    """
    mover = np.int64(rules.player(lesson.states[ROOT]))
    best: Any = np.int64(0)
    for place in range(count):
        code = np.int64(value_after(rules, lesson, np.int64(lesson.actions[HERE, place])))
        if code < 0:
            return code
        if place == 0 or lesson.shares[AFTER, mover] > lesson.shares[HERE, mover]:
            best = place
            for player in range(rules.num_players):
                lesson.shares[HERE, player] = lesson.shares[AFTER, player]
    return best


@kernel
def draw_move(rules: Any, lesson: Any, count: Any, best: Any, length: Any) -> Any:
    """The place of the action to play: the best, or with some probability a random one."""
    if random_unit(lesson.playout_stream) < lesson.numbers[RANDOM]:
        place = np.int64(random_below(lesson.playout_stream, count))
        if place != best:
            lesson.movers[length] = -1 - lesson.movers[length]  # Marks a random action.
        return place
    return best


@kernel
def play_game(rules: Any, lesson: Any) -> Any:
    """Play a game. Returns the number of its positions to learn from, or an error code."""
    copy_state(lesson.states, FIRST, ROOT)
    root = lesson.states[ROOT]
    opening: Any = np.int64(random_below(lesson.playout_stream, lesson.counts[MOST_OPENING] + 1))
    length, moves = np.int64(0), np.int64(0)
    # Random and forced moves are not learned from, so they count separately.
    while length < LONGEST and moves < 2 * LONGEST:
        player = np.int64(advance_or_end(rules, lesson, ROOT, HERE))
        if player == TERMINAL:
            return length
        if player < 0:
            return player
        count: Any = np.int64(list_actions(rules, lesson))
        if count < 0:
            return count
        place = np.int64(0)
        if moves < opening:
            place = np.int64(random_below(lesson.playout_stream, count))
        elif count > 1:  # A forced move has no choice to learn from.
            place = np.int64(look_ahead(rules, lesson, count))
            if place < 0:
                return place
            if not note_position(rules, root, player, lesson, length):
                return refuse(lesson, BAD_VALUE, 0)
            for each in range(rules.num_players):
                lesson.values[length, each] = lesson.shares[HERE, each]
            place = draw_move(rules, lesson, count, place, length)
            length += 1
        rules.play(root, np.int64(lesson.actions[HERE, place]))
        moves += 1
    return np.int64(0)


@kernel
def learn_game(rules: Any, lesson: Any, length: Any) -> None:
    """Learn from a game's positions, from the last to the first: ``G = (1 - λ) V + λ G``.

    V is the value of a position's best action, and G the return; after a random action G = V.
    """
    for back in range(length):
        row = length - 1 - back
        trace = lesson.numbers[LAMBDA]
        if lesson.movers[row] < 0:  # What followed a random move says little of the position.
            lesson.movers[row] = -1 - lesson.movers[row]
            trace = 0.0
        for player in range(rules.num_players):
            value = lesson.values[row, player]
            lesson.shares[HERE, player] = value + trace * (lesson.shares[HERE, player] - value)
        move_towards(rules, lesson, row)


def entry(rules: Any, address: Any) -> Any:
    """Play games of self-play and learn from them; returns 0 or an error code.

    Args:
        rules: the rules, with tuples.
        address: the address of the ``ARRAYS`` addresses of a ``Lesson``.
    """
    at = array_at(address, ARRAYS, np.int64)
    room, players, size = rules.list_room, rules.num_players, rules.num_weights
    lesson = Lesson(
        array_at(at[0], HEADER_LENGTH, np.int64),
        array_at(at[1], 4, np.int64),
        array_at(at[2], COUNTS, np.int64),
        array_at(at[3], NUMBERS, np.float64),
        states_at(rules, at[4]),
        table_at(at[5], LEVELS, room, np.int32),
        array_at(at[6], room, np.float64),
        array_at(at[7], players, np.float64),
        array_at(at[8], rules.num_board_cells, np.int8),
        table_at(at[9], LEVELS, players, np.float64),
        array_at(at[10], size, np.float32),
        array_at(at[11], size, np.float32),
        array_at(at[12], size, np.float32),
        table_at(at[13], ROWS, rules.num_tuples, np.uint32),
        table_at(at[14], 2, rules.num_board_cells, np.int8),
        table_at(at[15], 2, rules.num_tuples, np.uint32),
        array_at(at[16], ROWS, np.int64),
        array_at(at[17], ROWS, np.int64),
        table_at(at[18], LONGEST, players, np.float64),
        array_at(at[19], rules.carrier_words, np.uint64),
        array_at(at[20], rules.foresight_room, np.int16),
    )
    return teach(rules, lesson)


@kernel
def teach(rules: Any, lesson: Any) -> Any:
    """Play ``counts[GAMES]`` games and learn from each. Returns 0 or an error code."""
    for _ in range(lesson.counts[GAMES]):
        length = np.int64(play_game(rules, lesson))
        if length < 0:
            return length
        learn_game(rules, lesson, length)
        lesson.counts[POSITIONS] += length
    return 0
