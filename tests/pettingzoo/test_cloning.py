"""clone_env: right copies of every classic environment, and refusals of wrong ones."""

import copy

import numpy as np
import pettingzoo
import pytest
from helpers import zoo
from pettingzoo.test import api_test
from pettingzoo.utils import wrappers
from rave_pettingzoo import clone_env, register_cloner
from rave_pettingzoo.cloning import _registered

from rave_agents.environments.copying import equal
from rave_agents.errors import CloneError

DRAWN = 20
"""Of as many positions one is drawn, which takes most environments longer than a whole game."""
SHORT = {"chess-v6": 2, "go-v5": 10, "hanabi-v5": 1}
"""Steps that a clone is followed for where games are long or, as Hanabi, drawn at each step; to the
end elsewhere."""


def goes_on(env):
    return bool(env.agents) and zoo.legal_of(env) is not None


def assert_same_game(original, clone, steps, choices):
    """Play both on with the same actions."""
    for _ in range(steps):
        assert equal(zoo.seen(original), zoo.seen(clone))
        if not original.agents:
            return
        legal = zoo.legal_of(original)
        action = None if legal is None else choices.choice(legal)
        original.step(action)
        clone.step(action)


@pytest.mark.slow
@pytest.mark.full(but=["connect_four-v3-40", "texas_holdem_no_limit-v6-40"])
@pytest.mark.parametrize(
    ("name", "positions"),
    [
        *((name, 40) for name in ("connect_four-v3", "go-v5", "texas_holdem_no_limit-v6")),
        *((name, 200) for name in zoo.CLASSIC),
    ],
)
def test_clone_plays_on_as_the_original_would_and_leaves_it_alone(name, positions):
    choices = zoo.choices(1)
    env = zoo.classic(name, render_mode="rgb_array")
    for number in range(positions):
        if not env.agents:
            env.reset(seed=number)
        zoo.play(env, 1, choices)
        before = copy.deepcopy(zoo.seen(env))
        is_drawn = number % DRAWN == 0 and goes_on(env)
        picture = env.render() if is_drawn else None
        original, stranger = clone_env(env), clone_env(env)
        steps = SHORT.get(name, 1000)
        zoo.play(stranger, min(steps, 3), choices)
        assert equal(zoo.seen(env), before)
        if is_drawn:
            if goes_on(stranger):
                stranger.render()
            np.testing.assert_array_equal(original.render(), picture)
            np.testing.assert_array_equal(env.render(), picture)
        follower = clone_env(original)
        assert_same_game(original, follower, steps, choices)
        assert equal(zoo.seen(env), before)


@pytest.mark.full(but={*zoo.CLASSIC} - {"chess-v6"})
@pytest.mark.parametrize("name", zoo.CLASSIC)
def test_clone_and_live_environment_play_the_same_game_to_the_end(name):
    choices = zoo.choices(2)
    for seed in range(1 if name == "chess-v6" else 3):
        env = zoo.classic(name, seed=seed)
        zoo.play(env, 5, choices)
        assert_same_game(env, clone_env(env), 10_000, choices)
        assert not env.agents


@pytest.mark.full(but=["rps-v2"])
@pytest.mark.parametrize("name", zoo.CLASSIC)
def test_clone_draws_its_own_picture(name):
    choices = zoo.choices(3)
    env = zoo.classic(name, render_mode="rgb_array")
    for number in range(5):
        if not goes_on(env):
            env.reset(seed=number)
        before = env.render()
        clone = clone_env(env)
        np.testing.assert_array_equal(clone.render(), before)
        zoo.play(clone, 1, choices)
        if goes_on(clone):
            clone.render()
        np.testing.assert_array_equal(env.render(), before)
        assert_same_game(env, clone_env(env), 1, choices)


def test_clone_of_a_window_shows_none():
    env = zoo.classic("connect_four-v3", render_mode="human")
    clone = clone_env(env)
    assert clone.unwrapped.render_mode is None
    assert env.unwrapped.render_mode == "human"


def test_wrappers_are_kept():
    env = wrappers.ClipOutOfBoundsWrapper(wrappers.BaseWrapper(Continuous()))
    env.reset(seed=0)
    clone = clone_env(env)
    assert [type(clone), type(clone.env), type(clone.env.env)] == [
        wrappers.ClipOutOfBoundsWrapper,
        wrappers.BaseWrapper,
        Continuous,
    ]
    assert clone.unwrapped is not env.unwrapped


def test_wrapper_of_ones_own_keeps_what_it_knows_apart():
    class Moves(wrappers.BaseWrapper):
        def reset(self, seed=None, options=None):
            self.moves = []
            super().reset(seed, options)

        def step(self, action):
            self.moves.append(action)
            super().step(action)

    env = Moves(zoo.classic("tictactoe-v3"))
    env.reset(seed=0)
    env.step(4)
    clone = clone_env(env)
    clone.step(0)
    assert env.moves == [4]
    assert clone.moves == [4, 0]
    assert clone.unwrapped.board.squares[0] == 2
    assert env.unwrapped.board.squares[0] == 0


