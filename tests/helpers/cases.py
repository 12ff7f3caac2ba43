"""Random games and configurations, to compare whole trees on."""

import math
import random

from helpers.games import RandomEvaluator, random_game

from rave_agents import SearchConfig


def random_case(seed):
    """A random game, configuration and evaluator."""
    draw = random.Random(f"case {seed}")
    whole = draw.random() < 0.5
    stated = draw.random() < 0.7
    state = random_game(
        seed,
        num_players=draw.randint(1, 3),
        width=draw.randint(2, 6),
        depth=draw.randint(1, 9),
        chance=draw.choice([0.0, 0.0, 0.3]),
        low=draw.choice([-1.0, 0.0, -300.0, 5.0]),
        high=draw.choice([6.0, 7.0, 1000.0]),
        # Equal utilities under bounds that move are equal up to rounding alone.
        whole=whole and stated,
        stated=stated,
    )
    evaluator = RandomEvaluator() if draw.random() < 0.3 else None
    selection = draw.choice(["ucb1", "puct", "ucb1_tuned"])
    config = SearchConfig(
        selection=selection,
        exploration=draw.choice([0.0, 0.3, 0.7, 2.5]),
        first_play_urgency=draw.choice([float("inf"), 0.5, 0.0, 1.1]),
        amaf=(amaf := draw.choice(["none", "node", "node", "grave", "global"])),
        grave_ref=draw.choice([0, 3, 50]),
        grave_table_visits=draw.choice([1, 1, 4]),
        rave_schedule=draw.choice(["hand_selected", "minimum_mse", "fuego", "pachi", "grave"]),
        fuego_initial=draw.choice([0.9, 1.0]),
        fuego_final=draw.choice([20.0, 5000.0]),
        pachi_equivalence=draw.choice([10.0, 3500.0]),
        grave_bias=draw.choice([1e-5, 0.01]),
        amaf_weighting=draw.choice(["uniform", "linear", "stepped"]),
        amaf_weight_first=draw.choice([2.0, 3.0]),
        amaf_weight_last=draw.choice([0.0, 1.0]),
        winning_move_weight=draw.choice([0.0, 0.0, 0.3, 1.0]) if amaf != "none" else 0.0,
        rave_k=draw.choice([0.5, 20.0, 500.0]),
        rave_bias=draw.choice([0.0, 0.05, 0.5]),
        rave_blend="value" if selection == "puct" else draw.choice(["value", "ucb"]),
        expand_visits=draw.choice([1, 1, 2, 3, 7]),
        playouts=1 if evaluator else draw.choice([1, 1, 2, 3]),
        utility_range=draw.choice(["game", "game", "game", "observed"]) if not whole else "game",
        amaf_unvisited=draw.random() < 0.75,
        amaf_players=draw.choice(["all", "all", "own"]),
        tie_tolerance=draw.choice([0.0, 0.0, 0.05]),
        playout_temperature=draw.choice([math.inf, math.inf, 0.5, 0.05]),
    )
    return state, config, evaluator, draw.choice([1, 2, 10, 60, 150])
