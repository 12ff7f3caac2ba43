"""The position of a GTP engine: a game, with a clone of each state since its start for undo.

GTP's controllers may play Go out of turn and after the end, which OpenSpiel's rules do not allow.
The engine then lets the opponent pass, or takes passes back; ``undo`` reverts all of it.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rave_agents.engines.client.boards import (
    EMPTY,
    SIDES,
    SIZES,
    area_score,
    board_size,
    game_with,
    go_rows,
    named_parameters,
    score_text,
)
from rave_agents.engines.client.gtp import GtpError
from rave_agents.engines.client.vertices import PASS, Vertices
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import GameState
from rave_agents.games.coordinates import point_name


class GtpPosition:
    """A game and the moves played in it; ``undo`` returns to an earlier clone.

    Args:
        game: the game or its name, such as ``"go(board_size=9)"``; see ``as_game``.
    """

    def __init__(self, game: Any) -> None:
        self.game: Game = as_game(game)
        """The game, with its parameters."""
        self.vertices: Vertices = Vertices(self.game)
        """Writes and reads the game's moves."""
        self._states = [self.game.new_initial_state()]
        self.actions: list[int] = []
        """The actions played so far."""
        self._undone: list[tuple[int, ...]] = []
        """For each ``undo``, the actions to which it returns; a pass without effect has its own."""

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
        return GameAbilities(self.game).parameters or named_parameters(self.game)

    def resized(self, size: int) -> "GtpPosition":
        """The start on a board of another size; this position stays as it is.

        Raises:
            GtpError: if the game has no board of that size, or none that can be played on.
        """
        if size == self.size:
            return self.fitting({})
        names = [name for name in SIZES if name in self.parameters]
        names = names or list(SIDES.get(self.vertices.short_name, ()))
        if not names or size < 1:
            raise GtpError("unacceptable size")
        resized = self.fitting(dict.fromkeys(names, str(size)), "unacceptable size")
        if resized.state.is_terminal():
            raise GtpError("unacceptable size")
        return resized

    def fitting(
        self, changes: Mapping[str, str], refusal: str = "unacceptable parameters"
    ) -> "GtpPosition":
        """The start of the game with other parameters; this position stays as it is.

        Raises:
            GtpError: with the text ``refusal``, if there is no such game.
        """
        try:
            return GtpPosition(game_with(self.game, changes))
        except Exception as error:  # Each framework raises its own exception.
            raise GtpError(refusal) from error

    def with_komi(self, komi: float) -> "GtpPosition":
        """Return the same moves under another komi; this position itself if the game has none."""
        if "komi" not in self.parameters or float(self.parameters["komi"]) == komi:
            return self
        changed = self.fitting({"komi": repr(float(komi))}, "unacceptable komi")
        changed._go_to(self.actions)
        changed._undone = [*self._undone]
        return changed

    def apply(self, action: int) -> None:
        """Play a legal action."""
        state = self.state.clone()
        state.apply_action(action)
        self._states.append(state)
        self.actions.append(action)

    @contextlib.contextmanager
    def one_move(self, *, undo: bool = True) -> Iterator[None]:
        """Take what happens in a block for one move, of which nothing remains if it fails.

        Args:
            undo: whether ``undo`` takes it back as a whole.
        """
        actions, undone = tuple(self.actions), [*self._undone]
        if undo:
            self._undone.append(actions)
        try:
            yield
        except BaseException:
            self._go_to(actions)
            self._undone = undone
            raise

    def undo(self) -> None:
        """Take back the last move.

        Raises:
            GtpError: if there is no move to take back.
        """
        if not self._undone:
            raise GtpError("cannot undo")
        self._go_to(self._undone.pop())

    def _go_to(self, actions: Sequence[int]) -> None:
        """Play these actions from the start; states of those that stay are kept."""
        kept = 0
        while [*self.actions[kept : kept + 1]] == [*actions[kept : kept + 1]] != []:
            kept += 1
        del self.actions[kept:], self._states[kept + 1 :]
        for action in actions[kept:]:
            self.apply(action)

    def move(self, player: int, word: str) -> int:
        """Return the action of a word such as ``D4``.

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
        """Take back passes of Go after which the rules do not let a colour move.

        Two passes end OpenSpiel's Go, and a controller may go on after them to settle which stones
        are dead. A colour that moves after its own pass has passed without effect.
        """
        count = 2 if self.state.is_terminal() and self._passed(2) else 0
        mover = self._states[-1 - count].current_player()
        if not self._states[-1 - count].is_terminal() and mover != player:
            count += self._passed(count + 1)
        if self.vertices.short_name == "go" and count > 0 and self._passed(count):
            self._go_to(self.actions[:-count])

    def is_idle_pass(self, player: int) -> bool:
        """True if a pass of Go has no effect: after the end, or out of turn."""
        over = self.state.is_terminal()
        return self.vertices.short_name == "go" and (over or self.state.current_player() != player)

    def _passed(self, count: int) -> bool:
        """True if the last ``count`` moves were passes."""
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

    def legal_moves(self) -> str:
        """The legal moves; empty after the end."""
        legal = [] if self.state.is_terminal() else self.state.legal_actions()
        return " ".join(self.vertices.write(self.state, int(action)) for action in legal)

    def final_status_list(self, status: str) -> str:
        """Stones of Go by their status: all are alive, since areas are counted on this board.

        Raises:
            GtpError: for another status, and in other games.
        """
        if status.lower() not in ("alive", "dead", "seki"):
            raise GtpError("unknown status")
        if self.vertices.short_name != "go":
            raise GtpError("the game has no stones that live or die")
        rows = reversed(go_rows(str(self.state)))
        stones = [
            point_name(column, row).upper()
            for row, points in enumerate(rows)
            for column, point in enumerate(points)
            if point != EMPTY and status.lower() == "alive"
        ]
        return " ".join(stones)
