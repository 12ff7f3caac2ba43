"""Games of an evaluator against itself, as data to train on."""

import math
import pathlib
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from rave_agents.config.limit import Limit
from rave_agents.config.root_noise import DirichletNoise
from rave_agents.config.search_config import SearchConfig
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.evaluators.cache import EvaluationCache
from rave_agents.files import written_whole
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.endless import until_over
from rave_agents.game.game_state import GameState, is_simultaneous, legal_actions_of
from rave_agents.game.utility_limits import utility_limits
from rave_agents.game.validation import Count, Natural, Seed, checked, validated
from rave_agents.records.openings import draw_outcome
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.evaluators import as_evaluator
from rave_agents.searcher.multi_search import SIDE_BY_SIDE, Task, search_together
from rave_agents.searcher.searcher import Searcher


class Example(NamedTuple):
    """A position of a game, with the results of its search and of the game."""

    observation: NDArray[np.float32]
    """The observation of the player to move, in the game's shape."""
    legal_actions_mask: NDArray[np.bool_]
    """[A] whether each action was legal."""
    policy: NDArray[np.float32]
    """[A] the share of the search's visits that each action had, or with ``rule=gumbel`` its
    probability in the improved policy; it sums to 1."""
    player: int
    """The player to move."""
    outcome: float
    """The player's utility at the end of the game, counted from this position on."""
    outcomes: NDArray[np.float32]
    """[players] each player's utility, likewise."""
    value: float
    """The search's value for the player to move."""
    game: int
    """The game's number, from 0."""
    move: int
    """The number of players' moves before this position."""


@validated
def self_play(
    game: Any,
    evaluator: Any,
    *,
    games: Count,
    simulations: Count = 100,
    config: SearchConfig | None = None,
    temperature_moves: Natural | None = None,
    resign_below: float | None = None,
    seed: Seed = None,
    side_by_side: Count = SIDE_BY_SIDE,
    overlap: bool = True,
) -> Iterator[Example]:
    """Play games of an evaluator against itself, many at a time, and yield every position.

    All games search their moves in common batches. A move is drawn in proportion to visits to the
    power of 1/``config.temperature``; after ``temperature_moves`` moves it is the final move.
    Examples come game by game, as games end. The evaluator's answers are cached meanwhile, see
    ``BatchEvaluator.cache``: train it while you have examples, not in another thread.

    Args:
        game: the game or its name, or a state to begin at; see ``as_game``.
        evaluator: a ``BatchEvaluator``, or a model that ``as_evaluator`` makes one of.
        games: the number of games, at least 1.
        simulations: simulations a move.
        config: the search; by default PUCT with Dirichlet noise at the root and temperature 1.
        temperature_moves: moves of players after which the final move is played; None for never.
        resign_below: a player whose search expects less than this, in the game's utilities,
            resigns: the game ends with this value for them. For games of two players with a
            constant sum; None for never.
        seed: decides everything random; None for a seed that the system draws.
        side_by_side: games at the same time.
        overlap: see ``search_many``.

    Raises:
        TypeError, ValueError: for an argument that is not allowed.
        GameError: if the game or the evaluator breaks the common interface.
        Exception: any exception of the game or the evaluator, unchanged.
    """
    by_batches = as_evaluator(evaluator)
    if not isinstance(by_batches, BatchEvaluator):
        raise TypeError(
            "evaluator must be one of batches, see BatchEvaluator: "
            f"{type(by_batches).__name__} takes one position at a time."
        )
    if config is None:
        config = SearchConfig.preset("puct").replace(root_noise=DirichletNoise(), temperature=1.0)
    # Forced moves are positions to learn the value of, too.
    config = checked("config", SearchConfig, config).replace(search_forced_moves=True)
    first = as_game(game).new_initial_state()
    limits = utility_limits(first)
    if resign_below is not None:
        checked("resign_below", Annotated[float, Ge(limits.low), Le(limits.high)], resign_below)
        if math.isnan(limits.sum_of_two):
            raise ValueError("resign_below is for games of two players with a constant sum.")
    settings = _Settings(
        first,
        by_batches,
        config,
        config.replace(temperature=0.0),
        Limit(simulations=simulations),
        math.inf if temperature_moves is None else temperature_moves,
        -math.inf if resign_below is None else resign_below,
        limits.sum_of_two,
    )
    return _play(settings, np.random.SeedSequence(seed), games, side_by_side, overlap)


class _Settings(NamedTuple):
    """Settings of all games of a run."""

    first: GameState
    evaluator: BatchEvaluator
    config: SearchConfig
    final: SearchConfig
    """The same at temperature 0."""
    limit: Limit
    temperature_moves: float
    resign_below: float
    sum_of_two: float


