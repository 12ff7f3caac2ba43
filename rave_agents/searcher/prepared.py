"""Preparation of searches: the facts of a game, the parts and the evaluator, and compiled code."""

import functools
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import JIT_DISABLED, OpenFunction, classes_of
from rave_agents.compiler.mistakes import UncompilableError
from rave_agents.config.final_moves import (
    AverageStrategy,
    MatrixEquilibrium,
    RobustChild,
    VisitShares,
)
from rave_agents.config.part_specs import own_parts
from rave_agents.config.regrets import adapts_regrets
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import FormulaError
from rave_agents.evaluators.levels import NO_LEVEL, Level, level_of
from rave_agents.evaluators.shipped import rules_of, value_for
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.facts import Facts
from rave_agents.game.game_state import GameState, hides_information
from rave_agents.kernel import loop
from rave_agents.kernel.move_policies import choose_move
from rave_agents.kernel.search import Search
from rave_agents.kernel.utilities import GameRange, ObservedRange
from rave_agents.searcher.checks import check_hidden, check_moves, warn_cheating
from rave_agents.searcher.evaluators import ask_what_it_gives, kind_of
from rave_agents.searcher.slots import bind_leaves
from rave_agents.simulate.evaluator import EvaluatorKind
from rave_agents.simulate.simulator import flat_frame, make_frame
from rave_agents.tree.composition import NO_EVALUATOR, Prepared, check_schedules, searched_game
from rave_agents.tree.root_position import RootPosition
from rave_agents.tree.search_tree import SearchTree

_compiled: set[tuple[Any, ...]] = set()


def prepare(
    state: GameState, config: SearchConfig, evaluator: Any, regrets: Any = None
) -> tuple[GameState, Prepared]:
    """Prepare searches of a game: collect its facts, choose parts and evaluator, and compile.

    Args:
        state: a position of the game.
        config: the configuration.
        evaluator: the searcher's evaluator; None for a shipped value, if there is one for the game
            and ``known`` allows it.
        regrets: the regrets to keep, see ``chosen_regrets``; None for those of the configuration.

    Returns:
        The state to search instead of ``state``, and what all searches of its game share.

    Raises:
        UnsupportedGameError: if the configuration does not fit the game.
        FormulaError: for a custom part that cannot be compiled, or an invalid schedule.
    """
    rules, level, final = None, None, config
    if (evaluator is None and config.known) or config.level != NO_LEVEL:
        rules = rules_of(state)
    if config.level != NO_LEVEL:
        level = level_of(config.level, rules)
        final = _at_level(config, level)
    if evaluator is None and config.known and rules is not None:
        evaluator = value_for(rules)
    ask_what_it_gives(evaluator, state)
    kind = kind_of(evaluator)
    state, game = checked_game(state, config, kind, regrets)
    if game.keeps_regrets and adapts_regrets(config.regrets):
        final = _drawing(final, game.regrets)
    if not game.keeps_regrets:
        compile_search(game, state, bind_leaves if kind.batched else loop.run.bound)
    check_schedules(game.parts)
    unsound = game.determinizes or (game.keeps_regrets and game.regrets.targeting > 0.0)
    hides = game.facts.hidden and unsound and game.facts.num_players > 1
    if type(final.final_move) is VisitShares and not hides:
        final = _without_visits(final, bool(game.facts.simultaneous))
    draws = final.temperature > 0.0 or final.random_moves > 0.0
    most_visited = type(final.final_move) is RobustChild and not draws and not game.keeps_regrets
    return state, game._replace(
        final=final,
        evaluator=evaluator,
        level=level,
        plays_most_visited=most_visited,
        may_change=facts_may_change(state),
    )


@functools.lru_cache(maxsize=64)
def _drawing(config: SearchConfig, regrets: Any) -> SearchConfig:
    """The configuration that draws the move from the average strategy, unless it says another.

    Few directed traversals leave noise in their average: there visits decide, its shares of them.
    """
    if type(config.final_move) is not VisitShares or config.temperature > 0.0:
        return config
    final_move = config.final_move if regrets.targeting > 0.0 else AverageStrategy()
    return config.replace(regrets=regrets, final_move=final_move)


