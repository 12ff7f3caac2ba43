"""What a search knows of its game before it begins, and the parts that it is composed of."""

import math
from typing import Any, NamedTuple

from rave_agents.compiler.changes import code_generation
from rave_agents.compiler.dispatch import records_of
from rave_agents.compiler.runtime import record_of
from rave_agents.config.search_config import SearchConfig
from rave_agents.game.game_state import (
    GameState,
    draws_chance,
    has_chance_nodes,
    has_simultaneous_moves,
    hides_information,
)
from rave_agents.kernel.amaf.hidden_trust import HiddenTrust
from rave_agents.kernel.amaf.trust import LearnedTrust
from rave_agents.kernel.amaf.views import NoAmaf
from rave_agents.kernel.hooks import reads_lifetimes
from rave_agents.kernel.measures.action_persistence import CountLifetimes, NoLifetimes
from rave_agents.kernel.move_policies import MovePlayouts
from rave_agents.kernel.moves.alternating import Alternating
from rave_agents.kernel.moves.information_sets import InformationSets
from rave_agents.kernel.moves.simultaneous import Simultaneous
from rave_agents.kernel.playouts import SensiblePlayouts, UniformPlayouts, WeightedPlayouts
from rave_agents.kernel.proofs.part import NoProofs
from rave_agents.kernel.rules import PUCT, UCB1, AdaptiveUCB1, Greedy, UCB1Tuned
from rave_agents.kernel.values.implicit_minimax import NoJudging
from rave_agents.kernel.values.online import NoLearning, OnlineValue
from rave_agents.simulate.utility_limits import UtilityLimits, checked_count, utility_limits


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


def compose(
    config: SearchConfig,
    *,
    simultaneous: bool,
    determinized: bool,
    hidden: bool,
    judged: bool,
    valued: bool = False,
    observed: bool = False,
    chance: bool = True,
) -> Parts:
    """The parts of a search.

    Args:
        config: the search's tunables.
        simultaneous: whether players may move at the same time.
        determinized: whether each simulation begins in another world.
        hidden: whether that is because something is hidden from players, not by chance alone.
        judged: whether an evaluator judges leaves, so that there are no playouts.
        valued: whether there is a value function.
        observed: whether playouts show what players observe, for the search to learn from.
        chance: whether chance may move.
    """
    judging: Any = config.judging
    in_tree = valued and (judging.minimax > 0.0 or judging.first_play)
    if observed and not (judged or valued):
        judging, in_tree = config.learning, True
    moves: Any = Alternating()
    amaf = config.amaf
    learned = getattr(amaf, "trust", None)
    if determinized:
        moves = InformationSets()
        if hidden and isinstance(learned, LearnedTrust):
            amaf = amaf._replace(trust=HiddenTrust(learned.unvisited))
    elif simultaneous:
        moves = Simultaneous(_without_idle_exploration(config.simultaneous, chance))
        if isinstance(learned, LearnedTrust | HiddenTrust):
            amaf = NoAmaf()  # What an action is worth depends on what the others take beside it.
    playouts = UniformPlayouts() if judged else _weighted(config.playouts)
    parts = Parts(
        rule=_without_idle_exploration(config.rule, chance or determinized),
        ties=config.ties,
        amaf=amaf,
        proofs=NoProofs() if determinized or simultaneous else config.proofs,
        moves=moves,
        playouts=playouts,
        judging=judging if in_tree and not (determinized or simultaneous) else NoJudging(),
        backup=config.backup,
        first_play=config.first_play_value,
        lifetimes=NoLifetimes(),
    )
    asked = any(reads_lifetimes(part) for part in records_of(parts))
    return parts._replace(lifetimes=CountLifetimes()) if asked else parts


class SearchedGame(NamedTuple):
    """What a search knows of its game: asked once, for all positions of the game that follow."""

    config: SearchConfig
    """The search's tunables."""
    parts: Parts
    """What the search is composed of."""
    observation: int
    """Numbers of an observation that the provider of playouts writes; 0 if it writes none."""
    num_players: int
    """Players of the game."""
    num_actions: int
    """Distinct actions of the game."""
    simultaneous: bool
    """Whether players may move at the same time."""
    determinizes: bool
    """Whether each simulation has a world of its own."""
    limits: UtilityLimits
    """What the game says of utilities."""
    fixed_range: bool
    """Whether these utilities are 0 and 1 on the scale of values; else those that are met."""
    generation: int
    """The generation of the code when the game was looked at."""


def searched_game(
    state: GameState, config: SearchConfig, *, judged: bool, valued: bool = False
) -> SearchedGame:
    """What a search knows of a state's game.

    Args:
        state: a position of it.
        config: the search's tunables.
        judged: whether an evaluator judges leaves, so that there are no playouts.
        valued: whether there is a value function.
    """
    simultaneous, determinized = has_simultaneous_moves(state), determinizes(state, config)
    limits = utility_limits(state)
    bounded = math.isfinite(limits.low) and math.isfinite(limits.high)
    fixed_range = config.utility_range == "game" and bounded
    learns = fixed_range and not isinstance(config.learning, NoLearning)
    observation = getattr(state, "observed_in_playouts", int)() if learns else 0
    return SearchedGame(
        config=config,
        parts=compose(
            config,
            simultaneous=simultaneous,
            determinized=determinized,
            hidden=determinized and hides_information(state),
            judged=judged,
            valued=valued,
            observed=observation > 0,
            chance=has_chance_nodes(state),
        ),
        observation=observation,
        num_players=limits.players,
        num_actions=checked_count("num_distinct_actions", state.num_distinct_actions()),
        simultaneous=simultaneous,
        determinizes=determinized,
        limits=limits,
        fixed_range=fixed_range,
        generation=code_generation(),
    )


def determinizes(state: GameState, config: SearchConfig) -> bool:
    """Whether each simulation of a search of this state has a world of its own."""
    return draws_chance(state) or (hides_information(state) and config.hidden == "determinize")


def _without_idle_exploration(rule: Any, chance: bool) -> Any:
    """The rule that computes no more than is needed: with c = 0, or where chance never moves."""
    if isinstance(rule, AdaptiveUCB1) and not chance:
        rule = UCB1(rule.c)
    idle = isinstance(rule, UCB1 | PUCT | UCB1Tuned) and rule.c == 0.0
    return Greedy() if idle else rule


def _weighted(playouts: Any) -> Any:
    if isinstance(playouts, UniformPlayouts | SensiblePlayouts):
        return UniformPlayouts()
    return playouts if record_of(type(playouts)) is MovePlayouts else WeightedPlayouts(playouts)


def chooses_moves(parts: Parts) -> bool:
    """True if a policy of the search chooses each move of its playouts."""
    return record_of(type(parts.playouts)) is MovePlayouts


def learns_values(parts: Parts) -> bool:
    """Whether the search learns a value function from positions of its playouts."""
    return isinstance(parts.judging, OnlineValue)


def draws_by_weights(parts: Parts) -> bool:
    """Whether playouts draw actions by the frame's weights."""
    return isinstance(parts.playouts, WeightedPlayouts)
