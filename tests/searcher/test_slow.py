"""What takes longer than two seconds is shown, or logged where there is no terminal."""

import threading

import pytest
from helpers.envs import Counting
from helpers.own_games.subtraction import Subtraction
from pettingzoo.classic import tictactoe_v3
from rave_gymnasium import UCTAgent
from rave_pettingzoo import UCTAgent as ZooAgent

from rave_agents import Limit, Searcher
from rave_agents.compiler import progress
from rave_agents.results import progress as displays
from rave_agents.searcher import slices


class Corridor(Counting):
    """Ten steps to the right are worth one."""

    def step(self, action):
        threading.Event().wait(0.001)
        self.time += 1
        return self.time, float(action), self.time == 10, False, {}


class OwnTicTacToe(tictactoe_v3.raw_env):
    """An environment that is not known by its class."""


@pytest.fixture
def slow(monkeypatch):
    """Two seconds are over at once."""
    monkeypatch.setattr(progress, "SLOW_SECONDS", 0.0)
    monkeypatch.setattr(slices, "SLOW_SECONDS", 0.0)


def searches(caplog):
    return [text for text in caplog.messages if "simulations in" in text]


def test_a_long_search_is_logged_once_with_how_far_it_is(slow, caplog):
    Searcher(seed=0).search(Subtraction(9), Limit(simulations=50))
    (text,) = searches(caplog)
    assert text.startswith("rave_agents: 1 of 50 simulations in 0.")


def test_a_short_search_is_not(caplog):
    Searcher(seed=0).search(Subtraction(9), Limit(simulations=50))
    assert searches(caplog) == []


@pytest.mark.parametrize(
    ("limit", "options"),
    [
        (Limit(simulations=50, seconds=10.0), {}),
        (Limit(simulations=50), {"progress": lambda result: None}),
    ],
)
def test_nothing_is_said_where_the_time_is_known_or_a_function_is_called(
    slow, caplog, limit, options
):
    Searcher(seed=0).search(Subtraction(9), limit, **options)
    assert searches(caplog) == []


def test_a_display_shows_the_simulations_and_is_taken_away(slow, monkeypatch):
    views = []

    class Display:
        def update(self, view):
            views.append((view.finished, view.planned))

        def stop(self):
            views.append("stopped")

    monkeypatch.setattr(displays, "_display", lambda *, always: Display)
    Searcher(seed=0).search(Subtraction(9), Limit(simulations=50))
    assert views[0] == (1, 50)
    assert views[-2:] == [(50, 50), "stopped"]
    assert not displays.is_showing()


@pytest.mark.parametrize("framework", ["gymnasium", "pettingzoo"])
def test_a_slow_environment_is_never_silent(slow, caplog, framework):
    if framework == "gymnasium":
        env, kind = Corridor(), UCTAgent
    else:
        env, kind = OwnTicTacToe(), ZooAgent
    env.reset(seed=0)
    kind(env, simulations=20, seed=0)(env)
    assert "rave_agents: checking copies of the environment ..." in caplog.messages
    assert "rave_agents: looking for chance in the environment ..." in caplog.messages
    assert len(searches(caplog)) == 1
