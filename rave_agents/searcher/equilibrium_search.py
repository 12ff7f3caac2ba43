"""``EquilibriumSearch``: a search from the start of the game in the place of a tree's."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.config.regrets import CONVERGENT, DIRECTED, MCCFR, SWEPT_FIRST, NoRegrets
from rave_agents.config.search_config import SearchConfig
from rave_agents.equilibrium.questions import GameSize, Questions, estimated_size
from rave_agents.equilibrium.regret_search import (
    BYTES_SWEPT,
    PYTHON_FACTOR,
    SHOWN_SWEEPS,
    RegretSearch,
    SetStrategy,
    path_to,
)
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.levels import NO_LEVEL
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.facts import Facts, facts_of
from rave_agents.game.game_state import (
    GameState,
    has_simultaneous_moves,
    hides_information,
)
from rave_agents.kernel.amaf.report import AmafStatistics
from rave_agents.kernel.proofs.report import EdgeProof
from rave_agents.results.root import Root, RootMove
from rave_agents.simulate.world_record import WorldSample
from rave_agents.tree.root_position import RootPosition

HUGE = 1e8
"""Histories beyond which a game counts as huge."""

MOST_ENTERED = 1024.0
"""Histories that an iteration may enter, to count as a simulation of ``AdaptiveRegrets``."""

SWEPT_TIMES = 8.0
"""How many times over the time must suffice for the tree of a small game."""

HISTORIES_MADE = 512.0
"""Histories for each simulation that the tree of a small game may have with perfect information."""

DIRECTED_PER_SECOND = 4000.0
"""Simulations with directed traversals that ``AdaptiveRegrets`` expects in a second."""

FEW_WALKS = 8
"""Walks to the end that estimate the length of a huge game, and its deals."""

MOST_SIZES = 256
"""Games whose sizes are kept."""


class EquilibriumSearch:
    """Regrets of a game's information sets, kept between moves and games; see ``TreeSearch``.

    A simulation is an iteration: one traversal of the game for each player. With hidden information
    it begins at the start of the game: the position decides only whose information set the result
    shows, so nothing hidden in it matters. With perfect information it begins at the position.
    """

    root: RootPosition
    tree = None
    """It has no tree of positions."""
    has_root = False
    solved = False
    in_python: bool
    runs_in_parallel = False
    provider: str

    def __init__(self) -> None:
        self.search: RegretSearch | None = None
        """The regrets; None before the first search."""
        self._game: Any = None
        self._before = 0
        self._last = self._deadline = math.inf

    def reseed(
        self,
        stream_seed: np.random.SeedSequence,
        playout_seeds: np.random.SeedSequence,
        noise_seed: np.random.SeedSequence,
    ) -> None:
        """Go on with other random numbers."""
        self._seed = stream_seed
        if self.search is not None:
            self.search.reseed(stream_seed)

    def enter(self, root: RootPosition, path: Sequence[int] | None = None) -> None:
        """Show another position from now on."""
        self.root = root

    def move(self, root: RootPosition, path: Sequence[int]) -> None:
        """See ``enter``."""
        self.root = root

    def drop(self) -> None:
        """Keep the regrets: they belong to no position."""

    def drop_torn(self, *, everything: bool = False) -> None:
        """Nothing is torn between two steps, and nothing in the middle of one is kept."""

    def open(self) -> None:
        """Go on with the regrets of the game, or begin with it.

        Raises:
            UnsupportedGameError: if the game does not tell where it began.
        """
        game, state = self.root.game, self.root.state
        key = game.facts.key, game.regrets, game.config.max_memory_mb
        goes_on = game.facts.hidden and game.config.reuse_tree and self._game == key
        directed = game.regrets.targeting > 0.0 and game.facts.hidden
        if directed and self.search is not None and self.search.memory_full:
            goes_on = False  # No path can lead to a new information set.
        if self.search is None or not goes_on:
            start = started(state) if game.facts.hidden else state
            size = _sizes.get(game.facts.key) if game.facts.hidden else None
            self.search = RegretSearch(
                start, game.regrets, self._seed, game.config.max_memory_mb, size
            )
            self._game = key
        if directed:
            path = path_to(self.search.start, self.root.state)
            self.search.aim(path, self.root.player)
        self._before = self.search.iterations
        self.provider = self.search.visitor.provider
        self.in_python = not self.search.visitor.outside_interpreter

    def begin(self, *, simulations: float, deadline: float, memory_share: float) -> None:
        """Set the limits, see ``TreeSearch``."""
        self._last, self._deadline = self._before + simulations, deadline

    def run_slice(self) -> bool:
        """Run for some milliseconds; returns whether there is more to do."""
        assert self.search is not None
        return self.search.run_slice(self._last, self._deadline)

    @property
    def simulations(self) -> int:
        """Iterations of this search."""
        return 0 if self.search is None else self.search.iterations - self._before

    @property
    def nodes(self) -> int:
        """Histories in memory."""
        return 0 if self.search is None else self.search.num_histories

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays."""
        return 0 if self.search is None else self.search.memory_bytes

    @property
    def memory_full(self) -> bool:
        """True if no more histories are added."""
        return self.search is not None and self.search.memory_full

    def world_sample(self) -> WorldSample | None:
        """None: it needs no determinizations."""
        return None

    def parts_that_took_part(self) -> tuple[str, ...]:
        """See ``SearchResult.took_part``."""
        if self.search is not None and self.search.sweeps >= SHOWN_SWEEPS:
            return ("CFR+",)
        whole = self.search is None or self.search.is_whole
        return ("MCCFR",) if whole else ("MCCFR", "uniform playouts")

    def known_root(self) -> Root | None:
        """The statistics of the information set at the root; None before the first search."""
        if self.search is None:
            return None
        root, start = self.root, self.search.start
        path = path_to(start, root.state) if root.game.facts.hidden else []
        return root_of(self.search.strategy_after(path, root.player), root)


