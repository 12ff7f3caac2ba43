"""Providers of simulations for a root position, and their frames."""

import numpy as np

from rave_agents.compiler.dispatch import records_of
from rave_agents.compiler.part_fields import part_name
from rave_agents.config.part_specs import call_part
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.kernel.declarations import (
    asks_keys,
    asks_rules,
    draws_by_weights,
    needs_observations,
)
from rave_agents.kernel.values.online import MOST_SAMPLES
from rave_agents.simulate.action_numbers import MOST_DENSE, MOST_ROWS, ActionNumbers
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.frame import Header
from rave_agents.simulate.python_simulator import PythonSimulator
from rave_agents.simulate.random_stream import Stream
from rave_agents.simulate.simulator import (
    Frame,
    Simulator,
    SimulatorAbilities,
    make_frame,
    reweighted_frame,
)
from rave_agents.solver.keys import key_of_state
from rave_agents.tree.composition import Prepared
from rave_agents.tree.root_position import RootPosition


def make_simulator(root: RootPosition, frame: Frame, evaluator: Evaluator | None) -> Simulator:
    """Make the provider that simulates from a root: the state's own, or the general one in Python.

    Args:
        root: the root position.
        frame: the buffers shared by the provider and the search.
        evaluator: replaces playouts; None for playouts.
    """
    state, observer = root.state, root.player if root.game.determinizes else None
    offers = StateAbilities(state)
    make = offers.simulator if observer is None else offers.world_simulator
    simulator: Simulator
    if make is None:
        simulator = PythonSimulator(
            state.clone(),
            frame,
            num_distinct_actions=state.num_distinct_actions(),
            evaluator=evaluator,
            observer=observer,
        )
    elif observer is None:
        simulator = make(frame, evaluator)
    else:
        simulator = make(frame, evaluator, observer)
    check_keys(root, simulator)
    make_sensible = SimulatorAbilities(simulator).make_sensible
    if make_sensible is not None and asks_rules(root.game.config.playouts):
        make_sensible()
    return simulator


def check_keys(root: RootPosition, simulator: Simulator) -> None:
    """Enable a provider's position keys if the search needs them.

    Raises:
        UnsupportedGameError: if it has none and the search requires them.
    """
    moves, state = root.game.parts.moves, root.state
    if not call_part(asks_keys, moves):
        return
    offers = SimulatorAbilities(simulator)
    has_keys = offers.tells_keys
    if isinstance(simulator, PythonSimulator):
        simulator.key_of = key_of_state
        has_keys = key_of_state(simulator.root) is not None
    if not has_keys and not moves.optional:
        raise UnsupportedGameError(
            "transpositions need keys of positions: compiled rules have them, other states need "
            f"position_key(), of bytes, text, numbers and tuples of these. {type(state).__name__} "
            f"with the provider {offers.provider!r} has none: use transpositions=no_transpositions."
        )


def new_frame(
    game: Prepared,
    playout_stream: Stream,
    *,
    playouts: int,
    playout_moves: int = -1,
    observation: int = 0,
) -> Frame:
    """Make a frame for a search of a game.

    Args:
        game: the facts of the game.
        playout_stream: the provider's random stream.
        playouts: playouts per simulation; 0 if leaves are evaluated in batches.
        playout_moves: moves after which a value function cuts playouts; -1 for never.
        observation: size of a player's observation, if leaves are evaluated in batches.
    """
    facts = game.facts
    # A provider may renumber games with many actions; their weights are made afterwards.
    weights = facts.num_actions if facts.num_players * facts.num_actions <= MOST_DENSE else 1
    weighted = draws_by_weights(game.parts.playouts)
    learns = any(map(needs_observations, records_of(game.parts)))
    movers = facts.num_players if facts.simultaneous else 1
    frame = make_frame(
        num_players=facts.num_players,
        playouts=playouts,
        playout_stream=playout_stream,
        action_capacity=max(16, min(512, movers * facts.num_actions)),
        action_weights=np.ones((facts.num_players, weights if weighted else 0)),
        playout_moves=playout_moves,
        observation=game.observation if learns else observation,
        samples=MOST_SAMPLES if learns else 0,
        even_weights=game.even_weights,
        tells_keys=call_part(asks_keys, game.parts.moves),
    )
    frame.header[Header.CHOOSE] = game.chooses_moves
    return frame


def reweighed(frame: Frame, actions: int) -> Frame:
    """The frame with room for weights of ``actions`` actions per player, if it has weights."""
    old = frame.action_weights
    if old.shape[1] in (0, actions):
        return frame
    weights = np.ones((len(old), actions))
    kept = min(actions, old.shape[1])
    weights[:, :kept] = old[:, :kept]
    return reweighted_frame(frame, weights)


def action_numbers(
    game: Prepared,
    simulator: Simulator,
    last: ActionNumbers | None,
    known: ActionNumbers | None,
) -> ActionNumbers | None:
    """The provider's numbering of actions; None if it uses the actions themselves.

    Args:
        game: the facts of its game.
        simulator: the provider.
        last: the last provider's numbering, if any.
        known: the numbering used in the tree, if any; another one starts anew.
    """
    facts = game.facts
    if facts.num_players * facts.num_actions <= MOST_DENSE:
        return None
    if game.chooses_moves:
        raise UnsupportedGameError(
            f"playouts={part_name(type(game.parts.playouts))} need a table of all actions: "
            f"num_distinct_actions() is {facts.num_actions}, and may be at most "
            f"{MOST_DENSE // facts.num_players} with {facts.num_players} players."
        )
    offers = SimulatorAbilities(simulator)
    if offers.number_actions is None:
        check_rows(game, f"The provider {offers.provider!r} of simulations")
        return None
    numbers = last or ActionNumbers(facts.num_players)
    if known is not numbers:
        numbers.clear()
    offers.number_actions(numbers)
    return numbers


def check_rows(game: Prepared, what: str) -> None:
    """Refuse a game with too many distinct actions for tables of all of them."""
    facts = game.facts
    if facts.num_players * facts.num_actions > MOST_ROWS:
        raise UnsupportedGameError(
            f"{what} needs tables of all actions of all players: num_distinct_actions() is "
            f"{facts.num_actions}, and may be at most {MOST_ROWS // facts.num_players} with "
            f"{facts.num_players} players. A search of states simulated in Python has no such "
            "limit."
        )
