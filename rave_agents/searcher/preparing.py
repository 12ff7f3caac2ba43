"""Preparation of a search, off its clock: collect its game's facts, compile its code."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import JIT_DISABLED, OpenFunction, classes_of
from rave_agents.compiler.mistakes import UncompilableError
from rave_agents.config.part_specs import own_parts
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import FormulaError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import (
    GameState,
    hides_information,
)
from rave_agents.kernel import loop
from rave_agents.kernel.move_policies import choose_move
from rave_agents.kernel.search import Search
from rave_agents.kernel.utilities import GameRange, ObservedRange
from rave_agents.searcher.checks import (
    check_hidden,
    check_moves,
    warn_cheating,
)
from rave_agents.searcher.evaluators import ask_what_it_gives, kind_of
from rave_agents.searcher.slots import bind_leaves
from rave_agents.simulate.evaluator import EvaluatorKind
from rave_agents.simulate.simulator import flat_frame, make_frame
from rave_agents.tree.composition import NO_EVALUATOR, SearchedGame, check_schedules, searched_game
from rave_agents.tree.root_position import RootPosition
from rave_agents.tree.search_tree import SearchTree

_compiled: set[tuple[Any, ...]] = set()


def prepared(
    state: GameState, config: SearchConfig, evaluator: Any
) -> tuple[GameState, SearchedGame]:
    """The state to search instead of a given one, and its game; also compiles the search.

    Raises:
        UnsupportedGameError: if the configuration does not fit the game.
        FormulaError: for a custom part that cannot be compiled, or an invalid schedule.
    """
    ask_what_it_gives(evaluator, state)
    kind = kind_of(evaluator)
    state, game = checked_game(state, config, kind)
    compile_search(game, state, bind_leaves if kind.batched else loop.run.bound)
    check_schedules(game.parts)
    return state, game


def checked_game(
    state: GameState, config: SearchConfig, evaluator: EvaluatorKind = NO_EVALUATOR
) -> tuple[GameState, SearchedGame]:
    """The state to search instead of a given one, and its game, without compiling.

    Args:
        state: a position of the game.
        config: the search's configuration.
        evaluator: the kind of its evaluator.

    Raises:
        UnsupportedGameError: if the configuration does not fit the game.
    """
    if config.hidden == "see" and hides_information(state):
        warn_cheating()
        seeing = StateAbilities(state).seeing
        state = state if seeing is None else seeing()
    game = searched_game(state, config, evaluator)
    simultaneous = game.facts.simultaneous and not _in_turn(game, state)
    check_moves(config, simultaneous=simultaneous)
    if game.determinizes:
        check_hidden(config, simultaneous=simultaneous)
    return state, game


def take_turns(root: RootPosition, evaluator: Any) -> None:
    """Serialise simultaneous moves if a determinizing search needs it."""
    if _in_turn(root.game, root.state):
        state, config = root.state.one_at_a_time(root.player), root.game.config  # type: ignore[attr-defined]
        root.game = searched_game(state, config, kind_of(evaluator))
        root.state, root.in_turn = state, True


def _in_turn(game: SearchedGame, state: GameState) -> bool:
    """True if simultaneous moves are searched as alternating ones."""
    takes_turns = StateAbilities(state).one_at_a_time is not None
    return game.determinizes and game.facts.simultaneous and takes_turns


def compile_search(
    game: SearchedGame, state: GameState, bind: Callable[[Search], object] = loop.run.bound
) -> None:
    """Compile or load the code for a search of a game, so that no search's clock pays for it.

    Args:
        game: the facts of the game.
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
    search = SearchTree(root, megabytes=1.0, frame=frame).search(
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