def started(state: GameState) -> GameState:
    """The start of a state's game.

    Raises:
        UnsupportedGameError: if the state does not offer it.
    """
    start = StateAbilities(state).start
    if start is None:
        raise UnsupportedGameError(
            f"{type(state).__name__} has no start(), the state at which its game began: a search "
            "with regrets begins there where information is hidden."
        )
    return start()  # type: ignore[no-any-return]


_sizes: dict[Any, GameSize] = {}
"""Sizes of the games with hidden information."""


def chosen_regrets(
    state: GameState, config: SearchConfig, simulations: float, seconds: float
) -> MCCFR | NoRegrets:
    """The regrets that ``AdaptiveRegrets`` keep at a position with a limit.

    Args:
        state: the position.
        config: the configuration.
        simulations: those of the limit; infinity for no limit.
        seconds: those of the limit; infinity for no limit.
    """
    if not (hides_information(state) or has_simultaneous_moves(state)):
        return NoRegrets()  # Asked first: collecting all facts takes time at each move.
    facts, part = facts_of(state), config.regrets
    offers = StateAbilities(state)
    fits = (
        facts.num_players > 1
        and not facts.draws_chance
        and config.hidden == "determinize"
        and config.level == NO_LEVEL
    )
    if facts.hidden and (offers.start is None or offers.history is None or offers.view is None):
        fits = False
    if not fits:
        return NoRegrets()
    room = config.max_memory_mb * 2.0**20 / BYTES_SWEPT
    small = min(part.small_game, part.histories_per_second * seconds / SWEPT_TIMES, room)
    if not facts.hidden:  # No move profits from the tree of the last one.
        small = min(small, simulations * HISTORIES_MADE)
    most = min(
        part.histories_per_second * seconds, simulations * MOST_ENTERED / part.least_entries, room
    )
    size = _size_of(state, max(small, most), facts)
    if size is None:
        return NoRegrets()
    histories = size.histories * (PYTHON_FACTOR if size.in_python else 1.0)
    if histories <= small:
        return SWEPT_FIRST
    timed = math.isinf(simulations)
    # Simulations that enter many histories would take much longer than those of a tree.
    enough = timed or size.entered <= MOST_ENTERED
    enough = enough and simulations * size.entered >= part.least_entries * size.histories
    if histories <= most and enough:
        return CONVERGENT
    directs = (
        facts.hidden
        and facts.num_players == 2
        and facts.limits.total is not None
        and not size.in_python
        and min(simulations, DIRECTED_PER_SECOND * seconds) <= part.directed_simulations
        and size.length <= part.longest_directed
        and size.deals <= part.most_deals
    )
    return DIRECTED if directs else NoRegrets()


def _size_of(state: GameState, most: float, facts: Facts) -> GameSize | None:
    """The size of a state's game, from its start where something is hidden."""
    no_playouts = np.zeros(4, np.int64)
    if not facts.hidden:  # What is left of the game.
        return estimated_size(Questions(state, no_playouts), most)
    if facts.key not in _sizes:
        if len(_sizes) >= MOST_SIZES:
            _sizes.clear()
        try:
            questions = Questions(started(state), no_playouts)
            _sizes[facts.key] = estimated_size(questions, HUGE, FEW_WALKS)
        except UnsupportedGameError:  # Its start is unknown: worlds may be drawn nevertheless.
            return None
    return _sizes[facts.key]


def root_of(found: SetStrategy, root: RootPosition) -> Root:
    """The statistics of an information set as those of a root.

    A traversal tries every action. An action's visits are its share of the traversals by the
    average strategy, so that the mean over all visits is the value of that strategy.
    """
    known = [value for value in found.values if value is not None]
    low, high = (min(known), max(known)) if known else (math.inf, -math.inf)
    width = high - low
    moves = []
    for action, probability, value in zip(
        found.actions, found.probabilities, found.values, strict=True
    ):
        visits = round(probability * found.updates)
        scaled = 0.0 if value is None or width <= 0.0 else (value - low) / width
        moves.append(
            RootMove(
                action,
                visits,
                visits * scaled,
                1.0 / len(found.actions),
                AmafStatistics(),
                EdgeProof(),
                strategy=probability,
            )
        )
    return Root(
        tuple(moves),
        found.updates,
        low,
        high,
        player=root.player,
        num_players=root.game.facts.num_players,
    )
