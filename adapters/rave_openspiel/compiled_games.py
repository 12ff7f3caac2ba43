"""Searches OpenSpiel's own games on compiled rules, see ``rave_agents.games``.

The state's moves are replayed on the rules, and the player and legal actions reached must equal the
state's; so must the printed board in games whose states do not show their start. A game with a
parameter that the rules do not know goes to the bridge. The environment variable
``RAVE_AGENTS_GAMES=openspiel`` switches the rules off.
"""

import functools
import logging
import os

import pyspiel

from rave_agents.game.board import Board
from rave_agents.games import GAMES, Rules, rules_class
from rave_agents.games.kit.rules_state import RulesState
from rave_openspiel.added_games import ADDED
from rave_openspiel.positions import HIDDEN_STARTS, Traits, traits_of, visible_start

SWITCH = "RAVE_AGENTS_GAMES"
"""The environment variable: ``openspiel`` to search OpenSpiel's own states, ``compiled`` or nothing
for compiled rules."""

_SHOWN = frozenset({"ansi_color_output", "egocentric_obs_tensor", "plain_obs_tensor", "string_rep"})
"""Parameters that change only how a game is displayed; some rules know them."""

_log = logging.getLogger("rave_agents")


def is_on() -> bool:
    """True if compiled rules are to be used.

    Raises:
        ValueError: if the switch has an unknown value.
    """
    value = os.environ.get(SWITCH, "").strip().lower()
    if value not in ("", "compiled", "openspiel"):
        raise ValueError(f"{SWITCH} must be openspiel, compiled or not set, got {value!r}.")
    return value != "openspiel"


def rules_of(game: pyspiel.Game) -> Rules | None:
    """The rules of a game; None if there are none, or they do not cover its parameters."""
    found = _rules_or_reason(str(game))
    return found if isinstance(found, Rules) else None


def reason_against(game: pyspiel.Game) -> str | None:
    """The reason that the bridge searches a game that there are rules for, or None."""
    found = _rules_or_reason(str(game))
    return found if isinstance(found, str) else None


@functools.cache
def _rules_or_reason(spec: str) -> Rules | str | None:
    game = pyspiel.load_game(spec) if spec.partition("(")[0] in GAMES else None
    # A Python game may be registered under one of our names with other rules.
    if game is None or not type(game).__module__.startswith("pyspiel"):
        return None
    name = game.get_type().short_name
    if name not in GAMES:
        return None
    shown = _SHOWN - rules_class(name).parameter_defaults().keys()
    without = {*shown, *rules_class(name).implied}
    given = {key: value for key, value in game.get_parameters().items() if key not in without}
    # OpenSpiel loads such a game without complaint.
    if given.get("max_game_length", 0) < 0:
        return f"max_game_length must not be negative, got {given['max_game_length']}."
    try:
        found = rules_class(name)(**given)
    except (TypeError, ValueError) as error:
        return str(error)
    return found


def prepare(game: pyspiel.Game) -> bool:
    """Compile or load the rules of a game; return whether searches run on them."""
    if not is_on():
        return False
    found = rules_of(game)
    if found is None:
        if (reason := reason_against(game)) is not None:
            _log_uncovered(str(game), reason)
        return False
    _start(found)  # Compiles: the first search should not pay for it.
    return True


@functools.cache  # Once for each game.
def _log_uncovered(spec: str, reason: str) -> None:
    _log.info("rave_openspiel: %s is searched without compiled rules: %s", spec, reason)


def position(state: pyspiel.State, traits: Traits | None = None) -> RulesState | None:
    """The position of a state on compiled rules; None if searches do not use them here."""
    if not is_on():
        return None
    rules = rules_of(state.get_game())
    if rules is None or not type(state).__module__.startswith("pyspiel"):
        return None
    return same_position(state, rules, traits)


def drawn_board(state: pyspiel.State) -> Board | None:
    """The board that a state's rules declare, whether searches use them or not."""
    name = state.get_game().get_type().short_name
    if name not in GAMES or rules_class(name).drawn_board is Rules.drawn_board:
        return None
    rules = rules_of(state.get_game())
    found = None if rules is None else same_position(state, rules)
    return None if found is None else found.drawn_board()


@functools.cache
def _start(rules: Rules) -> RulesState:
    """The position at a game's start, not to be changed."""
    return rules.new_initial_state()


def same_position(
    state: pyspiel.State, rules: Rules, traits: Traits | None = None
) -> RulesState | None:
    """The position of a state on compiled rules; None if that is unknown."""
    found, traits = _start(rules).clone(), traits_of(state) if traits is None else traits
    start = next(filter(None, visible_start(state, traits)), "")
    if start:
        try:
            found.change(lambda record: rules.place_text(record, start))
        except (NotImplementedError, ValueError):  # OpenSpiel also reads FENs with mistakes.
            return None
    # Unchecked, for speed: if the game began at a text that its states do not show, moves may not
    # even be legal here. So compare the position that the replay reached.
    found.play_through(state.history())
    same = found.current_player() == state.current_player()
    if rules.name in HIDDEN_STARTS:
        same = same and str(found) == str(state)
    if same and (found.is_terminal() or found.legal_actions() == state.legal_actions()):
        return found
    _warn_of_difference(str(state.get_game()))
    return None


@functools.cache  # Once for each game.
def _warn_of_difference(spec: str) -> None:
    _log.warning(
        "rave_openspiel: a position of %s has other legal actions by the compiled rules, so "
        "OpenSpiel's own state is searched. %s=openspiel silences this.",
        spec,
        SWITCH,
    )


def diagnosis() -> str:
    """List the games that are searched on compiled rules; never raises."""
    try:
        if not is_on():
            return f"not used: {SWITCH}=openspiel"
    except ValueError as error:
        return f"not used: {error}"
    kinds = {name: rules_class(name) for name in sorted(GAMES) if name not in ADDED}
    names = ", ".join(kinds)
    uncovered = "; ".join(f"{name} with {k.uncovered}" for name, k in kinds.items() if k.uncovered)
    *placed, last = (name for name, k in kinds.items() if k.place_text is not Rules.place_text)
    return (
        f"in use for {names}. The bridge searches {uncovered}; and, but for {', '.join(placed)} "
        f"and {last}, games that begin at a position of one's own"
    )
