"""Functions that copy PettingZoo's classic environments.

``copy.deepcopy`` makes a new environment from the constructor's arguments (EzPickle) and loses the
board. These copies share the parts that no step changes in place: spaces, images, and arrays that
each step replaces.
"""

import contextlib
import copy
import functools
import importlib
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from rave_agents.environments.copying import CopyRules, copied
from rave_agents.environments.generators import generator_types
from rave_agents.environments.wrappers import class_name

GO_RULES: Final = "pettingzoo.classic.go.go_base"
"""The module of PettingZoo's Go rules."""

Cloner = Callable[[Any], Any]

_MUTABLE: Final = (
    "agents",
    "rewards",
    "_cumulative_rewards",
    "terminations",
    "truncations",
)
"""Lists and dictionaries that AEC environments change in place."""


def _copy(raw: Any, *own: str) -> Any:
    """Copy an environment, its ``own`` attributes, and the attributes of every AEC environment.

    Attributes that do not exist before the first ``reset`` are skipped.
    """
    # Not by the constructor, which sets up an empty board; not by pickle, which calls it.
    new = object.__new__(type(raw))
    values = vars(raw).copy()
    for name in _MUTABLE:
        if values.get(name) is not None:
            values[name] = values[name].copy()
    for name in own:
        if values.get(name) is not None:
            values[name] = values[name].copy()
    if "infos" in values:
        values["infos"] = {agent: info.copy() for agent, info in values["infos"].items()}
    selector = values.get("_agent_selector")
    if selector is not None:
        turn = object.__new__(type(selector))
        vars(turn).update(vars(selector))
        # Until an agent is out, the selector's list is the same object as the list of agents.
        shared = selector.agent_order is raw.agents
        turn.agent_order = values["agents"] if shared else selector.agent_order.copy()
        values["_agent_selector"] = turn
    new.__dict__ = values  # One assignment: several times faster than a loop of ``setattr``.
    return new


def clone_tictactoe(raw: Any) -> Any:
    """The board is an object with one list."""
    new = _copy(raw)
    board = object.__new__(type(raw.board))
    board.squares = raw.board.squares.copy()
    new.board = board
    return new


def clone_connect_four(raw: Any) -> Any:
    """The board is a list."""
    return _copy(raw, "board")


def clone_go(raw: Any) -> Any:
    """A step replaces position and history, so they are shared.

    PettingZoo's rules of Go keep the board size in a module, for all environments of a process. So
    the clone's class sets its own size during each call, and restores the other afterwards.
    """
    new = _copy(raw)
    kind: Any = type(raw)
    new.__class__ = _sized_go(kind)
    return new


def clone_chess(raw: Any) -> Any:
    """The board's past, by which repetitions are counted, is copied as lists.

    python-chess would also copy each move, which takes most of the time, and moves never change.
    """
    new = _copy(raw)
    board = raw.board.copy(stack=False)
    board.move_stack = raw.board.move_stack.copy()
    board._stack = raw.board._stack.copy()
    new.board = board
    return new


def clone_rps(raw: Any) -> Any:
    """The moves of this turn and of those before."""
    return _copy(raw, "state", "observations", "history")


def clone_cards(raw: Any, shared: tuple[type, ...] = ()) -> Any:
    """RLCard's game is copied whole: the deck, the hands, and the random stream they share."""
    new = _copy(raw)
    # Gin Rummy's scorer calls a method of the environment: the copy's must call the copy's own.
    new.env = copied(raw.env, CopyRules(shared=shared), {id(raw): new})
    # Missing before the first reset.
    if "next_legal_moves" in vars(new):
        new.next_legal_moves = copy.copy(raw.next_legal_moves)
    return new


def clone_shimmy(raw: Any, shared: tuple[type, ...] = ()) -> Any:
    """OpenSpiel's own state is cloned; games do not change."""
    new = _copy(raw, "simultaneous_actions", "observation_spaces", "action_spaces", "observations")
    if "game_state" in vars(new):
        new.game_state = raw.game_state.clone()
        new.np_random = copied(raw.np_random, CopyRules(shared=shared))
    return new


def clone_hanabi(raw: Any, shared: tuple[type, ...] = ()) -> Any:
    """The inner environment is Shimmy's, and the two share dictionaries."""
    new = _copy(raw)
    inner = clone_shimmy(raw.hanabi_env, shared)
    for name, value in vars(raw.hanabi_env).items():
        if name in vars(raw) and vars(raw)[name] is value:
            vars(new)[name] = vars(inner)[name]
    new.hanabi_env = inner  # Objects that the two share must be shared by the copies too.
    return new


