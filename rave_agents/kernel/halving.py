"""Gumbel planning around a search: its requirements, its noise and its report."""

from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.arrays import NODE
from rave_agents.compiler.dispatch import implements, python_function
from rave_agents.compiler.part_fields import part_name
from rave_agents.kernel.declarations import (
    add_actions,
    begin_search,
    keeps_amaf,
    needs_simulations,
    refusal,
    report_moves,
)
from rave_agents.kernel.gumbel import (
    Gumbel,
    GumbelSearch,
    completion,
    policy_weight,
    root_score,
    turn,
    visits_since,
)
from rave_agents.kernel.moves.alternating import followers
from rave_agents.kernel.proofs.edges import proven_at
from rave_agents.kernel.tree import ROOT, edge_rows


@python_function
def halves(part: Any) -> bool:
    """True for rules with sequential halving, and for the final move that belongs to them."""
    return False


@implements(halves, Gumbel)
def _halves(rule: Gumbel) -> bool:
    return True


@implements(needs_simulations, Gumbel)
def _needs_simulations(rule: Gumbel) -> bool:
    return True


@implements(refusal, Gumbel)
def halving_refusal(part: Any, config: Any) -> str:
    """The reason why a configuration does not allow sequential halving."""
    rule, final_move, amaf = config.rule, config.final_move, config.amaf
    if not (halves(rule) and halves(final_move)):
        return (
            "rule=gumbel and final_move=survivor go together, as in the preset gumbel: got "
            f"rule={part_name(type(rule))} and final_move={part_name(type(final_move))}."
        )
    if keeps_amaf(amaf):
        return (
            "rule=gumbel completes the values of actions without visits with those of the "
            f"evaluator, not with AMAF statistics: use amaf=no_amaf, not {part_name(type(amaf))}."
        )
    if config.threads > 1:
        return (
            "rule=gumbel allots the simulations of one tree: threads must be 1, got "
            f"{config.threads}. leaves=8 gives an evaluator eight leaves at once."
        )
    return ""


@implements(begin_search, GumbelSearch)
def _begin_halving(
    part: GumbelSearch, search: Any, simulations: float, random: np.random.Generator
) -> None:
    """Draw the root's noise and allot the simulations of this search.

    The first simulation of a new tree evaluates the root itself.
    """
    tree = search.tree
    # A new tree spends one simulation on its root, which halving does not share out.
    has_root = tree.used[NODE] > 0
    add_actions(part, 0, random)
    part.budget[0] = max(simulations - (not has_root), 0)
    # In a kept tree, halving counts only the visits of this search: remember the earlier ones.
    part.visits_before[:] = 0
    if has_root:
        edges = edge_rows(tree, ROOT)
        actions = tree.edge_action[edges.start : edges.stop]
        part.visits_before[actions] = tree.edge_visits[edges.start : edges.stop]


@implements(add_actions, GumbelSearch)
def _draw_noise(part: GumbelSearch, first: int, random: np.random.Generator) -> None:
    noise = random.gumbel(size=len(part.noise) - first)
    part.noise[first:] = part.options.gumbel_scale * noise


class Halved(NamedTuple):
    """The report on one root action."""

    survives: bool
    """True if it survived sequential halving."""
    score: float
    """``g + ln p + σ(q)``."""
    improved: float
    """Its probability in the improved policy."""


@implements(report_moves, GumbelSearch)
def _report_halving(
    part: GumbelSearch, search: Any, node: int, edges: range
) -> dict[str, list[Halved]]:
    """Report on each root action; nothing at a root with simultaneous moves."""
    if followers(search.moves, ROOT) > 0:
        return {}
    proven = proven_at(search.proofs, search, ROOT)
    known = completion(part, search, proven, ROOT)
    wanted, _ = turn(part, search)
    scores, weights, survive = [], [], []
    for edge in edges:
        scores.append(root_score(part, search, proven, ROOT, edge, known))
        weights.append(policy_weight(search, proven, ROOT, edge, known))
        survive.append(visits_since(part, search, edge) >= wanted)
    total = sum(weights)
    improved = [weight / total for weight in weights]
    return {"halved": [Halved(*row) for row in zip(survive, scores, improved, strict=True)]}
