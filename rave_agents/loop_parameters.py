"""From ``SearchConfig`` to the flags and numbers that the compiled loop reads."""

from rave_agents.config import SearchConfig
from rave_agents.options import (
    Amaf,
    AmafOccurrences,
    AmafPlayers,
    ProofNumbers,
    RaveBlend,
    RaveSchedule,
    Selection,
)
from rave_agents.search.parameters import Bonus, Parameters, Strategy, Weighting

_STRATEGIES: dict[object, Strategy] = {
    Selection.REGRET_MATCHING: Strategy.REGRET_MATCHING,
    Selection.EXP3: Strategy.EXP3,
}


def loop_parameters(
    config: SearchConfig,
    *,
    fixed_range: bool,
    formula: int,
    formula_failure: int,
    searching_player: int,
    utilities: tuple[float, float],
    utility_sum: float,
) -> Parameters:
    """What the loop reads of a configuration.

    Args:
        config: the configuration.
        fixed_range: whether the utility range is the one that the game states.
        formula: the address of the selection formula of the user's own, 0 for none.
        formula_failure: the address of the loop's ``Scratch.formula_failure``.
        searching_player: who moves at the root.
        utilities: the least and the greatest utility that the game states, or infinities.
        utility_sum: of two players' utilities, whatever happens; NaN if it varies or is unknown.
    """
    beta_a, beta_d = _beta_constants(config)
    return Parameters(
        puct=config.selection is Selection.PUCT,
        tuned=config.selection is Selection.UCB1_TUNED,
        strategy=int(_STRATEGIES.get(config.selection, Strategy.NONE)),
        gamma=config.gamma,
        tie_tolerance=config.tie_tolerance,
        formula_address=formula,
        formula_failure=formula_failure,
        exploration=config.exploration,
        simultaneous_exploration=config.simultaneous_exploration,
        first_play_urgency=config.first_play_urgency,
        amaf=config.amaf is not Amaf.NONE,
        only_own_amaf=config.amaf_players is AmafPlayers.OWN,
        tables=config.amaf in (Amaf.GRAVE, Amaf.GLOBAL),
        every_node_has_table=config.amaf is Amaf.GRAVE,
        grave_ref=config.grave_ref,
        grave_table_visits=config.grave_table_visits,
        hand_selected=config.rave_schedule is RaveSchedule.HAND_SELECTED,
        rave_k=config.rave_k,
        beta_a=beta_a,
        beta_d=beta_d,
        blend_ucb=config.rave_blend is RaveBlend.UCB,
        weighting=int(Weighting[config.amaf_weighting.name]),
        weight_first=config.amaf_weight_first,
        weight_last=config.amaf_weight_last,
        every_occurrence=config.amaf_occurrences is AmafOccurrences.EVERY,
        plain_selection_period=config.plain_selection_period,
        amaf_unvisited=config.amaf_unvisited,
        amaf_prior_value=config.amaf_prior_value,
        amaf_prior_visits=config.amaf_prior_visits,
        winning_moves=config.counts_winning_moves,
        winning_move_weight=config.winning_move_weight,
        solver=config.solver,
        stop_proven=config.final_proven,
        proof_numbers=config.proof_numbers is not ProofNumbers.NONE,
        every_player=config.proof_numbers is ProofNumbers.EVERY_PLAYER,
        searching_player=searching_player,
        proof_bonus=int(Bonus[config.proof_bonus.name]),
        proof_constant=config.proof_constant,
        proof_visits=config.proof_visits,
        proof_weight=config.proof_weight,
        draw_layer=config.draw_layer,
        skip_solved=config.skip_solved,
        skip_solved_visits=config.skip_solved_visits,
        check_terminal=config.check_terminal,
        check_refutations=config.check_refutations,
        least_utility=utilities[0],
        greatest_utility=utilities[1],
        utility_sum=utility_sum,
        expand_visits=config.expand_visits,
        playout_temperature=config.playout_temperature,
        fixed_range=fixed_range,
    )


def _beta_constants(config: SearchConfig) -> tuple[float, float]:
    """The schedule's ``a`` and ``d`` in ``formulas.blended_mean``."""
    match config.rave_schedule:
        case RaveSchedule.MINIMUM_MSE:
            return 1.0, 4.0 * config.rave_bias**2
        case RaveSchedule.FUEGO:
            return 1.0 / config.fuego_initial, 1.0 / config.fuego_final
        case RaveSchedule.PACHI:
            return 1.0, 1.0 / config.pachi_equivalence
        case RaveSchedule.GRAVE:
            return 1.0, config.grave_bias
    return 1.0, 0.0
