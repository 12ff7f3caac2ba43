"""A position of a game that is written as ``Rules``, as a GameState."""

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.cache_key import is_ours
from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.game.board import Board
from rave_agents.games.kit import machine
from rave_agents.games.kit.base_rules import CHANCE, NO_ACTION, TERMINAL, BaseRules
from rave_agents.games.kit.playing import MOVE_ROOT
from rave_agents.games.kit.rules_expander import RulesExpander
from rave_agents.games.kit.rules_simulator import RulesSimulator
from rave_agents.games.kit.values import JudgedRules, judged_rules, rules_with_priors
from rave_agents.simulate.action_numbers import has_tables_of_ids
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.expansion import Expansion
from rave_agents.simulate.frame import Frame, Header, Status
from rave_agents.simulate.python_simulator import PythonSimulator
from rave_agents.simulate.simulator import Simulator, make_frame, simulated
from rave_agents.simulate.value import PositionPriors, PositionValue

_PATH = 1024
"""Actions that are played in one call."""


class RulesState:
    """A position, of the methods of ``rave_agents.GameState``.

    Args:
        rules: the game.
    """

    def __init__(self, rules: BaseRules) -> None:
        if not is_ours(type(rules).__module__):
            machine.prepare(rules)  # Mistakes in a user's rules are told at once.
        self.rules = rules
        """The game."""
        self._root = _initial(rules).copy()
        self._history: list[int] = []
        self._given: Hashable = None
        """The last change of the record: the moves until then, and what was given."""
        self._describe([])

    def clone(self) -> Self:
        """A copy that shares nothing that can change with this state."""
        copied = type(self).__new__(type(self))
        copied.rules = self.rules
        copied._root = self._root.copy()
        copied._history, copied._given = self._history.copy(), self._given
        copied._player, copied._actions = self._player, self._actions
        copied._chances, copied._returns = self._chances, self._returns
        return copied

    @property
    def record(self) -> Any:
        """The position itself: the fields of ``Rules.fields``."""
        return self._root.view(np.recarray)[0]

    def current_player(self) -> int:
        """The player to move, or a ``PlayerId``."""
        return self._player

    def is_terminal(self) -> bool:
        """True if the game is over."""
        return self._player == TERMINAL

    def is_chance_node(self) -> bool:
        """True if chance moves next."""
        return self._player == CHANCE

    def has_chance_nodes(self) -> bool:
        """True if the rules have outcomes of chance."""
        return self.rules.has_chance

    def legal_actions(self) -> list[int]:
        """The legal actions in ascending order."""
        return self._actions.copy()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Every outcome of chance and its probability."""
        return list(zip(self._actions, self._chances, strict=True)) if self._chances else []

    def apply_action(self, action: int) -> None:
        """Play an action, or an outcome of chance.

        Raises:
            ValueError: if that is not legal.
        """
        if action not in self._actions:
            raise ValueError(f"Action {action} is not legal; legal are {self._actions}.")
        self._describe([int(action)])

    def play_through(self, actions: Sequence[int]) -> None:
        """Play actions that are known to be legal, fast."""
        for start in range(0, len(actions), _PATH):
            self._describe(list(actions[start : start + _PATH]))

    def change(self, change: Callable[[Any], None]) -> None:
        """Change the record itself, as where a game begins at another position."""
        with np.errstate(over="ignore"):
            change(self.record)
        self._given = len(self._history), self._fields()
        self._describe([])

    @property
    def root(self) -> NDArray[Any]:
        """The record as an array of shape [1], not to be changed."""
        return self._root

    def returns(self) -> list[float]:
        """The return of each player; 0 while the game goes on."""
        return self._returns.copy()

    def num_players(self) -> int:
        """The number of players."""
        return self.rules.num_players

    def num_distinct_actions(self) -> int:
        """One more than the largest action."""
        return self.rules.num_distinct_actions

    def min_utility(self) -> float:
        """The least that a player can win."""
        return self.rules.min_utility

    def max_utility(self) -> float:
        """The most that a player can win."""
        return self.rules.max_utility

    def utility_sum(self) -> float | None:
        """The sum of all returns at every end; None where it varies."""
        return self.rules.utility_sum

    def action_to_string(self, player: int, action: int | None = None) -> str:
        """The action in the game's notation; it may be given alone, as to ``pyspiel.State``."""
        player, action = (self._player, player) if action is None else (player, action)
        return self.rules.action_to_string_at(self.record, player, action)

    def string_to_action(self, text: str) -> int:
        """The legal action that is written so.

        Raises:
            ValueError: if there is none.
        """
        for action in self._actions:
            if self.action_to_string(self._player, action).lower() == text.lower():
                return action
        raise ValueError(f"No legal action is written {text!r}.")

    def game_key(self) -> Hashable:
        """The game."""
        return self.rules

    def position_key(self) -> Hashable:
        """The game, and all of the record that tells positions apart, see ``Rules.aside``."""
        return self.rules, self._told()

    def _told(self) -> Hashable:
        """The words of the record that tell the position, and its lists, in order."""
        rules, words = self.rules, self._root.view(np.uint64)
        told = (words[rules.key_words] & rules.key_masks).tobytes()
        lists = rules.key_lists.tolist()
        return told, *(np.sort(words[at : at + int(words[n])]).tobytes() for at, n in lists)

    def _fields(self) -> Hashable:
        """The record's content, without what lies between its fields."""
        return tuple(self._root[name].tobytes() for name in self.rules.record.names or ())

    def moves_to(self, later: "RulesState") -> list[int] | None:
        """The moves that lead from here to a later position; None if none do."""
        past, history = self._history, later._history
        same = self.rules == later.rules and self._given == later._given
        return history[len(past) :] if same and history[: len(past)] == past else None

    def history(self) -> list[int]:
        """The moves so far, outcomes of chance included."""
        return self._history.copy()

    def drawn_board(self) -> Board | None:
        """The board that the game declares; None if its text shows it, or there is none."""
        legal = self._actions if self._player >= 0 else []
        return self.rules.drawn_board(self.record, legal)

    def observation(self, player: int) -> NDArray[np.float32]:
        """The position as the game shows it to a player, see ``Rules.observation``."""
        return np.array(self.rules.observation_of(self.record, player), np.float32)

    def observed_in_playouts(self) -> int:
        """The count of a board's numbers that simulations show; 0 where they show none."""
        return self.rules.num_shown

    def on_compiled_rules(self) -> Self:
        """The same position on compiled rules: itself."""
        return self

    def simulator(self, frame: Frame, evaluator: Evaluator | None) -> Simulator:
        """The provider of simulations: compiled, unless Python judges positions."""
        if evaluator is not None or frame.header[Header.PLAYOUTS] > 0:
            compiled = compiled_simulator(self, frame, evaluator)
            if compiled is not None:
                return compiled
        actions = self.num_distinct_actions()
        return PythonSimulator(
            self.clone(), frame, num_distinct_actions=actions, evaluator=evaluator
        )

    def expander(self, expansion: Expansion, judged: JudgedRules | None = None) -> RulesExpander:
        """The provider of positions for a solver, with a value function if one is given."""
        return RulesExpander(self, expansion, judged)

    def __str__(self) -> str:
        return self.rules.string_of(self.record)

    def _describe(self, path: list[int]) -> None:
        """Play a path, and keep what there is to say of the position that it leads to."""
        asked = _asked(self.rules)
        frame, header = asked.frame, asked.frame.header
        asked.root[0] = self._root[0]
        frame.path[: len(path)] = path
        header[Header.PATH_LENGTH] = len(path)
        if simulated(asked, frame) != Status.DONE:
            asked.raise_pending()
        self._root[0] = asked.root[0]
        self._history += path
        self._player = int(header[Header.PLAYER])
        count = int(header[Header.NUM_ACTIONS])
        self._actions: list[int] = frame.actions[:count].tolist()
        chance = self._player == CHANCE
        self._chances: list[float] = frame.probabilities[:count].tolist() if chance else []
        over = self._player == TERMINAL
        self._returns: list[float] = (
            frame.returns[0].tolist() if over else [0.0] * self.rules.num_players
        )


