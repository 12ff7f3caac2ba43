"""Learning into a file: written after every round, with checks of strength and a curve.

Values and networks share all of it; they differ in what learns, and in the search that checks them.
"""

import contextlib
import dataclasses
import functools
import importlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any, Protocol

from rave_agents.agents.named_agents import AgentSpec, agent_types
from rave_agents.arena.dask_cluster import dask_executor
from rave_agents.arena.match import load_match_game, play_match
from rave_agents.arena.statistics import MatchScore, finite
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.file_match import NOT_MEASURED, FileMatch
from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.extras import missing
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.validation import Natural, checked
from rave_agents.learning.backup_choice import choose_backup
from rave_agents.learning.board_learner import SMALL
from rave_agents.learning.learn import OPENING_PLIES, POLICY, learn
from rave_agents.learning.rounds import Budget, Learned
from rave_agents.learning.train import Targets, train
from rave_agents.results.numbers import counted, score_text
from rave_agents.results.progress import Progress, shown
from rave_agents.results.result import Result
from rave_agents.results.tables import Column, Table

CHECK_SIMULATIONS = 100
"""Simulations a move in checks of strength."""

CHOICE_SECONDS = 0.01
"""Seconds a move of the match that decides between averages and minimax."""

MATCH_GAMES = 40
"""Games of the match that ends learning, without ``checks``."""

PATIENCE = 2
"""Rounds in a row without gain after which learning ends."""

FRAMEWORKS_BOT = "mcts"
"""OpenSpiel's bot, which learned ones are compared with where it plays the game."""


@dataclasses.dataclass(frozen=True)
class Check:
    """Strength after a round, at ``CHECK_SIMULATIONS`` a move."""

    learned: Learned
    """The progress by then."""
    beginning: MatchScore
    """Against the search without what is learned: with playouts."""
    before: MatchScore | None
    """Against what was learned a round before; None if that is nothing."""
    mcts: MatchScore | None
    """Against OpenSpiel's bot; None where it does not play."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class LearningResult(Result):
    """The outcome of learning into a file. Its rows are the checks of strength."""

    game: str
    """The game."""
    output: str
    """The text for ``evaluator=``: the file, and the network's code if it is one's own."""
    learned: Learned
    """The progress at the end."""
    checks: tuple[Check, ...]
    """The checks of strength, from the first round to the last."""
    minimax: MatchScore | None = None
    """``auto`` with minimax backups against ``auto`` with averages, by the value of the last round,
    where a board's was checked; the file says what has won."""
    match: FileMatch | None = None
    """The agent with the file against the agent without it; None if that was not measured."""

    def summary(self) -> str:
        """The game, what it took, and the file."""
        learned = self.learned
        told = f"{counted(learned.games, 'game')}, {counted(learned.positions, 'position')}"
        line = (
            f"{self.game}: {told}, {learned.seconds:.0f} s: what was learned is in "
            f'evaluator="{self.output}".'
        )
        if self.minimax is not None:
            line += f" With minimax backups auto scored {_told(self.minimax)} against averages."
        if self.match is None:
            return f"{line} Its strength is {NOT_MEASURED}."
        line += f" With the file the agent scored {self.match}"
        return f"{line}: the file makes it weaker." if self.match.lost else f"{line}."

    def tables(self) -> list[Table]:
        """Scores of the checks with their intervals."""
        if not self.checks:
            return []
        columns = [
            Column("seconds", [f"{check.learned.seconds:.0f}" for check in self.checks]),
            Column("games", [f"{check.learned.games:,}" for check in self.checks]),
        ]
        columns += [
            Column(f"against {name}", [_told(getattr(check, name)) for check in self.checks])
            for name in OPPONENTS
        ]
        return [Table(columns, title=f"Scores at {CHECK_SIMULATIONS} simulations a move")]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each check."""
        found: dict[str, list[Any]] = {
            "seconds": [check.learned.seconds for check in self.checks],
            "games": [check.learned.games for check in self.checks],
        }
        for name in OPPONENTS:
            scores = [getattr(check, name) for check in self.checks]
            found[name] = [None if each is None else each.score for each in scores]
            found[f"{name}_elo"] = [None if each is None else finite(each.elo) for each in scores]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        learned = {name: finite(value) for name, value in self.learned._asdict().items()}
        checks = [
            {
                **{name: finite(value) for name, value in check.learned._asdict().items()},
                **{name: _plain(getattr(check, name)) for name in OPPONENTS},
            }
            for check in self.checks
        ]
        return {
            "game": self.game,
            "output": self.output,
            **learned,
            "checks": checks,
            "minimax": _plain(self.minimax),
            "match": None if self.match is None else self.match.to_dict(),
        }

    def _estimates(self) -> dict[str, Any]:
        rows = [
            (f"{check.learned.seconds / 60.0:.1f} min", each.score, each.interval)
            for check in self.checks
            for each in [check.beginning]
        ]
        return {"estimates": rows, "label": "score against the beginning", "level": 0.5}


OPPONENTS = ("beginning", "before", "mcts")
"""Opponents of a check."""


def _told(score: MatchScore | None) -> str:
    return "-" if score is None else score_text(score.score, score.interval, 2)


def _plain(score: MatchScore | None) -> dict[str, Any] | None:
    return None if score is None else score.to_dict()


class _Learnt(Protocol):
    """An evaluator that learning makes, and that a file keeps."""

    made: str
    match: FileMatch | None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file."""

    def spec(self, path: str | os.PathLike[str]) -> str:
        """The text that ``evaluator=`` takes for its file."""