class Continuous(zoo.Counting):
    def __init__(self):
        super().__init__()
        box = zoo.spaces.Box(0.0, 1.0, (1,))
        self.action_spaces = dict.fromkeys(self.possible_agents, box)

    def step(self, action):
        super().step(None if action is None else round(float(action[0])))


@pytest.mark.full(but=["connect_four-v3", "texas_holdem-v4"])
@pytest.mark.parametrize("name", zoo.CLASSIC)
def test_clone_passes_pettingzoos_own_test(name, capsys):
    api_test(clone_env(zoo.classic(name)), num_cycles=20)


def test_environment_that_has_not_begun_is_cloned_too():
    env = pettingzoo.make("aec", "classic/chess-v6")
    clone = clone_env(env)
    clone.reset(seed=0)
    assert clone.agents == ["player_0", "player_1"]
    with pytest.raises(AttributeError, match="before reset"):
        _ = env.agents


def test_draws_from_a_clones_action_space_leave_the_originals_alone():
    env = zoo.classic("tictactoe-v3")
    env.action_space("player_1").seed(1)
    clone = clone_env(env)
    drawn = [clone.action_space("player_1").sample() for _ in range(5)]
    assert [env.action_space("player_1").sample() for _ in range(5)] == drawn


def test_go_clones_of_two_sizes_live_together():
    choices = zoo.choices(4)
    five = zoo.classic("go-v5", board_size=5)
    zoo.play(five, 6, choices)
    small = clone_env(five)
    nine = zoo.classic("go-v5", board_size=9)
    big = clone_env(nine)
    for env, size in ((small, 5), (big, 9), (small, 5)):
        zoo.play(env, 4, choices)
        assert len(zoo.mask_of(env)) == size * size + 1
    zoo.play(small, 10_000, choices)
    assert not small.agents
    zoo.play(nine, 4, choices)  # The size that was made last still holds outside the clones.
    small.reset()
    assert small.unwrapped._go.board.shape == (5, 5)


def test_general_copy_is_checked_and_right():
    env = zoo.Counting()
    env.reset(seed=0)
    env.step(1)
    clone = clone_env(env)
    assert_same_game(env, clone, 100, zoo.choices(5))


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (zoo.Sharing, "refers to an object of type list"),
        (zoo.Shared, "diverges from"),
        (zoo.Elsewhere, "diverges from"),
        (zoo.Unpicklable, "generator"),
    ],
)
def test_wrong_copy_is_refused_with_the_reason_and_the_way_out(kind, reason):
    env = kind()
    env.reset(seed=0)
    env.step(0)
    before = env.get()
    with pytest.raises(CloneError, match=reason) as caught:
        clone_env(env)
    assert kind.__qualname__ in str(caught.value)
    assert "register_cloner" in str(caught.value)
    if kind is not zoo.Shared:
        assert env.get() == before


def test_type_that_was_cloned_before_its_reset_is_checked_later():
    env = zoo.Elsewhere()
    env.render_mode = "ansi"  # So that no fresh one is built beside it.
    clone_env(env)
    env.reset()
    env.step(1)
    with pytest.raises(CloneError, match="does not show the same as the original"):
        clone_env(env)


@pytest.fixture
def registered():
    yield register_cloner
    _registered.clear()


def test_registered_function_makes_the_clones(registered):
    def clone(env):
        new = zoo.Elsewhere()
        new.reset()
        new.put(env.get())
        for name in ("agents", "rewards", "_cumulative_rewards", "terminations", "truncations"):
            setattr(new, name, getattr(env, name).copy())
        new.infos = {agent: {} for agent in env.infos}
        new.agent_selection = env.agent_selection
        return new

    registered(zoo.Elsewhere, clone)
    env = wrappers.OrderEnforcingWrapper(zoo.Elsewhere())
    env.reset(seed=0)
    env.step(1)
    assert_same_game(env, clone_env(env), 100, zoo.choices(6))


def test_registered_function_that_is_wrong_is_refused(registered):
    registered(zoo.Counting, lambda env: env)
    env = zoo.Counting()
    env.reset()
    with pytest.raises(CloneError, match="is the environment itself"):
        clone_env(env)


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match=r"PettingZoo environment.*got int"):
        clone_env(3)
    with pytest.raises(TypeError, match="env_type must be a class"):
        register_cloner(int, copy.copy)
    with pytest.raises(TypeError, match="cloner must be a function"):
        register_cloner(zoo.Counting, 3)


def test_parallel_environment_is_cloned():
    env = pettingzoo.make("parallel", "classic/rps-v2")
    env.reset(seed=0)
    env.step({"player_0": 0, "player_1": 1})
    clone = clone_env(env)
    actions = {"player_0": 2, "player_1": 1}
    assert equal(clone.step(actions), env.step(actions))


def test_shimmy_keeps_openspiels_state():
    env = zoo.shimmy("backgammon", seed=3)
    zoo.play(env, 5, zoo.choices(7))
    clone = clone_env(env)
    assert clone.game_state is not env.game_state
    assert clone.game_state.history() == env.game_state.history()
    assert_same_game(env, clone, 40, zoo.choices(8))
