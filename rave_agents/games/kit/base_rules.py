"""``BaseRules``: all that a game written for the kit is, but for its positions as objects.

A game is a subclass of ``Rules``. Its parameters are annotated class attributes with their
defaults; its position is one record of numbers and small arrays; its rules are methods on that
record. The methods are compiled with the object's attributes as constants, so that a board's size
costs nothing at run time, and each size has code and a cache file of its own. The tutorial "A game
at the speed of C++" builds one.
"""

import inspect
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from rave_agents.errors import GameError
from rave_agents.game.arguments import unknown_name
from rave_agents.game.board import Board
from rave_agents.game.game_state import PlayerId
from rave_agents.game.utility_limits import (
    MOST_LEGAL,
    MOST_OUTCOMES,
    checked_limits,
)
from rave_agents.game.validation import checked
from rave_agents.games.kit.images import image_numbers
from rave_agents.games.kit.record_fields import as_tuple, check_field, told_by, whole_words

TERMINAL = int(PlayerId.TERMINAL)
"""Value of ``player`` where the game is over."""

CHANCE = int(PlayerId.CHANCE)
"""Value of ``player`` where chance moves."""

DRAWN = 2
"""Winner of a game of two players that nobody has won."""

NO_ACTION = -1
"""Code for no action."""

MOST_KINDS = 8
"""Kinds of contents of a cell up to which each has a number where boards are shown."""

MOST_NUMBERS = 4096
"""Numbers that are shown of a board at most: to learn from more takes long."""

_NO_PARAMETERS = ("aside", "unordered", "turns", "planes")
"""Attributes that are no parameters, though a class may say of which type they are."""

_GAMES = f"{__package__.rpartition('.')[0]}."
"""Prefix of the names of the modules of this package's games."""


