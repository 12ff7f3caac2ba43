"""``train``: trains a network by self-play with search.

As in AlphaZero (Silver et al. 2017) and Gumbel AlphaZero (Danihelka et al. 2022), a search with the
network plays itself; the network learns the policy that the search found in each position, and the
outcome of the game.
"""

import math
import os
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from rave_agents.config.root_noise import DirichletNoise
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.evaluators.batch import Batch
from rave_agents.evaluators.models import fields_taken, own_code
from rave_agents.evaluators.trainable import Lesson, NetworkSizes, trainable
from rave_agents.evaluators.trained_network import NetworkMaker, TrainedNetwork, seeded
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.arguments import is_number
from rave_agents.game.facts import Facts, facts_of
from rave_agents.game.game_state import GameState, legal_actions_of
from rave_agents.game.utility_limits import UtilityLimits, shown
from rave_agents.game.validation import Count, Natural, Positive, validated
from rave_agents.kernel.rules import ScheduledPUCT
from rave_agents.learning.network_learner import NetworkLearner, SelfPlay
from rave_agents.learning.rounds import (
    Budget,
    Learned,
    check_learnable,
    check_observed,
    learn_rounds,
)
from rave_agents.results.progress import Progress
from rave_agents.simulate.evaluations import checked_arrays, pair_of

Targets = Literal["alphazero", "gumbel"]
"""The searches that play and teach: PUCT by its visits, and Gumbel by its improved policy."""

TEMPERATURE_MOVES = 16
"""Moves of a game that are drawn from the visits, in AlphaZero's self-play."""

NOISE = 10.0
"""The concentration of the noise at the root, divided by the number of the first legal actions."""

ROWS = 2
"""Positions of the trial: two, because batch normalisation cannot train on one."""


@validated
def train(
    game: Any,
    network: Any = None,
    *,
    minutes: Positive | None = None,
    games: Count | None = None,
    rounds: Count = 5,
    simulations: Annotated[int, Ge(2)] = 50,
    targets: Targets = "alphazero",
    jobs: Count = 1,
    executor: Executor | None = None,
    start: TrainedNetwork | str | os.PathLike[str] | None = None,
    seed: Natural = 0,
    progress: Progress[Learned] = None,
    fitted: Callable[[TrainedNetwork], object] | None = None,
) -> TrainedNetwork:
    """Train a network by self-play of a game.

    The network is a ``torch.nn.Module``, or another object with the methods of ``Trainable``. It
    takes observations, and returns the policy's logits [B, actions] and the values [B] of the
    player to move, or [B, players], in the game's utilities. Games may have chance, any number of
    players and hidden information: the network sees what the player to move observes.

    Args:
        game: the game, its name, or a state to begin at, see ``as_game``. One player moves at a
            time, utilities are bounded, and positions have an observation.
        network: a class or a function that makes the network, or its place, such as
            ``"./nets.py:Net(width=64)"``; or a network. It is called with the shape of observations
            and the number of actions; parameters named as a field of ``NetworkSizes``, or
            ``seed``, get that. None for ``SmallNetwork``, which needs torch.
        minutes: minutes of training, above 0; 5 without ``games``.
        games: the number of games of self-play, at least ``rounds``. Equal games, seeds and jobs
            give equal networks.
        rounds: how often ``fitted`` is called, at least 1, after equal shares of the games or the
            time.
        simulations: simulations a move of self-play, at least 2.
        targets: ``"alphazero"``: PUCT plays, with noise at the root, and the policy learns the
            shares of its visits; ``"gumbel"``: the preset of this name plays, and the policy
            learns its improved policy.
        jobs: processes that play, at least 1.
        executor: runs them, such as a Dask client's; None for processes of this machine.
        start: a network to continue from, or its file.
        seed: decides everything random.
        progress: None for a display in a terminal or notebook, False for none, True for a display
            anywhere; or a function, called with the progress so far.
        fitted: called with a copy of the network after each round; training ends if it returns
            False.

    Raises:
        UnsupportedGameError: for another game, or a network to start from that does not fit it.
        UnknownNameError: for an unknown name of a network.
        GameError: for an exception of the network, or an answer that cannot be used.
        TypeError, ValueError: for another argument that is not allowed.
    """
    budget = Budget(minutes, games, rounds)
    loaded = as_game(game)
    state = loaded.new_initial_state()
    facts = facts_of(state)
    sizes = network_sizes(state, facts, loaded.name)
    maker = NetworkMaker.of(network, sizes, seed)
    first = first_decision(state)
    if not first.is_terminal():
        try_network(maker, first, facts.limits)
    begin = TrainedNetwork.load(start, network) if isinstance(start, str | os.PathLike) else start
    if begin is not None and begin.sizes != sizes:
        raise UnsupportedGameError(
            f"start was trained on {begin.game}, with {begin.sizes}: it does not fit "
            f"{loaded.name}, with {sizes}."
        )
    learner = NetworkLearner(
        loaded,
        maker,
        self_play_of(targets, first, simulations),
        start=begin,
        seconds_left=lambda: budget.seconds_left,
        seed=seed,
        jobs=jobs,
        executor=executor,
    )
    return learn_rounds(learner, budget, progress, fitted)