class _Game:
    """One game: its position, its searcher and its examples."""

    def __init__(self, number: int, settings: _Settings, seeds: np.random.SeedSequence) -> None:
        seed, chance = seeds.generate_state(2, np.uint64).tolist()
        self.number, self.settings = number, settings
        self.state = settings.first.clone()
        self.searcher = Searcher(settings.config, seed=seed, evaluator=settings.evaluator)
        self.draw = np.random.default_rng(chance)
        self.examples: list[Example] = []
        self.collected: list[Any] = []
        self.since_search: list[int] = []
        """Actions and outcomes since the last search."""
        self.resigned = False
        self.settle()

    def settle(self) -> None:
        for _ in until_over(self.state):
            if not self.state.is_chance_node():
                break
            self.apply(draw_outcome(self.state, self.draw))

    def apply(self, action: int) -> None:
        """Play an action or an outcome; the next search moves the root of its tree."""
        # The tree follows lazily: the next search moves its root along these actions.
        if self.searcher.root is not None and self.searcher.config.reuse_tree:
            self.since_search.append(action)
        else:
            self.searcher.reset()
        self.state.apply_action(action)

    @property
    def is_over(self) -> bool:
        return self.resigned or self.state.is_terminal()

    def task(self) -> Task:
        if len(self.examples) >= self.settings.temperature_moves:
            self.searcher.config = self.settings.final
        moves = self.since_search or None
        return Task(self.searcher, self.state, self.settings.limit, moves=moves)

    def play(self, result: SearchResult) -> None:
        self.since_search = []
        state, player = self.state, result.player
        actions = state.num_distinct_actions()
        mask, policy = np.zeros(actions, np.bool_), np.zeros(actions, np.float32)
        mask[list(legal_actions_of(state, player))] = True
        for action, share in result.training_policy:
            policy[action] = share
        seen = np.array(state.observation(player), np.float32)  # type: ignore[attr-defined]
        value = 0.0 if result.value is None else result.value
        none, move = np.zeros(0, np.float32), len(self.examples)
        self.examples.append(
            Example(seen, mask, policy, player, 0.0, none, value, self.number, move)
        )
        collected = StateAbilities(state).collected
        self.collected.append(None if collected is None else collected())
        self.resigned = value < self.settings.resign_below
        if not self.resigned:
            self.apply(result.action)
            self.settle()

    def finished(self) -> Iterator[Example]:
        if self.resigned:
            lost = self.settings.resign_below
            returns = np.full(2, self.settings.sum_of_two - lost, np.float32)
            returns[self.examples[-1].player] = lost
        else:
            returns = np.array(self.state.returns(), np.float32)
        for example, collected in zip(self.examples, self.collected, strict=True):
            left = returns
            if collected is not None:
                # Rewards before the position do not count, and those after it are not discounted.
                left = (returns - np.array(collected[0], np.float32)) / np.float32(collected[1])
            yield example._replace(outcome=float(left[example.player]), outcomes=left)


def _play(
    settings: _Settings,
    seeds: np.random.SeedSequence,
    games: int,
    side_by_side: int,
    overlap: bool,
) -> Iterator[Example]:
    playing: list[_Game] = []
    begun = 0
    cache = EvaluationCache(settings.first.num_players(), keeps=settings.evaluator.cache)
    while begun < games or playing:
        while begun < games and len(playing) < side_by_side:
            playing.append(_Game(begun, settings, seeds.spawn(1)[0]))
            begun += 1
        if any(is_simultaneous(each.state) for each in playing):
            raise ValueError(
                "self_play is for games in which one player moves at a time; in others, play with "
                "search_many."
            )
        searched = [each for each in playing if not each.is_over]
        tasks = [each.task() for each in searched]
        results = search_together(tasks, side_by_side=side_by_side, overlap=overlap, cache=cache)
        for each, result in zip(searched, results, strict=True):
            each.play(result)
        for each in playing:
            if each.is_over:
                yield from each.finished()
                cache.clear()  # The network may have learned from the examples.
        playing = [each for each in playing if not each.is_over]


def save_examples(examples: Iterator[Example] | list[Example], path: str | pathlib.Path) -> int:
    """Write examples to a NumPy archive (npz): an array [N, ...] for each field of ``Example``.

    Args:
        examples: those that ``self_play`` yields.
        path: the file; it is replaced.

    Returns:
        Their number.

    Raises:
        ValueError: if there are none.
    """
    listed = list(examples)
    if not listed:
        raise ValueError("There are no examples to save.")
    arrays = {
        name: np.array(column)
        for name, column in zip(Example._fields, zip(*listed, strict=True), strict=True)
    }
    path = pathlib.Path(path)
    named = path if path.suffix == ".npz" else path.with_name(f"{path.name}.npz")  # as NumPy names
    with written_whole(named) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    return len(listed)