class BaseRules:
    """The rules of a game as the kit compiles and simulates them; games subclass ``Rules``.

    A subclass annotates its parameters with their defaults, and with their bounds if it has any
    (``size: Annotated[int, Ge(2), Le(19)] = 8``). It sets ``fields`` and
    ``num_distinct_actions``, in ``setup`` where they depend on parameters, and has ``begin``,
    ``player``, ``legal_actions``, ``play`` and ``returns``. These and all that they call are
    compiled: they take numbers, the record and arrays, and know the attributes of ``self``
    (numbers, tuples, NumPy arrays) as constants. What no other rule calls may be any Python.

    Args:
        **parameters: the parameters by name.

    Raises:
        TypeError, ValueError: for a parameter that there is not, a value of another type, a method
            that is missing, or a field that is no number.
    """

    name: ClassVar[str] = ""
    """The game's name: OpenSpiel's for it, where OpenSpiel has it."""
    uncovered: ClassVar[str] = ""
    """The values of OpenSpiel's parameters that the rules do not take, in words; none by
    default."""
    implied: ClassVar[tuple[str, ...]] = ()
    """OpenSpiel's parameters that follow from the others, so that the rules have none of them."""
    fields: Mapping[str, Any]
    """The record: for each field a NumPy type, or a type and a shape. It begins as zeros."""
    num_distinct_actions: int
    """One more than the largest action."""
    max_actions: int = 0
    """The most actions, or chance outcomes, of any position; ``num_distinct_actions`` if 0."""
    max_game_length: int = 0
    """The most moves of any game; 0 if that is not known. It is a hint for sizes of buffers. Every
    playout must end: after 1,048,576 moves a search raises a GameError."""
    num_players: int = 2
    """The number of players."""
    min_utility: float = -1.0
    """The least that a player can win."""
    max_utility: float = 1.0
    """The most that a player can win."""
    utility_sum: float | None = 0.0
    """The sum of all players' returns at every end; None where it varies."""
    board_shape: tuple[int, int] = (0, 0)
    """Rows and columns of what ``describe_board`` describes; (0, 0) where it describes nothing."""
    cell_kinds: int = 3
    """The number of different contents of a cell."""
    planes: tuple[int, ...] = ()
    """The contents that have a plane in an observation, in this order; by default all of them."""
    exchange: str = ""
    """The turn of a board of empty cells and two players' that goes with a change of places of the
    players: ``"same"``, ``"transposed"``, ``"upside_down"`` or ``"half_turn"``. So each learns from
    the other; ``""`` where they differ, or nothing is known."""
    turns: tuple[str, ...] = ()
    """Turns of the board, by the names of ``images.py``, under which the rules stay the same, those
    that change its shape aside; a solver then takes a position for its images, by what
    ``describe_position`` tells. A subclass that changes a game's rules says it anew."""
    position_kinds: int = 0
    """The number of different contents of a cell in ``describe_position``; by default those of
    ``cell_kinds``."""
    is_chosen: bool = False
    """True if a policy of the search chooses each move of a playout."""
    is_judged: bool = False
    """True if ``judge`` gives values: where a search has a value function, not otherwise."""
    judging_room: int = 0
    """Bytes after the cells that ``judge`` may keep from call to call; zeros in the beginning."""
    gives_priors: bool = False
    """True if ``give_priors`` gives priors: where a search has a policy, not otherwise."""
    num_weights: int = 0
    """The number of the value function's, or the policy's, own weights."""
    aside: tuple[str, ...] = ()
    """Fields that do not tell positions apart: scratch, and what follows from the other fields.
    Two records that are equal in all others are one position to a solver."""
    unordered: Mapping[str, str] = {}
    """Fields of 64-bit numbers that hold a list whose order says nothing, such as the boards that
    must not come back; and for each the 64-bit field that holds how many of its entries count."""
    placement: bool = False
    """True if an action disappears when taken, and no other becomes legal or illegal before the
    end: a playout then draws from one list that shrinks."""
    fills_own_cells: bool = False
    """True if an action below the number of cells fills the cell of its number, and no other action
    fills any; a policy then need not find that out."""
    more_stones_never_hurt: bool = False
    """True if two players fill cells in turn, an action a cell, until one of them has won, who then
    would have won with any more stones, too, and whatever the opponent had on other cells; and
    exactly one has won on a full board. The solver then looks at no reply outside of a proof."""
    foresight_room: int = 0
    """The count of numbers, ``int16``, that ``foresee_end`` may write to."""

    def __init__(self, **parameters: Any) -> None:
        known = self.parameter_defaults()
        for name in parameters:
            if name not in known:
                raise ValueError(unknown_name(f"parameter of {self.name}", name, known))
        self.parameters: dict[str, Any] = {**known, **parameters}
        """Every parameter with its value."""
        for name, annotation, default in self._annotated():
            # An annotation that is a text, as of a module with postponed ones, has no bounds.
            allowed = type(default) if isinstance(annotation, str) else annotation
            self.parameters[name] = checked(name, allowed, self.parameters[name])
        vars(self).update(self.parameters)
        kind = type(self)
        self.draws_itself: bool = kind.draw is not BaseRules.draw
        """True if playouts take actions by ``draw``."""
        self.chance_is_even: bool = kind.even_outcomes is not BaseRules.even_outcomes
        """True if all outcomes of chance are equally probable, see ``even_outcomes``."""
        self.has_chance: bool = (
            self.chance_is_even or kind.chance_outcomes is not BaseRules.chance_outcomes
        )
        """True if chance moves in the game."""
        self.plays_itself: bool = kind.playout is not BaseRules.playout
        """True if playouts are those of ``playout``."""
        self.is_checked: bool = not kind.__module__.startswith(_GAMES)
        """True if every move is checked. The package's own games give valid answers, as its tests
        check, so that a search need not."""
        self.may_meet_chance: bool = self.has_chance or self.is_checked
        """True if code for moves of chance is needed: to play them, or to refuse them."""
        self.setup()
        self.foresees: bool = kind.foresee_end is not BaseRules.foresee_end and (
            not self.is_checked or "foresee_end" in vars(kind)
        )
        """True if ``foresee_end`` may tell a winner. A subclass, whose rules may be others, has its
        own."""
        for name in _METHODS:
            if operator.attrgetter(name)(kind) is vars(BaseRules)[name]:
                raise TypeError(f"{kind.__name__} has no method {name}(), see Rules.{name}.")
        for name in ("fields", "num_distinct_actions"):
            if not hasattr(self, name):
                raise TypeError(f"{kind.__name__} sets no {name}, in the class or in setup().")
        for name, told in self.fields.items():
            check_field(name, told)
        self.record: np.dtype[Any] = whole_words(
            np.dtype([(name, *as_tuple(told)) for name, told in self.fields.items()], align=True)
        )
        """The type of the record, which takes whole words of eight bytes."""
        self.record_bytes: int = self.record.itemsize
        words, masks, lists = told_by(self.record, self.aside, self.unordered)
        self.key_words: NDArray[np.int64] = words
        self.key_masks: NDArray[np.uint64] = masks
        self.key_lists: NDArray[np.int64] = lists
        self.num_distinct_actions = checked(
            "num_distinct_actions",
            Annotated[int, Ge(1), Le(MOST_OUTCOMES)],
            self.num_distinct_actions,
            GameError,
        )
        if not self.max_actions and self.num_distinct_actions > MOST_LEGAL:
            raise ValueError(
                f"num_distinct_actions is {self.num_distinct_actions}, and buffers have room for "
                f"{MOST_LEGAL} actions of a position at most: set max_actions to the most legal "
                "actions, or outcomes of chance, of any position."
            )
        self._measure()

    def _measure(self) -> None:
        """Tell what follows from what the game has set: limits, and the room that it takes."""
        most = self.max_actions or self.num_distinct_actions
        self.max_actions = checked(
            "max_actions", Annotated[int, Ge(1), Le(MOST_LEGAL)], most, GameError
        )
        limits = checked_limits(
            self.num_players, self.min_utility, self.max_utility, self.utility_sum
        )
        self.least_return: float = limits.least
        self.greatest_return: float = limits.greatest
        self.least_total: float = limits.least_total
        self.greatest_total: float = limits.greatest_total
        self.num_outcomes: int = max(self.num_distinct_actions, self.max_actions)
        """Outcomes of chance are below this number."""
        self.list_room: int = 2 * self.max_actions + 1024
        """Room of the lists that rules write to: what is too long is told by its count."""
        self.num_board_cells: int = self.board_shape[0] * self.board_shape[1]
        """Cells of the board that ``describe_board`` describes."""
        self.carrier_words: int = -(-self.num_distinct_actions // 64)
        """Numbers of 64 bits that have a bit for each action."""
        self.position_kinds = self.position_kinds or self.cell_kinds
        turns = self._own_turns()
        count, numbers = image_numbers(self.board_shape, self.position_kinds, turns)
        self.num_images: int = count
        self.image_numbers: NDArray[np.uint64] = numbers
        self.num_shown: int = _numbers_shown(self)
        """Numbers that tell a board to a search that learns, see ``showing.py``; 0 for none."""

    @classmethod
    def parameter_defaults(cls) -> dict[str, Any]:
        """The parameters, in the order in which they are written, with their defaults."""
        return {name: default for name, _, default in cls._annotated()}

    @classmethod
    def _annotated(cls) -> Iterator[tuple[str, Any, Any]]:
        """Name, annotation and default of each parameter in each class, base classes first.

        A subclass may annotate a parameter anew: the bounds of its bases still hold.
        """
        for kind in reversed(cls.__mro__):
            if issubclass(kind, BaseRules) and kind is not BaseRules:
                for name, annotation in inspect.get_annotations(kind).items():
                    is_constant = "ClassVar" in str(annotation) or name in _NO_PARAMETERS
                    if name in vars(kind) and not is_constant:
                        yield name, annotation, vars(kind)[name]

    def setup(self) -> None:
        """Set what depends on the parameters, and refuse values that are not allowed."""

    def begin(self, state: Any) -> None:
        """Make a record of zeros the position at the game's start."""

    def place_text(self, state: Any, text: str) -> None:
        """Make a record the position at a text from which OpenSpiel's game can begin.

        Raises:
            ValueError: if the text is no position.
        """
        raise NotImplementedError

    def player(self, state: Any) -> int:
        """The player to move, ``CHANCE`` or ``TERMINAL``."""
        raise NotImplementedError

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Write the legal actions in ascending order; returns how many there are, at least one.

        Asked only where a player moves.
        """
        raise NotImplementedError

    def chance_outcomes(self, state: Any, actions: Any, probabilities: Any) -> int:
        """Write every outcome of chance and its probability; returns how many there are."""
        count = self.even_outcomes(state)
        for outcome in range(count):
            actions[outcome] = outcome
            probabilities[outcome] = 1.0 / count
        return count

    def even_outcomes(self, state: Any) -> int:
        """The number of outcomes of chance, from 0 on, where all are equally probable.

        A game that defines this needs no ``chance_outcomes``, and playouts list none.
        """
        return 0

    def play(self, state: Any, action: int) -> None:
        """Play a legal action, or an outcome of chance."""
        raise NotImplementedError

    def returns(self, state: Any, returns: Any) -> None:
        """Write what each player has won in a game that is over, where it is not 0."""
        raise NotImplementedError

    def write_winner(self, returns: Any, winner: int) -> None:
        """The returns of two players: 1 for the winner and -1 for the other, unless it is drawn."""
        if winner != DRAWN:
            returns[winner] = 1.0
            returns[1 - winner] = -1.0

    def write_leader(self, returns: Any, lead: int) -> None:
        """The returns of two players: 1 for who leads and -1 for the other, player 0 if above 0."""
        if lead != 0:
            returns[0] = 1.0 if lead > 0 else -1.0
            returns[1] = -returns[0]

    def make_sensible(self, state: Any) -> None:
        """Change a record so that playouts from there leave out moves that make no sense.

        ``SensiblePlayouts`` asks for it. A game keeps that in a field of its own; it has no other
        meaning, and by default there is nothing to leave out.
        """

    def knows_better(self, state: Any) -> bool:
        """True if playouts from a record draw sensible moves, whatever weights actions have."""
        return False

    def describe_board(self, state: Any, cells: Any) -> None:
        """Write what each cell holds, row after row: numbers from 0 to below ``cell_kinds``.

        Learned values look at this, and at who is to move; they are compiled for games that have
        it, and a ``board_shape``.
        """

    def foresee_end(self, state: Any, player: int, carrier: Any, room: Any) -> int:
        """The moves of both that are left at most where it is certain who wins; else 0.

        Above 0 if ``player`` wins, below 0 if the opponent does. Asked of games of two without
        chance, while they go on, by the solver and by searches with ``CheckRefutations``, which
        then do not play on. Where more stones never hurt, ``player`` is who has just moved; it is
        never below 0, and ``carrier`` takes the cells that are still empty and needed for it: bit
        ``action % 64`` of the word ``action // 64``; what the opponent does elsewhere must change
        nothing. ``room`` is for the rules' own use.
        """
        return 0

    def describe_position(self, state: Any, cells: Any) -> int:
        """Write what each cell holds, as ``describe_board`` does; returns all else that matters.

        The contents are below ``position_kinds``, where the rules set it.

        Asked of rules with ``turns`` alone: two positions of which this tells the same are one to a
        solver, and so are those whose cells are images of one another.
        """
        return 0

    def _own_turns(self) -> tuple[str, ...]:
        """The turns, unless they are those of a game whose rules a subclass may have changed."""
        kind = type(self)
        if not self.turns or (self.is_checked and "turns" not in vars(kind)):
            return ()
        if kind.describe_position is BaseRules.describe_position:
            raise TypeError(f"{kind.__name__} has turns, and no method describe_position().")
        return tuple(self.turns)

    def board_cells(self, state: Any) -> Any:
        """[rows, columns] what ``describe_board`` writes."""
        cells = np.zeros(self.num_board_cells, np.int8)
        self.describe_board(state, cells)
        return cells.reshape(self.board_shape)

    def board_planes(self, state: Any, kinds: Sequence[int]) -> Any:
        """[kinds, rows, columns] float32: 1 where a cell is of the kind, else 0."""
        cells = self.board_cells(state)
        return np.array([cells == kind for kind in kinds], np.float32)

    def board_rows(self, state: Any, signs: str, between: str = "") -> list[str]:
        """The rows of the board as text, with a sign for each kind of cells."""
        return [between.join(signs[cell] for cell in row) for row in self.board_cells(state)]

    def judge(self, state: Any, cells: Any, weights: Any, returns: Any) -> None:
        """Write what each player is to expect; a value function stands here in a search."""

    def give_priors(self, states: Any, player: Any, frame: Any) -> None:
        """Write the prior probabilities of the listed actions; a policy stands here in a search."""

    def draw(self, state: Any, stream: Any) -> int:
        """A legal action, each equally probable: faster than to list them and to take one."""
        return NO_ACTION

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Play to the end at random, faster than move by move.

        Each move goes to the place ``end`` of both arrays, and ``end`` is counted up. Returns it;
        or -1 where the arrays are too short.
        """
        return NO_ACTION

    def action_to_string(self, player: int, action: int) -> str:
        """The action in the game's notation."""
        return str(action)

    def action_to_string_at(self, state: Any, player: int, action: int) -> str:
        """The action in the game's notation, where that depends on the position, too."""
        return self.action_to_string(player, action)

    def drawn_board(self, state: Any, legal: Sequence[int]) -> Board | None:
        """The board as it is drawn, where the text of a position does not show it.

        Args:
            state: the record.
            legal: the legal actions of the player to move; none where chance moves or the game is
                over.
        """
        return None

    def string_of(self, state: Any) -> str:
        """The position as text."""
        values = (f"{name}={np.array(state[name]).tolist()}" for name in self.record.names or ())
        return f"{self}: {', '.join(values)}"

    def observation(self, state: Any) -> Any:
        """The position as an array of float32.

        By default the ``planes`` of what ``describe_board`` describes; without that, every number
        of the record.
        """
        if self.num_board_cells > 0:
            return self.board_planes(state, self.planes or range(self.cell_kinds))
        values = [np.ravel(np.array(state[name], np.float32)) for name in self.record.names or ()]
        return np.concatenate(values)

    def observation_of(self, state: Any, player: int) -> Any:
        """A player's ``observation``, where it is not the same for all of them."""
        return self.observation(state)

    def __str__(self) -> str:
        values = ",".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.name or type(self).__name__}({values})"

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.parameters == other.parameters

    def __hash__(self) -> int:
        return hash((type(self), *self.parameters.values()))

    def __reduce__(self) -> Any:
        return _made, (type(self), self.parameters)

    def replace(self, **changes: Any) -> Self:
        """The same game with other values of some parameters."""
        return type(self)(**{**self.parameters, **changes})


def _made(kind: type[BaseRules], parameters: dict[str, Any]) -> BaseRules:
    return kind(**parameters)


def _numbers_shown(rules: BaseRules) -> int:
    """The count of numbers that tell a board of these rules; 0 where none are shown.

    Playouts of games with chance cannot be played again by their players' moves alone.
    """
    if rules.has_chance:
        return 0
    kinds = rules.cell_kinds - 1 if rules.cell_kinds <= MOST_KINDS else 1
    numbers = rules.num_board_cells * kinds
    return numbers if numbers <= MOST_NUMBERS else 0


_METHODS = ("player", "legal_actions", "play", "returns")
"""Methods that every game has."""
