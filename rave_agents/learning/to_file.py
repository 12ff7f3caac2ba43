"""Learning into a file, which is written after every round, with checks of its strength."""

import contextlib
import copy
import dataclasses
import functools
import importlib
import os
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Annotated, Any, Literal

from annotated_types import Ge

from rave_agents.agents.named_agents import AgentSpec, agent_types
from rave_agents.arena.arguments import load_match_game
from rave_agents.arena.dask_cluster import dask_executor
from rave_agents.arena.match import play_match
from rave_agents.arena.statistics import MatchScore
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.learned_file import FileMatch, LearnedFile
from rave_agents.evaluators.linear_value import MEAN, MINIMAX, LinearValue
from rave_agents.extras import missing
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.validation import Count, Natural, Positive, validated
from rave_agents.learning.learn import POLICY, VALUE, learn
from rave_agents.learning.result import CHECK_SIMULATIONS, Check, LearningResult
from rave_agents.learning.rounds import Budget, Learned
from rave_agents.learning.teacher import OPENING
from rave_agents.learning.train import Targets, train
from rave_agents.results.progress import Progress, shown

CHOICE_SECONDS = 0.01
"""Seconds a move of the match that decides between averages and minimax."""

MATCH_GAMES = 40
"""Games of the match that ends learning, without ``checks``."""

PATIENCE = 2
"""Rounds in a row without gain after which learning ends."""

FRAMEWORKS_BOT = "mcts"
"""OpenSpiel's bot, an opponent of checks if it plays the game."""

NETWORK = "network"

_AGENTS: dict[str, tuple[str, dict[str, Any]]] = {
    VALUE: ("uct", {"c": 0.2}),
    POLICY: ("auto", {"known": False}),
    NETWORK: ("puct", {"rule": "scheduled_puct"}),
}
"""The agents that play checks, for a value, a policy and a network."""


@validated
def learn_to_file(
    game: Any,
    output: str | os.PathLike[str],
    *,
    minutes: Positive | None = None,
    games: Count | None = None,
    rounds: Count = 5,
    simulations: Annotated[int, Ge(2)] = 200,
    jobs: Count = 1,
    dask: str | None = None,
    start: str | os.PathLike[str] | None = None,
    what: Literal["value", "policy"] = "value",
    windows: Literal["small", "large", "lines", "strips"] = "small",
    opening: Natural = OPENING,
    checks: Natural | None = None,
    tensorboard: str | os.PathLike[str] | None = None,
    made: str = "",
    seed: Natural = 0,
    progress: Progress[Learned] = None,
) -> LearningResult:
    """Learn a value or a policy of a game, and write it after every round.

    Args:
        game: see ``learn``.
        output: the file.
        minutes: see ``learn``.
        games: see ``learn``.
        rounds: how often the file is written and checked.
        simulations: see ``learn``.
        jobs: processes that play.
        dask: the address of a Dask scheduler to use instead, or ``"local"``; None for none.
        start: a file to continue from.
        what: see ``learn``.
        windows: see ``learn``.
        opening: see ``learn``.
        checks: games of each check of strength. Learning ends after ``PATIENCE`` rounds in a row
            without gain. At the end as many games decide whether ``auto`` backs up a board's value
            by averages or by minimax, see ``choose_backup``, and as many measure ``auto`` with the
            file against ``auto`` without, which the file records. None for that last match alone,
            of ``MATCH_GAMES`` games; 0 for none.
        tensorboard: a folder for TensorBoard; None for none.
        made: a line for the file, on how it was learned.
        seed: decides everything random.
        progress: see ``learn``.

    Raises:
        TypeError, ValueError: for an argument that is not allowed, or if a package is missing.
        UnsupportedGameError: see ``learn``; with ``checks`` also if the game is not for two
            players.
    """
    learning = functools.partial(
        learn, simulations=simulations, start=start, what=what, windows=windows, opening=opening
    )
    length = {"minutes": minutes, "games": games, "rounds": rounds}
    to_file = _RoundsToFile(game, output, what, checks, made, seed, tensorboard)
    to_file.run(learning, length, jobs, dask, progress)
    value, minimax = to_file.found, None
    if checks and isinstance(value, LinearValue) and value.network is not None:
        minimax = choose_backup(
            to_file.game, value, games=checks, seconds=CHOICE_SECONDS, seed=seed
        )
        value.save(output)
    # With a value, too, the last match is of ``auto``, the agent that files are made for.
    match = to_file.last_match(POLICY, checks, progress)
    return dataclasses.replace(to_file.result(), minimax=minimax, match=match)


