"""The expander of any ``GameState``; see ``rave_agents.simulate.expansion``."""

from collections.abc import Sequence
from typing import Any, Self

from rave_agents.errors import UnsupportedGameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.arguments import is_integer
from rave_agents.game.game_state import GameState, PlayerId
from rave_agents.game.utility_limits import utility_limits
from rave_agents.simulate.checked_answers import checked_actions
from rave_agents.simulate.expansion import Answered, Expansion, Place
from rave_agents.simulate.python_callback import PythonCallback
from rave_agents.solver.keys import Key, hashed, key_after, key_of_state

BEGIN = hashed(b"rave_agents: the beginning of a history")
"""The key of an empty history."""


class RecordedState:
    """Wraps a state without key and history, and records the moves since.

    Args:
        state: the state, copied.
        moves: the moves so far.
    """

    def __init__(self, state: GameState, moves: tuple[int, ...] = ()) -> None:
        self._state, self._moves = state.clone(), moves

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._state, name)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self)

    def __str__(self) -> str:
        return str(self._state)

    def clone(self) -> Self:
        """A copy with the same moves."""
        return type(self)(self._state, self._moves)

    def apply_action(self, action: int) -> None:
        """Play an action, and record it."""
        self._state.apply_action(action)
        self._moves = (*self._moves, int(action))

    def history(self) -> tuple[int, ...]:
        """The moves since the state was wrapped."""
        return self._moves


def with_history(state: GameState, moves: Sequence[int] = ()) -> Any:
    """The state itself if it has a key or a history, else a copy that records its moves.

    Args:
        state: the state.
        moves: the moves that led to it.
    """
    if key_of_state(state) is not None or StateAbilities(state).history is not None:
        return state
    return RecordedState(state, tuple(moves))


def root_key_of(state: GameState) -> tuple[Key, bool]:
    """The key of a position, and whether it identifies the position itself.

    Positions without a key are identified by their history, so transpositions are not recognised.

    Raises:
        UnsupportedGameError: if it has neither.
    """
    key = key_of_state(state)
    if key is not None:
        return key, True
    history = StateAbilities(state).history
    if not callable(history):
        raise UnsupportedGameError(
            f"{type(state).__name__} does not identify its position. Add position_key(), which "
            "returns bytes, text, numbers or tuples of these, equal in equal positions only, such "
            "as (self.sticks, self.player); or history(), the actions since the game's start."
        )
    key = BEGIN
    for action in history():
        key = key_after(key, int(action))
    return key, False


class StateExpander:
    """Expands positions by calling their methods in Python.

    Actions are numbered by their rank among the legal ones.

    Args:
        state: the root, copied.
        expansion: the buffers shared with the solver.
    """

    outside_interpreter = False

    def __init__(self, state: GameState, expansion: Expansion) -> None:
        self._callback = PythonCallback(self._answer, expansion.header.data, int(Place.STATUS))
        self._path: list[tuple[GameState, Key]] = []
        self._after: list[list[tuple[GameState, Key]]] = []
        self._limits = utility_limits(state)
        self._num_distinct_actions = int(state.num_distinct_actions())
        self.set_root(state)
        self.bind(expansion)

    @property
    def address(self) -> int:
        """See ``Expander``."""
        return self._callback.address

    def bind(self, expansion: Expansion) -> None:
        """See ``Expander``."""
        self._expansion = expansion
        self._callback.memory = expansion.header.data
        expansion.header[Place.IN_PYTHON] = 1

    def reserve(self, depths: int) -> None:
        """See ``Expander``; lists need no reservation."""
        self._expansion.header[Place.DEPTHS] = depths

    def set_root(self, state: GameState) -> bool:
        """See ``Expander``."""
        root = state.clone()
        self.has_keys: bool
        key, self.has_keys = root_key_of(root)
        self._path = [(root, key)]
        self._after = []
        return True

    def root_key(self) -> Key:
        """See ``Expander``."""
        return self._path[0][1]

    def raise_pending(self) -> None:
        """See ``Expander``."""
        self._callback.raise_error()

    def _answer(self, address: int) -> int:
        header = self._expansion.header
        depth, action = int(header[Place.DEPTH]), int(header[Place.ACTION])
        if depth > 0:
            # The search has gone up since: drop deeper positions, then take the child prepared
            # before.
            del self._path[depth:], self._after[depth:]
            self._path.append(self._after[depth - 1][action])
        else:
            del self._path[1:], self._after[:]
        state, key = self._path[depth]
        player = state.current_player()
        if player == PlayerId.CHANCE:
            outcomes = state.chance_outcomes()
            legal = [int(outcome) for outcome, _ in outcomes]
        elif is_integer(player) and player < 0:
            header[Place.PLAYER] = player
            return Answered.DONE
        else:
            actions, top = state.legal_actions(), self._num_distinct_actions
            outcomes, legal = [], checked_actions(player, actions, self._limits.players, top)
            legal = sorted(map(int, legal))
        header[Place.PLAYER], header[Place.NUM_ACTIONS] = player, len(legal)
        if len(legal) > header[Place.ACTION_CAPACITY]:
            header[Place.REQUIRED_ACTIONS] = len(legal)
            return Answered.FULL
        self._expansion.chances[: len(outcomes)] = [float(chance) for _, chance in outcomes]
        self._after.append([self._child(state, key, a, i) for i, a in enumerate(legal)])
        return Answered.DONE

    def _child(self, state: GameState, key: Key, action: int, place: int) -> tuple[GameState, Key]:
        """The position after an action; writes it to the buffers."""
        expansion = self._expansion
        after = state.clone()
        after.apply_action(action)
        over = bool(after.is_terminal())
        # Ranks instead of actions: a game's actions may exceed 32 bits.
        expansion.actions[place], expansion.ends[place] = place, over
        expansion.moves[place] = 1
        if over:
            returns = self._limits.returns(after.returns())
            begin = place * len(returns)
            expansion.returns[begin : begin + len(returns)] = returns
            return after, key
        mover = int(after.current_player())
        expansion.movers[place] = mover
        if self._expansion.header[Place.COUNT_MOVES] and mover >= 0:
            expansion.moves[place] = max(1, len(after.legal_actions()))
        found = key_of_state(after) if self.has_keys else None
        # By history no two paths share a key, so the search is then one of a tree.
        child_key = key_after(key, action) if found is None else found
        expansion.keys[2 * place : 2 * place + 2] = child_key
        return after, child_key