CLONERS: Final[dict[str, Cloner]] = {
    "pettingzoo.classic.tictactoe.tictactoe.raw_env": clone_tictactoe,
    "pettingzoo.classic.connect_four.connect_four.raw_env": clone_connect_four,
    "pettingzoo.classic.go.go.raw_env": clone_go,
    "pettingzoo.classic.chess.chess.raw_env": clone_chess,
    "pettingzoo.classic.rps.rps.raw_env": clone_rps,
    "pettingzoo.classic.rlcard_envs.gin_rummy.raw_env": clone_cards,
    "pettingzoo.classic.rlcard_envs.leduc_holdem.raw_env": clone_cards,
    "pettingzoo.classic.rlcard_envs.texas_holdem.raw_env": clone_cards,
    "pettingzoo.classic.rlcard_envs.texas_holdem_no_limit.raw_env": clone_cards,
    "pettingzoo.classic.hanabi.hanabi.raw_env": clone_hanabi,
    "shimmy.openspiel_compatibility.OpenSpielCompatibilityV0": clone_shimmy,
}
"""Copying functions by the full name of the class, so that no environment needs an import."""


def full_cloner(raw: Any) -> Cloner | None:
    """The function that copies a raw environment with its own screen and spaces.

    None for an unknown environment.
    """
    own = CLONERS.get(class_name(raw))
    return None if own is None else functools.partial(_full_copy, own)


def _full_copy(own: Cloner, raw: Any) -> Any:
    new = own(raw)
    values: Any = vars(new)
    if values.get("render_mode") == "human":
        values["render_mode"] = None  # A second window cannot show a copy.
        values["screen"] = None
    elif values.get("screen") is not None:
        values["screen"] = raw.screen.copy()
    values["action_spaces"] = {a: _copied_space(s) for a, s in values["action_spaces"].items()}
    return new


def _copied_space(space: Any) -> Any:
    """A copy of a space with its own generator."""
    # Deep copies of spaces are slow; only the generator ever changes.
    new = object.__new__(type(space))
    vars(new).update(vars(space))
    if space._np_random is not None:
        new._np_random = copied(space._np_random, CopyRules())
    return new


def simulation_cloner(raw: Any) -> Cloner | None:
    """The function that copies a raw environment for simulations with a shared generator.

    None for an unknown environment.
    """
    own = CLONERS.get(class_name(raw))
    if own in _WITH_CHANCE:
        return functools.partial(own, shared=generator_types())
    return own


_WITH_CHANCE: Final = (clone_cards, clone_shimmy, clone_hanabi)


def keeps_generators(raw: Any) -> bool:
    """True if a known environment draws random numbers after its reset."""
    return CLONERS.get(class_name(raw)) in _WITH_CHANCE


_SIZED: Final = ("N", "ALL_COORDS", "EMPTY_BOARD", "NEIGHBORS", "DIAGONALS")
"""The globals of PettingZoo's Go rules that depend on the board size."""


@functools.cache
def _go_rules() -> Any:
    return importlib.import_module(GO_RULES)


@functools.cache
def _go_globals(size: int) -> dict[str, Any]:
    def inside(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return [(x, y) for x, y in points if 0 <= x < size and 0 <= y < size]

    coords = [(x, y) for x in range(size) for y in range(size)]
    return {
        "N": size,
        "ALL_COORDS": coords,
        "EMPTY_BOARD": np.zeros([size, size], dtype=np.int8),
        "NEIGHBORS": {
            (x, y): inside([(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]) for x, y in coords
        },
        "DIAGONALS": {
            (x, y): inside([(x + 1, y + 1), (x + 1, y - 1), (x - 1, y + 1), (x - 1, y - 1)])
            for x, y in coords
        },
    }


def _at_own_size(method: Callable[..., Any]) -> Callable[..., Any]:
    # The module's own namespace: its functions read their globals there at each call.
    rules = vars(_go_rules())

    @functools.wraps(method)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if rules["N"] == self._N:  # Nothing to swap, which is the usual case.
            return method(self, *args, **kwargs)
        before = {name: rules[name] for name in _SIZED}
        rules.update(_go_globals(self._N))
        try:
            return method(self, *args, **kwargs)
        finally:
            rules.update(before)

    return run


def go_position_after(raw: Any, points: Sequence[Any]) -> Any:
    """The position of an environment of Go after some moves; None if one is not legal."""

    def played(self: Any) -> Any:
        position = self._go
        for point in points:
            position = position.play_move(point)
        return position

    try:
        return _at_own_size(played)(raw)
    except _go_rules().IllegalMove:
        return None


@functools.cache
def _sized_go(kind: Any) -> Any:
    """Return the subclass of a Go environment that keeps its own board size."""
    if "_keeps_its_size" in vars(kind):
        return kind
    methods = {
        name: _at_own_size(operator.attrgetter(name)(kind)) for name in ("step", "reset", "render")
    }
    # The subclass keeps its name, so that look-ups by full class name still find it.
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    return type(kind.__name__, (kind,), {**methods, **names, "_keeps_its_size": True})


@contextlib.contextmanager
def unchanged_go_rules() -> Iterator[None]:
    """Restore the board size of PettingZoo's Go rules after making an environment."""
    module = sys.modules.get(GO_RULES)
    # A constructor sets the globals for its size, which breaks all live boards of another size.
    before = None if module is None else {name: vars(module)[name] for name in _SIZED}
    try:
        yield
    finally:
        if module is not None and before is not None:
            vars(module).update(before)
