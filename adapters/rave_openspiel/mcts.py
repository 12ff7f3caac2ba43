"""OpenSpiel's MCTS bots with this package's search behind them: change the import, nothing else.

| in place of | write |
|---|---|
| ``from open_spiel.python.algorithms import mcts`` | ``from rave_openspiel import mcts`` |
| ``open_spiel.python.algorithms.mcts.MCTSBot`` | ``rave_openspiel.MCTSBot`` |
| ``pyspiel.MCTSBot`` | ``rave_openspiel.CppMCTSBot`` |

The bots take the arguments of OpenSpiel's, in the same order, and search as these say: plain UCT or
PUCT with uniformly random playouts, no learned values, and a new tree for each move.

- ``uct_c`` is the exploration constant for the game's utilities. Values in this package's search
  lie in [0, 1], so it is divided by the range of the utilities: halved where they go from -1 to 1.
- ``RandomRolloutEvaluator(n)`` means n playouts at each new leaf, which run in compiled code.
  Any other evaluator is called directly, and alone evaluates positions.
- ``solve=True`` backs up exact outcomes. Nothing is proven where something is hidden from the
  players.
- PUCT (``SearchNode.puct_value``) selects by priors. With UCT (``SearchNode.uct_value``) priors
  and noise in them have no effect.
- The move played is that of ``SearchNode.best_child``: a proven win, else the most visited move
  that is no proven loss.

All other options of this package's search are requested by name, as ``known=True`` (learned
values) or ``reuse_tree=True``; the names are the fields of ``SearchConfig`` and of its parts.

``Evaluator``, ``RandomRolloutEvaluator`` and ``SearchNode`` are OpenSpiel's own classes.
"""

from typing import Annotated, Any, ClassVar, Unpack

import numpy as np
import pyspiel
from annotated_types import Ge
from open_spiel.python.algorithms.mcts import Evaluator, RandomRolloutEvaluator, SearchNode

from rave_agents.config.search_parameters import SearchParameters
from rave_agents.game.validation import Count, Natural, NonNegative, validated
from rave_openspiel.bots import SearchBot
from rave_openspiel.search_node import CppSearchNode
from rave_openspiel.stock_arguments import (
    NO_LIMIT_MB,
    PastChance,
    check_game,
    drawn_seed,
    leaf_evaluator,
    root_noise,
    search_changes,
)

__all__ = ["CppMCTSBot", "Evaluator", "MCTSBot", "RandomRolloutEvaluator", "SearchNode"]

SEARCH = ("config", "limit", "_searcher", "_analyst", "_latest", "_arguments")
"""The attributes of a bot that follow from its arguments."""


class MCTSBot(SearchBot):
    """Takes the place of ``open_spiel.python.algorithms.mcts.MCTSBot``.

    The attributes named after arguments may be set at any time; the next search follows them.
    It also has ``last_result`` and the other attributes and methods of ``SearchBot``.

    Args:
        game: the game to play, in which one player moves at a time.
        uct_c: the exploration constant, at least 0, for the game's utilities.
        max_simulations: simulations for each move, at least 1.
        evaluator: of leaves: a ``RandomRolloutEvaluator``, OpenSpiel's of Python or of C++, or any
            object with the methods of ``Evaluator``.
        solve: whether outcomes are proven.
        random_state: a ``numpy.random.RandomState`` or ``Generator`` from which the bot draws its
            seed; None for one that the system draws.
        child_selection_fn: ``SearchNode.uct_value`` or ``SearchNode.puct_value``.
        dirichlet_noise: ``(epsilon, alpha)`` of the noise in the root's priors, or None.
        verbose: print the report of ``step_verbose`` at each move.
        dont_return_chance_node: whether, at a chance node, the evaluator gets the position after a
            drawn outcome instead.
        **config: options of ``SearchBot`` that OpenSpiel's bot lacks, such as ``known=True``.

    Raises:
        UnsupportedGameError: (a ValueError) if the search cannot play the game; it says why.
        TypeError: for a value of the wrong type.
        ValueError: for a value that is not allowed, such as another ``child_selection_fn``.

    """

    changeable: ClassVar[tuple[str, ...]] = ("evaluator",)

    @validated
    def __init__(
        self,
        game: pyspiel.Game,
        uct_c: NonNegative,
        max_simulations: Count,
        evaluator: Any,
        solve: bool = True,
        random_state: Any = None,
        child_selection_fn: Any = SearchNode.uct_value,
        dirichlet_noise: tuple[float, float] | None = None,
        verbose: bool = False,
        dont_return_chance_node: bool = False,
        **config: Unpack[SearchParameters],
    ) -> None:
        check_game(game)
        if child_selection_fn not in (SearchNode.uct_value, SearchNode.puct_value):
            raise ValueError(
                "child_selection_fn must be SearchNode.uct_value or SearchNode.puct_value, got "
                f"{child_selection_fn!r}: the compiled search has no nodes to call a function of "
                "Python with. Write the formula as a rule and give it to a bot of this package, as "
                "in RavePNBot(game, rule=MyRule()), see docs/tutorials/your_own_formula.md, or "
                "keep OpenSpiel's own MCTSBot."
            )
        random_state = np.random.RandomState() if random_state is None else random_state
        seed = drawn_seed(random_state)
        leaf, playouts = leaf_evaluator(evaluator)
        if leaf is not None and dont_return_chance_node:
            leaf = PastChance(leaf, seed)
        SearchBot.__init__(
            self,
            game,
            simulations=max_simulations,
            seed=seed,
            evaluator=leaf,
            verbose=bool(verbose),
            **{
                "playout_count": playouts,
                "root_noise": root_noise(dirichlet_noise),
                **search_changes(
                    game, uct_c, solve, puct=child_selection_fn is SearchNode.puct_value
                ),
                **config,
            },
        )
        self.uct_c = uct_c
        """The exploration constant for the game's utilities."""
        self.max_simulations = max_simulations
        """Simulations for each move."""
        # Scripts read back what they gave, though the search may run without it (rollouts).
        self.evaluator = evaluator
        """The evaluator given."""
        self.solve = solve
        """True if outcomes are proven."""
        self.max_utility: float = game.max_utility()
        """The greatest utility of the game."""
        self.dont_return_chance_node = dont_return_chance_node
        """True if the evaluator never gets a chance node."""
        self._random_state = random_state
        self._child_selection_fn = child_selection_fn
        self._dirichlet_noise = dirichlet_noise
        self._requested = config
        self._arguments = self._attributes()  # Last: it compares all of the above.

    def mcts_search(self, state: pyspiel.State) -> Any:
        """Search from scratch and return the tree's root, see ``SearchBot.mcts_search``."""
        self._follow_attributes()
        return super().mcts_search(state)

    def step_with_policy(self, state: pyspiel.State) -> tuple[list[tuple[int, float]], int]:
        """Search; return each legal action with 1 for the one to play, else 0, and that action."""
        policy, action = super().step_with_policy(state)
        return [(other, float(other == action)) for other, _ in policy], action

    def _choose(self, state: pyspiel.State, *, plays: bool, reports: bool = True) -> int | None:
        self._follow_attributes()
        return super()._choose(state, plays=plays, reports=reports)

    def _follow_attributes(self) -> None:
        """Rebuild the search if an attribute named after an argument has changed."""
        if self._attributes() == self._arguments:
            return
        # A new bot checks and converts the values exactly as the constructor does.
        fresh = type(self)(
            self.game,
            self.uct_c,
            self.max_simulations,
            self.evaluator,
            self.solve,
            self._random_state,
            self._child_selection_fn,
            self._dirichlet_noise,
            dont_return_chance_node=self.dont_return_chance_node,
            **self._requested,
        )
        vars(self).update({name: vars(fresh)[name] for name in SEARCH})
        self._searched = None

    def _attributes(self) -> tuple[Any, ...]:
        """Values of the attributes that decide the search."""
        evaluator = self.evaluator
        # Scripts change these on the evaluator itself, which stays the same object.
        rollouts = getattr(evaluator, "n_rollouts", None), getattr(evaluator, "max_length", None)
        numbers = self.uct_c, self.max_simulations, self.solve, self.dont_return_chance_node
        return (*numbers, evaluator, *rollouts, self._child_selection_fn, self._dirichlet_noise)