@validated
def train_to_file(
    game: Any,
    output: str | os.PathLike[str],
    network: Any = None,
    *,
    minutes: Positive | None = None,
    games: Count | None = None,
    rounds: Count = 5,
    simulations: Annotated[int, Ge(2)] = 50,
    targets: Targets = "alphazero",
    jobs: Count = 1,
    dask: str | None = None,
    start: str | os.PathLike[str] | None = None,
    checks: Natural | None = None,
    tensorboard: str | os.PathLike[str] | None = None,
    made: str = "",
    seed: Natural = 0,
    progress: Progress[Learned] = None,
) -> LearningResult:
    """Train a network on a game, and write it after every round.

    Args:
        game: see ``train``.
        output: the file.
        network: see ``train``.
        minutes: see ``train``.
        games: see ``train``.
        rounds: how often the file is written and checked.
        simulations: see ``train``.
        targets: see ``train``.
        jobs: processes that play.
        dask: see ``learn_to_file``.
        start: a file to continue from.
        checks: see ``learn_to_file``; no backup is chosen, and the last match is of ``puct`` with
            the network against ``uct``.
        tensorboard: see ``learn_to_file``.
        made: a line for the file, on how it was trained.
        seed: decides everything random.
        progress: see ``train``.

    Raises:
        TypeError, ValueError: for an argument that is not allowed, or if a package is missing.
        UnsupportedGameError: see ``learn_to_file``.
    """
    training = functools.partial(
        train, network=network, simulations=simulations, targets=targets, start=start
    )
    length = {"minutes": minutes, "games": games, "rounds": rounds}
    to_file = _RoundsToFile(game, output, NETWORK, checks, made, seed, tensorboard)
    to_file.run(training, length, jobs, dask, progress)
    match = to_file.last_match(NETWORK, checks, progress)
    return dataclasses.replace(to_file.result(), match=match)