class _Rounds:
    """The rounds of learning into a file: each is written and checked.

    Args:
        game: the game.
        output: the file.
        agent: the agent that plays checks: with what is learned, or with None.
        games: games of each check; None or 0 for none.
        made: a line for the file, of how it was learned.
        seed: decides the checks' random numbers.
        tensorboard: a folder of TensorBoard's to write to; None for none.

    Raises:
        UnsupportedGameError: for checks of a game that is not for two players.
        ValueError: for a number of games that is not allowed, or without TensorBoard.
    """

    def __init__(
        self,
        game: Any,
        output: str | os.PathLike[str],
        agent: Callable[[Any], AgentSpec],
        *,
        games: int | None,
        made: str,
        seed: int,
        tensorboard: str | os.PathLike[str] | None,
    ) -> None:
        checked("checks", Natural | None, games)
        if games:
            load_match_game(game)
        self._game, self._output, self._agent = game, output, agent
        self._games, self._made, self._seed = games or 0, made, seed
        self._writer = None if tensorboard is None else _writer(tensorboard)
        self.last = Learned(0, 0, float("nan"), 0.0)
        """The progress so far."""
        self.checks: list[Check] = []
        self.evaluator = os.fspath(output)
        """The text that ``evaluator=`` takes."""
        self.found: _Learnt | None = None
        """The outcome of the last round."""
        self._without_gain = 0

    def take(self, found: _Learnt) -> bool:
        """Write a round's outcome, and check its strength. Returns whether to go on."""
        found.made = self._made
        found.save(self._output)
        self.evaluator = found.spec(self._output)
        if self._games > 0:
            self._check(found)
        self.found = found
        if self._writer is not None:
            self._writer.add_scalar("loss", self.last.loss, self.last.games)
            for check in self.checks[-1:]:
                self._writer.add_scalar("score", check.beginning.score, self.last.games)
            self._writer.flush()
        return self._without_gain < PATIENCE

    def result(self) -> LearningResult:
        """The outcome so far."""
        return LearningResult(
            game=str(self._game),
            output=self.evaluator,
            learned=self.last,
            checks=tuple(self.checks),
        )

    def _check(self, found: _Learnt) -> None:
        before, mcts = self.found, None
        if FRAMEWORKS_BOT in agent_types():
            with contextlib.suppress(ValueError):  # A game that is not OpenSpiel's.
                mcts = self._score(found, FRAMEWORKS_BOT)
        earlier = None if before is None else self._score(found, self._agent(before))
        beginning = self._score(found, self._agent(None))
        self.checks.append(Check(self.last, beginning, earlier, mcts))
        gained = earlier is None or earlier.score > 0.5
        self._without_gain = 0 if gained else self._without_gain + 1

    def _score(self, found: _Learnt, other: Any) -> MatchScore:
        return play_match(
            self._game,
            self._agent(found),
            other,
            games=self._games,
            simulations=CHECK_SIMULATIONS,
            seed=self._seed,
            progress=False,
        ).score


