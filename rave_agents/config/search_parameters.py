"""The types of all that a search takes by name, for static checkers and editors.

Written by ``tests/helpers/write_parameters.py`` from ``SearchConfig`` and its parts.
"""

from typing import Any, Literal, TypedDict

PartOrSpec = str | tuple[Any, ...]
"""A part of a search, or its spec such as ``"hand_selected(k=300)"``."""


class SearchParameters(TypedDict, total=False):
    """Fields of ``SearchConfig``, and of the parts that may be in it."""

    rule: PartOrSpec
    simultaneous: PartOrSpec
    ties: PartOrSpec
    first_play_urgency: float
    first_play_value: PartOrSpec
    backup: PartOrSpec
    amaf: PartOrSpec
    proofs: PartOrSpec
    transpositions: PartOrSpec
    playouts: PartOrSpec
    playout_count: int
    judging: PartOrSpec
    learning: PartOrSpec
    root_noise: PartOrSpec
    final_move: PartOrSpec
    final_proven: bool
    contempt: float
    temperature: float
    random_moves: float
    expand_visits: int
    hidden: Literal["determinize", "see"]
    regrets: PartOrSpec
    utility_range: Literal["game", "observed"]
    threads: int
    leaves: int
    max_memory_mb: float
    reuse_tree: bool
    search_forced_moves: bool
    known: bool
    endgame_share: float
    level: int
    early_stop: bool
    c: float
    max_considered: int
    c_visit: float
    c_scale: float
    gumbel_scale: float
    c_init: float
    c_base: float
    chance_factor: float
    chance_c: float
    late_c: float
    late_visits: float
    values_factor: float
    values_c: float
    priors_c: float
    minimax_c: float
    gamma: float
    tolerance: float
    with_priors: float
    reduction: float
    p: float
    schedule: PartOrSpec
    blending: PartOrSpec
    players: PartOrSpec
    edges: PartOrSpec
    weighting: PartOrSpec
    winning: PartOrSpec
    trust: PartOrSpec
    ref: int
    table_visits: int
    tables: PartOrSpec
    refresh: float
    solver: PartOrSpec
    numbers: PartOrSpec
    skipping: PartOrSpec
    checks: PartOrSpec
    optional: bool
    context: int
    forgetting: bool
    playout_temperature: float
    anti_decisive: bool
    playout_moves: float
    minimax: float
    first_play: bool
    prior_temperature: float
    least_expand_visits: int
    learned_weight: float
    step_size: float
    epsilon: float
    alpha: float
    threshold: float
    margin: float
    visits: float | int
    fewest: float
    A: float
    regret_power: float
    average_power: float
    floor: bool
    growth: float
    sweeps: bool
    first_sweeps: int
    targeting: float
    tremble: float
    least_entries: float
    histories_per_second: float
    small_game: float
    directed_simulations: float
    longest_directed: float
    most_deals: float
    bias: float
    initial: float
    final: float
    equivalence: float
    k: float
    first: float
    last: float
    weight: float
    unvisited: float
    goal: PartOrSpec
    bonus: PartOrSpec
    constant: float
    bonus_trust: PartOrSpec
    patience: float
    draws: PartOrSpec
