"""Learning of a network: games of ``self_play`` in one process or several, and steps of training.

In each round all processes play with the same network, from seeds of their own; then this process
trains it on positions of the last rounds. So equal seeds, games and processes train equally,
whatever runs the processes.
"""

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

from rave_agents.arena.runner import travelling
from rave_agents.arena.worker import unpacked
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
from rave_agents.learning.self_play import Example, self_play
from rave_agents.results.numbers import counted


class Settings(NamedTuple):
    """Settings of training."""

    games: int = 64
    """Games of a round, of all processes together."""
    rounds_kept: int = 20
    """Rounds whose positions are trained on."""
    passes: float = 8.0
    """Steps of training draw so many positions for each new one."""
    batch: int = 256
    """Positions of a step."""
    value_share: float = 0.5
    """Weight of the search's value beside the outcome, for the player to move."""


SETTINGS = Settings()


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
    """Seconds after which what is finished has to do, but for the first game."""
    seed: int
    value_share: float


class Played(NamedTuple):
    """Positions of a round's share; None without any."""

    lesson: Lesson | None
    games: int


def play_share(packed: bytes) -> Played:
    """Play a round's share of games, in whatever process."""
    share: Share = unpacked(packed)
    network = share.maker.trained(share.arrays, share.game.name)
    state = share.game.new_initial_state()
    # What is expected counts earlier rewards, too.
    if StateAbilities(state).collected is not None:
        share = share._replace(value_share=0.0)
    begun = time.perf_counter()
    found: list[Example] = []
    with _one_thread():
        for example in self_play(
            share.game,
            network,
            games=share.games,
            simulations=share.play.simulations,
            config=share.play.config,
            temperature_moves=share.play.temperature_moves,
            seed=share.seed,
        ):
            if found and time.perf_counter() - begun > share.seconds:
                return _played(found, share, len({each.game for each in found}))
            found.append(example)
    return _played(found, share, share.games)


def _played(found: list[Example], share: Share, games: int) -> Played:
    """Examples as a lesson."""
    if not found:
        return Played(None, games)
    players = np.array([each.player for each in found], np.int64)
    values = np.array([each.outcomes for each in found], np.float32)
    rows, weight = np.arange(len(found)), share.value_share
    expected = np.array([each.value for each in found], np.float32)
    values[rows, players] = (1.0 - weight) * values[rows, players] + weight * expected
    lesson = Lesson(
        np.array([each.observation for each in found], np.float32),
        np.array([each.legal_actions_mask for each in found], np.bool_),
        players,
        np.array([each.policy for each in found], np.float32),
        values,
    )
    return Played(lesson, games)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Meanwhile torch computes in one thread: sums are the same wherever it runs."""
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


class NetworkLearner:
    """A network that self-play trains, round by round.

    Args:
        game: the game.
        maker: makes the network.
        play: how games are searched.
        seed: decides everything random.
        jobs: processes, at least 1.
        executor: runs them; None for this process.
        start: a network to go on from; None for a new one.
        seconds_left: tells how long a round may last.
        settings: how it is trained.

    Raises:
        TypeError, ValueError: for a network that cannot be trained, or whose numbers do not fit.
    """

    def __init__(
        self,
        game: Game,
        maker: NetworkMaker,
        play: SelfPlay,
        *,
        seed: int = 0,
        jobs: int = 1,
        executor: Executor | None = None,
        start: TrainedNetwork | None = None,
        seconds_left: Callable[[], float] = lambda: float("inf"),
        settings: Settings = SETTINGS,
    ) -> None:
        self._game, self._maker, self._play, self._settings = game, maker, play, settings
        self._text = game_text(game.new_initial_state())
        self._jobs, self._executor, self._seconds_left = jobs, executor, seconds_left
        self._seeds = np.random.SeedSequence(seed)
        draws, own = self._seeds.spawn(2)
        self._draw = np.random.default_rng(draws)
        self._own = own
        self._network = trainable(maker.make(), maker.sizes)
        if start is not None:
            load_arrays(self._network, start.state_dict(), maker.name or SMALL)
        self._kept: collections.deque[Lesson] = collections.deque(maxlen=settings.rounds_kept)
        self.games: int = 0
        self.positions: int = 0
        """Games played and positions learned from."""
        self.error: float = float("nan")
        """The mean loss of the last round; NaN before the first."""

    def learn_round(self, games: int | None = None) -> None:
        """Play a round, of so many games at most, and train on it and those before.

        Raises:
            ValueError: if no game has a position to learn from.
        """
        in_all = self._settings.games if games is None else min(games, self._settings.games)
        shares = [(in_all + place) // self._jobs for place in range(self._jobs)]
        arrays = self._network.state_dict()
        packed = [
            travelling(
                Share(
                    self._game,
                    self._maker,
                    arrays,
                    self._play,
                    share,
                    self._seconds_left(),
                    int(seed.generate_state(1, np.uint64)[0]),
                    self._settings.value_share,
                ),
                by_value=self._executor is not None,
            )
            for share, seed in zip(shares, self._seeds.spawn(self._jobs), strict=True)
            if share > 0
        ]
        run = map if self._executor is None else self._executor.map
        played = list(run(play_share, packed))
        lessons = [each.lesson for each in played if each.lesson is not None]
        self.games += sum(each.games for each in played)
        if not lessons:
            raise ValueError(
                f"There is nothing to learn of {self._text}: its games have no position of a "
                "player's."
            )
        self._kept.append(Lesson.joined(lessons))
        self.positions += len(self._kept[-1].players)
        self._train(len(self._kept[-1].players))

    def _train(self, new: int) -> None:
        """Take steps of training, for so many new positions."""
        kept = Lesson.joined(self._kept)
        size = min(self._settings.batch, len(kept.players))
        steps = max(1, round(self._settings.passes * new / size))
        losses = []
        with seeded(int(self._own.spawn(1)[0].generate_state(1)[0])):
            for _ in range(steps):
                rows: NDArray[np.int64] = self._draw.integers(len(kept.players), size=size)
                losses.append(self._network.learn(kept.rows(rows)))
                if not math.isfinite(losses[-1]):
                    raise ValueError(
                        f"{self._maker.name or SMALL} learns no more: its loss is {losses[-1]} "
                        f"after {counted(self.games, 'game')}. What was written before stays."
                    )
        self.error = float(np.mean(losses))

    def value(self) -> TrainedNetwork:
        """A copy of the network as it is now."""
        arrays = {name: np.array(each) for name, each in self._network.state_dict().items()}
        return self._maker.trained(arrays, self._text)
