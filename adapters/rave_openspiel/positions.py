"""Identity of positions: whether two are the same, what led from one to another, and the start.

A history does not tell a position: games may begin at a FEN or a board of the user's, which
``State.starting_state_str`` tells for few of them, and attributes of Python states may be written
at any time. So positions are compared by all that they tell of themselves.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Self

import pyspiel

from rave_agents.errors import UnsupportedGameError
from rave_openspiel.frozen import NotComparableError, frozen
from rave_openspiel.pointers import is_native_class
from rave_openspiel.same_game import game_key

_SAMPLED = pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
"""The chance mode of games whose states cannot be serialized."""

_FENS = ("FEN: ", "SFEN: ")
"""What the serialization begins with in games that keep the FEN at which they began."""

_UNTOLD = frozenset({"clobber", "dots_and_boxes", "gomoku", "rbc"})
"""Games that begin at a text of the user's without telling it later."""

_UNDO_IS_RIGHT = frozenset({"rbc"})
"""Games that begin at a FEN and tell it nowhere, but take all moves back correctly."""


class Traits(NamedTuple):
    """How the states of a game tell their positions."""

    native: bool
    """Whether they are C++ states, which tell it by texts; else they are Python's."""
    serializes: bool
    """Whether they can be serialized."""
    simultaneous: bool
    """Whether players may move at the same time."""


def traits_of(state: pyspiel.State) -> Traits:
    """Return how a state tells its position, which is the same for all states of a game."""
    kind = state.get_game().get_type()
    return Traits(
        native=is_native_class(type(state)),
        serializes=bool(kind.chance_mode != _SAMPLED),
        simultaneous=bool(kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL),
    )


def position_key(state: pyspiel.State, traits: Traits | None = None) -> Hashable | None:
    """Return a key that is equal for two states exactly if they are the same position.

    None where that cannot be told: such a position is like no other, not even itself.
    """
    traits = traits_of(state) if traits is None else traits
    told: Hashable | None
    if traits.native:
        start = state.serialize() if traits.serializes else state.starting_state_str()
        told = state.current_player(), str(state), start
    else:
        told = _attributes(state)
    return None if told is None else (game_key(state.get_game()), tuple(state.history()), told)


def _attributes(state: pyspiel.State) -> Hashable | None:
    """The attributes of a Python state, each by itself: so a clone copies them."""
    try:
        return tuple((name, frozen(value)) for name, value in sorted(vars(state).items()))
    except (NotComparableError, RecursionError):
        return None


def _is_same(one: pyspiel.State, other: pyspiel.State, traits: Traits) -> bool:
    """Whether two states of one game, with one history, are the same position."""
    if traits.native:
        return bool(
            one.current_player() == other.current_player()
            and str(one) == str(other)
            and (
                one.serialize() == other.serialize()
                if traits.serializes
                else one.starting_state_str() == other.starting_state_str()
            )
        )
    told = _attributes(one)
    if told is None or told == _attributes(other):
        return told is not None
    # A state may note on itself what it has been asked.
    return _attributes(_asked(one)) == _attributes(_asked(other)) is not None


def _asked(state: pyspiel.State) -> pyspiel.State:
    """A copy that has been asked what loops ask of a state."""
    state = state.clone()
    _actions(state)
    return state


def _actions(state: pyspiel.State) -> list[list[int]]:
    """The legal actions of all who move, or the outcomes of chance."""
    if state.is_simultaneous_node():
        return [state.legal_actions(player) for player in range(state.num_players())]
    return [] if state.is_terminal() else [state.legal_actions()]