def compiled_simulator(
    state: RulesState, frame: Frame, evaluator: Evaluator | None
) -> RulesSimulator | None:
    """The compiled provider of simulations; None where Python judges, or gives actions numbers.

    Args:
        state: the root.
        frame: the buffers.
        evaluator: None for playouts to the end, a ``PositionValue`` or an evaluator.
    """
    if not has_tables_of_ids(state):
        return None
    rules, weights = state.rules, None
    if isinstance(evaluator, PositionValue | PositionPriors):
        if isinstance(evaluator, PositionPriors):
            judged = rules_with_priors(evaluator.source, rules)
        else:
            judged = judged_rules(evaluator.function, rules)
        if judged is None:
            return None
        rules, weights = judged.rules, judged.weights
    elif evaluator is not None:
        return None
    last_action = next(reversed(state.history()), NO_ACTION)
    made = RulesSimulator(rules, state.root, frame, last_action=last_action, weights=weights)
    if made.outside_interpreter:
        _loaded.setdefault(state.rules, (made.rules, made.tells_keys))
    return made


_loaded: dict[BaseRules, tuple[BaseRules, bool]] = {}
"""Rules whose machine code searches of a game have loaded, and whether it tells keys."""

MOST_INTERPRETED = 2000
"""Positions of a game that are told in the interpreter, if no search has loaded machine code."""


