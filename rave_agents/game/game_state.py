"""The game as the search sees it: the common interface that adapters implement.

The methods are the subset of ``pyspiel.State`` that a search needs, with OpenSpiel's names,
player numbers and meaning, plus the bounds of the utilities, which OpenSpiel keeps on the game.
Nothing undoes a move: a search clones the state and plays on in the clone.
"""

import enum
import inspect
import random
from collections.abc import Sequence
from typing import Any, Protocol, Self, runtime_checkable

from rave_agents.errors import GameError

NO_ACTION = 0
"""The action to give for a player who has none, where others move at the same time."""


class PlayerId(enum.IntEnum):
    """Numbers of ``current_player`` that stand for no player; OpenSpiel's."""

    CHANCE = -1
    SIMULTANEOUS = -2
    INVALID = -3
    TERMINAL = -4
    MEAN_FIELD = -5


@runtime_checkable
class GameState(Protocol):
    """A position of a game, as a search sees it.

    Where several players move at the same time, ``current_player()`` is ``PlayerId.SIMULTANEOUS``,
    and the state offers, as ``pyspiel.State`` does:

    * ``legal_actions(player) -> Sequence[int]``: the actions of any player there, none for a player
      who does not move;
    * ``apply_actions(actions)``: play one action of each player, in their order, at the same time;
      what it is given for a player who does not move means nothing.

    An adapter may also offer:

    * ``has_simultaneous_moves() -> bool``: whether players may move at the same time in this game;
      without it, a state that has ``apply_actions`` is taken to be of such a game;

    * ``has_chance_nodes() -> bool``: False where chance never moves in this game, which saves what
      a search does in case it does;

    * ``simulator(frame, evaluator) -> Simulator``: a faster provider of simulations than the
      generic one, see ``rave_agents.simulate.simulator``;
    * ``position_key() -> Hashable``: equal for two states exactly when they are the same position
      of the same game, however they came about: it tells all that the rules can still ask, and no
      more. None where that cannot be told. It lets a search notice that a kept tree belongs to
      another position: without it, no tree is kept. A solver remembers positions by it, and
      a search with ``transpositions`` shares them, if it is of bytes, text, numbers and tuples of
      these;
    * ``game_key() -> Hashable``: equal for two states exactly when they are of the same game, where
      a class is of several: what a search learns of one game it forgets in another;
    * where something is hidden from players, ``hides_information() -> bool``, True then, and what a
      search by determinization needs: ``worlds(player, unit) -> Callable[[], Self]``, which gives
      at each call another state that the player cannot tell from this one, drawn with ``unit()``,
      a uniform random number in [0, 1); and ``view(player) -> Hashable``, equal for two states
      exactly when the player sees the same in them. ``worlds`` raises UnsupportedGameError where
      there are none. A faster provider may come from ``world_simulator(frame, evaluator, player)``.
      Where players move at the same time as well, ``one_at_a_time(player)`` gives the position in a
      game in which they move in turn, unseen by each other, and ``player`` chooses. ``seeing() ->
      Self`` may give the same state with nothing hidden, for a search that may look at it;
    * where an action has random outcomes that ``apply_action`` draws itself, ``draws_chance() ->
      bool``, True then, and ``worlds`` and ``view`` likewise: each world is this very position
      with random numbers of its own;
    * ``on_compiled_rules() -> RulesState | None``: the same position of a game of
      ``rave_agents.games``, for value functions that are compiled;
    * ``observation(player) -> array``: what a player sees, as numbers, for those who learn;
    * ``framework_state``, an attribute: the framework's own state, which agents of its users get;
      without it, the state itself;
    * ``action_to_string(player, action) -> str``: how people write the action;
    * ``__str__``, the board as text, and ``board_tiling() -> str | None`` ("squares", "hexagons" or
      "points"; None if the text tells), for pictures: see ``rave_agents.plots.board``;
    * ``drawn_board() -> Board | None``: the board as it is drawn, where the text does not show it,
      and nothing is hidden: see ``rave_agents.game.board``;
    * ``history() -> Sequence[int]``: the actions and chance outcomes since the game's start, which
      agents that ask other programs need.
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
        """One more than the largest action of any player: memory goes by those that occur."""

    def min_utility(self) -> float:
        """The least that a player can win in a game, ``-inf`` where nobody knows."""

    def max_utility(self) -> float:
        """The most that a player can win in a game, ``inf`` where nobody knows."""


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
    signature = inspect.signature(getattr(GameState, name))
    kept = [each for each in signature.parameters.values() if each.name != "self"]
    text = str(signature.replace(parameters=kept))
    for qualified in ("typing.", "collections.abc."):
        text = text.replace(qualified, "")
    return f"{name}{text}"


def lacks_methods(value: object) -> str:
    """The message for an object with some of GameState's methods; empty if it has none or all."""
    missing = missing_methods(value)
    if not 0 < len(missing) < len(STATE_METHODS):
        return ""
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    return f"{name} is no GameState: it lacks {', '.join(missing)} (see rave_agents.GameState)."


def has_simultaneous_moves(state: GameState) -> bool:
    """True if players may move at the same time somewhere in this state's game."""
    tells = getattr(state, "has_simultaneous_moves", None)
    return hasattr(state, "apply_actions") if tells is None else bool(tells())


def hides_information(state: GameState) -> bool:
    """True if something is hidden from players in this state's game."""
    tells = getattr(state, "hides_information", None)
    return tells is not None and bool(tells())


def draws_chance(state: GameState) -> bool:
    """True if actions have random outcomes that this state draws itself."""
    tells = getattr(state, "draws_chance", None)
    return tells is not None and bool(tells())


def compiled_form(state: Any) -> Any:
    """The same position of a game on compiled rules, see ``on_compiled_rules``; None for none."""
    return getattr(state, "on_compiled_rules", lambda: None)()


def determinizes(state: GameState, hidden: str) -> bool:
    """True if each simulation of a search of a state has a world of its own.

    Args:
        state: the state.
        hidden: ``SearchConfig.hidden``.
    """
    return draws_chance(state) or (hides_information(state) and hidden == "determinize")


def has_chance_nodes(state: GameState) -> bool:
    """True if chance may move somewhere in this state's game, or the state does not say."""
    tells = getattr(state, "has_chance_nodes", None)
    return tells is None or bool(tells())


def has_chance(state: GameState) -> bool:
    """True if a game says that chance moves in it, or begins with chance."""
    says = hasattr(state, "has_chance_nodes")
    return has_chance_nodes(state) if says else bool(state.is_chance_node())


def drawn_outcome(state: GameState, draw: random.Random) -> int:
    """An outcome of a chance node, drawn by its probability."""
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
        if not hasattr(actions, "__len__"):
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
