"""The position of a GTP engine: a game, with a clone of each state since its start for undo."""

import copy
import re
from collections.abc import Mapping
from typing import Any

from rave_agents.config.specs import parse_value
from rave_agents.frameworks.adapters import Game, load_game
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import GameState
from rave_agents.gtp.protocol import GtpError
from rave_agents.gtp.score import area_score, go_rows, score_text
from rave_agents.gtp.vertices import PASS, Vertices

_SIZES = ("board_size", "size")
"""Names that games have for the parameter that sets the board's size."""

_FIXED_SIZES = {"othello": 8, "lines_of_action": 8, "tic_tac_toe": 3, "pentago": 6}
_RESIZED_BOTH = {"breakthrough": ("rows", "columns"), "clobber": ("rows", "columns")}


class Position:
    """A game and the moves played in it; ``undo`` returns to an earlier clone.

    Args:
        game: the game or its name, such as ``"go(board_size=9)"``; see ``as_game``.

    Raises:
        UnknownNameError: if there is no such game.
        UnsupportedGameError: if the game cannot be played over GTP.
    """

    def __init__(self, game: Any) -> None:
        self.game: Game = as_game(game)
        """The game, with its parameters."""
        self.vertices: Vertices = Vertices(self.game)
        """Writes and reads the game's moves."""
        self.clear()

    def clear(self) -> None:
        """Go back to the game's start."""
        self._states = [self.game.new_initial_state()]
        self.actions: list[int] = []
        """The actions played so far."""
        self._implied: set[int] = set()
        self._dropped: dict[int, tuple[list[tuple[GameState, int]], list[int]]] = {}
        self._idle: list[int] = []

    @property
    def state(self) -> GameState:
        """The current position; callers must not change it."""
        return self._states[-1]

    @property
    def size(self) -> int | None:
        """The size of the board; None if it is not one number."""
        return board_size(self.vertices.short_name, self.parameters)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The game's parameters; those with default values too, if the game lists them."""
        return getattr(self.game, "parameters", self._given)

    @property
    def _given(self) -> dict[str, str]:
        """The parameters written in the game's name."""
        return dict(re.findall(r"(\w+)=([^,()]+)", self.game.name))

    def resized(self, size: int) -> "Position":
        """The start on a board of another size; this position stays as it is.

        Raises:
            GtpError: if the game has no board of that size, or none that can be played on.
        """
        if size == self.size:
            return Position(self.game)
        names = [name for name in _SIZES if name in self.parameters]
        names = names or list(_RESIZED_BOTH.get(self.vertices.short_name, ()))
        if not names or size < 1:
            raise GtpError("unacceptable size")
        changes = dict.fromkeys(names, str(size))
        if "max_game_length" in self._given:
            changes["max_game_length"] = str(2 * size * size)
        try:
            resized = Position(self._with(changes))
        except Exception as error:  # Each framework raises its own exception for a bad size.
            raise GtpError("unacceptable size") from error
        if resized.state.is_terminal():
            raise GtpError("unacceptable size")
        return resized

    def fitting(self, changes: Mapping[str, str]) -> "Position":
        """The start of the game with other parameters; this position stays as it is.

        Raises:
            GtpError: if there is no such game.
        """
        given = dict(changes)
        if "board_size" in given and "max_game_length" in self._given:
            given["max_game_length"] = str(2 * int(given["board_size"]) ** 2)
        try:
            return Position(self._with(given) if given else self.game)
        except Exception as error:  # Each framework raises its own exception.
            raise GtpError("unacceptable parameters") from error

    def with_komi(self, komi: float) -> "Position":
        """Return the same moves under another komi; this position itself if the game has none."""
        if "komi" not in self.parameters or float(self.parameters["komi"]) == komi:
            return self
        changed = Position(self._with({"komi": repr(float(komi))}))
        for number, action in enumerate(self.actions):
            changed.apply(action, implied=number in self._implied)
        return changed

    def _with(self, changes: dict[str, str]) -> Game:
        resize = getattr(self.game, "with_parameters", None)
        if resize is not None:
            changed: Game = resize(**{key: parse_value(text) for key, text in changes.items()})
            return changed
        given = {**self._given, **changes}
        text = ",".join(f"{name}={value}" for name, value in given.items())
        return load_game(f"{self.vertices.short_name}({text})")

    def apply(self, action: int, *, implied: bool = False) -> None:
        """Play a legal action; ``undo`` takes an implied one back together with the next."""
        if implied:
            self._implied.add(len(self.actions))
        state = self.state.clone()
        state.apply_action(action)
        self._states.append(state)
        self.actions.append(action)

    def undo(self) -> None:
        """Take back the last move.

        Raises:
            GtpError: if there is no move to take back.
        """
        if not (self.actions or self._idle):
            raise GtpError("cannot undo")
        if self._idle[-1:] == [len(self.actions)]:
            self._idle.pop()
            return
        self._pop()
        while len(self.actions) - 1 in self._implied:
            self._pop()
        dropped, idle = self._dropped.pop(len(self.actions), ([], []))
        for state, action in dropped:
            self._states.append(state)
            self.actions.append(action)
        self._idle += idle

    def _pop(self) -> None:
        self._states.pop()
        self.actions.pop()
        self._implied.discard(len(self.actions))

    def move(self, player: int, word: str) -> int:
        """Return the action that a word such as ``D4`` stands for.

        Raises:
            GtpError: if it is not the player's turn, or the word is no legal move.
        """
        if self.state.is_terminal() or self.state.current_player() != player:
            raise GtpError("illegal move")
        try:
            return self.vertices.read(self.state, word)
        except LookupError as error:
            raise GtpError("illegal move") from error
        except ValueError as error:
            raise GtpError("invalid coordinate") from error

    def passing(self) -> int | None:
        """The action that passes; None if passing is illegal."""
        if self.state.is_terminal():
            return None
        try:
            return self.vertices.read(self.state, PASS)
        except LookupError:
            return None

    def drop_passes(self, player: int) -> None:
        """Let a colour of Go go on after passes that the rules take for more than it meant.

        Two passes end OpenSpiel's Go, and a controller may go on after them to settle which stones
        are dead. A colour that moves after its own pass has passed for nothing. ``undo`` brings
        dropped passes back.
        """
        count = 2 if self.state.is_terminal() and self._passed(2) else 0
        mover = self._states[-1 - count].current_player()
        if not self._states[-1 - count].is_terminal() and mover != player:
            count += self._passed(count + 1)
        if self.vertices.short_name == "go" and count > 0 and self._passed(count):
            dropped = [*zip(self._states, [-1, *self.actions], strict=True)][-count:]
            for _ in dropped:
                self._pop()
            left = [number for number in self._idle if number <= len(self.actions)]
            self._dropped[len(self.actions)] = dropped, self._idle[len(left) :]
            self._idle = left

    def pass_for_nothing(self, player: int) -> bool:
        """Take a pass of Go that changes nothing: after the end, or out of turn."""
        over = self.state.is_terminal()
        if self.vertices.short_name != "go" or not (over or self.state.current_player() != player):
            return False
        self._idle.append(len(self.actions))
        return True

    def marked(self) -> dict[str, Any]:
        """What ``return_to`` needs to come back to this position."""
        names = ("_states", "actions", "_implied", "_dropped", "_idle")
        return {name: copy.copy(getattr(self, name)) for name in names}

    def return_to(self, mark: Mapping[str, Any]) -> None:
        """Come back to a marked position."""
        vars(self).update(mark)

    def _passed(self, count: int) -> bool:
        """True if each of the last moves, so many, was a pass."""
        if not 0 < count <= len(self.actions):
            return False
        last = zip(self._states[-1 - count : -1], self.actions[-count:], strict=True)
        return all(self.vertices.write(*each).lower() == PASS for each in last)

    def final_score(self) -> str:
        """The final score; in Go, the score of the current board.

        Raises:
            GtpError: if the game is not over and is not Go.
        """
        if self.vertices.short_name == "go":
            komi = float(self.parameters["komi"])
            return score_text(area_score(go_rows(str(self.state)), komi))
        if not self.state.is_terminal():
            raise GtpError("the game is not over")
        black, white = self.state.returns()
        return score_text((black - white) / 2)


def board_size(short_name: str, parameters: Mapping[str, Any]) -> int | None:
    """The size of a game's board; None if it is not one number.

    Args:
        short_name: the game's name.
        parameters: its parameters.
    """
    if parameters.get("num_cols") != parameters.get("num_rows"):
        return None
    for name in ("num_cols", *_SIZES):
        if name in parameters:
            return int(parameters[name])
    sides = {parameters.get(name) for name in _RESIZED_BOTH.get(short_name, ())}
    if len(sides) == 1 and None not in sides:
        return int(sides.pop())  # type: ignore[arg-type]
    return _FIXED_SIZES.get(short_name)
