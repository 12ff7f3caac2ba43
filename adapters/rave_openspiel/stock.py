"""OpenSpiel's own MCTS bots as named agents, as opponents and baselines."""

import time
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pyspiel
from annotated_types import Ge
from open_spiel.python.algorithms import ismcts, mcts

from rave_agents.config.limit import DEFAULT_SIMULATIONS
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.frameworks.agent import Agent, AgentType, Effort
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState
from rave_agents.game.validation import Seed, checked
from rave_openspiel.evaluator import RaveEvaluator
from rave_openspiel.player_views import sees_information_state
from rave_openspiel.proof_evaluator import PNEvaluator
from rave_openspiel.support import check_one_at_a_time, hides_information
from rave_openspiel.uniform_moves import Unit
from rave_openspiel.worlds import WorldSource, no_worlds, resamples, world_source

MEMORY_MB = 4000
UNLIMITED = 2**31 - 1

SELECTIONS: dict[str, tuple[Callable[..., float], float]] = {
    "uct": (mcts.SearchNode.uct_value, 1.4),
    "puct": (mcts.SearchNode.puct_value, 4.0),
}
"""Selection formulas of the Python bot, each with its default constant."""

EVALUATORS: dict[
    str, tuple[int, Callable[[pyspiel.Game, int, int, np.random.RandomState], Any]]
] = {
    "rollouts": (
        1,
        lambda game, rollouts, seed, random: mcts.RandomRolloutEvaluator(rollouts, random),
    ),
    "rave": (
        1,
        lambda game, rollouts, seed, random: RaveEvaluator(game, n_rollouts=rollouts, seed=seed),
    ),
    "pn": (
        30,
        lambda game, rollouts, seed, random: PNEvaluator(game, simulations=rollouts, seed=seed),
    ),
}
"""Evaluators of leaves for the Python bot: the default playouts a leaf, and a function that makes
the evaluator from the game, the playouts a leaf, a seed and the bot's random numbers."""


FINAL_POLICIES: dict[str, tuple[Any, Any]] = {
    "max_visits": (
        pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT,
        ismcts.ISMCTSFinalPolicyType.MAX_VISIT_COUNT,
    ),
    "visits": (
        pyspiel.ISMCTSFinalPolicyType.NORMALIZED_VISIT_COUNT,
        ismcts.ISMCTSFinalPolicyType.NORMALIZED_VISITED_COUNT,
    ),
    "max_value": (
        pyspiel.ISMCTSFinalPolicyType.MAX_VALUE,
        ismcts.ISMCTSFinalPolicyType.MAX_VALUE,
    ),
}
"""Final policies of ISMCTSBot: those of the C++ bot, and of the Python bot."""


class Move(NamedTuple):
    """A stock bot's decision."""

    action: int
    """The action."""
    probabilities: dict[int, float]
    """The probabilities from which it was drawn."""
    simulations: int
    """The simulations that the bot ran."""


