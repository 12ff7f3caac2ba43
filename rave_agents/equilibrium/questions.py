"""Questions about histories that Python asks a game, and the size of a game."""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.layout import call_address
from rave_agents.equilibrium import records as codes
from rave_agents.equilibrium.state_visitor import StateVisitor
from rave_agents.errors import GameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState
from rave_agents.game.utility_limits import MOST_LEGAL
from rave_agents.simulate.random_stream import Stream
from rave_agents.simulate.visits import Visit, Visitor, VisitPlace, make_visit

FIRST_DEPTHS, FIRST_LISTS = 64, 64
"""Initial capacities of the path and of lists of actions."""

WALKS = 256
"""Walks that estimate the size of a game."""

LONG_WALK = 128
"""Moves after which a walk ends if the size of the game no longer matters, but its length does."""


class Questions:
    """A game's visitor and its buffers, which grow as needed.

    Args:
        start: the start of the game, copied.
        stream: random numbers for playouts.

    Raises:
        UnsupportedGameError: if the game's states lack what visits need.
    """

    def __init__(self, start: GameState, stream: Stream) -> None:
        self.num_players: int = start.num_players()
        self.visit: Visit = make_visit(self.num_players, FIRST_DEPTHS, FIRST_LISTS, stream)
        """The buffers; replaced when they grow."""
        made = StateAbilities(start).visitor
        found = None if made is None else made(self.visit)
        self.visitor: Visitor = StateVisitor(start, self.visit) if found is None else found
        """The visitor."""

    def ask(self, path: Sequence[int]) -> NDArray[np.int64]:
        """The header, after the game has listed the actions after a path."""
        while len(path) >= len(self.visit.path):
            self.renew(2 * len(self.visit.path), len(self.visit.actions))
        # A traversal may wait in the middle: its path is put back.
        kept = self.visit.path.copy()
        try:
            while True:
                visit = self.visit
                visit.path[: len(path)] = path
                visit.header[VisitPlace.LENGTH] = len(path)
                visit.header[VisitPlace.PLAYOUT] = visit.header[VisitPlace.STATUS] = 0
                answered = call_address(self.visitor.address, visit.header.ctypes.data)
                if visit.header[VisitPlace.IN_PYTHON]:
                    answered = int(visit.header[VisitPlace.STATUS])
                if answered == codes.ANSWERED:
                    return visit.header
                if answered != codes.ANSWER_FULL:
                    self.visitor.raise_pending()
                self.grow_lists()
        finally:
            self.visit.path[: len(kept)] = kept

    def grow_lists(self) -> None:
        """Make room for all actions of the history that did not fit."""
        actions = int(self.visit.header[VisitPlace.REQUIRED_ACTIONS])
        if actions > MOST_LEGAL:
            raise GameError(f"A history has {actions} actions, more than {MOST_LEGAL}.")
        self.renew(len(self.visit.path), 2 * actions)

    def renew(self, depths: int, actions: int) -> None:
        """Make buffers with other capacities, with the same path."""
        old = self.visit
        self.visit = make_visit(self.num_players, depths, actions, old.stream)
        self.visit.path[: len(old.path)] = old.path
        self.visitor.bind(self.visit)


class GameSize(NamedTuple):
    """The estimated size of a game."""

    histories: float
    """The number of histories; infinity if it is more than was asked for."""
    entered: float
    """Histories that an iteration of external sampling enters, by uniform strategies."""
    in_python: bool
    """True if visits run in Python, some fifty times as slow."""
    length: float
    """Mean number of moves of a random game, chance's included."""
    deals: float
    """Mean number of sequences of chance outcomes, the product of the choices on a walk."""


def estimated_size(questions: Questions, most: float, least_walks: int = 0) -> GameSize:
    """The size of a game, by random walks.

    Each step of a walk counts the histories that it could have led to, if all were like it (Knuth
    1975). The walks are the same at every call.

    Args:
        questions: asks the game.
        most: the size beyond which the walks stop.
        least_walks: walks that go on nevertheless, up to ``LONG_WALK`` moves.
    """
    draw = random.Random(0)
    total = entered = deals = 0.0
    steps, walks = 0, 1
    while True:
        path: list[int] = []
        alike = deal = 1.0
        by_player = [1.0] * questions.num_players
        while total <= WALKS * most or (walks <= least_walks and len(path) < LONG_WALK):
            total += alike
            entered += sum(by_player)
            header = questions.ask(path)
            count, player = int(header[VisitPlace.NUM_ACTIONS]), int(header[VisitPlace.PLAYER])
            if count == 0:
                break
            path.append(int(questions.visit.actions[draw.randrange(count)]))
            alike *= count
            if player >= 0:
                by_player[player] *= count  # Only their own actions are all tried.
            else:
                deal *= count
        steps += len(path)
        deals += deal
        exceeds = total > WALKS * most
        if walks == WALKS or (exceeds and walks >= least_walks):
            break
        walks += 1
    histories = math.inf if exceeds else total / walks
    in_python = not questions.visitor.outside_interpreter
    return GameSize(histories, entered / walks, in_python, steps / walks, deals / walks)
