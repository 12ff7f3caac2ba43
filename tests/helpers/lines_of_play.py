"""Positions after given moves."""


def played(rules, moves):
    """The position after moves from the start."""
    state = rules.new_initial_state()
    for move in moves:
        state.apply_action(move)
    return state