def network_sizes(state: GameState, facts: Facts, name: str) -> NetworkSizes:
    """The facts from which networks are made.

    Raises:
        UnsupportedGameError: if no network can be trained on the game.
    """
    check_learnable(facts, name)
    check_observed(facts, name)
    seen: Any = state.observation(0)  # type: ignore[attr-defined]
    limits = facts.limits
    values = 1 if limits.one_says_all else limits.players
    utilities = limits.low, limits.high
    shape = tuple(int(size) for size in seen.shape)
    return NetworkSizes(shape, facts.num_actions, limits.players, values, utilities)


def self_play_of(targets: str, first: GameState, simulations: int) -> SelfPlay:
    """The search that plays itself, in a game with this first decision."""
    if targets == "gumbel":
        return SelfPlay(SearchConfig.preset("gumbel"), simulations, None)
    actions = 0 if first.is_terminal() else len(first.legal_actions())
    config = SearchConfig.preset("puct").replace(
        rule=ScheduledPUCT(),
        # As in AlphaZero: alpha in inverse proportion to the number of moves, 10 / moves.
        root_noise=DirichletNoise(alpha=min(1.0, NOISE / max(1, actions))),
        temperature=1.0,
    )
    return SelfPlay(config, simulations, TEMPERATURE_MOVES)


def first_decision(state: GameState) -> GameState:
    """The first position in which a player moves, after the first outcomes of chance."""
    state = state.clone()
    while state.is_chance_node():
        state.apply_action(next(iter(state.chance_outcomes()))[0])
    return state


def try_network(maker: NetworkMaker, state: GameState, limits: UtilityLimits) -> None:
    """Make a network, call it and train it once, to report mistakes before games are played.

    Args:
        maker: makes the network; this one is thrown away.
        state: a position in which a player moves.
        limits: the game's utilities.

    Raises:
        GameError: for an exception of the network, or an answer that cannot be used.
        TypeError, ValueError: for a network that cannot be trained.
    """
    network = maker.make()
    learner = trainable(network, maker.sizes)
    lesson = _first_lesson(state, limits)
    name, shape = type(network).__name__, lesson.observations.shape
    given = f"observations of shape {shape}"
    if "batch" in fields_taken(getattr(network, "forward", network)):
        given = f"a Batch, which its parameter's name asks for, with {given}"
    with seeded(maker.seed):
        with own_code(f"{name} fails on {given}"):
            answer = TrainedNetwork(network, maker, game="")(Batch(*lesson[:3]))
        _check_answer(name, answer, lesson, limits)
        with own_code(f"{name} fails to learn from {given}"):
            loss = learner.learn(lesson)
    if not (is_number(loss) and math.isfinite(loss)):
        raise ValueError(f"{name} cannot learn: its loss is {shown(loss)}, not a finite number.")


def _first_lesson(state: GameState, limits: UtilityLimits) -> Lesson:
    """A position, ``ROWS`` times, with uniform policies and values in the middle."""
    player = int(state.current_player())
    mask = np.zeros((ROWS, state.num_distinct_actions()), np.bool_)
    mask[:, list(legal_actions_of(state, player))] = True
    seen = np.array(state.observation(player), np.float32)  # type: ignore[attr-defined]
    return Lesson(
        np.stack([seen] * ROWS),
        mask,
        np.full(ROWS, player, np.int64),
        (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32),
        np.full((ROWS, limits.players), (limits.low + limits.high) / 2.0, np.float32),
    )


def _check_answer(name: str, answer: Any, lesson: Lesson, limits: UtilityLimits) -> None:
    """Refuse an answer that training cannot use."""
    pair = pair_of(answer)
    if pair is None or pair[0] is None or pair[1] is None:
        raise TypeError(
            f"{name} must return the policy's logits and the values, to be trained: got "
            f"{shown(answer)}."
        )
    rows, actions = lesson.legal_actions_mask.shape
    policy, _, _ = checked_arrays(name, answer, (rows, actions), limits)
    assert policy is not None
    # A common mistake: a softmax at the end of the network, which would be applied twice.
    sums = np.asarray(policy, np.float64).sum(axis=1)
    if actions > 1 and (policy >= 0.0).all() and np.allclose(sums, 1.0, atol=1e-4):
        raise GameError(
            f"{name} returns probabilities, which sum to 1: return the policy's logits, the "
            "numbers before the softmax."
        )
