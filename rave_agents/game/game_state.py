"""The game as the search sees it: the common interface that adapters implement.

The methods are the subset of ``pyspiel.State`` that a search needs, with OpenSpiel's names,
player numbers and meaning, plus the bounds of the utilities, which OpenSpiel keeps on the game.
Nothing undoes a move: a search clones the state and plays on in the clone.
"""

import enum
import inspect
import random
from collections.abc import Sequence, Sized
from typing import Any, Protocol, Self, runtime_checkable

from rave_agents.errors import GameError
from rave_agents.game.abilities import StateAbilities

NO_ACTION = 0
"""The action to give for a player who has none, where others move at the same time."""


class PlayerId(enum.IntEnum):
    """Values of ``current_player`` that are not players, as in OpenSpiel."""

    CHANCE = -1
    SIMULTANEOUS = -2
    INVALID = -3
    TERMINAL = -4
    MEAN_FIELD = -5


@runtime_checkable
class GameState(Protocol):
    """A position of a game, as a search sees it.

    Where several players move at the same time, ``current_player()`` is ``PlayerId.SIMULTANEOUS``,
    and the state has ``apply_actions`` and ``legal_actions(player)``, as ``pyspiel.State`` does.

    ``rave_agents.game.abilities.StateAbilities`` lists optional methods: keys of positions, chance
    and hidden information, observations, faster simulations, text and pictures.
    """

    def clone(self) -> Self:
        """A copy that shares nothing that can change with this state."""

    def current_player(self) -> int:
        """The player to move, from 0, or a ``PlayerId`` where no player decides."""

    def is_terminal(self) -> bool:
        """True if the game is over; a playout that goes on after 1,048,576 moves is an error."""

    def is_chance_node(self) -> bool:
        """True if chance moves next."""

    def legal_actions(self) -> Sequence[int]:
        """The actions of the player to move, each from 0 to ``num_distinct_actions() - 1``."""

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """Every outcome at a chance node and its probability; the probabilities sum to 1."""

    def apply_action(self, action: int) -> Any:
        """Play an action of the player to move, or a chance outcome, on this state."""

    def returns(self) -> Sequence[float]:
        """The sum of each player's rewards from the game's start on."""

    def num_players(self) -> int:
        """The number of players."""

    def num_distinct_actions(self) -> int:
        """One more than the largest action of any player; memory depends on those that occur."""

    def min_utility(self) -> float:
        """The least return of a player, ``-inf`` if unknown."""

    def max_utility(self) -> float:
        """The greatest return of a player, ``inf`` if unknown."""


STATE_METHODS = tuple(
    name
    for name, method in vars(GameState).items()
    if inspect.isfunction(method) and name[0] != "_"
)
"""The methods that every GameState has."""


def missing_methods(value: object) -> list[str]:
    """The methods of GameState that an object or a class lacks, each with its signature."""
    missing = (name for name in STATE_METHODS if not callable(getattr(value, name, None)))
    return [_signature(name) for name in missing]


def _signature(name: str) -> str:
    signature = inspect.signature(vars(GameState)[name])
    kept = [each for each in signature.parameters.values() if each.name != "self"]
    text = str(signature.replace(parameters=kept))
    for qualified in ("typing.", "collections.abc."):
        text = text.replace(qualified, "")
    return f"{name}{text}"


def lacks_methods(value: object) -> str:
    """The message for an object with some of GameState's methods; empty if it has none or all."""
    missing = missing_methods(value)
    # None of the methods: the object was meant as something else.
    if not 0 < len(missing) < len(STATE_METHODS):
        return ""
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    return f"{name} is no GameState: it lacks {', '.join(missing)} (see rave_agents.GameState)."


def has_simultaneous_moves(state: GameState) -> bool:
    """True if players may move at the same time somewhere in this state's game."""
    offers = StateAbilities(state)
    if offers.has_simultaneous_moves is not None:
        return bool(offers.has_simultaneous_moves())
    return offers.apply_actions is not None


def hides_information(state: GameState) -> bool:
    """True if something is hidden from players in this state's game."""
    return bool(StateAbilities(state).hides_information())


def draws_chance(state: GameState) -> bool:
    """True if actions have random outcomes that this state draws itself."""
    return bool(StateAbilities(state).draws_chance())


def compiled_form(state: Any) -> Any:
    """The same position of a game on compiled rules, see ``on_compiled_rules``; None for none."""
    form = StateAbilities(state).on_compiled_rules
    return None if form is None else form()


def moves_between(before: GameState, after: GameState) -> Sequence[int] | None:
    """The moves from one position to another; None if there are none, or the states do not say."""
    moves_to = StateAbilities(before).moves_to if type(before) is type(after) else None
    return None if moves_to is None else moves_to(after)


def has_chance_nodes(state: GameState) -> bool:
    """True if chance may move somewhere in this state's game, or the state does not say."""
    says = StateAbilities(state).has_chance_nodes
    return says is None or bool(says())


def has_chance(state: GameState) -> bool:
    """True if a game says that chance moves in it, or begins with chance."""
    says = StateAbilities(state).has_chance_nodes
    return bool(state.is_chance_node()) if says is None else bool(says())


def drawn_outcome(state: GameState, draw: random.Random) -> int:
    """An outcome of a chance node, drawn by its probability."""
    # ``choices`` divides by the sum, so probabilities that sum to 1 - ε are fine.
    outcomes, weights = zip(*state.chance_outcomes(), strict=True)
    return int(draw.choices(outcomes, weights)[0])


def is_simultaneous(state: GameState) -> bool:
    """True if several players move at the same time at this state."""
    return state.current_player() == PlayerId.SIMULTANEOUS


def legal_actions_of(state: Any, player: int) -> Sequence[int]:
    """The actions of a player who moves, alone or at the same time as others."""
    actions: Sequence[int] = (
        state.legal_actions(player) if is_simultaneous(state) else state.legal_actions()
    )
    return actions


def moving_players(state: Any, num_players: int | None = None) -> list[int]:
    """The players with a legal action where players move at the same time, in ascending order.

    Args:
        state: the position.
        num_players: how many players the game has; None to ask the state.

    Raises:
        GameError: if a state gives no list of actions.
    """
    movers = []
    for player in range(state.num_players() if num_players is None else num_players):
        actions = state.legal_actions(player)
        if not isinstance(actions, Sized):
            raise GameError(f"legal_actions({player}) must give a list, got {actions!r}.")
        if len(actions) > 0:
            movers.append(player)
    return movers


def joint_action(players: Sequence[int], actions: Sequence[int], num_players: int) -> list[int]:
    """Fill ``apply_actions``'s list of all players' actions from the moving players' actions."""
    joint = [NO_ACTION] * num_players
    for player, action in zip(players, actions, strict=True):
        joint[player] = action
    return joint


def apply_path(state: Any, path: Sequence[int]) -> None:
    """Play actions and chance outcomes on a state, one after the other.

    Where players move at the same time, the actions of all who have a legal one follow each other.
    """
    place = 0
    while place < len(path):
        if is_simultaneous(state):
            players = moving_players(state)
            actions = path[place : place + len(players)]
            state.apply_actions(joint_action(players, actions, state.num_players()))
            place += len(players)
        else:
            state.apply_action(path[place])
            place += 1
