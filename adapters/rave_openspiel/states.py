"""OpenSpiel's states as a GameState."""

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pyspiel
from numpy.typing import NDArray

from rave_agents.errors import UnsupportedGameError
from rave_agents.game.board import Board
from rave_agents.games.kit.rules_state import RulesState, compiled_simulator
from rave_agents.simulate.action_numbers import has_tables_of_ids
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.expansion import Expansion
from rave_agents.simulate.simulator import Frame, Header, Simulator
from rave_agents.simulate.value import PositionPriors, PositionValue
from rave_agents.simulate.visits import Visit
from rave_openspiel import compiled_games
from rave_openspiel.native import (
    bridge,
    is_native,
    is_shrinking,
    optional_library,
)
from rave_openspiel.native_expander import ExpanderLibrary, NativeExpander, can_expand
from rave_openspiel.native_library import Library
from rave_openspiel.native_simulator import NativeSimulator, Observation
from rave_openspiel.native_visitor import NativeVisitor, native_visitor
from rave_openspiel.player_views import sees_information_state, tensor_method
from rave_openspiel.positions import (
    Traits,
    is_fixed_by_history,
    is_serializable,
    moves_between,
    position_key,
    replayed_start,
    traits_of,
)
from rave_openspiel.same_game import game_key
from rave_openspiel.simulator import (
    OpenSpielSimulator,
    RolloutSimulator,
    rewards_so_far,
    utility_bounds,
    utility_sum,
)
from rave_openspiel.support import check_chance, hides_information, is_simultaneous
from rave_openspiel.turn_based import one_at_a_time
from rave_openspiel.uniform_moves import Unit
from rave_openspiel.worlds import WorldFunction, view, world_source

_Type = pyspiel.GameType

_TILINGS = {
    **dict.fromkeys(("go", "nogo", "gomoku", "phantom_go", "cursor_go"), "points"),
    **dict.fromkeys(("dark_hex", "dark_hex_ir"), "hexagons"),
}
"""Tilings of boards whose text does not show them; see ``rave_agents.game.board.Tiling``."""

_CLONES_POINT_TO_THEIR_ORIGINAL = frozenset({"morpion_solitaire"})

MOST_OBSERVED = 4096
"""Numbers of an observation up to which a search learns from them."""


class _Kind(NamedTuple):
    """Facts of a game, collected once for all of its states."""

    clones_point_to_their_original: bool
    tensor: str | None
    """The method of a state that returns what a player observes; None if there is none."""
    traits: Traits
    """How states identify their positions."""


def _kind_of(state: pyspiel.State) -> _Kind:
    game = state.get_game()
    name = game.get_type().short_name
    by_history = is_native(state) and is_fixed_by_history(game)
    return _Kind(
        name in _CLONES_POINT_TO_THEIR_ORIGINAL,
        tensor_method(game),
        traits_of(state)._replace(fixed_by_history=by_history),
    )


_prepared: dict[str, _Kind] = {}
"""Games whose code is compiled or loaded."""

_latest: list[tuple[pyspiel.Game | None, _Kind | None]] = [(None, None)]
"""The game of the latest state: comparing the object is faster than building its name."""


