"""Identity of positions: whether two are the same, the moves from one to another, and the start.

A history does not determine a position: games may begin at a FEN or a board of the user's, which
``State.starting_state_str`` shows for few of them, and attributes of Python states may be written
at any time. So positions are compared by everything that they show.
"""

import functools
import importlib.metadata
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import pyspiel

from rave_agents.errors import UnsupportedGameError
from rave_openspiel.frozen import NotComparableError, frozen
from rave_openspiel.pointers import is_native_class
from rave_openspiel.same_game import game_key

_SAMPLED = pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
"""The chance mode of games whose states cannot be serialized."""

_FENS = ("FEN: ", "SFEN: ")
"""Beginnings of serializations in games that keep the FEN at which they began."""

_START = "starting_state="
"""Beginning of serializations in games that keep a start in JSON."""

TRIED_VERSION = "2.0.2"
"""The version of OpenSpiel whose games were checked for starts from a text of the user's."""

HIDDEN_STARTS = frozenset({"clobber", "dots_and_boxes", "gomoku", "rbc"})
"""Games that can begin at a user's text, but do not show it later."""

FIXED_BY_TEXT = frozenset(
    {
        "breakthrough",
        "clobber",
        "connect_four",
        "dots_and_boxes",
        "gomoku",
        "havannah",
        "hex",
        "mnk",
        "nim",
        "othello",
        "pentago",
        "tic_tac_toe",
        "twixt",
        "y",
    }
)
"""Games whose text and player determine the position: each move fills or takes something for good,
so there is no repetition, and no count of moves."""

_UNDO_IS_RIGHT = frozenset({"rbc"})
"""Games that begin at a FEN and show it nowhere, but take all moves back correctly."""


class Traits(NamedTuple):
    """How the states of a game identify their positions."""

    native: bool
    """True for C++ states, identified by texts; Python states are identified by attributes."""
    serialized: bool
    """True if their serialization has more than the start and the moves since."""
    simultaneous: bool
    """True if players may move at the same time."""
    fixed_by_history: bool = False
    """True if the visible start and the moves since determine a position."""
    fixed_by_text: bool = False
    """True if the text and the player to move determine everything that the rules depend on."""


def traits_of(state: pyspiel.State) -> Traits:
    """Return how a state shows its position, which is the same for all states of a game."""
    kind = state.get_game().get_type()
    native = is_native_class(type(state))
    serializes = native and kind.chance_mode != _SAMPLED
    return Traits(
        native=native,
        serialized=serializes and state.serialize() != _usual_serialization(state),
        simultaneous=bool(kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL),
        fixed_by_text=native and kind.short_name in FIXED_BY_TEXT and _is_tried_version(),
    )


@functools.cache
def _is_tried_version() -> bool:
    try:
        return importlib.metadata.version("open_spiel") == TRIED_VERSION
    except importlib.metadata.PackageNotFoundError:
        return False


def is_fixed_by_history(game: pyspiel.Game) -> bool:
    """True if the visible start and the moves since determine a C++ game's position."""
    kind = game.get_type()
    return (
        _is_tried_version()
        and kind.short_name not in HIDDEN_STARTS
        and kind.chance_mode != _SAMPLED
    )


def _usual_serialization(state: pyspiel.State) -> str:
    """The serialization of a state whose game does not define one."""
    start = state.starting_state_str()
    moves = "\n".join(map(str, state.history()))
    return f"{_START}{start}\n{moves}\n" if start else f"{moves}\n"


def position_key(state: pyspiel.State, traits: Traits | None = None) -> Hashable | None:
    """Return a key that is equal for two states only if they are the same position.

    In games of ``FIXED_BY_TEXT`` the moves may differ; in others they must be the same. None if
    that is unknown: such a position equals no other, not even itself.
    """
    traits = traits_of(state) if traits is None else traits
    shown: Hashable | None
    if traits.fixed_by_text:
        return game_key(state.get_game()), state.current_player(), str(state)
    if traits.native:
        start = state.serialize() if traits.serialized else state.starting_state_str()
        # The text too: a start of the user's may show on the board alone.
        shown = state.current_player(), str(state), start
    else:
        shown = _attributes(state)
    return None if shown is None else (game_key(state.get_game()), tuple(state.history()), shown)


def _attributes(state: pyspiel.State) -> Hashable | None:
    """The attributes of a Python state, frozen one by one, as ``clone`` copies them."""
    try:
        return tuple((name, frozen(value)) for name, value in sorted(vars(state).items()))
    except (NotComparableError, RecursionError):
        return None


def _is_same(one: pyspiel.State, other: pyspiel.State, traits: Traits) -> bool:
    """True if two states of one game, with one history, are the same position."""
    if traits.native:
        return bool(
            one.current_player() == other.current_player()
            and str(one) == str(other)
            and (
                one.serialize() == other.serialize()
                if traits.serialized
                else one.starting_state_str() == other.starting_state_str()
            )
        )
    content = _attributes(one)
    if content is None or content == _attributes(other):
        return content is not None
    # A state may cache its answers in attributes: compare copies that answered the same questions.
    return _attributes(_after_queries(one)) == _attributes(_after_queries(other)) is not None


def _after_queries(state: pyspiel.State) -> pyspiel.State:
    """A copy after the calls that game loops make."""
    state = state.clone()
    _actions(state)
    return state


def _actions(state: pyspiel.State) -> list[list[int]]:
    """The legal actions of each player to move, or the outcomes of chance."""
    if state.is_simultaneous_node():
        return [state.legal_actions(player) for player in range(state.num_players())]
    return [] if state.is_terminal() else [state.legal_actions()]


