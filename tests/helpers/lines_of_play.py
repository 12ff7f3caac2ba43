"""Positions after given moves, what lines of play lead to, and what is told of a position."""

import numpy as np


def played(rules, moves):
    """The position after moves from the start."""
    state = rules.new_initial_state()
    for move in moves:
        state.apply_action(move)
    return state


def after(state, action):
    """The position after an action."""
    child = state.clone()
    child.apply_action(action)
    return child


def perft(state, depth):
    """The number of lines of play of so many moves, or outcomes of chance."""
    if depth == 0:
        return 1
    if depth == 1:
        return len(state.legal_actions())
    return sum(perft(after(state, action), depth - 1) for action in state.legal_actions())


def wins(state, known):
    """True if who is to move wins, by looking at all moves; ``known`` keeps what was found."""
    key = str(state), state.current_player()
    if key not in known:
        children = (after(state, action) for action in state.legal_actions())
        known[key] = any(child.is_terminal() or not wins(child, known) for child in children)
    return known[key]


def wins_within(state, player, moves):
    """True if a player can win in so many moves, by looking at all of them."""
    if state.is_terminal():
        return state.returns()[player] > 0
    if moves == 0:
        return False
    children = (
        wins_within(after(state, each), player, moves - 1) for each in state.legal_actions()
    )
    return (any if state.current_player() == player else all)(children)


def told_of(state):
    """What rules tell of a position to a solver: the cells and the number."""
    numbers, cells = [], np.zeros(state.rules.num_board_cells, np.int8)

    def describe(record):
        numbers.append(state.rules.describe_position(record, cells))

    state.clone().change(describe)
    return cells.tolist(), numbers[0]
