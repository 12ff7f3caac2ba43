"""``EquilibriumSearch``: a search from the start of the game in the place of a tree's."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.compiler.progress import seconds_waited
from rave_agents.equilibrium.regret_search import RegretSearch, SetStrategy, path_to
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState
from rave_agents.kernel.amaf.report import AmafStatistics
from rave_agents.kernel.proofs.report import EdgeProof
from rave_agents.results.root import Root, RootMove
from rave_agents.simulate.world_record import WorldSample
from rave_agents.tree.root_position import RootPosition


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
        self.loading = 0.0
        self._game: Any = None
        self._before = 0
        self._last = self._deadline = math.inf

    def __getstate__(self) -> dict[str, Any]:
        # The regrets are bound to memory: a copy begins anew, with the same random numbers.
        return {**vars(self), "search": None, "_game": None, "_before": 0}

    def reseed(
        self,
        stream_seed: np.random.SeedSequence,
        playout_seeds: np.random.SeedSequence,
        noise_seed: np.random.SeedSequence,
    ) -> None:
        """Begin anew with another seed."""
        self._seed = stream_seed
        self.search = None

    def enter(self, root: RootPosition, path: Sequence[int] = ()) -> None:
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
        game, state, waited = self.root.game, self.root.state, seconds_waited()
        key = game.facts.key, game.regrets, game.config.max_memory_mb
        goes_on = game.facts.hidden and game.config.reuse_tree and self._game == key
        if self.search is None or not goes_on:
            start = started(state) if game.facts.hidden else state
            self.search = RegretSearch(start, game.regrets, self._seed, game.config.max_memory_mb)
            self._game = key
        self._before = self.search.iterations
        self.provider = self.search.visitor.provider
        self.in_python = not self.search.visitor.outside_interpreter
        self.loading = seconds_waited() - waited

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
