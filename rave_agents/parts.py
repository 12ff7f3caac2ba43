"""The parts that a search is composed of, and what a part of your own implements.

A part is a NamedTuple, its constants; what it does stands in functions chosen by its class. One of
your own is a class and a function::

    from typing import NamedTuple

    from rave_agents.parts import beta, implements

    class Half(NamedTuple):
        n_equal: float = 100.0

    @implements(beta, Half)
    def half(schedule, n, n_amaf):
        return schedule.n_equal / (schedule.n_equal + n)

It is given as an object, ``SearchConfig.preset("rave").replace(schedule=Half(50))``, or by name,
``"rave(schedule=half(n_equal=50))"``; from a module of its own, which other processes and the
command line import, as ``"rave(schedule=my_parts:Half(n_equal=50))"``.
"""

from rave_agents.compiler.arrays import EDGE, FLOAT, INT, Array, Axis, Kept, Rows, one
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.compiler.runtime import runs_as
from rave_agents.config.final_moves import (
    AverageStrategy,
    BestOutcome,
    MatrixEquilibrium,
    MaxChild,
    Maximin,
    RobustChild,
    SecureChild,
    Survivor,
    VisitShares,
    preference,
)
from rave_agents.config.regrets import MCCFR, AdaptiveRegrets, NoRegrets
from rave_agents.config.root_noise import DirichletNoise, NoNoise, noisy
from rave_agents.games.kit.values import position_value
from rave_agents.kernel.adaptive_rule import AdaptiveUCB1
from rave_agents.kernel.amaf.hidden_trust import HiddenTrust
from rave_agents.kernel.amaf.nodes import NodeAmaf
from rave_agents.kernel.amaf.permutations import MCPS
from rave_agents.kernel.amaf.schedules import (
    Fuego,
    GraveBias,
    HandSelected,
    MinimumMSE,
    Pachi,
    beta,
)
from rave_agents.kernel.amaf.tables import GRAVE, HRAVE
from rave_agents.kernel.amaf.trust import FullTrust, LearnedTrust
from rave_agents.kernel.amaf.views import (
    AllEdges,
    BlendScores,
    BlendValues,
    NoAmaf,
    VisitedEdges,
)
from rave_agents.kernel.amaf.weightings import Linear, Stepped, Uniform, update_weight
from rave_agents.kernel.amaf.winning_moves import NoWinningMoves, WinningMoves
from rave_agents.kernel.backup import MeanBackup, edge_value
from rave_agents.kernel.declarations import (
    GameTraits,
    becomes,
    begin_search,
    game_refusal,
    needs_observations,
    needs_simulations,
    reads_lifetimes,
    refusal,
    report_moves,
    report_root,
)
from rave_agents.kernel.gumbel import Gumbel
from rave_agents.kernel.hooks import copy_edge, count_value, on_backup, on_expand, on_rescale
from rave_agents.kernel.last_good_reply import LastGoodReply
from rave_agents.kernel.move_policies import DecisiveMoves, Move, learn_move, lookahead, move_weight
from rave_agents.kernel.moves.strategies import Exp3, RegretMatching
from rave_agents.kernel.moves.transpositions import NoTranspositions, Transpositions
from rave_agents.kernel.players import AllPlayers, SearchingPlayer
from rave_agents.kernel.playouts import (
    Action,
    AdaptivePlayouts,
    SensiblePlayouts,
    SteeredPlayouts,
    UniformPlayouts,
    action_weight,
)
from rave_agents.kernel.proofs.bonuses import (
    DenseRankBonus,
    DrawLayer,
    MaxBonus,
    NoDraws,
    RankBonus,
    SumBonus,
)
from rave_agents.kernel.proofs.numbers import NoProofNumbers, ProofNumbers
from rave_agents.kernel.proofs.part import (
    CheckNothing,
    CheckRefutations,
    CheckTerminal,
    NoProofs,
    NoSkipping,
    Proofs,
    SkipSolved,
)
from rave_agents.kernel.proofs.solver import NoSolver, Solver
from rave_agents.kernel.proofs.trust import LearnedBonusTrust
from rave_agents.kernel.rules import (
    PUCT,
    UCB1,
    Edge,
    Greedy,
    Node,
    ScheduledPUCT,
    UCB1Tuned,
    exploration,
    node_term,
    score,
)
from rave_agents.kernel.selection import (
    AdaptiveUrgency,
    FixedUrgency,
    RandomTies,
    ReducedParentValue,
    TiesWithin,
    unvisited_value,
)
from rave_agents.kernel.tree import edge_rows
from rave_agents.kernel.values.implicit_minimax import Judging
from rave_agents.kernel.values.minimax_backup import AdaptiveBackup, MinimaxBackup
from rave_agents.kernel.values.node_values import PowerMean, node_value
from rave_agents.kernel.values.online import NoLearning, OnlineValue

