"""Buffers shared between the solver's searches and a game, and how they grow."""

from collections.abc import Iterable
from typing import Any

from rave_agents.errors import GameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState, compiled_form
from rave_agents.game.utility_limits import MOST_LEGAL
from rave_agents.games.kit.values import judged_rules
from rave_agents.simulate.expansion import Expander, Expansion, Place, make_expansion
from rave_agents.solver.carriers import words_of
from rave_agents.solver.state_expander import StateExpander

SLICE_SECONDS = 0.05
"""Approximate seconds that a search runs between two checks of its limits."""

FIRST_DEPTHS, FIRST_CHILDREN, FIRST_ACTIONS = 64, 4096, 256
"""Initial capacity for positions on the path, for their children, and for actions of one
position."""


def expander_of(state: GameState, value: Any = None) -> tuple[Expansion, Expander]:
    """The buffers and the expander of a state's game, compiled if the game has one.

    Args:
        state: the state.
        value: a value function for compiled rules, see ``judged_rules``.
    """
    players = state.num_players()
    found = compiled_form(state)
    if found is not None:
        expansion = make_expansion(players, found.rules.max_actions)
        judged = None if value is None else judged_rules(value, found.rules)
        return expansion, found.expander(expansion, judged)
    expansion = make_expansion(players, FIRST_ACTIONS)
    own = StateAbilities(state).expander
    made = None if own is None else own(expansion)
    return expansion, StateExpander(state, expansion) if made is None else made


def cell_words_of(state: GameState) -> int:
    """Words per carrier of a proof in a state's game; 0 if proofs have no carriers."""
    found = compiled_form(state)
    if found is None or not found.rules.more_stones_never_hurt:
        return 0
    rules = found.rules
    if rules.num_images > 1 and rules.num_board_cells != rules.num_distinct_actions:
        return 0  # Some actions are not cells, so symmetries cannot map them.
    return words_of(rules.num_distinct_actions)


def with_room(old: Expansion, expander: Expander, actions: int) -> Expansion:
    """New buffers with room for ``actions`` actions per position, bound to the expander.

    Raises:
        GameError: if that exceeds every search's limit.
    """
    if actions > MOST_LEGAL:
        raise GameError(f"A position has {actions} legal actions, more than {MOST_LEGAL}.")
    expansion = make_expansion(int(old.header[Place.NUM_PLAYERS]), actions)
    kept = Place.DEPTH, Place.ACTION, Place.DEPTHS, Place.COUNT_MOVES
    for place in (*kept, Place.CARRIER_WORDS, Place.FORESEE):
        expansion.header[place] = old.header[place]
    expander.bind(expansion)
    return expansion


def grown(old: Iterable[Any] | None, made: Any) -> Any:
    """The new buffers, filled with the content of the old ones if there are any."""
    for before, now in zip(old or (), made, strict=False):
        now[: len(before)] = before
    return made
