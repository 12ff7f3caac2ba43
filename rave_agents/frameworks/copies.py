"""Checks once per user class that its states can be copied and played on."""

import re
import weakref
from typing import Any

from rave_agents.errors import CloneError, GameError
from rave_agents.game.game_state import GameState, PlayerId, missing_methods

_checked: weakref.WeakSet[type] = weakref.WeakSet()


def is_of_package(kind: type) -> bool:
    """True for a class of this package or of its adapters."""
    return kind.__module__.partition(".")[0].startswith("rave_")


def check_copies(state: GameState) -> None:
    """Refuse a state whose ``clone`` gives no copy, or whose ``apply_action`` changes nothing.

    A search of such a state would fail elsewhere, or give wrong values. The check plays one action
    on a copy; exceptions of the state's methods are left to the search.

    Raises:
        CloneError: if a copy is not a state, is the state itself, or shares what can change.
        GameError: if ``apply_action`` returns another state in place of changing this one.
    """
    kind = type(state)
    if kind in _checked or is_of_package(kind):
        return
    try:
        copy: Any = state.clone()
    except Exception:
        return
    name = kind.__name__
    if copy is state:
        raise CloneError(
            f"{name}.clone() returned the state itself, so that every move of a search would "
            "change your game: it must return a new state with copies of what can change, such as "
            "copy.deepcopy(self)."
        )
    lacking = missing_methods(copy)
    if lacking:
        raise CloneError(
            f"{name}.clone() must return a copy of the state, got {_brief(copy)}, which has no "
            f"{lacking[0].partition('(')[0]}()."
        )
    try:
        wrong = _wrong_move(state, copy)
    except Exception:
        return
    if wrong is not None:
        raise wrong
    # A terminal position has shown nothing about moves: check the next one.
    if not state.is_terminal():
        _checked.add(kind)


def _wrong_move(state: Any, copy: Any) -> Exception | None:
    """The error of a move on the copy; None if it is correct."""
    if state.is_terminal() or state.current_player() == PlayerId.SIMULTANEOUS:
        return None
    before, copied, name = answers_of(state), answers_of(copy), type(state).__name__
    if before != copied:
        return CloneError(
            f"{name}.clone() must return an equal state: {_difference(before, copied)}."
        )
    chance = state.is_chance_node()
    action = int(state.chance_outcomes()[0][0] if chance else state.legal_actions()[0])
    # On the copy, never on the state: a shared list then shows as a change of the state.
    returned = copy.apply_action(action)
    if before != (after := answers_of(state)):
        return CloneError(
            f"{name}.clone() shares what can change with the state: apply_action({action}) on the "
            f"copy changed the state, {_difference(before, after)}. Copy lists, dicts, sets and "
            "arrays in clone(), too."
        )
    if isinstance(returned, type(state)) and returned is not copy and answers_of(copy) == before:
        return GameError(
            f"{name}.apply_action({action}) returned a new {name} and did not change the state: it "
            "must change the state itself. To keep states that never change, wrap one in a class "
            "whose apply_action replaces it."
        )
    return None


def answers_of(state: GameState) -> dict[str, Any]:
    """The answers of a state's methods, by their calls."""
    answers: dict[str, Any] = {
        "current_player()": int(state.current_player()),
        "is_terminal()": bool(state.is_terminal()),
    }
    if not state.is_terminal():
        if state.is_chance_node():
            answers["chance_outcomes()"] = [tuple(each) for each in state.chance_outcomes()]
        elif state.current_player() != PlayerId.SIMULTANEOUS:
            answers["legal_actions()"] = [int(each) for each in state.legal_actions()]
    if type(state).__str__ is not object.__str__:
        answers["str()"] = re.sub(r"0x[0-9a-f]+", "", str(state))  # An object's address differs.
    return answers


def _difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    for call in {**before, **after}:
        if before.get(call) != after.get(call):
            return f"{call} gave {_brief(before.get(call))} and then {_brief(after.get(call))}"
    return ""


def _brief(value: Any) -> str:
    return repr(value)[:120]
