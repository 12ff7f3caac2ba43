"""Self-play from which a game's value is learned, compiled with the game's rules.

Players take the action with the best value behind it, now and then a random one. Each position of a
game is an example: its value moves towards what its actions are worth now and how the game went on,
by TD(λ) (Sutton 1988). Every number has a step size of its own, by temporal coherence (Beal & Smith
1999): it shrinks where the number's errors cancel. A game is over once its winner is foreseen.
"""

from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.dispatch import kernel
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
from rave_agents.games.kit.tuples import (
    NO_STAGE,
    read_board,
    row_of,
    share_told,
    update_places,
)
from rave_agents.simulate.evaluations import is_value
from rave_agents.simulate.frame import HEADER_LENGTH
from rave_agents.simulate.random_stream import random_below, random_unit

FIRST, ROOT, CHILD = 0, 1, 2
"""Records: the game's start, the position on the board, and the one behind an action."""

HERE, BEHIND, LEVELS = 0, 1, 2
"""Rows of shares, and of lists of actions: of the position on the board, and behind an action."""

LONGEST = 1000
"""Positions of a game that are kept; where it goes on, it is left out."""

ROWS = LONGEST + 1
"""Rows for the positions of a game, and one for a position behind an action."""

GAMES, OPENING, PLAYED, POSITIONS = 0, 1, 2, 3
"""Places of ``counts``: games to play, and random moves at the beginning at most; games played and
positions learned from."""

COUNTS = 4

TRACE, RANDOM, STEP, ERROR = 0, 1, 2, 3
"""Places of ``numbers``: λ, the share of random moves, the step size; the sum of squared errors."""

NUMBERS = 4

ARRAYS = 21
"""Addresses that ``entry`` takes."""


class Lesson(NamedTuple):
    """The memory of self-play."""

    header: Any
    playout_stream: Any
    counts: Any
    numbers: Any
    states: Any
    actions: Any
    """[LEVELS, room] the legal actions, and outcomes of chance."""
    probabilities: Any
    scratch: Any
    """[players] where rules write returns."""
    cells: Any
    shares: Any
    """[LEVELS, players] the share of what can be won, in [0, 1], that each player is to expect."""
    weights: Any
    sums: Any
    """The sum of the errors of each number."""
    sizes: Any
    """The sum of their absolute values."""
    places: Any
    """[ROWS, tuples] the places of each position's numbers in their tables."""
    latest_boards: Any
    """[2, cells] the boards that were noted last, in each view."""
    latest_places: Any
    """[2, tuples] the places of their numbers."""
    rows: Any
    """[ROWS] the first number of each position's row: that of its player and stage."""
    movers: Any
    """[ROWS] the player to move; below 0 where a random action was taken."""
    values: Any
    """[LONGEST, players] the shares that each position's actions were worth."""
    carrier: Any
    """[carrier_words] where rules write what a foreseen win needs."""
    room: Any
    """[foresight_room] where rules look for who wins."""


@kernel
def take_returns(rules: Any, state: Any, lesson: Any, level: Any) -> bool:
    """Write what each player has won as a share. Returns whether that is within the utilities."""
    clear(lesson.scratch)
    rules.returns(state, lesson.scratch)
    return share_returns(rules, lesson, level)


@kernel
def share_returns(rules: Any, lesson: Any, level: Any) -> bool:
    """Write the returns as shares. Returns whether they are within the utilities."""
    fine = True
    for player in range(rules.num_players):
        won = lesson.scratch[player]
        fine = fine and is_value(won, rules.least_return, rules.greatest_return)
        won = (won - rules.min_utility) / (rules.max_utility - rules.min_utility)
        lesson.shares[level, player] = won
    return fine


@kernel
def take_foreseen(rules: Any, state: Any, player: Any, lesson: Any, level: Any) -> bool:
    """Write what each player wins if that is foreseen, with ``player`` to move; else False."""
    if not rules.foresees:
        return False
    moves = rules.foresee_end(state, 1 - player, lesson.carrier, lesson.room)
    if moves == 0:
        return False
    take_winner(rules, lesson.scratch, 1 - player if moves > 0 else player)
    return share_returns(rules, lesson, level)


