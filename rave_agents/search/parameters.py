"""The fields of ``SearchConfig`` that the loop reads, as run-time flags and numbers.

The loop is compiled for all of them together.
"""

import enum
from typing import NamedTuple


class Weighting(enum.IntEnum):
    """What an AMAF update counts; the members of ``options.AmafWeighting``, in its order."""

    UNIFORM = 0
    LINEAR = 1
    STEPPED = 2


class Strategy(enum.IntEnum):
    """How an action is chosen where players move at the same time."""

    NONE = 0
    """As everywhere: the most urgent edge."""
    REGRET_MATCHING = 1
    EXP3 = 2


class Bonus(enum.IntEnum):
    """What proof numbers say for an edge; the members of ``options.ProofBonus``, in its order."""

    RANK = 0
    DENSE_RANK = 1
    MAX = 2
    SUM = 3


class Parameters(NamedTuple):
    """See ``SearchConfig`` for the meaning, unit and range of each.

    ``beta_a`` and ``beta_d`` stand for the schedules that are not hand-selected, see
    ``formulas.blended_mean``. ``formula_failure`` is the address of ``Scratch.formula_failure``.
    """

    puct: bool
    tuned: bool
    strategy: int
    gamma: float
    tie_tolerance: float
    formula_address: int
    formula_failure: int
    exploration: float
    simultaneous_exploration: float
    first_play_urgency: float
    amaf: bool
    only_own_amaf: bool
    tables: bool
    every_node_has_table: bool
    grave_ref: int
    grave_table_visits: int
    hand_selected: bool
    rave_k: float
    beta_a: float
    beta_d: float
    blend_ucb: bool
    weighting: int
    weight_first: float
    weight_last: float
    every_occurrence: bool
    plain_selection_period: int
    amaf_unvisited: bool
    amaf_prior_value: float
    amaf_prior_visits: float
    winning_moves: bool
    winning_move_weight: float
    solver: bool
    stop_proven: bool
    proof_numbers: bool
    every_player: bool
    searching_player: int
    proof_bonus: int
    proof_constant: float
    proof_visits: float
    proof_weight: float
    draw_layer: bool
    skip_solved: bool
    skip_solved_visits: int
    check_terminal: bool
    check_refutations: bool
    least_utility: float
    greatest_utility: float
    utility_sum: float
    expand_visits: int
    playout_temperature: float
    fixed_range: bool
