"""Uniformly random playouts by OpenSpiel's own bots, with a record of every move."""

import array
import random
from collections.abc import Callable, Sequence
from typing import Any

import pyspiel

from rave_agents.game.endless import LONGEST_GAME, until_over
from rave_agents.game.game_state import drawn_outcome
from rave_agents.simulate.python_playouts import Playout


class RandomPlayouts:
    """Plays states of one game to the end.

    ``pyspiel.evaluate_bots`` plays without returning to Python between moves, and the state's
    history then has every move. Games implemented in Python, and those that may last longer than
    ``LONGEST_GAME``, are played move by move: nothing else would stop a playout without an end.

    Args:
        game: the game, in which one player moves at a time.
    """

    def __init__(self, game: pyspiel.Game) -> None:
        game_type = game.get_type()
        self._game = game
        self.has_chance: bool = game_type.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC
        """True if a playout depends on the seed given to ``play``."""
        self._by_move = not is_fast(game)
        self._alternating = (
            game_type.short_name in ALTERNATING_GAMES
            and game.num_players() == 2
            and not self.has_chance
        )
        longest = game.max_game_length() if self._alternating and not self._by_move else 0
        # One table 0, 1, 0, 1, ... for all playouts; a view that starts at the player to move
        # replaces ``full_history``, which makes an object for each move.
        turns = array.array("i", [0, 1] * (longest // 2 + 2))
        self._turns = [memoryview(turns)[player:] for player in (0, 1)]

    def play(self, state: Any, bots: Sequence[pyspiel.Bot], seed: int) -> Playout:
        """Play ``state`` itself to the end with the bots.

        Args:
            state: a state of the game that is not terminal.
            bots: one for each player.
            seed: seeds the chance outcomes.

        Returns:
            The movers (as C integers), their actions, and the returns; chance moves are left out.
        """
        if self._by_move:
            return _played_by_move(state, bots, seed)
        if self._alternating:
            turns = self._turns[state.current_player()]
            start = state.move_number()
            returns = pyspiel.evaluate_bots(state, bots, seed)
            actions = state.history()[start:]
            return turns[: len(actions)], actions, returns
        start = state.move_number()
        returns = pyspiel.evaluate_bots(state, bots, seed)
        moves = [
            (player, move.action)
            for move in state.full_history()[start:]
            if (player := move.player) >= 0
        ]
        players = array.array("i", [player for player, _ in moves])
        return players, [action for _, action in moves], returns

    def __reduce__(self) -> tuple[Any, ...]:
        return RandomPlayouts, (self._game,)


def is_fast(game: pyspiel.Game) -> bool:
    """True if C++ plays the game, and to an end."""
    is_native = type(game).__module__.partition(".")[0] == "pyspiel"
    return is_native and game.max_game_length() <= LONGEST_GAME


def _played_by_move(state: Any, bots: Sequence[pyspiel.Bot], seed: int) -> Playout:
    draw = random.Random(seed)
    players, actions = array.array("i"), []
    for _ in until_over(state, "A playout"):
        player = state.current_player()
        if player == pyspiel.PlayerId.CHANCE:
            state.apply_action(drawn_outcome(state, draw))
            continue
        actions.append(bots[player].step(state))
        players.append(player)
        state.apply_action(actions[-1])
    return players, actions, state.returns()


def random_bots(num_players: int, draw_seed: Callable[[], int]) -> list[pyspiel.Bot]:
    """A uniformly random C++ bot for each player, its seed in [0, 2**31) from ``draw_seed``."""
    return [pyspiel.make_uniform_random_bot(player, draw_seed()) for player in range(num_players)]


ALTERNATING_GAMES = frozenset(
    [
        "antichess",
        "breakthrough",
        "chess",
        "clobber",
        "connect_four",
        "crazyhouse",
        "go",
        "gomoku",
        "havannah",
        "hex",
        "hive",
        "lines_of_action",
        "mnk",
        "nim",
        "othello",
        "oware",
        "pentago",
        "quoridor",
        "shogi",
        "tic_tac_toe",
        "twixt",
        "xiangqi",
        "y",
    ]
)
"""Games in which two players strictly take turns (a player who cannot move passes), so that the
actions alone determine the movers. Variants with more players or chance are excluded where the
table is used."""