@kernel
def note_position(rules: Any, state: Any, player: Any, lesson: Any, row: Any) -> bool:
    """Write the places of a position's numbers to a row. Returns False for a kind of no cell."""
    stage = read_board(rules, state, player, lesson.cells)
    if stage == NO_STAGE:
        return False
    view = player if rules.players_share else np.int64(0)
    places = lesson.latest_places[view]
    update_places(rules, view, lesson.cells, lesson.latest_boards[view], places)
    for number in range(rules.num_tuples):
        lesson.places[row, number] = places[number]
    lesson.rows[row] = row_of(rules, player, stage, 0)
    lesson.movers[row] = player
    return True


@kernel
def expect(rules: Any, lesson: Any, row: Any, level: Any) -> None:
    """Write what each player is to expect of a position that is noted."""
    player = lesson.movers[row]
    for output in range(rules.num_outputs):
        start = lesson.rows[row] + output * rules.num_features
        told = player if rules.players_share else output
        lesson.shares[level, told] = share_told(rules, lesson.weights[start:], lesson.places[row])
    if rules.num_outputs < rules.num_players:
        told = player if rules.players_share else 0
        lesson.shares[level, 1 - told] = 1.0 - lesson.shares[level, told]


@kernel
def move_towards(rules: Any, lesson: Any, row: Any) -> None:
    """Move a position's value towards the shares here, by the step size of each of its numbers."""
    player = lesson.movers[row]
    step = lesson.numbers[STEP] / (rules.num_tuples + 1)
    for output in range(rules.num_outputs):
        start = lesson.rows[row] + output * rules.num_features
        wanted = lesson.shares[HERE, player if rules.players_share else output]
        error = wanted - share_told(rules, lesson.weights[start:], lesson.places[row])
        lesson.numbers[ERROR] += error * error
        for number in range(rules.num_tuples):
            place = np.int64(rules.tuple_tables[number]) + np.int64(lesson.places[row, number])
            learn_number(lesson, start + place, error, step)
        learn_number(lesson, start + rules.num_features - 1, error, step)


@kernel
def learn_number(lesson: Any, place: Any, error: float, step: float) -> None:
    """Take one step, in proportion to how far the number's errors so far agree."""
    size = np.float64(lesson.sizes[place])
    rate = abs(np.float64(lesson.sums[place])) / size if size > 0.0 else 1.0
    lesson.weights[place] += np.float32(step * rate * error)
    lesson.sums[place] += np.float32(error)
    lesson.sizes[place] += np.float32(abs(error))


@kernel
def lead_on(rules: Any, lesson: Any, record: Any) -> Any:
    """Draw chance's outcomes until a player is to move. Returns who, or what the rules break."""
    state = lesson.states[record]
    player = np.int64(rules.player(state))
    while player == CHANCE:
        outcome = np.int64(
            drawn_outcome(rules, state, lesson.actions[BEHIND], lesson.probabilities, lesson)
        )
        if outcome < 0:
            return outcome
        rules.play(state, outcome)
        player = np.int64(rules.player(state))
    if player != TERMINAL and not 0 <= player < rules.num_players:
        return refuse(lesson, BAD_PLAYER, player)
    return player


@kernel
def lead_on_or_end(rules: Any, lesson: Any, record: Any, level: Any) -> Any:
    """Lead on to a player. Returns who, or what the rules break.

    It is TERMINAL, and what each player wins is written, where the game is over or its winner is
    foreseen.
    """
    player = np.int64(lead_on(rules, lesson, record))
    state = lesson.states[record]
    if player == TERMINAL:
        fine = take_returns(rules, state, lesson, level)
        return player if fine else refuse(lesson, BAD_RETURNS, 0)
    if player >= 0 and take_foreseen(rules, state, player, lesson, level):
        return np.int64(TERMINAL)
    return player


