"""``learn``: learns a value or a policy of a game by self-play."""

import os
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Annotated, Any, Literal

from annotated_types import Ge

from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.evaluators.move_policy import MovePolicy, load_learned
from rave_agents.evaluators.tuple_network import SMALL
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.facts import facts_of
from rave_agents.game.game_state import GameState, compiled_form
from rave_agents.game.validation import Count, Natural, Positive, validated
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.learning.observation_learner import ObservationLearner
from rave_agents.learning.policy_learner import PolicyLearner
from rave_agents.learning.rounds import (
    Budget,
    Learned,
    Learner,
    check_learnable,
    check_observed,
    learn_rounds,
)
from rave_agents.learning.teacher import OPENING
from rave_agents.learning.value_learner import ValueLearner
from rave_agents.results.progress import Progress

VALUE, POLICY = KINDS = ("value", "policy")
"""The kinds of functions to learn."""


@validated
def learn(
    game: Any,
    name: str | None = None,
    *,
    minutes: Positive | None = None,
    games: Count | None = None,
    rounds: Count = 5,
    simulations: Annotated[int, Ge(2)] = 200,
    jobs: Count = 1,
    executor: Executor | None = None,
    start: LinearValue | MovePolicy | str | os.PathLike[str] | None = None,
    what: Literal["value", "policy"] = "value",
    windows: Literal["small", "large", "lines", "strips"] = "small",
    opening: Natural = OPENING,
    seed: Natural = 0,
    progress: Progress[Learned] = None,
    fitted: Callable[[Any], object] | None = None,
) -> Any:
    """Learn a value function, or a policy, by self-play of a game.

    On compiled rules with a board, a value is learned by self-play in machine code, and a policy
    from searches. In other games, searches teach a value of the observations of the player to move.

    Args:
        game: the game, its name, or a state to begin at, see ``as_game``. One player moves at a
            time, and utilities are bounded.
        name: the game's name for messages; None for its own.
        minutes: minutes of learning, above 0; 5 without ``games``.
        games: the number of games of self-play, at least ``rounds``. Equal games, seeds and jobs
            give equal values.
        rounds: how often ``fitted`` is called, at least 1, after equal shares of the games or the
            time.
        simulations: simulations a move of self-play, at least 2, for a policy or a value of
            observations.
        jobs: processes that play, at least 1; on compiled rules with a board.
        executor: runs them, such as a Dask client's; None for processes of this machine.
        start: a value or a policy to continue from, or its file; on compiled rules with a board.
        what: ``"value"`` for a ``LinearValue`` of positions; ``"policy"`` for a ``MovePolicy``, the
            prior probabilities of moves, on compiled rules with a board.
        windows: the features of a value of a board: ``"small"`` windows of two by three cells;
            ``"large"`` ones of two by four, which are worse after one minute and better after ten;
            ``"lines"`` for large windows, and rows, columns and diagonals of up to eight cells,
            which are better in Othello and worse in Breakthrough; ``"strips"`` for pairs of lines
            of four cells, straight and diagonal, and the same rows, columns and diagonals, with
            weights for each player, which are better in Connect Four.
        opening: the maximum number of random moves at the beginning of a game of self-play, at
            least 0; of values only. More of them teach positions that good players avoid.
        seed: decides everything random.
        progress: None for a display in a terminal or notebook, False for none, True for a display
            anywhere; or a function, called with the progress so far.
        fitted: called with the value or policy after each round; learning ends if it returns False.

    Returns:
        A ``LinearValue`` or a ``MovePolicy``.

    Raises:
        UnsupportedGameError: for another game, or one without observations.
        TypeError, ValueError: for an argument that is not allowed.
    """
    if windows != SMALL and start is not None:
        raise ValueError("start has windows of its own: leave windows out.")
    if what == POLICY and (windows != SMALL or opening != OPENING):
        raise ValueError("windows and opening are for values, not for policies.")
    budget = Budget(minutes, games, rounds)
    loaded = as_game(game)
    state, name = loaded.new_initial_state(), name or loaded.name
    facts, rules = facts_of(state), rules_with_board(state)
    check_learnable(facts, name)
    processes: dict[str, Any] = {"seed": seed, "jobs": jobs, "executor": executor}
    begin = load_learned(start) if isinstance(start, str | os.PathLike) else start
    learner: Learner[Any]
    if rules is None:
        check_observed(facts, name)
        if jobs > 1 or start is not None or what == POLICY or windows != SMALL:
            raise UnsupportedGameError(
                f"{name}: several jobs, a policy, other windows, and a start, are for games on "
                "compiled rules with a board."
            )
        learner = ObservationLearner(
            state, facts, simulations=simulations, opening=opening, seed=seed
        )
    elif what == POLICY:
        if isinstance(begin, LinearValue):
            raise ValueError("start is a value: give a policy to learn a policy.")
        learner = PolicyLearner(rules, simulations=simulations, start=begin, **processes)
    else:
        if isinstance(begin, MovePolicy):
            raise ValueError('start is a policy: pass what="policy", or give a value.')
        learner = ValueLearner(rules, windows=windows, opening=opening, start=begin, **processes)
    return learn_rounds(learner, budget, progress, fitted)


def rules_with_board(state: GameState) -> BaseRules | None:
    """The compiled rules of a state's game, if they describe a board; else None."""
    found = compiled_form(state)
    return found.rules if found is not None and found.rules.num_board_cells > 0 else None