@functools.lru_cache(maxsize=64)
def _at_level(config: SearchConfig, level: Level) -> SearchConfig:
    return config.replace(temperature=level.temperature, random_moves=level.random_moves)


@functools.lru_cache(maxsize=64)
def _without_visits(config: SearchConfig, together: bool) -> SearchConfig:
    return config.replace(final_move=MatrixEquilibrium() if together else RobustChild())


def facts_may_change(state: GameState) -> bool:
    """True if a game's facts may change: an environment may show chance only later."""
    return hasattr(state, "draws_chance") or StateAbilities(state).seeing is not None


def game_identity(state: GameState, config: SearchConfig) -> Hashable:
    """A key of the game that a searcher may keep prepared; None to prepare each search."""
    offers = StateAbilities(state)
    if offers.facts is not None:  # These tell of chance that was met meanwhile, too.
        facts: Facts = offers.facts()
        return None if facts.hidden and config.hidden == "see" else facts
    # Without a key, states of one class may be of several games.
    return None if offers.game_key is None or facts_may_change(state) else offers.game_key()


def checked_game(
    state: GameState,
    config: SearchConfig,
    evaluator: EvaluatorKind = NO_EVALUATOR,
    regrets: Any = None,
) -> tuple[GameState, Prepared]:
    """The state to search instead of a given one, and its game, without compiling.

    Raises:
        UnsupportedGameError: if the configuration does not fit the game.
    """
    if config.hidden == "see" and hides_information(state):
        warn_cheating()
        seeing = StateAbilities(state).seeing
        state = state if seeing is None else seeing()
    game = searched_game(state, config, evaluator, regrets)
    simultaneous = game.facts.simultaneous and not _takes_turns(game, state)
    check_moves(config, simultaneous=simultaneous)
    if game.determinizes:
        check_hidden(config, simultaneous=simultaneous)
    return state, game


def in_turn(root: RootPosition) -> RootPosition:
    """The root with simultaneous moves as alternating ones, if a determinizing search needs it."""
    game = root.game
    if not _takes_turns(game, root.state):
        return root
    state = root.state.one_at_a_time(root.player)  # type: ignore[attr-defined]
    alternating = searched_game(state, game.config, kind_of(game.evaluator))
    alternating = alternating._replace(final=game.final, evaluator=game.evaluator, level=game.level)
    return RootPosition(alternating, state, root.player, root.is_forced, in_turn=True)


def _takes_turns(game: Prepared, state: GameState) -> bool:
    """True if simultaneous moves are searched as alternating ones."""
    offered = StateAbilities(state).one_at_a_time is not None
    return game.determinizes and game.facts.simultaneous and offered


def compile_search(
    game: Prepared, state: GameState, bind: Callable[[Search], object] = loop.run.bound
) -> None:
    """Compile or load the code for a search of a game, so that no search's clock pays for it.

    Args:
        game: the facts and parts.
        state: a position of the game.
        bind: compiles the function that is called with the record of a search.
    """
    parts = game.parts
    utilities = GameRange if game.fixed_range else ObservedRange
    classes = (bind, OpenFunction.generation, utilities, *classes_of(parts))
    if JIT_DISABLED or classes in _compiled:
        return
    frame = make_frame(num_players=2, playouts=1, playout_stream=np.zeros(4, np.int64))
    facts = game.facts
    few = facts._replace(limits=facts.limits._replace(players=2), num_actions=1)
    root = RootPosition(game._replace(facts=few), state, 0)
    tree = SearchTree(root, megabytes=1.0, frame=frame)
    search = tree.search(
        frame=flat_frame(frame),
        stream=np.zeros(4, np.int64),
        utilities=utilities(np.zeros(2)),
    )
    try:
        bind(search)
        if game.chooses_moves:
            choose_move.placed(search)
    except UncompilableError as error:
        if own_parts(parts):
            names = " and ".join(own_parts(parts))
            raise FormulaError(f"Numba cannot compile the search with {names}: {error}") from None
        raise
    _compiled.add(classes)