class _RoundsToFile:
    """Writes and checks the outcome of each round.

    Args:
        game: the game.
        output: the file.
        kind: a key of ``_AGENTS``.
        checks: games of each check; None or 0 for none.
        made: a line for the file, on how it was learned.
        seed: decides the checks' random numbers.
        tensorboard: a folder for TensorBoard; None for none.

    Raises:
        UnsupportedGameError: for checks of a game that is not for two players.
        ValueError: without TensorBoard.
    """

    def __init__(
        self,
        game: Any,
        output: str | os.PathLike[str],
        kind: str,
        checks: int | None,
        made: str,
        seed: int,
        tensorboard: str | os.PathLike[str] | None,
    ) -> None:
        self.game = load_match_game(game) if checks else as_game(game)
        self._name = game if isinstance(game, str) else self.game.name
        self._output, self._kind, self._made = output, kind, made
        self._games, self._seed = checks or 0, seed
        self._writer = None if tensorboard is None else _writer(tensorboard)
        self._last = Learned(0, 0, float("nan"), 0.0)
        self._checks: list[Check] = []
        self._without_gain = 0
        self.found: LearnedFile | None = None
        """The outcome of the last round."""

    def run(
        self,
        learning: Callable[..., Any],
        length: dict[str, Any],
        jobs: int,
        dask: str | None,
        progress: Progress[Learned],
    ) -> None:
        workers: contextlib.AbstractContextManager[Executor | None] = contextlib.nullcontext()
        if dask is not None:
            workers = dask_executor(dask, jobs=jobs)
        with workers as executor, shown(progress, Budget(**length).view) as show:

            def note(learned: Learned) -> None:
                self._last = learned
                if show is not None:
                    show(learned)

            learning(
                self.game,
                **length,
                jobs=jobs,
                executor=executor,
                seed=self._seed,
                progress=note,
                fitted=self._take,
            )

    def result(self) -> LearningResult:
        output = os.fspath(self._output) if self.found is None else self.found.spec(self._output)
        return LearningResult(
            game=self._name, output=output, learned=self._last, checks=tuple(self._checks)
        )

    def last_match(
        self, kind: str, checks: int | None, progress: Progress[Learned]
    ) -> FileMatch | None:
        """Play the agent with the file against the agent without, and record the match in it."""
        if self.found is None or checks == 0 or self.game.num_players != 2:
            return None
        without = _agent(kind, None).with_parameters({"simulations": CHECK_SIMULATIONS})
        try:
            score = play_match(
                self.game,
                _agent(kind, self.found),
                without,
                games=checks or MATCH_GAMES,
                simulations=CHECK_SIMULATIONS,
                seed=self._seed,
                progress=None if callable(progress) else progress,
            ).score
        except UnsupportedGameError:  # A game that agents learn, but do not play in matches.
            return None
        self.found.match = FileMatch(score.games, score.score, *score.interval, str(without))
        self.found.save(self._output)
        return self.found.match

    def _take(self, found: LearnedFile) -> bool:
        found.made = self._made
        found.save(self._output)
        if self._games > 0:
            self._check(found)  # Against the previous round, so before it is replaced.
        self.found = found
        if self._writer is not None:
            self._writer.add_scalar("loss", self._last.loss, self._last.games)
            for check in self._checks[-1:]:
                self._writer.add_scalar("score", check.beginning.score, self._last.games)
            self._writer.flush()
        return self._without_gain < PATIENCE

    def _check(self, found: LearnedFile) -> None:
        before, mcts = None, None
        if FRAMEWORKS_BOT in agent_types():
            with contextlib.suppress(ValueError):  # A game that is not OpenSpiel's.
                mcts = self._score(found, FRAMEWORKS_BOT)
        if self.found is not None:
            before = self._score(found, _agent(self._kind, self.found))
        beginning = self._score(found, _agent(self._kind, None))
        self._checks.append(Check(self._last, beginning, before, mcts))
        gained = before is None or before.score > 0.5
        self._without_gain = 0 if gained else self._without_gain + 1

    def _score(self, found: LearnedFile, other: Any) -> MatchScore:
        return play_match(
            self.game,
            _agent(self._kind, found),
            other,
            games=self._games,
            simulations=CHECK_SIMULATIONS,
            seed=self._seed,
            progress=False,
        ).score


def _agent(kind: str, evaluator: LearnedFile | None) -> AgentSpec:
    name, parameters = _AGENTS[kind]
    if evaluator is not None:
        return AgentSpec(name, {**parameters, "evaluator": evaluator})
    # PUCT needs priors: without a network plain UCT plays.
    return AgentSpec("uct") if kind == NETWORK else AgentSpec(name, parameters)


def choose_backup(
    game: Any, value: LinearValue, *, games: int, seconds: float, seed: int = 0
) -> MatchScore:
    """Play ``auto`` with minimax backups against averages, and set the value's ``backup``.

    It becomes minimax if the whole interval of minimax's score lies above 0.5. Both have the same
    time, as a simulation takes longer where it evaluates all moves.

    Args:
        game: the game that the value was learned on, for two players.
        value: the value.
        games: games of the match.
        seconds: seconds a move.
        seed: decides everything random, except for what depends on time.

    Returns:
        The score of minimax.

    Raises:
        UnsupportedGameError: if the game is not for two players.
    """
    agents = []
    for backup in (MINIMAX, MEAN):
        with_backup = copy.copy(value)
        with_backup.backup = backup
        agents.append(AgentSpec("auto", {"evaluator": with_backup}))
    score = play_match(game, *agents, games=games, seconds=seconds, seed=seed, progress=False).score
    value.backup = MINIMAX if score.interval[0] > 0.5 else MEAN
    return score


def _writer(folder: str | os.PathLike[str]) -> Any:
    for module in ("torch.utils.tensorboard", "tensorboardX"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(module).SummaryWriter(os.fspath(folder))
    raise ValueError(missing("--tensorboard needs", "tensorboard", "tensorboardX"))
