"""OpenSpiel's games by how they are played, and random positions of them."""

import random

import pyspiel
from rave_openspiel import OpenSpielState
from rave_openspiel.adapter import ADAPTER
from rave_openspiel.simulator import OpenSpielSimulator
from rave_openspiel.support import hides_information

SUPPORTED = [game.name for game in ADAPTER.games() if game.supported]
"""The games that the search plays with their default parameters."""


TYPES = {kind.short_name: kind for kind in pyspiel.registered_games()}
"""What is known of each game without loading it, which takes some of them long.

Games that tests register later are not among them.
"""


def is_simultaneous(name):
    """Whether players may move at the same time."""
    return TYPES[name].dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS


OPEN = [name for name in SUPPORTED if not (hides_information(TYPES[name]) or is_simultaneous(name))]
"""Those of them in which one player moves at a time and nothing is hidden."""

FEW = ["tic_tac_toe", "breakthrough", "mancala", "2048", "catch", "pig", "backgammon"]
"""Some of these, for the quick run: with one player and two, with chance and without."""


def drawn_action(state, draw):
    """A random action, or an outcome by its probability."""
    if state.is_chance_node():
        actions, weights = zip(*state.chance_outcomes(), strict=True)
        return draw.choices(actions, weights)[0]
    return draw.choice(state.legal_actions())


def after(game, *moves):
    """A position of a game, given by itself or its name, after actions or names of moves."""
    game = pyspiel.load_game(game) if isinstance(game, str) else game
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(state.string_to_action(move) if isinstance(move, str) else move)
    return state


def decision(spec, moves=0, seed=None):
    """A position about so many random moves into the game, where a player is to move.

    Without a seed it is always the same one.
    """
    draw = random.Random(spec if seed is None else seed)
    state = pyspiel.load_game(spec).new_initial_state()
    while state.is_chance_node() or moves > 0:
        moves -= not state.is_chance_node()
        action = drawn_action(state, draw)
        if state.child(action).is_terminal():
            break
        state.apply_action(action)
    return state


def begun(game):
    """The first position of a game, given by itself or its name, where a player is to move."""
    state = after(game)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    return state


VIEWS = [
    f"{kind}_{form}"
    for kind in ("information_state", "observation")
    for form in ("string", "tensor")
]
"""What a game may provide for its players to see."""


def own_type(
    name,
    *,
    players=2,
    chance="DETERMINISTIC",
    information="PERFECT_INFORMATION",
    utility="ZERO_SUM",
    provides=(),
):
    """The type of a game that a test writes for OpenSpiel, and that no other test lists."""
    kind = pyspiel.GameType
    return kind(
        short_name=name,
        long_name=name,
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=getattr(kind.ChanceMode, chance),
        information=getattr(kind.Information, information),
        utility=getattr(kind.Utility, utility),
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=players,
        min_num_players=players,
        default_loadable=False,
        parameter_specification={},
        **{f"provides_{view}": view in provides for view in VIEWS},
    )


class PythonState(OpenSpielState):
    """A position that the generic provider plays in Python, which keeps no states."""

    def simulator(self, frame, evaluator):
        count = self.state.num_distinct_actions()
        return OpenSpielSimulator(self.state, frame, num_distinct_actions=count)


def written_game(kind, state, *, actions, length, outcomes=0, most=1.0):
    """A game that a test writes for OpenSpiel: its type and what makes its first state."""
    constant = kind.utility == pyspiel.GameType.Utility.ZERO_SUM
    info = pyspiel.GameInfo(
        num_distinct_actions=actions,
        max_chance_outcomes=outcomes,
        num_players=kind.min_num_players,
        min_utility=-most,
        max_utility=most,
        utility_sum=0.0 if constant else None,
        max_game_length=length,
    )

    class Game(pyspiel.Game):
        def __init__(self, params=None):
            super().__init__(kind, info, params or {})

        def new_initial_state(self):
            return state(self)

        def make_py_observer(self, iig_obs_type=None, params=None):
            return None

    if kind.short_name not in pyspiel.registered_names():
        pyspiel.register_game(kind, Game)
    return pyspiel.load_game(kind.short_name)
