"""Presets: the fields of ``SearchConfig`` that each agent's name sets.

A preset named after a paper's algorithm uses no learned values, and uniformly random playouts.
Only ``auto`` uses everything that helps; ``SearchResult.took_part`` lists it.
"""

import math
from typing import Any

from rave_agents.config.final_moves import AverageStrategy, Maximin, Survivor, VisitShares
from rave_agents.config.regrets import MCCFR, AdaptiveRegrets
from rave_agents.kernel.adaptive_rule import AdaptiveUCB1
from rave_agents.kernel.amaf.nodes import NodeAmaf
from rave_agents.kernel.amaf.permutations import MCPS
from rave_agents.kernel.amaf.schedules import HandSelected
from rave_agents.kernel.amaf.tables import GRAVE, HRAVE
from rave_agents.kernel.amaf.trust import LearnedTrust
from rave_agents.kernel.amaf.views import BlendScores, VisitedEdges
from rave_agents.kernel.amaf.weightings import Linear
from rave_agents.kernel.amaf.winning_moves import WinningMoves
from rave_agents.kernel.gumbel import Gumbel
from rave_agents.kernel.moves.strategies import Exp3, RegretMatching
from rave_agents.kernel.players import AllPlayers, SearchingPlayer
from rave_agents.kernel.playouts import AdaptivePlayouts
from rave_agents.kernel.proofs.bonuses import MaxBonus, RankBonus
from rave_agents.kernel.proofs.numbers import ProofNumbers
from rave_agents.kernel.proofs.part import CheckRefutations, CheckTerminal, Proofs, SkipSolved
from rave_agents.kernel.proofs.solver import NoSolver, Solver
from rave_agents.kernel.proofs.trust import LearnedBonusTrust
from rave_agents.kernel.rules import PUCT, UCB1, Greedy
from rave_agents.kernel.selection import AdaptiveUrgency
from rave_agents.kernel.values.minimax_backup import AdaptiveBackup, MinimaxBackup
from rave_agents.kernel.values.online import OnlineValue

SIMULTANEOUS_C = 3.0
"""c of UCB1 where players move at the same time: without exploration their choices become
correlated. Measured, see docs/laboratory.md."""

_SIMULTANEOUS = AdaptiveUCB1(
    SIMULTANEOUS_C, chance_factor=1.0, values_factor=1.0, priors_c=SIMULTANEOUS_C
)

# AMAF takes the place of exploration, but not where chance makes values vary.
_RAVE: dict[str, Any] = {
    "rule": AdaptiveUCB1(c=0.0, chance_c=0.7),
    "simultaneous": _SIMULTANEOUS,
    "amaf": NodeAmaf(),
}
_EAGER_RAVE = _RAVE | {"expand_visits": 1}

_PROOFS = Proofs(
    solver=Solver(),
    numbers=ProofNumbers(goal=AllPlayers(), bonus=MaxBonus(), constant=0.2, visits=1.0),
    skipping=SkipSolved(),
    checks=CheckTerminal(),
)

