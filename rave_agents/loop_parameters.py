"""From ``SearchConfig`` to the flags and numbers that the compiled loop reads."""

from rave_agents.config import SearchConfig
from rave_agents.options import Amaf, AmafOccurrences, RaveBlend, Selection
from rave_agents.search.parameters import Parameters, Schedule, Weighting


def loop_parameters(config: SearchConfig, *, fixed_range: bool, formula: int) -> Parameters:
    """What the loop reads of a configuration.

    Args:
        config: the configuration.
        fixed_range: whether the utility range is the one that the game states.
        formula: the address of the selection formula of the user's own, 0 for none.
    """
    return Parameters(
        puct=config.selection is Selection.PUCT,
        formula_address=formula,
        exploration=config.exploration,
        first_play_urgency=config.first_play_urgency,
        amaf=config.amaf is not Amaf.NONE,
        tables=config.amaf in (Amaf.GRAVE, Amaf.GLOBAL),
        every_node_has_table=config.amaf is Amaf.GRAVE,
        grave_ref=config.grave_ref,
        grave_table_visits=config.grave_table_visits,
        schedule=int(Schedule[config.rave_schedule.name]),
        rave_k=config.rave_k,
        rave_bias=config.rave_bias,
        fuego_initial=config.fuego_initial,
        fuego_final=config.fuego_final,
        pachi_equivalence=config.pachi_equivalence,
        grave_bias=config.grave_bias,
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
        expand_visits=config.expand_visits,
        fixed_range=fixed_range,
    )