class StockAgent:
    """Plays what a stock bot chooses; the bots keep nothing between moves.

    Args:
        bot: the bot.
        choose: returns the bot's decision at a state.
    """

    def __init__(self, bot: Any, choose: Callable[[pyspiel.State], Move]) -> None:
        self.bot = bot
        """The bot."""
        self._choose = choose
        self.effort: Effort = Effort()

    def restart(self) -> None:
        """Do nothing."""

    def step(self, state: GameState) -> int:
        """Return the bot's action; ``effort`` counts its simulations."""
        return self._asked(state).action

    def action_probabilities(self, state: GameState) -> dict[int, float]:
        """Search, and return the probabilities from which ``step`` draws the action it plays."""
        return self._asked(state).probabilities

    def _asked(self, state: GameState) -> Move:
        started = time.perf_counter()
        move = self._choose(openspiel_state(state))
        self.effort = self.effort.plus(move.simulations, time.perf_counter() - started)
        return move

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Do nothing."""


def _searching(bot: Any) -> Agent:
    """A bot with ``mcts_search``: the best child; with its solver on, it may stop early."""

    def choose(state: pyspiel.State) -> Move:
        root = bot.mcts_search(state)
        best = root.best_child()  # None if the bot did not search, as with a single move.
        action = int(state.legal_actions()[0] if best is None else best.action)
        return Move(action, {action: 1.0}, int(root.explore_count))

    return StockAgent(bot, choose)


def _determinizing(bot: Any, simulations: int) -> Agent:
    """A bot of information sets, which plays by its final policy."""

    def choose(state: pyspiel.State) -> Move:
        policy, action = bot.step_with_policy(state)
        probabilities = {int(each): float(probability) for each, probability in policy}
        return Move(int(action), probabilities, simulations)

    return StockAgent(bot, choose)


def _make_mcts(
    game: Game,
    player: int,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    uct_c: float = 1.4,
    solve: bool = True,
    rollouts: int = 1,
    max_memory_mb: int = MEMORY_MB,
) -> Agent:
    if simulations is None and seconds is None:
        simulations = DEFAULT_SIMULATIONS
    if simulations is not None and seconds is not None:
        raise ValueError("mcts takes simulations or seconds, not both: the C++ bot ignores one.")
    pyspiel_game = _stock_game(game, "mcts")
    _check_nothing_hidden(pyspiel_game, "mcts")
    bot_seed = _drawn_seed(seed)
    bot = pyspiel.MCTSBot(
        pyspiel_game,
        pyspiel.RandomRolloutEvaluator(rollouts, bot_seed),
        uct_c,
        UNLIMITED if simulations is None else simulations,
        max_memory_mb,
        solve,
        bot_seed,
        False,
        max_wall_clock_time=-1.0 if seconds is None else seconds,
    )
    return _searching(bot)


def _make_mcts_py(
    game: Game,
    player: int,
    *,
    simulations: int = DEFAULT_SIMULATIONS,
    seed: int | None = None,
    evaluator: str = "rollouts",
    selection: str = "uct",
    uct_c: float | None = None,
    solve: bool = True,
    rollouts: int | None = None,
) -> Agent:
    checked("simulations of mcts_py", Annotated[int, Ge(2)], simulations)
    checked("evaluator of mcts_py", Literal[tuple(EVALUATORS)], evaluator)
    checked("selection of mcts_py", Literal[tuple(SELECTIONS)], selection)
    pyspiel_game = _stock_game(game, "mcts_py")
    _check_nothing_hidden(pyspiel_game, "mcts_py")
    bot_seed = _drawn_seed(seed)
    random = np.random.RandomState(bot_seed)
    formula, usual_c = SELECTIONS[selection]
    usual_rollouts, make_evaluator = EVALUATORS[evaluator]
    rollouts = usual_rollouts if rollouts is None else rollouts
    bot = mcts.MCTSBot(
        pyspiel_game,
        usual_c if uct_c is None else uct_c,
        simulations,
        make_evaluator(pyspiel_game, rollouts, bot_seed, random),
        solve=solve,
        random_state=random,
        child_selection_fn=formula,
    )
    return _searching(bot)


def _make_ismcts(
    game: Game,
    player: int,
    *,
    simulations: int = DEFAULT_SIMULATIONS,
    seed: int | None = None,
    uct_c: float = 2.0,
    rollouts: int = 1,
    final_policy: str = "max_visits",
    cpp: bool | None = None,
) -> Agent:
    """OpenSpiel's Python bot; its C++ bot if there is no seed and the game resamples worlds itself.

    The C++ bot breaks ties in the order of a hash table, which differs from call to call: its moves
    do not follow from the seed. ``cpp=True`` takes it nevertheless: it is many times as fast.
    """
    names = checked("final_policy of ismcts", Literal[tuple(FINAL_POLICIES)], final_policy)
    in_cpp, in_python = FINAL_POLICIES[names]
    checked("cpp of ismcts", bool | None, cpp)
    pyspiel_game = _stock_game(game, "ismcts")
    if not hides_information(pyspiel_game.get_type()):
        raise UnsupportedGameError(f"In {game.name} nothing is hidden: take mcts, not ismcts.")
    reason = no_worlds(pyspiel_game)
    if reason is not None:
        raise UnsupportedGameError(f"ismcts has no worlds for {game.name}: {reason}.")
    bot_seed = _drawn_seed(seed)
    observations = not sees_information_state(pyspiel_game)
    if cpp and not resamples(pyspiel_game):
        raise UnsupportedGameError(
            f"The C++ ISMCTSBot needs a game that resamples worlds itself, and {game.name} does "
            "not: leave cpp out."
        )
    if cpp or (cpp is None and seed is None and resamples(pyspiel_game)):
        bot = pyspiel.ISMCTSBot(
            bot_seed,
            pyspiel.RandomRolloutEvaluator(rollouts, bot_seed),
            uct_c,
            simulations,
            -1,  # Worlds without a limit: one for each simulation.
            in_cpp,
            observations,
            observations,
        )
        return _determinizing(bot, simulations)
    random = np.random.RandomState(bot_seed)
    bot = ismcts.ISMCTSBot(
        pyspiel_game,
        mcts.RandomRolloutEvaluator(rollouts, random),
        uct_c,
        simulations,
        random_state=random,
        final_policy_type=in_python,
        use_observation_string=observations,
        allow_inconsistent_action_sets=observations,
    )
    bot.set_resampler(_Resampler(random.random_sample))
    return _determinizing(bot, simulations)


class _Resampler:
    """Passes this package's worlds to OpenSpiel's bot, which requests them state by state.

    Args:
        unit: draws random numbers.
    """

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._root: pyspiel.State | None = None
        self._source: WorldSource | None = None

    def __call__(self, state: pyspiel.State, player: int) -> pyspiel.State:
        # The bot passes one state object for a whole search: keep its source, which is costly.
        if self._source is None or state is not self._root:
            self._root = state
            self._source = world_source(state, player, self._unit)
        return self._source()


def openspiel_game(game: Game, agent: str) -> pyspiel.Game:
    """The ``pyspiel.Game`` behind a game; else UnsupportedGameError, naming the agent."""
    pyspiel_game = GameAbilities(game).game
    if not isinstance(pyspiel_game, pyspiel.Game):
        raise UnsupportedGameError(
            f"{agent} plays OpenSpiel's games only, not {game.name}: choose another agent, with "
            "speed by --baseline uct."
        )
    return pyspiel_game


def openspiel_state(state: Any) -> pyspiel.State:
    """The ``pyspiel.State`` itself, or the one behind a GameState.

    Raises:
        TypeError: if it is neither.
    """
    found = state if isinstance(state, pyspiel.State) else StateAbilities(state).state
    if not isinstance(found, pyspiel.State):
        raise TypeError(
            "This agent plays OpenSpiel's states only: step takes a pyspiel.State, or a GameState "
            f"of one, got {state!r}."
        )
    return found


def _stock_game(game: Game, name: str) -> pyspiel.Game:
    pyspiel_game = openspiel_game(game, name)
    reward_model = pyspiel_game.get_type().reward_model
    if reward_model != pyspiel.GameType.RewardModel.TERMINAL:
        raise UnsupportedGameError(
            f"{name} needs a game with terminal rewards; {game.name} has {reward_model.name}."
        )
    check_one_at_a_time(pyspiel_game, name)
    return pyspiel_game


def _check_nothing_hidden(game: pyspiel.Game, name: str) -> None:
    if hides_information(game.get_type()):
        raise UnsupportedGameError(
            f"{name} would see hidden information in {game}, a game of IMPERFECT_INFORMATION: use "
            "ismcts."
        )


def _drawn_seed(seed: int | None) -> int:
    """Reduce a seed to OpenSpiel's 32-bit integers."""
    # SeedSequence mixes all bits of a large seed; the shift keeps a C++ int positive.
    return int(np.random.SeedSequence(checked("seed", Seed, seed)).generate_state(1)[0] >> 1)


_COMMON = {"simulations": DEFAULT_SIMULATIONS, "seed": None, "uct_c": 1.4, "solve": True}

AGENT_TYPES = {
    "ismcts": AgentType(
        "OpenSpiel's ISMCTSBot: in Python, or in C++ without a seed in games that resample worlds",
        {
            **{"simulations": DEFAULT_SIMULATIONS, "seed": None, "uct_c": 2.0, "rollouts": 1},
            **{"final_policy": "max_visits", "cpp": None},
        },
        _make_ismcts,
    ),
    "mcts": AgentType(
        "OpenSpiel's C++ MCTSBot with random rollouts",
        {**_COMMON, "seconds": None, "rollouts": 1, "max_memory_mb": MEMORY_MB},
        _make_mcts,
    ),
    "mcts_py": AgentType(
        "OpenSpiel's Python MCTSBot with random rollouts, or with evaluator=rave or evaluator=pn",
        {**_COMMON, "uct_c": None, "evaluator": "rollouts", "selection": "uct", "rollouts": None},
        _make_mcts_py,
    ),
}