class CppMCTSBot(SearchBot):
    """Takes the place of ``pyspiel.MCTSBot``, OpenSpiel's bot in C++.

    ``mcts_search`` returns nodes that mark unknown values as those of C++ do: an empty
    ``outcome``, and ``INVALID_ACTION`` for the root's action. It also has the attributes and
    methods of ``SearchBot``.

    Args:
        game: as for ``MCTSBot``.
        evaluator: as for ``MCTSBot``. The seed of a ``pyspiel.RandomRolloutEvaluator`` is not used:
            ``seed`` alone decides everything random.
        uct_c: as for ``MCTSBot``.
        max_simulations: simulations for each move, at least 1; without effect where
            ``max_wall_clock_time`` is given, as in OpenSpiel.
        max_memory_mb: megabytes for the tree, above 0, or 0 for no limit.
        solve: whether outcomes are proven.
        seed: decides everything random, an integer.
        verbose: print the report of ``step_verbose`` at each move.
        child_selection_policy: ``pyspiel.ChildSelectionPolicy.UCT`` or ``PUCT``.
        max_wall_clock_time: seconds for each move, if above 0.
        **config: as for ``MCTSBot``.

    Raises:
        UnsupportedGameError: (a ValueError) if the search cannot play the game; it says why.
        TypeError: for a value of the wrong type.
        ValueError: for a value that is not allowed.

    """

    node_type: ClassVar[type[SearchNode]] = CppSearchNode

    @validated
    def __init__(
        self,
        game: pyspiel.Game,
        evaluator: Any,
        uct_c: NonNegative,
        max_simulations: Count,
        max_memory_mb: Natural,
        solve: bool,
        seed: Annotated[int, Ge(-(2**31))],
        verbose: bool,
        child_selection_policy: pyspiel.ChildSelectionPolicy = pyspiel.ChildSelectionPolicy.UCT,
        max_wall_clock_time: float = -1.0,
        **config: Any,
    ) -> None:
        check_game(game)
        timed = max_wall_clock_time > 0.0
        leaf, playouts = leaf_evaluator(evaluator)
        SearchBot.__init__(
            self,
            game,
            simulations=None if timed else max_simulations,
            seconds=max_wall_clock_time if timed else None,
            seed=seed % 2**32,  # A C++ seed is an int and may be negative.
            evaluator=leaf,
            verbose=bool(verbose),
            **{
                "playout_count": playouts,
                "max_memory_mb": max_memory_mb or NO_LIMIT_MB,
                **search_changes(
                    game,
                    uct_c,
                    solve,
                    puct=child_selection_policy == pyspiel.ChildSelectionPolicy.PUCT,
                ),
                **config,
            },
        )

    def step_with_policy(self, state: pyspiel.State) -> tuple[list[tuple[int, float]], int]:
        """Search; return the action to play, alone in the policy with probability 1, and itself."""
        action = self.step(state)
        return [(action, 1.0)], action
