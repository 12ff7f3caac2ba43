"""Composition of a search: the facts of its game, and the parts chosen by them."""

import itertools
import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from rave_agents.compiler.dispatch import records_of
from rave_agents.compiler.edits import code_generation
from rave_agents.config.part_specs import call_part, is_own, is_part
from rave_agents.config.regrets import keeps_regrets
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import FormulaError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.facts import Facts, facts_of, is_keyed
from rave_agents.game.game_state import GameState
from rave_agents.kernel.amaf import hidden_trust  # noqa: F401  (it says what trust becomes)
from rave_agents.kernel.amaf.schedules import beta, own_weight
from rave_agents.kernel.declarations import (
    GameTraits,
    asks_keys,
    becomes,
    gives_priors,
    judging_beside,
    least_expand_visits,
    needs_observations,
    reads_lifetimes,
    with_minimax,
)
from rave_agents.kernel.measures.action_persistence import CountLifetimes, NoLifetimes
from rave_agents.kernel.move_policies import chooses_moves, playouts_by
from rave_agents.kernel.moves.information_sets import InformationSets, Views
from rave_agents.kernel.moves.simultaneous import Simultaneous
from rave_agents.kernel.playouts import UniformPlayouts, is_uniform
from rave_agents.kernel.rules import reads_priors
from rave_agents.simulate.evaluator import EvaluatorKind

NO_EVALUATOR = EvaluatorKind()
"""No evaluator."""


class Parts(NamedTuple):
    """The parts of a search, in the order of ``kernel.search.Search``."""

    rule: Any
    ties: Any
    amaf: Any
    proofs: Any
    moves: Any
    playouts: Any
    judging: Any
    backup: Any
    first_play: Any
    lifetimes: Any


def compose(config: SearchConfig, game: GameTraits) -> Parts:
    """The parts of a search, each adapted to the game."""
    moves = adapted(config.transpositions, game)
    if game.determinized:
        complete = Views.COMPLETE if game.complete_views else Views.OWN
        moves = InformationSets(int(complete if game.hidden else Views.COMMON))
    elif game.simultaneous:
        moves = Simultaneous(adapted(config.simultaneous, game))
    policy = adapted(config.playouts, game)
    judging = judging_of(config) if game.valued else config.learning
    parts = Parts(
        rule=adapted(config.rule, game),
        ties=adapted(config.ties, game),
        amaf=adapted(config.amaf, game),
        proofs=adapted(config.proofs, game),
        moves=moves,
        playouts=UniformPlayouts() if game.evaluated else playouts_by(policy),
        judging=adapted(judging, game),
        backup=adapted(config.backup, game),
        first_play=adapted(config.first_play_value, game),
        lifetimes=NoLifetimes(),
    )
    asked = any(call_part(reads_lifetimes, part) for part in records_of(parts))
    return parts._replace(lifetimes=CountLifetimes()) if asked else parts


TRIED_VISITS = (0.0, 1.0, 10.0, 100.0, 1e3, 1e4, 1e6)
"""Visits, and AMAF visits, at which a custom schedule's weight is tested."""

ROUNDING = 1e-9


MOST_LINES = 10_000
"""Maximum lines executed per tested weight: an endless loop would hang here, whereas the compiled
search stops it with an error."""


def _ends_after(lines: int) -> Callable[..., Any]:
    """A trace function that raises after ``lines`` lines."""
    left = itertools.repeat(None, lines)

    def trace(frame: Any, event: str, argument: Any) -> Any:
        if next(left, trace) is trace:
            raise RuntimeError("too many lines")
        return trace

    return trace


def check_schedules(parts: Parts) -> None:
    """Refuse a custom schedule whose β is not a weight.

    Raises:
        FormulaError: if β leaves [0, 1]: then the blend is no longer between the two values.
    """
    for part in records_of(parts):
        kind = type(part)
        formula = kind in beta.implementations or kind in own_weight.implementations
        if not (formula and is_own(kind) and all(isinstance(v, int | float) for v in part)):
            continue
        for n, n_amaf in itertools.product(TRIED_VISITS, TRIED_VISITS[1:]):
            traced = sys.gettrace()
            sys.settrace(_ends_after(MOST_LINES))
            try:
                weight = call_part(beta, part, n, n_amaf)
            except FormulaError:  # The search reports it, if it ever gets so many visits.
                break
            finally:
                sys.settrace(traced)
            if weight < -ROUNDING or weight > 1.0 + ROUNDING:  # The search refuses NaN.
                raise FormulaError(
                    f"{kind.__name__}: beta is a weight from 0 to 1, got {weight!r} for "
                    f"n={n:g} and n_amaf={n_amaf:g}."
                )


def judging_of(config: SearchConfig) -> Any:
    """The use of a value function, if there is one."""
    return call_part(judging_beside, config.backup, config.judging)