def learn_to_file(
    game: Any,
    output: str | os.PathLike[str],
    *,
    minutes: float | None = None,
    games: int | None = None,
    rounds: int = 5,
    simulations: int = 200,
    jobs: int = 1,
    dask: str | None = None,
    start: str | os.PathLike[str] | None = None,
    what: str = "value",
    windows: str = SMALL,
    opening: int = OPENING_PLIES,
    checks: int | None = None,
    tensorboard: str | os.PathLike[str] | None = None,
    made: str = "",
    seed: int = 0,
    progress: Progress[Learned] = None,
) -> LearningResult:
    """Learn a value or a policy of a game, and write it after every round.

    Args:
        game: see ``learn``, as all that is not told here.
        output: the file.
        minutes: see ``learn``.
        games: see ``learn``.
        rounds: how often the file is written, and its strength checked.
        simulations: see ``learn``.
        jobs: processes that play.
        dask: the address of a Dask scheduler in their place, or ``"local"``; None for none.
        start: a file to go on from.
        what: see ``learn``.
        windows: see ``learn``.
        opening: see ``learn``.
        checks: games of each check of strength. Learning ends early once ``PATIENCE`` rounds in a
            row have brought nothing. At the end as many games decide whether ``auto`` backs up the
            value of a board by averages or by minimax, see ``choose_backup``, and as many measure
            ``auto`` with the file against ``auto`` without it, which the file records. None for
            that last match alone, of ``MATCH_GAMES`` games; 0 for none.
        tensorboard: a folder of TensorBoard's to write to; None for none.
        made: a line for the file, of how it was learned.
        seed: decides everything random.
        progress: see ``learn``.

    Raises:
        ValueError: for a number that is not allowed, or if something is not installed.
    """
    learning = functools.partial(
        learn,
        game,
        minutes=minutes,
        games=games,
        rounds=rounds,
        simulations=simulations,
        jobs=jobs,
        start=start,
        what=what,
        windows=windows,
        opening=opening,
        seed=seed,
    )
    agent = _policy_agent if what == POLICY else _value_agent
    taker = _Rounds(
        game, output, agent, games=checks, made=made, seed=seed, tensorboard=tensorboard
    )
    budget = Budget(minutes, games, rounds)
    result = _carried_out(learning, taker, budget, jobs, dask, progress)
    value = taker.found
    if checks and isinstance(value, LinearValue) and value.network is not None:
        score = choose_backup(game, value, games=checks, seconds=CHOICE_SECONDS, seed=seed)
        value.save(output)
        result = dataclasses.replace(result, minimax=score)
    return _measured(result, game, output, value, _policy_agent, checks, seed, progress)