__all__ = [
    "EDGE",
    "FLOAT",
    "GRAVE",
    "HRAVE",
    "INT",
    "MCCFR",
    "MCPS",
    "PUCT",
    "UCB1",
    "Action",
    "AdaptiveBackup",
    "AdaptivePlayouts",
    "AdaptiveRegrets",
    "AdaptiveUCB1",
    "AdaptiveUrgency",
    "AllEdges",
    "AllPlayers",
    "Array",
    "AverageStrategy",
    "Axis",
    "BestOutcome",
    "BlendScores",
    "BlendValues",
    "CheckNothing",
    "CheckRefutations",
    "CheckTerminal",
    "DecisiveMoves",
    "DenseRankBonus",
    "DirichletNoise",
    "DrawLayer",
    "Edge",
    "Exp3",
    "FixedUrgency",
    "Fuego",
    "FullTrust",
    "GameTraits",
    "GraveBias",
    "Greedy",
    "Gumbel",
    "HandSelected",
    "HiddenTrust",
    "Judging",
    "Kept",
    "LastGoodReply",
    "LearnedBonusTrust",
    "LearnedTrust",
    "Linear",
    "MatrixEquilibrium",
    "MaxBonus",
    "MaxChild",
    "Maximin",
    "MeanBackup",
    "MinimaxBackup",
    "MinimumMSE",
    "Move",
    "NoAmaf",
    "NoDraws",
    "NoLearning",
    "NoNoise",
    "NoProofNumbers",
    "NoProofs",
    "NoRegrets",
    "NoSkipping",
    "NoSolver",
    "NoTranspositions",
    "NoWinningMoves",
    "Node",
    "NodeAmaf",
    "OnlineValue",
    "Pachi",
    "PowerMean",
    "ProofNumbers",
    "Proofs",
    "RandomTies",
    "RankBonus",
    "ReducedParentValue",
    "RegretMatching",
    "RobustChild",
    "Rows",
    "ScheduledPUCT",
    "SearchingPlayer",
    "SecureChild",
    "SensiblePlayouts",
    "SkipSolved",
    "Solver",
    "SteeredPlayouts",
    "Stepped",
    "SumBonus",
    "Survivor",
    "TiesWithin",
    "Transpositions",
    "UCB1Tuned",
    "Uniform",
    "UniformPlayouts",
    "VisitShares",
    "VisitedEdges",
    "WinningMoves",
    "action_weight",
    "becomes",
    "begin_search",
    "beta",
    "copy_edge",
    "count_value",
    "edge_rows",
    "edge_value",
    "exploration",
    "game_refusal",
    "implements",
    "kernel",
    "learn_move",
    "lookahead",
    "move_weight",
    "needs_observations",
    "needs_simulations",
    "node_term",
    "node_value",
    "noisy",
    "on_backup",
    "on_expand",
    "on_rescale",
    "one",
    "position_value",
    "preference",
    "reads_lifetimes",
    "refusal",
    "report_moves",
    "report_root",
    "runs_as",
    "score",
    "unvisited_value",
    "update_weight",
]
