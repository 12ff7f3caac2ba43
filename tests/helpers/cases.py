"""Random games and configurations, to compare whole trees on."""

import math
import random

from helpers.games import RandomEvaluator, random_game

from rave_agents import SearchConfig
from rave_agents.parts import (
    GRAVE,
    HRAVE,
    PUCT,
    UCB1,
    AllEdges,
    AllPlayers,
    BlendScores,
    BlendValues,
    CheckNothing,
    CheckRefutations,
    CheckTerminal,
    DenseRankBonus,
    DrawLayer,
    Fuego,
    GraveBias,
    HandSelected,
    Linear,
    MaxBonus,
    MinimumMSE,
    NoAmaf,
    NodeAmaf,
    NoDraws,
    NoProofNumbers,
    NoSkipping,
    NoSolver,
    NoWinningMoves,
    Pachi,
    ProofNumbers,
    Proofs,
    RandomTies,
    RankBonus,
    SearchingPlayer,
    SkipSolved,
    Solver,
    SteeredPlayouts,
    Stepped,
    SumBonus,
    TiesWithin,
    UCB1Tuned,
    Uniform,
    UniformPlayouts,
    VisitedEdges,
    WinningMoves,
)


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
    config = random_config(draw, evaluated=evaluator is not None, whole=whole)
    return state, config, evaluator, draw.choice([1, 2, 10, 60, 150])


def random_config(draw, *, evaluated, whole):
    """A random configuration without proofs.

    Numbers of parts that are not used are drawn all the same.
    """
    rule = draw.choice([UCB1, PUCT, UCB1Tuned])(c=draw.choice([0.0, 0.3, 0.7, 2.5]))
    first_play_urgency = draw.choice([float("inf"), 0.5, 0.0, 1.1])
    kept = draw.choice([NoAmaf, NodeAmaf, NodeAmaf, GRAVE, HRAVE])
    tables = {"ref": draw.choice([0, 3, 50]), "table_visits": draw.choice([1, 1, 4])}
    schedule = draw.choice([HandSelected, MinimumMSE, Fuego, Pachi, GraveBias])
    schedules = [
        Fuego(initial=draw.choice([0.9, 1.0]), final=draw.choice([20.0, 5000.0])),
        Pachi(equivalence=draw.choice([10.0, 3500.0])),
        GraveBias(bias=draw.choice([1e-5, 0.01])),
    ]
    weighting = draw.choice([Uniform, Linear, Stepped])
    linear = Linear(first=draw.choice([2.0, 3.0]), last=draw.choice([0.0, 1.0]))
    winning = draw.choice([0.0, 0.0, 0.3, 1.0]) if kept is not NoAmaf else 0.0
    schedules += [
        HandSelected(k=draw.choice([0.5, 20.0, 500.0])),
        MinimumMSE(bias=draw.choice([0.0, 0.05, 0.5])),
    ]
    blending = BlendValues()
    if not isinstance(rule, PUCT):
        blending = draw.choice([BlendValues(), BlendScores()])
    expand_visits = draw.choice([1, 1, 2, 3, 7])
    playout_count = 1 if evaluated else draw.choice([1, 1, 2, 3])
    utility_range = draw.choice(["game", "game", "game", "observed"]) if not whole else "game"
    statistics = {
        "schedule": next(part for part in schedules if isinstance(part, schedule)),
        "blending": blending,
        "edges": AllEdges() if draw.random() < 0.75 else VisitedEdges(),
        "players": draw.choice([AllPlayers(), AllPlayers(), SearchingPlayer()]),
        "weighting": linear if weighting is Linear else weighting(),
        "winning": WinningMoves(winning) if winning > 0.0 else NoWinningMoves(),
    }
    amaf = NoAmaf()
    if kept is not NoAmaf:
        amaf = kept(**statistics, **(tables if kept is GRAVE else {}))
    uniform, steered = UniformPlayouts(), [SteeredPlayouts(0.5), SteeredPlayouts(0.05)]
    return SearchConfig(
        rule=rule,
        first_play_urgency=first_play_urgency,
        amaf=amaf,
        expand_visits=expand_visits,
        playout_count=playout_count,
        utility_range=utility_range,
        ties=draw.choice([RandomTies(), RandomTies(), TiesWithin(0.05)]),
        playouts=draw.choice([uniform, uniform, *steered]),
    )


def random_proving_config(draw, *, whole):
    """A configuration with a solver, proof numbers or both.

    Numbers of parts that are not used are drawn all the same.
    """
    goal = draw.choice([None, *[SearchingPlayer()] * 2, *[AllPlayers()] * 2])
    kept = draw.choice([NoAmaf, NoAmaf, NodeAmaf, GRAVE, HRAVE])
    solver = Solver() if goal is None or draw.random() < 0.7 else NoSolver()
    checks = CheckTerminal() if draw.random() < 0.5 else CheckNothing()
    bonus = draw.choice([RankBonus, DenseRankBonus, MaxBonus, SumBonus])
    if isinstance(solver, Solver) and isinstance(checks, CheckTerminal) and draw.random() < 0.5:
        checks = CheckRefutations()
    numbers = {
        "bonus": SumBonus() if bonus is SumBonus else MaxBonus(),
        "constant": draw.choice([0.0, 0.1, 1.0]),
        "weight": draw.choice([0.0, 0.0, 0.3, 1.0]),
        "visits": draw.choice([math.inf, 0.5]),
    }
    if goal is not None and bonus in (RankBonus, DenseRankBonus):
        numbers["bonus"] = bonus(draws=DrawLayer() if draw.random() < 0.5 else NoDraws())
    skips = draw.random() < 0.4
    skipping = SkipSolved(visits=draw.choice([0, 1, 5]))
    rule = draw.choice([UCB1, UCB1, PUCT])(c=draw.choice([0.0, 0.5, math.sqrt(2)]))
    first_play_urgency = draw.choice([math.inf, math.inf, 0.5, 1.1])
    tables = {"ref": draw.choice([0, 3, 20]), "table_visits": draw.choice([1, 4])}
    edges = AllEdges() if draw.random() < 0.7 else VisitedEdges()
    amaf = NoAmaf()
    if kept is not NoAmaf:
        amaf = kept(edges=edges, **(tables if kept is GRAVE else {}))
    return SearchConfig(
        search_forced_moves=True,
        proofs=Proofs(
            solver=solver,
            numbers=NoProofNumbers() if goal is None else ProofNumbers(goal=goal, **numbers),
            skipping=skipping if skips else NoSkipping(),
            checks=checks,
        ),
        rule=rule,
        first_play_urgency=first_play_urgency,
        amaf=amaf,
        expand_visits=draw.choice([1, 1, 2, 3]),
        playout_count=draw.choice([1, 1, 2]),  # A mean of three is rounded, which can part a tie.
        utility_range="game" if whole or draw.random() < 0.6 else "observed",
        playouts=draw.choice([UniformPlayouts(), UniformPlayouts(), SteeredPlayouts(0.05)]),
    )
