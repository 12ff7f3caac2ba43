"""Detection of moves that another player does not notice, by random games."""

import math
import random
import threading
import time
from collections.abc import Iterator

import pyspiel

from rave_openspiel.player_views import viewer
from rave_openspiel.uniform_moves import drawn

PROBING_GAMES = 30
"""Random games played to detect whether others can move unnoticed."""

PROBING_MOVES = 300
"""Moves after which such a game is cut off."""

PROBING_SHARE, PROBING_SECONDS = 0.05, 0.02
"""Share of a search's time for these games, and least seconds for them. Later searches play the
rest."""

OWN_MOVES_ALONE = frozenset(
    ["dark_hex", "dark_hex_ir", "phantom_go", "phantom_ttt", "phantom_ttt_ir"]
)
"""Games known to hide rejected moves of others, so that no detection is needed."""


def counts_moves(game: pyspiel.Game, ends: float = math.inf) -> bool:
    """True if a player of the game can count the moves of the others.

    They cannot if a player can move unseen by another and then move again, when a different action
    would have passed the turn. Random games detect this, once for each game and its parameters; if
    time runs out, the next call goes on.

    Args:
        game: the game.
        ends: the ``time.perf_counter()`` time at which no further move is played.
    """
    if game.get_type().short_name in OWN_MOVES_ALONE:
        return False
    name = str(game)
    if name not in _probes:
        _probes[name] = _Probe(game)
    return not _probes[name].finds_unseen_move(ends)


def probing_end(ends: float) -> float:
    """The time at which a search with this deadline should stop playing these games."""
    now = time.perf_counter()
    return now + max(PROBING_SHARE * (ends - now), PROBING_SECONDS)


class _Probe:
    """Random games that look for moves unseen by another player."""

    def __init__(self, game: pyspiel.Game) -> None:
        self._game = game
        self._found = self._ended = False
        self._moves = self._played()
        self._lock = threading.Lock()

    def finds_unseen_move(self, ends: float) -> bool:
        """Continue the games; return whether such a move was found so far."""
        with self._lock:
            while not self._ended and time.perf_counter() < ends:
                try:
                    self._found = next(self._moves)
                    self._ended = self._found
                except StopIteration:
                    self._ended = True
                except BaseException:  # A generator that raised is finished: start again.
                    self._moves = self._played()
                    raise
            return self._found

    def _played(self) -> Iterator[bool]:
        draw = random.Random(1)
        for _ in range(PROBING_GAMES):
            yield from _unseen_moves(self._game, draw)


_probes: dict[str, _Probe] = {}


def _unseen_moves(game: pyspiel.Game, draw: random.Random) -> Iterator[bool]:
    """Play a random game; yield after each move whether it was such a move."""
    see, players = viewer(game), range(game.num_players())
    state, before = game.new_initial_state(), None
    for _ in range(PROBING_MOVES):
        mover = state.current_player()
        if mover == pyspiel.PlayerId.TERMINAL:
            return
        if before is not None and mover == before.current_player():
            others = [player for player in players if player != mover]
            if any(see(state, player) == see(before, player) for player in others) and any(
                before.child(action).current_player() != mover for action in before.legal_actions()
            ):
                yield True
        before = state.clone() if mover >= 0 else None
        state.apply_action(drawn(state, draw.random)[0])
        yield False
