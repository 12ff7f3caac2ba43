"""Games of an evaluator against itself, as data to train on."""

import pathlib
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from rave_agents.config.limit import Limit
from rave_agents.config.root_noise import DirichletNoise
from rave_agents.config.search_config import SearchConfig, checked_config
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.evaluators.cache import EvaluationCache
from rave_agents.files import written_whole
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.endless import until_over
from rave_agents.game.game_state import GameState, is_simultaneous, legal_actions_of
from rave_agents.game.validation import Count, Natural, Seed, checked, validated
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.evaluators import as_evaluator
from rave_agents.searcher.multi_search import SIDE_BY_SIDE, Task, search_together
from rave_agents.searcher.searcher import Searcher


class Example(NamedTuple):
    """A position of a game, with what its search and its end have told."""

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
    """[players] what each player got."""
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
    """Play games of an evaluator against itself, many side by side, and tell of every position.

    Each move is searched by all games in common batches. It is drawn from the visits, to the power
    1/``config.temperature``, and after ``temperature_moves`` moves it is the final move.
    Examples come game by game, as games end. What the evaluator has answered is kept meanwhile, see
    ``BatchEvaluator.cache``: train it while you have examples, not in another thread.

    Args:
        game: the game or its name, or a state to begin at; see ``as_game``.
        evaluator: a ``BatchEvaluator``, or a model that ``as_evaluator`` makes one of.
        games: how many, at least 1.
        simulations: of each move.
        config: the search; by default PUCT with Dirichlet noise at the root and temperature 1.
        temperature_moves: moves of players after which the final move is played; None for never.
        resign_below: a player whose search expects less than this, in the game's utilities, gives
            up: the game ends with this value for them, in games of two players with a constant sum.
            None for never.
        seed: everything random comes from it; None for one that the system draws.
        side_by_side: games at the same time.
        overlap: see ``search_many``.

    Raises:
        TypeError, ValueError: for an argument that is not allowed.
        GameError: if the game or the evaluator breaks the common interface.
        Exception: whatever the game or the evaluator raises, unchanged.
    """
    by_batches = as_evaluator(evaluator)
    if not isinstance(by_batches, BatchEvaluator):
        raise TypeError(
            "evaluator must be one of batches, see BatchEvaluator: "
            f"{type(by_batches).__name__} takes one "
            "position at a time."
        )
    if config is None:
        config = SearchConfig.preset("puct").replace(root_noise=DirichletNoise(), temperature=1.0)
    config = checked_config(config).replace(search_forced_moves=True)
    first = as_game(game).new_initial_state()
    if resign_below is not None:
        _check_resignation(first, resign_below)
    seeds = np.random.SeedSequence(seed)
    final = config.replace(temperature=0.0)
    table = _Table(first, by_batches, config, final, seeds)
    rules = _Rules(Limit(simulations=simulations), temperature_moves, resign_below)
    return _played(table, rules, games, side_by_side, overlap)


def _check_resignation(state: GameState, value: Any) -> None:
    """Refuse a value that no search can expect, or a game where it says nothing of the others."""
    low, high = state.min_utility(), state.max_utility()
    checked("resign_below", Annotated[float, Ge(low), Le(high)], value)
    if state.num_players() != 2 or StateAbilities(state).utility_sum() is None:
        raise ValueError("resign_below is for games of two players with a constant sum.")


class _Rules(NamedTuple):
    limit: Limit
    temperature_moves: int | None
    resign_below: float | None


class _Table(NamedTuple):
    """Settings that all games of a run share."""

    first: GameState
    evaluator: BatchEvaluator
    config: SearchConfig
    final: SearchConfig
    """The same at temperature 0."""
    seeds: np.random.SeedSequence


