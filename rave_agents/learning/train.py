"""A network that self-play with search trains: ``train``.

As in AlphaZero (Silver et al. 2017) and Gumbel AlphaZero (Danihelka et al. 2022), a search with the
network plays itself; the network learns the policy that the search has found in each position, and
what the game has brought.
"""

import os
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Annotated, Any, Literal

from annotated_types import Ge

from rave_agents.arena.runner import local_executor
from rave_agents.config.root_noise import DirichletNoise
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.trainable import NetworkSizes
from rave_agents.evaluators.trained_network import NetworkMaker, TrainedNetwork
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState, has_simultaneous_moves
from rave_agents.game.validation import Count, Natural, Positive, validated
from rave_agents.kernel.rules import ScheduledPUCT
from rave_agents.learning.network_learner import NetworkLearner, SelfPlay
from rave_agents.learning.network_trial import first_decision, try_network
from rave_agents.learning.rounds import (
    Budget,
    Learned,
    bounded_utilities,
    learn_rounds,
)
from rave_agents.results.progress import Progress, shown

Targets = Literal["alphazero", "gumbel"]
"""Searches that play and teach: PUCT with its visits, and Gumbel with its improved policy."""

TEMPERATURE_MOVES = 16
"""Moves of a game that are drawn from the visits, in AlphaZero's self-play."""

NOISE = 10.0
"""The concentration of the noise at the root, divided by the number of actions at the start."""


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

    The network is a ``torch.nn.Module``, or another that has the methods of ``Trainable``. It takes
    observations, and returns the policy's logits [B, actions] and the values [B] of the player to
    move, or [B, players], in the game's utilities. Chance, any number of players and hidden
    information are taken: the network sees what the player to move observes.

    Args:
        game: the game, its name, or a state to begin at, see ``as_game``. One player moves at a
            time, utilities are bounded, and positions have an observation.
        network: a class or a function that makes the network, or its place, such as
            ``"./nets.py:Net(width=64)"``; or a network. It is called with the shape of observations
            and the number of actions; parameters named as a field of ``NetworkSizes``, or
            ``seed``, get that. None for ``SmallNetwork``, which needs torch.
        minutes: minutes of training, above 0; 5 if ``games`` is not given either.
        games: games of self-play in all, at least ``rounds``. Equal games, seeds and jobs give
            equal networks.
        rounds: how often ``fitted`` is called, at least 1, after equal shares of the games or the
            time.
        simulations: of each move of self-play, at least 2.
        targets: ``"alphazero"``: PUCT plays, with noise at the root, and the policy learns the
            shares of its visits; ``"gumbel"``: the preset of this name plays, and the policy
            learns its improved policy.
        jobs: processes that play, at least 1.
        executor: runs them, such as a Dask client's; None for processes of this machine.
        start: a network to go on from, or its file.
        seed: decides everything random.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called now and then.
        fitted: called with a copy of the network after each round; training ends where it returns
            False.

    Raises:
        UnsupportedGameError: for another game, or a network to start from that does not fit it.
        UnknownNameError: for the place of a network that leads nowhere.
        GameError: for what the network raises, or if its answers cannot be used.
        TypeError, ValueError: for another argument that is not allowed.
    """
    budget = Budget(minutes, games, rounds)
    loaded = as_game(game)
    state = loaded.new_initial_state()
    sizes = network_sizes(state, loaded.name)
    maker = NetworkMaker.of(network, sizes, seed)
    try_network(maker, state)
    begin = TrainedNetwork.load(start, network) if isinstance(start, str | os.PathLike) else start
    if begin is not None and begin.sizes != sizes:
        raise UnsupportedGameError(
            f"The network to go on from was trained on {begin.game}, with {begin.sizes}: it does "
            f"not fit {loaded.name}, with {sizes}."
        )
    learner = NetworkLearner(
        loaded,
        maker,
        self_play_of(targets, state, simulations),
        seed=seed,
        jobs=jobs,
        executor=local_executor(jobs) if executor is None and jobs > 1 else executor,
        start=begin,
        seconds_left=lambda: budget.seconds_left,
    )
    budget.begin()
    with shown(progress, budget.view) as tell:
        return learn_rounds(learner, budget, tell, fitted)


def network_sizes(state: GameState, game: str) -> NetworkSizes:
    """The facts from which networks are made.

    Raises:
        UnsupportedGameError: for a game of which no network can be trained.
    """
    utilities = bounded_utilities(state)
    if has_simultaneous_moves(state) or utilities is None:
        raise UnsupportedGameError(
            f"{game}: networks are trained on games in which one player moves at a time and "
            "utilities are bounded."
        )
    observation = StateAbilities(state).observation
    if observation is None:
        raise UnsupportedGameError(f"{game} shows no observations to learn from.")
    players = int(state.num_players())
    total = StateAbilities(state).utility_sum()
    one = players == 1 or (players == 2 and total is not None)
    return NetworkSizes(
        tuple(int(size) for size in observation(0).shape),
        int(state.num_distinct_actions()),
        players,
        1 if one else players,
        utilities,
    )


def self_play_of(targets: str, state: GameState, simulations: int) -> SelfPlay:
    """The search that plays itself."""
    if targets == "gumbel":
        return SelfPlay(SearchConfig.preset("gumbel"), simulations, None)
    noise = DirichletNoise(alpha=min(1.0, NOISE / max(1, _actions_at_the_start(state))))
    config = SearchConfig.preset("puct").replace(
        rule=ScheduledPUCT(), root_noise=noise, temperature=1.0
    )
    return SelfPlay(config, simulations, TEMPERATURE_MOVES)


def _actions_at_the_start(state: GameState) -> int:
    """The number of actions of the first player to move."""
    state = first_decision(state)
    return 0 if state.is_terminal() else len(state.legal_actions())
