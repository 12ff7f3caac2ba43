"""The agent ``playouts``: playouts without a search, as an upper bound on a search's speed."""

import time

import numpy as np

from rave_agents.config.limit import DEFAULT_SIMULATIONS, Limit
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent, AgentType, Effort
from rave_agents.game.game_state import GameState
from rave_agents.game.validation import Seed, checked
from rave_agents.simulate.random_stream import make_stream
from rave_openspiel.native import bridge, diagnosis, is_native
from rave_openspiel.pointers import STATE, address_of
from rave_openspiel.stock import openspiel_game, openspiel_state
from rave_openspiel.support import check_perfect_information


class BarePlayouts:
    """Runs playouts of the position in C++, then makes a random move.

    Args:
        simulations: the number of playouts.
        seed: seeds every random choice; None for a seed that the system draws.
    """

    def __init__(self, simulations: int, seed: int | None) -> None:
        seeds = np.random.SeedSequence(checked("seed", Seed, seed))
        # Separate streams: the number of playouts must not change which move is drawn.
        self._stream = make_stream(seeds)
        self._moves = np.random.default_rng(seeds.spawn(1)[0])
        self._simulations = simulations
        self.effort: Effort = Effort()

    def restart(self) -> None:
        """Do nothing: there is nothing to forget."""

    def step(self, state: GameState) -> int:
        """Return a random legal action; ``effort`` counts the playouts."""
        pyspiel_state = openspiel_state(state)
        library = bridge()
        assert library is not None
        started = time.perf_counter()
        done = library.play_out(
            address_of(pyspiel_state, STATE), self._simulations, self._stream.ctypes.data
        )
        self.effort = self.effort.plus(int(done), time.perf_counter() - started)
        return int(self._moves.choice(state.legal_actions()))

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Do nothing: there is nothing to remember."""


def _make(
    game: Game, player: int, *, simulations: int = DEFAULT_SIMULATIONS, seed: int | None = None
) -> Agent:
    Limit(simulations=simulations)  # Validates the number of simulations.
    pyspiel_game = openspiel_game(game, "playouts")
    check_perfect_information(pyspiel_game)
    if not is_native(pyspiel_game.new_initial_state()):
        raise UnsupportedGameError(
            f"playouts needs a C++ game; {game.name} is implemented in Python."
        )
    if bridge() is None:
        raise UnsupportedGameError(f"playouts needs the bridge to C++ states: {diagnosis()}.")
    return BarePlayouts(int(simulations), seed)


AGENT_TYPES = {
    "playouts": AgentType(
        "playouts in C++ without a search, then a random move: to compare speeds with",
        {"simulations": DEFAULT_SIMULATIONS, "seed": None},
        _make,
    ),
}