def train_to_file(
    game: Any,
    output: str | os.PathLike[str],
    network: Any = None,
    *,
    minutes: float | None = None,
    games: int | None = None,
    rounds: int = 5,
    simulations: int = 50,
    targets: Targets = "alphazero",
    jobs: int = 1,
    dask: str | None = None,
    start: str | os.PathLike[str] | None = None,
    checks: int | None = None,
    tensorboard: str | os.PathLike[str] | None = None,
    made: str = "",
    seed: int = 0,
    progress: Progress[Learned] = None,
) -> LearningResult:
    """Train a network on a game, and write it after every round.

    Args:
        game: see ``train``, as all that is not told here or of ``learn_to_file``.
        output: the file.
        network: see ``train``.
        minutes: see ``train``.
        games: see ``train``.
        rounds: how often the file is written, and its strength checked.
        simulations: see ``train``.
        targets: see ``train``.
        jobs: processes that play.
        dask: see ``learn_to_file``.
        start: a file to go on from.
        checks: see ``learn_to_file``; nothing is chosen at the end, and the match is of ``puct``
            with the network against ``uct``.
        tensorboard: see ``learn_to_file``.
        made: a line for the file, of how it was trained.
        seed: decides everything random.
        progress: see ``train``.

    Raises:
        ValueError: for a number that is not allowed, or if something is not installed.
    """
    learning = functools.partial(
        train,
        game,
        network,
        targets=targets,
        minutes=minutes,
        games=games,
        rounds=rounds,
        simulations=simulations,
        jobs=jobs,
        start=start,
        seed=seed,
    )
    taker = _Rounds(
        game, output, _network_agent, games=checks, made=made, seed=seed, tensorboard=tensorboard
    )
    result = _carried_out(learning, taker, Budget(minutes, games, rounds), jobs, dask, progress)
    return _measured(result, game, output, taker.found, _network_agent, checks, seed, progress)


def _measured(
    result: LearningResult,
    game: Any,
    output: str | os.PathLike[str],
    found: _Learnt | None,
    agent: Callable[[Any], AgentSpec],
    games: int | None,
    seed: int,
    progress: Progress[Learned],
) -> LearningResult:
    """Play the agent with what was learned against it without, and record the match in the file."""
    if found is None or games == 0 or as_game(game).num_players != 2:
        return result
    games = MATCH_GAMES if games is None else games
    without = agent(None).with_parameters({"simulations": CHECK_SIMULATIONS})
    try:
        score = play_match(
            game,
            agent(found),
            without,
            games=games,
            simulations=CHECK_SIMULATIONS,
            seed=seed,
            progress=None if callable(progress) else progress,
        ).score
    except UnsupportedGameError:  # A game that the agents learn, but do not play in matches.
        return result
    found.match = FileMatch(score.games, score.score, *score.interval, str(without))
    found.save(output)
    return dataclasses.replace(result, match=found.match)


def _carried_out(
    learning: Callable[..., Any],
    rounds: _Rounds,
    budget: Budget,
    jobs: int,
    dask: str | None,
    progress: Progress[Learned],
) -> LearningResult:
    """Learn with the workers that are asked for, and show how far it is."""
    with _workers(dask, jobs) as executor, shown(progress, budget.view) as tell:

        def note(learned: Learned) -> None:
            rounds.last = learned
            if tell is not None:
                tell(learned)

        learning(executor=executor, progress=note, fitted=rounds.take)
    return rounds.result()


@contextlib.contextmanager
def _workers(dask: str | None, jobs: int) -> Iterator[Executor | None]:
    """The executor of a Dask cluster; None for this machine's processes."""
    if dask is None:
        yield None
        return
    with dask_executor(dask, jobs=jobs) as executor:
        yield executor


def _value_agent(value: Any) -> AgentSpec:
    """The agent that checks values, with one or without."""
    return AgentSpec("uct", {"c": 0.2, **_with(value)})


def _policy_agent(policy: Any) -> AgentSpec:
    """The agent that checks policies, with one or without."""
    return AgentSpec("auto", {"known": False, **_with(policy)})


def _network_agent(network: Any) -> AgentSpec:
    """The agent that checks networks, and the one without."""
    if network is None:
        return AgentSpec("uct")
    return AgentSpec("puct", {"rule": "scheduled_puct", **_with(network)})


def _with(evaluator: Any) -> dict[str, Any]:
    return {} if evaluator is None else {"evaluator": evaluator}


def _writer(folder: str | os.PathLike[str]) -> Any:
    """TensorBoard's writer, of PyTorch or of tensorboardX."""
    for module in ("torch.utils.tensorboard", "tensorboardX"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(module).SummaryWriter(os.fspath(folder))
    raise ValueError(missing("--tensorboard needs", "tensorboard", "tensorboardX"))
