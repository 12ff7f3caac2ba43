"""A player's view of a state: its information state, its observation, or its tensor."""

import operator
from collections.abc import Callable

import pyspiel

TELLS_OTHERS_MOVES = frozenset(["dark_hex"])
"""Games whose information state reveals the number of all moves, rejected ones included, against
the rules; the observation does not reveal it."""


def sees_information_state(game: pyspiel.Game) -> bool:
    """True if the game offers information states; else players see observations."""
    hides = game.get_type().short_name not in TELLS_OTHERS_MOVES
    return hides and offers(game, "information_state_string")


def viewer(game: pyspiel.Game) -> Callable[[pyspiel.State, int], str]:
    """Return the function ``(state, player)`` for what the player sees in this game."""
    return _information_state if sees_information_state(game) else _observation


def _information_state(state: pyspiel.State, player: int) -> str:
    return state.information_state_string(player)  # type: ignore[no-any-return]


def _observation(state: pyspiel.State, player: int) -> str:
    return state.observation_string(player)  # type: ignore[no-any-return]


def offers(game: pyspiel.Game, method: str) -> bool:
    """True if states show a player's view by a method such as ``"observation_tensor"``.

    A C++ game declares it in its type. A Python state may have the method regardless of the type;
    if not, pyspiel calls the observer of ``game.make_py_observer``.
    """
    said = bool(operator.attrgetter(f"provides_{method}")(game.get_type()))
    if type(game).__module__.partition(".")[0] == "pyspiel":
        return said
    key = str(game), method
    if key not in _offered:
        _offered[key] = _offers_in_python(game, method, said)
    return _offered[key]


_offered: dict[tuple[str, str], bool] = {}
"""The methods that games in Python offer."""


def _offers_in_python(game: pyspiel.Game, method: str, said: bool) -> bool:
    own = operator.attrgetter(method)
    # Whether the state overrides pyspiel's method.
    if own(type(game.new_initial_state())) is not own(pyspiel.State):
        return True
    observed = pyspiel.IIGObservationType(
        public_info=True,
        perfect_recall=method.startswith("information_state"),
        private_info=pyspiel.PrivateInfoType.SINGLE_PLAYER,
    )
    try:
        return said and game.make_py_observer(observed, {}) is not None
    except (AttributeError, NotImplementedError):
        return False


def tensor_method(game: pyspiel.Game) -> str | None:
    """Return the method of a state that gives a player's view in numbers; None if there is none."""
    names = ("observation_tensor", "information_state_tensor")
    return next((name for name in names if offers(game, name)), None)
