"""From ``SearchConfig`` to the parts that the search is composed of."""

import math
from typing import Any, NamedTuple

from rave_agents import options
from rave_agents.config import SearchConfig
from rave_agents.kernel import proof_bonuses
from rave_agents.kernel.alternating import Alternating
from rave_agents.kernel.amaf import (
    AllEdges,
    AllPlayers,
    BlendScores,
    BlendValues,
    NoAmaf,
    SearchingPlayer,
    VisitedEdges,
)
from rave_agents.kernel.amaf_nodes import NodeAmaf
from rave_agents.kernel.amaf_tables import GRAVE, HRAVE
from rave_agents.kernel.information_sets import InformationSets
from rave_agents.kernel.playouts import SteeredPlayouts, UniformPlayouts
from rave_agents.kernel.proof_numbers import EveryPlayer, NoProofNumbers, ProofNumbers, Searcher
from rave_agents.kernel.proofs import (
    CheckNothing,
    CheckRefutations,
    CheckTerminal,
    NoProofs,
    NoSkipping,
    Proofs,
    SkipSolved,
)
from rave_agents.kernel.rules import PUCT, UCB1, Greedy, UCB1Tuned
from rave_agents.kernel.schedules import Fuego, GraveBias, HandSelected, MinimumMSE, Pachi
from rave_agents.kernel.selection import RandomTies, TiesWithin
from rave_agents.kernel.simultaneous import Simultaneous
from rave_agents.kernel.solver import NoSolver, Solver
from rave_agents.kernel.strategies import Exp3, RegretMatching
from rave_agents.kernel.weightings import Linear, Stepped, Uniform
from rave_agents.kernel.winning_moves import NoWinningMoves, WinningMoves
from rave_agents.parts import check_registered, is_part


class Parts(NamedTuple):
    """The parts of a search, in the order of ``kernel.search.Search``."""

    rule: Any
    ties: Any
    amaf: Any
    proofs: Any
    moves: Any
    playouts: Any


def compose(config: SearchConfig, *, simultaneous: bool, hidden: bool, steered: bool) -> Parts:
    """The parts of a search of this configuration, for a kind of game.

    Raises:
        ValueError: for a part of the user's own whose functions are not registered.
    """
    for field in ("selection", "rave_schedule"):
        if is_part(getattr(config, field)):
            check_registered(field, getattr(config, field))
    moves: Any = Alternating()
    if hidden:
        moves = InformationSets()
    elif simultaneous:
        moves = Simultaneous(_choice(config))
    return Parts(
        rule=_rule(config, config.exploration),
        ties=TiesWithin(config.tie_tolerance) if config.tie_tolerance > 0 else RandomTies(),
        amaf=_amaf(config),
        proofs=_proofs(config),
        moves=moves,
        playouts=SteeredPlayouts(config.playout_temperature) if steered else UniformPlayouts(),
    )


def _rule(config: SearchConfig, c: float) -> Any:
    if is_part(config.selection):
        return config.selection
    if c == 0.0:
        return Greedy()
    match config.selection:
        case options.Selection.PUCT:
            return PUCT(c)
        case options.Selection.UCB1_TUNED:
            return UCB1Tuned(c)
    return UCB1(c)


def _choice(config: SearchConfig) -> Any:
    match config.selection:
        case options.Selection.REGRET_MATCHING:
            return RegretMatching(config.gamma)
        case options.Selection.EXP3:
            return Exp3(config.gamma)
    return _rule(config, config.simultaneous_exploration)


def _amaf(config: SearchConfig) -> Any:
    shared = {
        "schedule": _schedule(config),
        "blending": (
            BlendScores() if config.rave_blend is options.RaveBlend.UCB else BlendValues()
        ),
        "players": (
            SearchingPlayer() if config.amaf_players is options.AmafPlayers.OWN else AllPlayers()
        ),
        "edges": AllEdges() if config.amaf_unvisited else VisitedEdges(),
        "weighting": _weighting(config),
        "winning": (
            WinningMoves(config.winning_move_weight)
            if config.counts_winning_moves
            else NoWinningMoves()
        ),
    }
    match config.amaf:
        case options.Amaf.NODE:
            return NodeAmaf(**shared)
        case options.Amaf.GRAVE:
            return GRAVE(config.grave_ref, config.grave_table_visits, **shared)
        case options.Amaf.GLOBAL:
            return HRAVE(**shared)
    return NoAmaf()


def _schedule(config: SearchConfig) -> Any:
    if is_part(config.rave_schedule):
        return config.rave_schedule
    match config.rave_schedule:
        case options.RaveSchedule.HAND_SELECTED:
            return HandSelected(config.rave_k)
        case options.RaveSchedule.FUEGO:
            return Fuego(config.fuego_initial, config.fuego_final)
        case options.RaveSchedule.PACHI:
            return Pachi(config.pachi_equivalence)
        case options.RaveSchedule.GRAVE:
            return GraveBias(config.grave_bias)
    return MinimumMSE(config.rave_bias)


def _weighting(config: SearchConfig) -> Any:
    match config.amaf_weighting:
        case options.AmafWeighting.LINEAR:
            return Linear(config.amaf_weight_first, config.amaf_weight_last)
        case options.AmafWeighting.STEPPED:
            return Stepped()
    return Uniform()


def _proofs(config: SearchConfig) -> Any:
    if not config.proves:
        return NoProofs()
    checks: Any = CheckNothing()
    if config.check_refutations:
        checks = CheckRefutations()
    elif config.check_terminal:
        checks = CheckTerminal()
    return Proofs(
        solver=Solver() if config.solver else NoSolver(),
        numbers=_numbers(config),
        skipping=SkipSolved(config.skip_solved_visits) if config.skip_solved else NoSkipping(),
        checks=checks,
    )


def _numbers(config: SearchConfig) -> Any:
    if config.proof_numbers is options.ProofNumbers.NONE:
        return NoProofNumbers()
    draws = proof_bonuses.DrawLayer() if config.draw_layer else proof_bonuses.NoDraws()
    bonus: Any = proof_bonuses.MaxBonus()
    if config.proof_bonus is options.ProofBonus.RANK:
        bonus = proof_bonuses.RankBonus(draws)
    elif config.proof_bonus is options.ProofBonus.DENSE_RANK:
        bonus = proof_bonuses.DenseRankBonus(draws)
    return ProofNumbers(
        goal=(
            EveryPlayer()
            if config.proof_numbers is options.ProofNumbers.EVERY_PLAYER
            else Searcher()
        ),
        bonus=bonus,
        constant=config.proof_constant,
        visits=config.proof_visits,
        weight=config.proof_weight,
    )


def is_steered(config: SearchConfig) -> bool:
    """Whether playouts are steered."""
    return config.playout_temperature < math.inf