def moves_between(
    before: pyspiel.State, after: pyspiel.State, traits: Traits | None = None
) -> list[int] | None:
    """Return the actions and chance outcomes that lead from one position to exactly another.

    As in ``State.history()``, a joint action is one action of each player. None if there are none,
    or that is unknown. Neither state is changed.

    Args:
        before: a position.
        after: a position of the same game.
        traits: how its states identify their positions; None to find out.
    """
    past, history = before.history(), after.history()
    if history[: len(past)] != past:
        return None
    traits = traits_of(before) if traits is None else traits
    moves: list[int] = history[len(past) :]
    # Equal starts and a common history suffice; replaying would cost each of a bot's moves.
    if traits.fixed_by_history:
        same = before.starting_state_str() == after.starting_state_str() and (
            not traits.serialized or _initial_fen(before, traits) == _initial_fen(after, traits)
        )
        return moves if same else None
    reached = before.clone() if moves else before
    play = _play_joint if traits.simultaneous else _play
    return moves if play(reached, moves) and _is_same(reached, after, traits) else None


def visible_start(state: pyspiel.State, traits: Traits) -> tuple[str, str | None]:
    """Return the start of a state's history: its start text, and the FEN in its serialization."""
    return state.starting_state_str(), _initial_fen(state, traits)


def _initial_fen(state: pyspiel.State, traits: Traits) -> str | None:
    """The FEN at the start of a state's serialization, empty for the usual start; None if none."""
    if not traits.serialized:
        return None
    first: str = state.serialize().partition("\n")[0]
    return next((first.removeprefix(mark) for mark in _FENS if first.startswith(mark)), None)


def _play(state: pyspiel.State, moves: Sequence[int]) -> bool:
    """Play actions and chance outcomes; stop and return False at the first illegal one."""
    # C++ checks few actions itself: an illegal one may corrupt the state or abort.
    for move in moves:
        if move not in state.legal_actions():
            return False
        state.apply_action(move)
    return True


def _play_joint(state: pyspiel.State, moves: Sequence[int]) -> bool:
    """The same where players may move at the same time."""
    place, players = 0, range(state.num_players())
    while place < len(moves):
        if not state.is_simultaneous_node():
            if not _play(state, moves[place : place + 1]):
                return False
            place += 1
            continue
        joint = list(moves[place : place + len(players)])
        legal = [state.legal_actions(player) for player in players]
        if len(joint) < len(players) or any(
            actions and action not in actions for action, actions in zip(joint, legal, strict=True)
        ):
            return False
        state.apply_actions(joint)
        place += len(joint)
    return True


def start_of(state: pyspiel.State) -> pyspiel.State | None:
    """Return the position at which a state's history begins; None if that is unknown.

    This is the game's initial state, or a position that was set up, from a FEN for example.
    """
    traits = traits_of(state)
    play = _play_joint if traits.simultaneous else _play
    # Trust a start only if the history leads from it to the state. Two of each: one is played on.
    for find_start in (_serialized_start, _undone):
        start, reached = find_start(state, traits), find_start(state, traits)
        if start is None or reached is None:
            continue
        if play(reached, state.history()) and looks_same(reached, state):
            return start
    return None


def is_serializable(state: pyspiel.State) -> bool:
    """True if OpenSpiel's serialization restores the state; for some it loses the start."""
    traits = traits_of(state)
    if not traits.native or state.get_game().get_type().chance_mode == _SAMPLED:
        return True
    start = _serialized_start(state, traits)
    play = _play_joint if traits.simultaneous else _play
    return play(start, state.history()) and _is_same(start, state, traits)


def replayed_start(state: pyspiel.State) -> pyspiel.State:
    """Return ``start_of(state)``.

    Raises:
        UnsupportedGameError: if the history does not lead from the start to the state.
    """
    start = start_of(state)
    if start is None:
        raise UnsupportedGameError(
            f"The history of this state of {state.get_game()} cannot be replayed: it does not lead "
            "here from the game's start, so the position, or the one where it began, was set up, "
            "and the state does not show how. To search it with worlds, give a function that draws "
            "them: worlds=..."
        )
    return start


def _undone(state: pyspiel.State, traits: Traits) -> pyspiel.State | None:
    """The state without its moves, if it has none or the game undoes them right; else None."""
    if state.history() and state.get_game().get_type().short_name not in _UNDO_IS_RIGHT:
        return None
    start = state.clone()
    if state.history() and not state.is_terminal():
        start.apply_action(state.legal_actions()[0])  # Clears its cache of legal actions.
    for move in reversed(start.full_history()):
        start.undo_action(move.player, move.action)
    return start


def _serialized_start(state: pyspiel.State, traits: Traits) -> pyspiel.State:
    """The start of a history, from the state's serialization."""
    text = state.starting_state_str() or _initial_fen(state, traits)
    return state.get_game().new_initial_state(*filter(None, [text]))


def looks_same(one: pyspiel.State, other: pyspiel.State) -> bool:
    """True if two states with one history look the same to every player.

    Attributes of Python states may differ after the same moves, if they hold future random numbers
    for example.
    """
    traits = traits_of(one)
    return _is_same(one, other, traits) or (not traits.native and _seen(one) == _seen(other))


def _seen(state: pyspiel.State) -> Hashable:
    kind, players = state.get_game().get_type(), range(state.num_players())
    actions = tuple(map(tuple, _actions(state)))
    seen = [state.current_player(), tuple(state.returns()), str(state), actions]
    if kind.provides_information_state_string:
        seen += [state.information_state_string(player) for player in players]
    if kind.provides_observation_string:
        seen += [state.observation_string(player) for player in players]
    return tuple(seen)