class _Asked:
    """Tells of positions of a game, by the machine code that its searches use.

    Rules of the package are asked in the interpreter before: what describes a position takes less
    than a millisecond there, and seconds to compile.

    Args:
        rules: the game.
    """

    def __init__(self, rules: BaseRules) -> None:
        self._rules, self._left = rules, MOST_INTERPRETED
        self._waits = not JIT_DISABLED and is_ours(type(rules).__module__)
        self._simulator = self._made(rules, interpreted=JIT_DISABLED or self._waits)

    def simulator(self) -> RulesSimulator:
        """The simulator to ask for the next position."""
        if self._waits:
            self._left -= 1
            if self._rules in _loaded or self._left < 0:
                self._waits = False
                rules, tells_keys = _loaded.get(self._rules, (self._rules, False))
                self._simulator = self._made(rules, tells_keys=tells_keys)
        return self._simulator

    def _made(
        self, rules: BaseRules, *, tells_keys: bool = False, interpreted: bool = False
    ) -> RulesSimulator:
        frame = make_frame(
            num_players=rules.num_players,
            playouts=1,
            playout_stream=np.ones(4, np.int64),
            path_capacity=_PATH,
            action_capacity=rules.max_actions,
            move_capacity=1,
            tells_keys=tells_keys,
        )
        frame.header[Header.STEP] = MOVE_ROOT
        frame.header[Header.EXPAND] = 1
        return RulesSimulator(rules, _initial(self._rules), frame, interpreted=interpreted)


_threads = threading.local()


def _asked(rules: BaseRules) -> RulesSimulator:
    """The simulator with which this thread asks the rules."""
    known: dict[BaseRules, _Asked] = _threads.__dict__.setdefault("known", {})
    if rules not in known:
        known[rules] = _Asked(rules)
    return known[rules].simulator()


def _initial(rules: BaseRules) -> NDArray[Any]:
    """The record at the game's start, of shape [1]; not to be changed."""
    kept: NDArray[Any] | None = vars(rules).get("_initial")
    if kept is None:
        kept = np.zeros(1, rules.record)
        with np.errstate(over="ignore"):
            rules.begin(kept.view(np.recarray)[0])
        vars(rules)["_initial"] = kept
    return kept
