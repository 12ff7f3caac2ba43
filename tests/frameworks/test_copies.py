"""What is wrong with a user's ``clone`` or ``apply_action`` is said at the door, by its name."""

import pytest
from helpers.own_games.subtraction import Subtraction
from typer.testing import CliRunner

import rave_agents
from rave_agents import Limit, Searcher, as_game, make_agent
from rave_agents.analysis.solve import solve_position
from rave_agents.arena.match import play_match
from rave_agents.cli import app
from rave_agents.errors import CloneError, ConformanceError, GameError
from rave_agents.testing import check_game_state


class Itself(Subtraction):
    def clone(self):
        return self


class Nothing(Subtraction):
    def clone(self):
        pass


class Afresh(Subtraction):
    def clone(self):
        return type(self)()

    @classmethod
    def begun(cls):
        state = cls()
        Subtraction.apply_action(state, 0)
        return state


class Shared(Subtraction):
    """Its copies have the same list of sticks."""

    def __init__(self):
        self.kept, self.player = [7], 0

    def clone(self):
        copy = type(self)()
        copy.kept, copy.player = self.kept, self.player
        return copy

    @property
    def sticks(self):
        return self.kept[0]

    @sticks.setter
    def sticks(self, number):
        self.kept[0] = number


class Returning(Subtraction):
    def clone(self):
        copy = type(self)(self.sticks)
        copy.player = self.player
        return copy

    def apply_action(self, action):
        after = self.clone()
        Subtraction.apply_action(after, action)
        return after


FAULTS = {
    Itself: (CloneError, r"Itself\.clone\(\) returned the state itself"),
    Nothing: (CloneError, r"Nothing\.clone\(\) must return a copy of the state, got None"),
    Shared: (CloneError, r"Shared\.clone\(\) shares .* legal|Shared\.clone\(\) shares .*str\(\)"),
    Returning: (GameError, r"Returning\.apply_action\(0\) returned a new Returning"),
}

DOORS = {
    "as_game": as_game,
    "search": lambda game: Searcher().search(game(), Limit(simulations=5)),
    "make_agent": lambda game: make_agent("uct(simulations=5)", game),
    "match": lambda game: play_match(game, "uct(simulations=5)", "random", games=2),
    "solve": solve_position,
    "play": lambda game: rave_agents.play(game, "random", page=False),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_search_names_the_method_that_is_wrong(kind):
    error, message = FAULTS[kind]
    with pytest.raises(error, match=message):
        Searcher().search(kind(), Limit(simulations=5))


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_a_clone_that_is_the_state_itself(door):
    with pytest.raises(CloneError, match=FAULTS[Itself][1]):
        DOORS[door](Itself)


def test_a_game_object_of_the_users_is_refused_for_its_states():
    class Sticks:
        name, num_players = "sticks", 2

        def new_initial_state(self):
            return Itself()

    with pytest.raises(CloneError, match=FAULTS[Itself][1]):
        solve_position(Sticks())


def test_a_copy_that_is_another_position_is_refused():
    with pytest.raises(CloneError, match=r"Afresh\.clone\(\) must return an equal state: current"):
        Searcher().search(Afresh.begun(), Limit(simulations=5))


@pytest.mark.parametrize("kind", FAULTS)
def test_the_conformance_check_refuses_each(kind):
    with pytest.raises(ConformanceError, match=r"clone\(\)|apply_action\(\d\) must change"):
        check_game_state(kind, games=1)
    with pytest.raises(ConformanceError, match=FAULTS[kind][1]):
        check_game_state(kind(), games=1)


def test_the_program_says_it_in_a_line(tmp_path):
    told = CliRunner().invoke(app, ["solve", f"{__file__}:Itself"])
    assert told.exit_code == 2
    assert "Itself.clone() returned the state itself" in " ".join(told.stderr.split())


def test_a_text_with_an_address_is_no_difference():
    class Addressed(Returning):
        apply_action = Subtraction.apply_action

        def __str__(self):
            return object.__repr__(self)

    searcher, state = Searcher(seed=1), Addressed()
    searcher.search(state, Limit(simulations=5))
    assert searcher.search(state, Limit(simulations=5), resume=True).root_visits == 10


def test_what_the_game_raises_is_left_to_the_search():
    class Raising(Returning):
        def apply_action(self, action):
            raise ZeroDivisionError("by the game")

    game = as_game(Raising)
    with pytest.raises(ZeroDivisionError, match="by the game"):
        Searcher().search(game.new_initial_state(), Limit(simulations=5))