@kernel
def list_actions(rules: Any, lesson: Any) -> Any:
    """List the legal actions on the board. Returns their number, or what the rules break."""
    count = np.int64(rules.legal_actions(lesson.states[ROOT], lesson.actions[HERE]))
    if not 0 < count <= rules.max_actions:
        return refuse(lesson, BAD_COUNT, count)
    for place in range(count):
        action = lesson.actions[HERE, place]
        if not 0 <= action < rules.num_distinct_actions:
            return refuse(lesson, BAD_ACTION, action)
    return count


@kernel
def value_behind(rules: Any, lesson: Any, action: Any) -> Any:
    """Play an action, and write what is to be expected of the position behind it.

    Returns 0, or what the rules break.
    """
    copy_state(lesson.states, ROOT, CHILD)
    state = lesson.states[CHILD]
    rules.play(state, action)
    player = np.int64(lead_on_or_end(rules, lesson, CHILD, BEHIND))
    if player == TERMINAL:
        return np.int64(0)
    if player < 0:
        return player
    if not note_position(rules, state, player, lesson, LONGEST):
        return refuse(lesson, BAD_VALUE, 0)
    expect(rules, lesson, LONGEST, BEHIND)
    return np.int64(0)


@kernel
def look_ahead(rules: Any, lesson: Any, count: Any) -> Any:
    """Find the action with the best value behind it. Returns its place, or what the rules break.

    What is to be expected behind it is written as that of the position.
    """
    mover = np.int64(rules.player(lesson.states[ROOT]))
    best: Any = np.int64(0)
    for place in range(count):
        told = np.int64(value_behind(rules, lesson, np.int64(lesson.actions[HERE, place])))
        if told < 0:
            return told
        if place == 0 or lesson.shares[BEHIND, mover] > lesson.shares[HERE, mover]:
            best = place
            for player in range(rules.num_players):
                lesson.shares[HERE, player] = lesson.shares[BEHIND, player]
    return best


@kernel
def draw_move(rules: Any, lesson: Any, count: Any, best: Any, length: Any) -> Any:
    """The place of the action to play: the best one, or now and then a random one."""
    if random_unit(lesson.playout_stream) < lesson.numbers[RANDOM]:
        place = np.int64(random_below(lesson.playout_stream, count))
        if place != best:
            lesson.movers[length] = -1 - lesson.movers[length]
        return place
    return best


@kernel
def play_game(rules: Any, lesson: Any) -> Any:
    """Play a game. Returns the number of its positions to learn from, or what the rules break."""
    copy_state(lesson.states, FIRST, ROOT)
    root = lesson.states[ROOT]
    opening: Any = np.int64(random_below(lesson.playout_stream, lesson.counts[OPENING] + 1))
    length, moves = np.int64(0), np.int64(0)
    while length < LONGEST and moves < 2 * LONGEST:
        player = np.int64(lead_on_or_end(rules, lesson, ROOT, HERE))
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
        elif count > 1:
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

    V is what a position's actions are worth, and G how the game went on; after a random action V
    alone counts.
    """
    for back in range(length):
        row = length - 1 - back
        trace = lesson.numbers[TRACE]
        if lesson.movers[row] < 0:
            lesson.movers[row] = -1 - lesson.movers[row]
            trace = 0.0
        for player in range(rules.num_players):
            value = lesson.values[row, player]
            lesson.shares[HERE, player] = value + trace * (lesson.shares[HERE, player] - value)
        move_towards(rules, lesson, row)


def entry(rules: Any, address: Any) -> Any:
    """Play games of self-play and learn from them; returns 0, or what the rules break.

    Args:
        rules: the rules, with tuples.
        address: of ``ARRAYS`` addresses, and the sizes of lists, actions and numbers.
    """
    at = array_at(address, ARRAYS + 1, np.int64)
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
    """Play the games that ``counts`` tells."""
    for _ in range(lesson.counts[GAMES]):
        length = np.int64(play_game(rules, lesson))
        if length < 0:
            return length
        learn_game(rules, lesson, length)
        lesson.counts[PLAYED] += 1
        lesson.counts[POSITIONS] += length
    return 0
