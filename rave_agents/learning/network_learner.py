"""Trains a network by self-play, with steps on the positions of the last rounds."""

import collections
import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.arena.worker import unpacked
from rave_agents.arena.workers import travelling
from rave_agents.config.search_config import SearchConfig
from rave_agents.evaluators.linear_value import game_text
from rave_agents.evaluators.trainable import Arrays, Lesson, trainable
from rave_agents.evaluators.trained_network import (
    SMALL,
    NetworkMaker,
    TrainedNetwork,
    load_arrays,
    seeded,
)
from rave_agents.frameworks.adapters import Game
from rave_agents.game.abilities import StateAbilities
from rave_agents.learning.rounds import Learner
from rave_agents.learning.self_play import Example, self_play
from rave_agents.results.numbers import counted

ROUND_GAMES = 64
"""Games of a round, of all processes together."""

ROUNDS_KEPT = 20
"""Rounds whose positions are trained on."""

PASSES = 8.0
"""Positions drawn for steps, for each new one."""

BATCH = 256
"""Positions of a step."""

VALUE_SHARE = 0.5
"""Weight of the search's value in the target of the player to move; the rest is the outcome."""


class SelfPlay(NamedTuple):
    """The search of games of self-play."""

    config: SearchConfig
    simulations: int
    temperature_moves: int | None


class Share(NamedTuple):
    """A round's games of one process."""

    game: Game
    maker: NetworkMaker
    arrays: Arrays
    play: SelfPlay
    games: int
    seconds: float
    """Seconds after which games that have not ended are left out, if there are others."""
    seed: int


class Played(NamedTuple):
    """A round's share: its positions, or None without any, and its number of games."""

    lesson: Lesson | None
    games: int


def play_share(packed: bytes) -> Played:
    """Play a round's share of games, in any process."""
    share: Share = unpacked(packed)
    if share.games == 0:
        return Played(None, 0)
    network = share.maker.trained(share.arrays, share.game.name)
    begun, games = time.perf_counter(), share.games
    found: list[Example] = []
    with _one_thread():
        examples = self_play(
            share.game, network, games=games, seed=share.seed, **share.play._asdict()
        )
        for example in examples:
            if found and time.perf_counter() - begun > share.seconds:
                games = len({each.game for each in found})
                break
            found.append(example)
    if not found:
        return Played(None, games)
    # A search's value counts the rewards before the position, too; the outcome does not.
    rewards = StateAbilities(share.game.new_initial_state()).collected is not None
    return Played(_lesson_of(found, 0.0 if rewards else VALUE_SHARE), games)


def _lesson_of(found: list[Example], value_share: float) -> Lesson:
    players = np.array([each.player for each in found], np.int64)
    values = np.array([each.outcomes for each in found], np.float32)
    rows = np.arange(len(found))
    expected = np.array([each.value for each in found], np.float32)
    values[rows, players] = (1.0 - value_share) * values[rows, players] + value_share * expected
    return Lesson(
        np.array([each.observation for each in found], np.float32),
        np.array([each.legal_actions_mask for each in found], np.bool_),
        players,
        np.array([each.policy for each in found], np.float32),
        values,
    )


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch compute in one thread: the order of its sums depends on the number of threads."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class NetworkLearner(Learner[TrainedNetwork]):
    """Trains a network on the policies and outcomes of its own games.

    Args:
        game: the game.
        maker: makes the network.
        play: the search of self-play.
        start: a network to continue from; None for a new one.
        seconds_left: returns the maximum number of seconds of a round.
        seed: see ``Learner``.
        jobs: likewise.
        executor: likewise.

    Raises:
        TypeError, ValueError: for a network that cannot be trained, or a start that does not fit.
    """

    def __init__(
        self,
        game: Game,
        maker: NetworkMaker,
        play: SelfPlay,
        *,
        start: TrainedNetwork | None = None,
        seconds_left: Callable[[], float] = lambda: math.inf,
        seed: int = 0,
        jobs: int = 1,
        executor: Executor | None = None,
    ) -> None:
        super().__init__(seed=seed, jobs=jobs, executor=executor)
        self._game, self._maker, self._play = game, maker, play
        self._text = game_text(game.new_initial_state())
        self._seconds_left = seconds_left
        draws, self._training_seeds = self.seeds.spawn(2)
        self._draw = np.random.default_rng(draws)
        self._network = trainable(maker.make(), maker.sizes)
        if start is not None:
            load_arrays(self._network, start.state_dict(), maker.name or SMALL)
        self._kept: collections.deque[Lesson] = collections.deque(maxlen=ROUNDS_KEPT)

    def learn_round(self, games: int | None = None) -> None:
        """Play a round, and train on the positions of the last rounds.

        Raises:
            ValueError: if no game has a position to learn from, or the loss is not finite.
        """
        arrays = self._network.state_dict()
        # Other machines do not have the user's modules: their code travels with the network.
        by_value = self.executor is not None
        shares = [
            travelling(
                Share(
                    self._game,
                    self._maker,
                    arrays,
                    self._play,
                    count,
                    self._seconds_left(),
                    int(seed.generate_state(1, np.uint64)[0]),
                ),
                by_value=by_value,
            )
            for count, seed in self.shares(min(games or ROUND_GAMES, ROUND_GAMES))
        ]
        played = self.play(play_share, shares)
        lessons = [each.lesson for each in played if each.lesson is not None]
        self.games += sum(each.games for each in played)
        if not lessons:
            raise ValueError(
                f"There is nothing to learn of {self._text}: its games have no position of a "
                "player's."
            )
        self._kept.append(Lesson.joined(lessons))
        new = len(self._kept[-1].players)
        self.positions += new
        self._train(new)

    def _train(self, new: int) -> None:
        # Drawn from the last rounds: games of one network alone are too much alike.
        kept = Lesson.joined(self._kept)
        size = min(BATCH, len(kept.players))
        losses = []
        with seeded(int(self._training_seeds.spawn(1)[0].generate_state(1)[0])):
            for _ in range(max(1, round(PASSES * new / size))):
                rows: NDArray[np.int64] = self._draw.integers(len(kept.players), size=size)
                losses.append(self._network.learn(kept.rows(rows)))
                if not math.isfinite(losses[-1]):
                    raise ValueError(
                        f"{self._maker.name or SMALL} learns no more: its loss is {losses[-1]} "
                        f"after {counted(self.games, 'game')}. What was written before stays."
                    )
        self.loss = float(np.mean(losses))

    def value(self) -> TrainedNetwork:
        """A copy of the network as it is now."""
        arrays = {name: np.array(each) for name, each in self._network.state_dict().items()}
        return self._maker.trained(arrays, self._text)
