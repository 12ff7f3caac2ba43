"""A state of one's own that lacks methods: each door names them."""

import re

import gymnasium
import pyspiel
import pytest
import rave_gymnasium
import rave_openspiel

import rave_agents
from rave_agents import Limit, SearchConfig, Searcher, make_agent
from rave_agents.arena import play_match
from rave_agents.testing import check_game_state


class Nim:
    """Takes one to three of ten sticks; five of GameState's methods are missing."""

    def __init__(self):
        self.sticks, self.player = 10, 0

    def clone(self):
        twin = Nim()
        twin.sticks, twin.player = self.sticks, self.player
        return twin

    def current_player(self):
        return -4 if self.is_terminal() else self.player

    def legal_actions(self):
        return list(range(1, min(3, self.sticks) + 1))

    def apply_action(self, action):
        self.sticks -= action
        self.player = 1 - self.player

    def is_terminal(self):
        return self.sticks == 0

    def returns(self):
        return [0.0, 0.0]

    def num_players(self):
        return 2


def search(state):
    Searcher(SearchConfig()).search(state, Limit(simulations=5))


DOORS = {
    "check_game_state": check_game_state,
    "search": search,
    "as_game": rave_agents.as_game,
    "make_agent": lambda state: make_agent("uct", state),
    "play_match": lambda state: play_match(state, "uct", "random", games=1),
    "bot": rave_openspiel.RaveBot,
    "opponent": rave_gymnasium.OpponentEnv,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("given", [Nim, Nim()], ids=["class", "object"])
def test_the_methods_that_a_state_lacks_are_named(door, given):
    missing = "is_chance_node() -> bool, chance_outcomes() -> Sequence[tuple[int, float]], "
    with pytest.raises((TypeError, AssertionError), match=re.escape(missing)) as raised:
        DOORS[door](given)
    assert "Nim is no GameState: it lacks" in str(raised.value)
    assert "clone" not in str(raised.value)


def test_a_class_of_states_is_no_state():
    class Whole(Nim):
        is_chance_node = chance_outcomes = num_distinct_actions = lambda self: 0
        min_utility = max_utility = lambda self: 0.0

    with pytest.raises(TypeError, match=r"must be an object, such as Whole\(\), got the class"):
        search(Whole)


def test_an_opponent_plays_a_game_object_of_openspiel():
    game = pyspiel.load_game("tic_tac_toe")
    env = gymnasium.make("rave_gymnasium:Opponent-v0", game=game, opponent="random", seat=0)
    _, info = env.reset(seed=1)
    assert info["action_mask"].sum() == 9
    env.step(4)