def moves_between(
    before: pyspiel.State, after: pyspiel.State, traits: Traits | None = None
) -> list[int] | None:
    """Return the actions and chance outcomes that lead from one position to exactly another.

    As in ``State.history()``, a joint action is one action of each player. None if none do, or that
    cannot be told. Neither state is changed.

    Args:
        before: a position.
        after: a position of the same game.
        traits: how its states tell their positions; None to find out.
    """
    past, history = before.history(), after.history()
    if history[: len(past)] != past:
        return None
    traits = traits_of(before) if traits is None else traits
    moves: list[int] = history[len(past) :]
    reached = before
    if moves:
        reached = before.clone()
        if not (_play_joint if traits.simultaneous else _play)(reached, moves):
            return None
    return moves if _is_same(reached, after, traits) else None


class GameStart:
    """The start of the game that a state is of, to notice states of others at little cost.

    It relies on what a C++ state tells of its start, where its game does tell it.

    Args:
        state: the state; it is copied.
    """

    def __init__(self, state: pyspiel.State) -> None:
        self._state: pyspiel.State | None = state.clone()
        self._traits = traits_of(state)
        self._history = state.history()
        self._start = state.starting_state_str()
        self._fen = _told_fen(state) if self._traits.native else None
        untold = state.get_game().get_type().short_name in _UNTOLD
        self._tells = self._traits.native and not untold

    def leads_to(self, state: pyspiel.State) -> bool:
        """Whether the state continues this game, from the state given."""
        if not self._tells:
            before = self._state
            return before is not None and moves_between(before, state, self._traits) is not None
        return (
            state.starting_state_str() == self._start
            and state.history()[: len(self._history)] == self._history
            and (self._fen is None or _told_fen(state) == self._fen)
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = type(self).__new__(type(self))
        vars(twin).update(vars(self))  # Nothing of it changes.
        return twin

    def __getstate__(self) -> dict[str, Any]:
        # A pickle of such a state would begin elsewhere: the copy begins anew.
        return {**vars(self), **({"_state": None} if self._traits.native else {})}


def _told_fen(state: pyspiel.State) -> str | None:
    """The FEN that a state's serialization begins with, empty for the game's own; None if none."""
    if not traits_of(state).serializes:
        return None
    first: str = state.serialize().partition("\n")[0]
    return next((first.removeprefix(mark) for mark in _FENS if first.startswith(mark)), None)


def _play(state: pyspiel.State, moves: Sequence[int]) -> bool:
    """Play actions and chance outcomes; returns False, in the middle, if one is not legal."""
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
    """Return the position at which a state's history begins; None if that cannot be told.

    This is the game's initial state, or what a position was set up as, from a FEN for example. The
    history leads from there to the state.
    """
    traits = traits_of(state)
    start, reached = _told_start(state, traits), _told_start(state, traits)
    play = _play_joint if traits.simultaneous else _play
    return start if play(reached, state.history()) and looks_same(reached, state) else None


def is_serializable(state: pyspiel.State) -> bool:
    """Whether OpenSpiel's serialization keeps a state: it forgets where some began."""
    traits = traits_of(state)
    if not traits.native or not traits.serializes:
        return True
    start = _serialized_start(state)
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
            "and the state does not tell how. To search it with worlds, give a function that draws "
            "them: worlds=..."
        )
    return start


def _told_start(state: pyspiel.State, traits: Traits) -> pyspiel.State:
    """Where a history begins, by what the state tells."""
    if not state.history():
        return state.clone()
    if traits.native and state.get_game().get_type().short_name in _UNDO_IS_RIGHT:
        start = state.clone()
        for move in reversed(state.full_history()):
            start.undo_action(move.player, move.action)
        return start
    return _serialized_start(state)


def _serialized_start(state: pyspiel.State) -> pyspiel.State:
    """Where a history begins, by what a state's serialization tells."""
    native = is_native_class(type(state))
    told = state.starting_state_str() or (_told_fen(state) if native else None)
    return state.get_game().new_initial_state(*filter(None, [told]))


def looks_same(one: pyspiel.State, other: pyspiel.State) -> bool:
    """Whether two states with one history are the same position as far as anybody can see.

    Python states may hold what their players never see, such as random numbers to come, so that
    their attributes may differ after the same moves.
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