class OpenSpielState:
    """A ``pyspiel.State``, of a C++ or a Python game, as a GameState.

    Args:
        state: the state; it is wrapped, not copied.
        worlds: the user's source of determinizations (worlds), in place of the game's own; see
            ``rave_openspiel.worlds.WorldFunction``.
    """

    def __init__(self, state: pyspiel.State, worlds: WorldFunction | None = None) -> None:
        game, (latest, kind) = state.get_game(), _latest[0]
        if game is not latest or kind is None:
            kind = _prepared.get(str(game))
            if kind is None:
                # Code is compiled here, if need be, before the clock of a search runs.
                if not compiled_games.prepare(game):
                    bridge()
                kind = _prepared[str(game)] = _kind_of(state)
            _latest[0] = game, kind
        self.state = state
        """The wrapped ``pyspiel.State``."""
        self._worlds = worlds
        self._kind = kind

    @property
    def framework_state(self) -> pyspiel.State:
        """The ``pyspiel.State``, for agents of OpenSpiel's users."""
        return self.state

    @property
    def _common(self) -> Any:
        """The state inside a game of ``Rules``; None for OpenSpiel's own games."""
        return getattr(self.state, "common_state", None)

    def clone(self) -> Self:
        """A copy that shares nothing that can change with this state, and outlives it.

        Clones in some games read the memory of their original, even after it is freed. These are
        replayed from the start.
        """
        if self._kind.clones_point_to_their_original:
            state = self.state.get_game().deserialize_state(self.state.serialize())
        else:
            state = self.state.clone()
        new = object.__new__(type(self))  # Skips the look-ups: clones are frequent.
        new.state, new._worlds, new._kind = state, self._worlds, self._kind
        return new

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A clone: OpenSpiel's own deep copies lose the FEN or board at which they began."""
        return self.clone()

    def __getstate__(self) -> dict[str, Any]:
        if not is_serializable(self.state):
            raise TypeError(
                f"This position of {self.state.get_game()} cannot be pickled: OpenSpiel's "
                "serialization does not keep where it began. A bot forgets it by restart()."
            )
        return vars(self).copy()

    def current_player(self) -> int:
        """The player to move, or a ``PlayerId``."""
        return int(self.state.current_player())

    def is_terminal(self) -> bool:
        """True if the game is over."""
        return bool(self.state.is_terminal())

    def is_chance_node(self) -> bool:
        """True if chance moves next."""
        return bool(self.state.is_chance_node())

    def has_chance_nodes(self) -> bool:
        """True if chance may move in this game."""
        mode = self.state.get_game().get_type().chance_mode
        return bool(mode != pyspiel.GameType.ChanceMode.DETERMINISTIC)

    def has_simultaneous_moves(self) -> bool:
        """True if players may move at the same time in this game."""
        return is_simultaneous(self.state.get_game())

    def hides_information(self) -> bool:
        """True if the game hides information from players."""
        return hides_information(self.state.get_game().get_type())

    def one_at_a_time(self, player: int) -> "OpenSpielState":
        """Return the turn-based form of a position at which players move at the same time."""
        return OpenSpielState(one_at_a_time(self.state, player))

    def worlds(self, player: int, unit: Unit) -> Callable[[], Self]:
        """Return a source of determinizations: states that look the same to the player.

        Raises:
            UnsupportedGameError: if there is none; the message says why.
        """
        source = world_source(self.state, player, unit, self._worlds)
        return lambda: type(self)(source(), self._worlds)

    def view(self, player: int) -> str:
        """Return what a player sees: their information state, or else their observation."""
        return view(self.state, player)

    def recalls_all(self) -> bool:
        """Return True if ``view`` is the information state, with all that the player has seen."""
        return sees_information_state(self.state.get_game())

    def start(self) -> Self:
        """Return the state at which this one's game began.

        Raises:
            UnsupportedGameError: if it cannot be found.
        """
        new = object.__new__(type(self))
        new.state, new._worlds, new._kind = replayed_start(self.state), self._worlds, self._kind
        return new

    def visitor(self, visit: Visit) -> NativeVisitor | None:
        """Return a visitor that works outside the interpreter; None for Python games."""
        check_chance(self.state.get_game())
        return native_visitor(self.clone().state, visit)

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        """Return the legal actions of the player to move, or of a given player."""
        if player is None:
            return self.state.legal_actions()  # type: ignore[no-any-return]
        return self.state.legal_actions(player)  # type: ignore[no-any-return]

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """Return the outcomes of a chance node with their probabilities."""
        return self.state.chance_outcomes()  # type: ignore[no-any-return]

    def apply_action(self, action: int) -> None:
        """Apply an action or a chance outcome to this state."""
        self.state.apply_action(action)

    def apply_actions(self, actions: Sequence[int]) -> None:
        """Apply a joint action: one action of each player."""
        self.state.apply_actions(list(actions))

    def returns(self) -> Sequence[float]:
        """Return each player's return so far."""
        return self.state.returns()  # type: ignore[no-any-return]

    def collected(self) -> tuple[Sequence[float], float]:
        """Return each player's rewards so far, where they are given during play, and 1."""
        return rewards_so_far(self.state), 1.0

    def num_players(self) -> int:
        """Return the number of players."""
        return int(self.state.num_players())

    def num_distinct_actions(self) -> int:
        """Return one more than the largest action of any player."""
        return int(self.state.num_distinct_actions())

    def min_utility(self) -> float:
        """Return the game's least utility; ``-inf`` if rewards come during play.

        The bound that such a game states is a crude sum that no play comes near.
        """
        return utility_bounds(self.state.get_game())[0]

    def max_utility(self) -> float:
        """Return the game's greatest utility; ``inf`` if rewards come during play."""
        return utility_bounds(self.state.get_game())[1]

    def utility_sum(self) -> float | None:
        """Return the sum of all players' utilities at every terminal state; None if it varies."""
        return utility_sum(self.state.get_game())

    def action_to_string(self, player: int, action: int) -> str:
        """Return the action as the game prints it."""
        return str(self.state.action_to_string(player, action))

    def board_tiling(self) -> str | None:
        """Return the board's tiling; None if the position's text shows it."""
        return _TILINGS.get(self.state.get_game().get_type().short_name)

    def drawn_board(self) -> Board | None:
        """Return the board that the game's rules declare; None if they declare none."""
        common = self._common
        if isinstance(common, RulesState):
            return common.drawn_board()
        return compiled_games.drawn_board(self.state)

    def observation(self, player: int) -> NDArray[np.float32]:
        """Return a player's observation tensor, in the game's shape.

        Raises:
            UnsupportedGameError: if the game offers neither observations nor information states as
                tensors.
        """
        tensor, game = self._kind.tensor, self.state.get_game()
        if tensor is None:
            raise UnsupportedGameError(f"{game} offers no observation tensor.")
        values = np.array(operator.methodcaller(tensor, player)(self.state), np.float32)
        try:
            return values.reshape(operator.methodcaller(f"{tensor}_shape")(game))
        except AttributeError:  # A state in Python with a tensor of its own, and no observer.
            return values.reshape(-1)

    def game_key(self) -> Hashable:
        """Return the game's name and parameters."""
        return game_key(self.state.get_game())

    @property
    def traits(self) -> Traits:
        """How the states of its game identify their positions."""
        return self._kind.traits

    def position_key(self) -> Hashable | None:
        """Return the game, its moves and the position itself; None if that is unknown."""
        return position_key(self.state, self._kind.traits)

    def moves_to(self, later: Self) -> Sequence[int] | None:
        """Return the moves that lead from here to a later position; None if none do.

        They lead to exactly that position, which histories alone do not show: a game may have
        started elsewhere, and states may be edited by hand.
        """
        if self._kind is not later._kind and self.game_key() != later.game_key():
            return None
        if not self._kind.traits.native and self._common is not None:
            return self.state.common_state.moves_to(later.state.common_state)  # type: ignore[no-any-return]
        return moves_between(self.state, later.state, self._kind.traits)

    def history(self) -> Sequence[int]:
        """Return the actions and chance outcomes since the initial state."""
        return self.state.history()  # type: ignore[no-any-return]

    def on_compiled_rules(self) -> RulesState | None:
        """Return the same position on compiled rules; None if there are none, or not in use."""
        common = self._common
        if isinstance(common, RulesState):
            return common
        return compiled_games.position(self.state, self._kind.traits)

    def expander(self, expansion: Expansion) -> NativeExpander | None:
        """Return an expander that works outside the interpreter; None for Python games."""
        traits = self._kind.traits
        library = optional_library(ExpanderLibrary) if can_expand(self, traits) else None
        return None if library is None else NativeExpander(library, self, traits, expansion)

    def observed_in_playouts(self) -> int:
        """Return how many numbers of an observation simulations write; 0 if they write none."""
        found = self.on_compiled_rules()
        return self._observed_by_bridge() if found is None else found.observed_in_playouts()

    def _observed_by_bridge(self) -> int:
        tensor = self._kind.tensor
        if tensor is None or self._bridge() is None:
            return 0
        size = math.prod(operator.methodcaller(f"{tensor}_shape")(self.state.get_game()))
        return size if size <= MOST_OBSERVED else 0

    def _bridge(self) -> Library | None:
        """Return the bridge if it simulates this game."""
        return bridge() if is_native(self.state) and has_tables_of_ids(self) else None

    def simulator(self, frame: Frame, evaluator: Evaluator | None) -> Simulator:
        """Return the fastest provider of simulations for this game.

        Raises:
            UnsupportedGameError: if the search cannot play the game.
        """
        game = self.state.get_game()
        check_chance(game)
        simultaneous = self.has_simultaneous_moves()
        common = self._common
        plays = evaluator is None and frame.header[Header.PLAYOUTS] > 0
        if common is not None and plays:
            return common.simulator(frame, None)  # type: ignore[no-any-return]
        # The frame was laid out for one provider's observations: only one that writes as many fits.
        shown = int(frame.header[Header.OBSERVATION]) if plays else 0
        if plays or isinstance(evaluator, PositionValue | PositionPriors):
            found = self.on_compiled_rules()
            fits = found is not None and shown in (0, found.observed_in_playouts())
            compiled = compiled_simulator(found, frame, evaluator) if found and fits else None
            if compiled is not None:
                return compiled
        fits = shown in (0, self._observed_by_bridge())
        library = self._bridge() if evaluator is None and fits else None
        root = self.clone().state  # The simulator's own copies may need it to live.
        if library is not None:
            return NativeSimulator(library, root, frame, shrinking=is_shrinking(game))
        # OpenSpiel's random bots cannot weight actions.
        uniform = plays and not frame.header[[Header.NUM_WEIGHTS, Header.CHOOSE]].any()
        if uniform and RolloutSimulator.can_play(root) and not simultaneous:
            return RolloutSimulator(root, frame)
        return OpenSpielSimulator(
            root,
            frame,
            num_distinct_actions=self.num_distinct_actions(),
            evaluator=evaluator,
        )

    def world_simulator(self, frame: Frame, evaluator: Evaluator | None, player: int) -> Simulator:
        """Return the fastest provider of simulations that each begin in another world.

        Raises:
            UnsupportedGameError: if there are no worlds.
        """
        check_chance(self.state.get_game())
        library = self._bridge() if evaluator is None else None
        if library is not None:
            return NativeSimulator(
                library,
                self.state,
                frame,
                shrinking=False,
                observation=Observation(player, self._worlds),
            )
        return OpenSpielSimulator(
            self.state.clone(),
            frame,
            num_distinct_actions=self.num_distinct_actions(),
            evaluator=evaluator,
            observer=player,
            worlds=self._worlds,
        )

    def __str__(self) -> str:
        return str(self.state)