class _Game:
    """One game: its position, its searcher and what has been seen."""

    def __init__(self, number: int, table: _Table) -> None:
        seed, chance = table.seeds.spawn(1)[0].generate_state(2, np.uint64).tolist()
        self.number = number
        self.state = table.first.clone()
        self.searcher = Searcher(table.config, seed=seed, evaluator=table.evaluator)
        self.random = np.random.default_rng(chance)
        self.examples: list[Example] = []
        self.collected: list[Any] = []
        self.moves = 0
        self.since_search: list[int] = []
        """Actions and outcomes since the position searched last."""
        self.resigned: tuple[int, float] | None = None
        self.settle()

    def settle(self) -> None:
        """Draw the outcomes of chance until a player is to move."""
        for _ in until_over(self.state):
            if not self.state.is_chance_node():
                break
            outcomes, weights = zip(*self.state.chance_outcomes(), strict=True)
            weights = np.array(weights) / np.sum(weights)
            self.apply(int(self.random.choice(outcomes, p=weights)))

    def apply(self, action: int) -> None:
        """Play an action or an outcome; the tree follows with the next search."""
        if self.searcher.root is not None and self.searcher.config.reuse_tree:
            self.since_search.append(action)
        else:
            self.searcher.reset()
        self.state.apply_action(action)

    @property
    def is_over(self) -> bool:
        return self.resigned is not None or self.state.is_terminal()

    def note(self, result: SearchResult) -> None:
        """Keep what a search has found."""
        state, player = self.state, result.player
        actions = state.num_distinct_actions()
        mask, policy = np.zeros(actions, np.bool_), np.zeros(actions, np.float32)
        mask[list(legal_actions_of(state, player))] = True
        for action, share in result.training_policy:
            policy[action] = share
        seen = np.array(state.observation(player), np.float32)  # type: ignore[attr-defined]
        value = 0.0 if result.value is None else result.value
        none = np.zeros(0, np.float32)
        self.examples.append(
            Example(seen, mask, policy, player, 0.0, none, value, self.number, self.moves)
        )
        collected = StateAbilities(state).collected
        self.collected.append(None if collected is None else collected())

    def play(self, result: SearchResult, rules: _Rules) -> None:
        """Note a position, and play on from it."""
        self.note(result)
        value = self.examples[-1].value
        if rules.resign_below is not None and value < rules.resign_below:
            self.resigned = result.player, rules.resign_below
            return
        self.apply(result.action)
        self.moves += 1
        self.settle()

    def told(self) -> Iterator[Example]:
        """The positions, with the outcome."""
        players = self.state.num_players()
        if self.resigned is None:
            returns = np.array(self.state.returns(), np.float32)
        else:
            loser, value = self.resigned
            total = self.state.utility_sum()  # type: ignore[attr-defined]
            returns = np.full(players, total - value, np.float32)
            returns[loser] = value
        for example, collected in zip(self.examples, self.collected, strict=True):
            left = returns
            if collected is not None:
                left = (returns - np.array(collected[0], np.float32)) / np.float32(collected[1])
            yield example._replace(outcome=float(left[example.player]), outcomes=left)


def _played(
    table: _Table, rules: _Rules, games: int, side_by_side: int, overlap: bool
) -> Iterator[Example]:
    """The games, as many at a time as are run side by side."""
    playing: list[_Game] = []
    begun = 0
    cache = EvaluationCache(table.first.num_players(), keeps=table.evaluator.cache)
    while begun < games or playing:
        while begun < games and len(playing) < side_by_side:
            playing.append(_Game(begun, table))
            begun += 1
        if any(is_simultaneous(each.state) for each in playing):
            raise ValueError(
                "self_play is for games in which one player moves at a time; in others, play with "
                "search_many."
            )
        still = [each for each in playing if not each.is_over]
        for each in still:
            if rules.temperature_moves is not None and each.moves >= rules.temperature_moves:
                each.searcher.config = table.final
        tasks = [
            Task(each.searcher, each.state, rules.limit, moves=each.since_search or None)
            for each in still
        ]
        results = search_together(tasks, side_by_side=side_by_side, overlap=overlap, cache=cache)
        for each, result in zip(still, results, strict=True):
            each.since_search = []
            each.play(result, rules)
        for each in playing:
            if each.is_over:
                yield from each.told()
                cache.clear()  # The network may have learned meanwhile.
        playing = [each for each in playing if not each.is_over]


def save_examples(examples: Iterator[Example] | list[Example], path: str | pathlib.Path) -> int:
    """Write examples to a NumPy archive (npz): an array for each field of ``Example``.

    ``numpy.load(path)["observation"]`` is [N, ...], the others likewise.

    Args:
        examples: what ``self_play`` yields.
        path: the file; it is replaced.

    Returns:
        How many there are.

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