PRESETS: dict[str, dict[str, Any]] = {
    "uct": {},
    "puct": {"rule": PUCT(c=1.0), "simultaneous": PUCT(SIMULTANEOUS_C), "first_play_urgency": 0.5},
    "gumbel": {
        "rule": Gumbel(),
        "simultaneous": PUCT(SIMULTANEOUS_C),
        "first_play_urgency": 0.5,
        "final_move": Survivor(),
    },
    "rave": _RAVE,
    "grave": _EAGER_RAVE | {"amaf": GRAVE()},
    "mcps": _EAGER_RAVE | {"amaf": MCPS()},
    "hrave": _EAGER_RAVE | {"amaf": HRAVE()},
    # β blends whole UCB scores: exploration grows as AMAF's weight fades.
    "rave_global": {
        "rule": UCB1(c=math.sqrt(2.0)),
        "simultaneous": UCB1(SIMULTANEOUS_C),
        "amaf": HRAVE(HandSelected(k=500.0), blending=BlendScores(), edges=VisitedEdges()),
    },
    "rave_weighted": _EAGER_RAVE | {"amaf": NodeAmaf(weighting=Linear(last=1.0))},
    "rave_winning_move": _EAGER_RAVE | {"amaf": NodeAmaf(winning=WinningMoves(weight=0.1))},
    "uct_solver": {"proofs": Proofs(skipping=SkipSolved(), checks=CheckTerminal())},
    # Almost greedy: c is a tenth of plain UCT's. With minimax backups a solved child's value is
    # exact: more visits add nothing, so it is skipped at once.
    "best_first_minimax": {
        "rule": UCB1(c=0.05),
        "simultaneous": Greedy(),
        "backup": MinimaxBackup(),
        "proofs": Proofs(skipping=SkipSolved(visits=0), checks=CheckTerminal()),
        "expand_visits": 1,
    },
    "pn_mcts": {
        "rule": AdaptiveUCB1(c=0.35),
        "simultaneous": _SIMULTANEOUS,
        "first_play_urgency": 0.5,
        "proofs": _PROOFS,
        "contempt": 0.35,
    },
    "rave_pn": _RAVE | {"proofs": _PROOFS, "contempt": 0.35},
    # Everything that helps in some game; each part decides by itself whether it fits this one.
    "auto": {
        "rule": AdaptiveUCB1(),
        "simultaneous": _SIMULTANEOUS,
        "first_play_value": AdaptiveUrgency(),
        "backup": AdaptiveBackup(),
        "amaf": NodeAmaf(trust=LearnedTrust(unvisited=0.5, expand_visits=2)),
        "proofs": _PROOFS._replace(
            numbers=_PROOFS.numbers._replace(bonus_trust=LearnedBonusTrust()),
            checks=CheckRefutations(patience=256.0),
            optional=True,
        ),
        "playouts": AdaptivePlayouts(),
        "learning": OnlineValue(),
        "regrets": AdaptiveRegrets(),
        "final_move": VisitShares(),
        "contempt": 0.35,
        "expand_visits": 1,
        "search_forced_moves": True,
        "known": True,
        "endgame_share": 0.3,
    },
    # As published: the searching player's win is the only goal, and no solver backs up outcomes.
    "pn_mcts_fsu": {
        "rule": UCB1(c=math.sqrt(2.0)),
        "simultaneous": UCB1(SIMULTANEOUS_C),
        "proofs": Proofs(
            solver=NoSolver(),
            numbers=ProofNumbers(
                goal=SearchingPlayer(), bonus=RankBonus(), constant=1.0, visits=math.inf
            ),
            skipping=SkipSolved(),
            checks=CheckTerminal(),
        ),
        "contempt": 0.0,
        "expand_visits": 1,
    },
    "rave_maximin": {
        "rule": UCB1(c=math.sqrt(2.0)),
        "simultaneous": UCB1(c=math.sqrt(2.0)),
        "amaf": NodeAmaf(HandSelected(k=500.0), blending=BlendScores(), players=SearchingPlayer()),
        "final_move": Maximin(),
    },
    "mccfr": {"regrets": MCCFR(), "final_move": AverageStrategy()},
    "regret_matching": {"simultaneous": RegretMatching(), "final_move": AverageStrategy()},
    "exp3": {"simultaneous": Exp3(), "final_move": AverageStrategy()},
}

SUMMARIES = {
    "uct": "plain UCT: Monte-Carlo tree search with UCB1",
    "puct": "Monte-Carlo tree search with PUCT",
    "gumbel": "sequential halving with Gumbel noise (Gumbel AlphaZero), for an evaluator",
    "rave": "UCT with rapid action value estimation (RAVE)",
    "grave": "RAVE with the values of a well-visited ancestor (GRAVE)",
    "mcps": "GRAVE, and all simulations with the moves of a node's path in any order (MCPS)",
    "hrave": "RAVE with the root's values at every node (HRAVE)",
    "rave_global": "RAVE with one table, blended with whole UCB values",
    "rave_weighted": "RAVE whose updates weigh less the later the move is played",
    "uct_solver": "UCT that backs up exact outcomes",
    "best_first_minimax": "best-first minimax, by an evaluator's values",
    "pn_mcts": "UCT with a solver and proof numbers",
    "rave_pn": "RAVE with a solver and proof numbers",
    "auto": "for any game: AMAF, proofs and more, each where it fits",
    "pn_mcts_fsu": "PN-MCTS as published (F, S and U)",
    "rave_winning_move": "RAVE biased to moves that come early in won simulations",
    "rave_maximin": "simultaneous moves: RAVE for its own actions, the best worst case",
    "regret_matching": "simultaneous moves: mixed strategies by regret matching",
    "mccfr": "hidden information: counterfactual regrets from the start of the game (MCCFR)",
    "exp3": "simultaneous moves: mixed strategies by Exp3",
}
"""A few words on the agent of each preset."""