def adapted(part: Any, game: GameTraits) -> Any:
    """A part adapted to a game, including the parts nested in it.

    Raises:
        FormulaError: if a custom part raises, or does not become a part.
    """
    inner = {name: adapted(v, game) for name, v in part._asdict().items() if is_part(v)}
    part = part._replace(**inner) if inner else part
    found = call_part(becomes, part, game)
    if not is_part(found):
        raise FormulaError(f"{type(part).__name__}: becomes must return a part, got {found!r}.")
    return found


def _makes_priors(config: SearchConfig) -> bool:
    """True if the rule reads priors and a value function provides them."""
    reads: bool = call_part(reads_priors, config.rule)
    return reads and call_part(gives_priors, config.judging)


class Prepared(NamedTuple):
    """What all searches of a game share: its facts, the parts chosen by them, the evaluator."""

    config: SearchConfig
    """The search's configuration."""
    minimax: bool
    """True if minimax backups are used because the value's file recommends them."""
    judging: Any
    """The use of a value function under the configuration's backup."""
    parts: Parts
    """The parts of the search."""
    expand_visits: int
    """The visit on which a child gets a node."""
    observation: int
    """Size of the observations written by the provider of playouts; 0 for none."""
    facts: Facts
    """The facts of the game."""
    regrets: Any
    """The regrets of information sets that the search keeps, see ``config/regrets.py``."""
    keeps_regrets: bool
    """True if the search begins at the start of the game, with regrets."""
    determinizes: bool
    """True if each simulation uses its own determinization."""
    recalls_all: bool
    """True if nodes are information sets, found by all that the player has seen and done."""
    even_weights: bool
    """True if playouts are uniform until the search has gathered statistics."""
    chooses_moves: bool
    """True if a policy chooses each move of the playouts."""
    fixed_range: bool
    """True if the game's bounds map to 0 and 1; else the observed returns do."""
    generation: int
    """The code generation when the parts were chosen."""
    final: SearchConfig
    """The configuration that chooses the move: ``config``, with the random choices of a level."""
    evaluator: Any = None
    """The evaluator of positions; None for playouts."""
    level: Any = None
    """The level of strength, if there is one."""
    plays_most_visited: bool = False
    """True if visits and values decide the final move where nothing is proven, and none is drawn.
    """
    may_change: bool = False
    """True if the facts may change: an environment may show chance only later."""

    @property
    def plain(self) -> bool:
        """True if one player moves at a time and all simulations start from the same state."""
        return not (self.facts.simultaneous or self.determinizes)


def searched_game(
    state: GameState,
    config: SearchConfig,
    evaluator: EvaluatorKind = NO_EVALUATOR,
    regrets: Any = None,
) -> Prepared:
    """Collect the facts of a state's game for a search.

    Args:
        state: a position of it.
        config: the search's tunables.
        evaluator: the kind of its evaluator.
        regrets: the regrets to keep; None for those of the configuration.
    """
    facts = facts_of(state)
    limits, simultaneous = facts.limits, facts.simultaneous
    regrets = config.regrets if regrets is None else regrets
    by_regrets = bool(keeps_regrets(regrets))
    determinized = facts.determinizes(config.hidden) and not by_regrets
    bounded = math.isfinite(limits.low) and math.isfinite(limits.high)
    fixed_range = config.utility_range == "game" and bounded
    learns = fixed_range and any(map(needs_observations, config.parts))
    observation = StateAbilities(state).observed_in_playouts() if learns else 0
    plain, given = not (simultaneous or determinized), config
    if evaluator.minimax and plain:
        config = call_part(with_minimax, config.backup, config)
    traits = GameTraits(
        chance=facts.chance or determinized,
        simultaneous=simultaneous,
        determinized=determinized,
        hidden=determinized and facts.hidden,
        complete_views=determinized and StateAbilities(state).recalls_all(),
        evaluated=evaluator.leaves,
        valued=evaluator.positions,
        priors=evaluator.priors or (evaluator.positions and plain and _makes_priors(config)),
        observed=observation > 0,
        keyed=call_part(asks_keys, config.transpositions) and is_keyed(state),
    )
    parts = compose(config, traits)
    return Prepared(
        config=given,
        minimax=config is not given,
        judging=judging_of(config),
        parts=parts,
        expand_visits=max(config.expand_visits, least_expand_visits(parts.judging)),
        observation=observation,
        facts=facts,
        regrets=regrets,
        keeps_regrets=by_regrets,
        determinizes=determinized,
        recalls_all=traits.hidden and traits.complete_views,
        even_weights=is_uniform(config.playouts, 0.0),
        chooses_moves=chooses_moves(parts.playouts),
        fixed_range=fixed_range,
        generation=code_generation(),
        final=given,
    )
