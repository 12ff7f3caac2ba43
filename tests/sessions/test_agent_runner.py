import sys
import time

import pytest

from rave_agents import as_game
from rave_agents.agents.named_agents import as_agent
from rave_agents.sessions.agent_runner import AgentRunner
from rave_agents.sessions.live import LiveSession
from rave_agents.sessions.setting_up import set_up_session

BOTS = '''
import time

from rave_agents import from_step


class Follower:
    """Remembers the actions that it is told of."""

    def __init__(self):
        self.told = []

    def restart(self):
        self.told = []

    def inform_action(self, state, player, action):
        self.told.append(int(action))

    def step(self, state):
        assert self.told == list(state.history()), (self.told, state.history())
        return state.legal_actions()[0]


@from_step
def sleeper(state):
    time.sleep(600)
'''


@pytest.fixture
def bots(tmp_path, monkeypatch):
    (tmp_path / "session_bots.py").write_text(BOTS)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # Processes compile nothing.
    yield f"{tmp_path}/session_bots.py"
    sys.modules.pop("session_bots", None)


def answered(runner):
    ends = time.monotonic() + 60
    while (reply := runner.poll(0.1)) is None:
        assert time.monotonic() < ends
    assert reply.error == ""
    return reply


def waited(live, true):
    ends = time.monotonic() + 60
    while not true():
        assert time.monotonic() < ends
        assert not live.error, live.error
        live.wait(live.version, 0.1)


@pytest.mark.parametrize("beside", [False, pytest.param(True, marks=pytest.mark.full)])
def test_an_agent_is_told_of_all_turns_whenever_it_begins(bots, beside):
    session = set_up_session("tic_tac_toe", f"{bots}:Follower", seats=(0, 1))
    live = LiveSession(session, adviser=session.seats[0] or as_agent("random"), beside=beside)
    with live:
        live.choose(0, 4)
        live.choose(1, 0)
        live.choose(0, 8)
        live.seat(1, as_agent(f"{bots}:Follower"))
        waited(live, lambda: len(session.turns) == 4)
        live.undo()
        live.choose(0, 7)
        waited(live, lambda: len(session.turns) == 4)


def test_an_agent_is_asked_with_the_time_that_it_has_left(monkeypatch):
    asked = []
    monkeypatch.setattr(AgentRunner, "ask", lambda self, state, left: asked.append(left))
    session = set_up_session("tic_tac_toe", "random", seats=(1,), clock="60+30")
    session._since -= 5.0
    with LiveSession(session, adviser="random", beside=False) as live:
        waited(live, lambda: asked)
    ((seconds, moves),) = asked
    assert (50.0 < seconds <= 60.0, moves) == (True, 0)


@pytest.mark.full
def test_a_process_that_does_not_leave_a_dropped_question_is_ended(bots):
    game = as_game("tic_tac_toe")
    state = game.new_initial_state()
    runner = AgentRunner(as_agent(f"{bots}:sleeper"), game, 0, seed=0)
    runner.prepare(state)
    while runner.poll(0.1) is None:
        pass
    first = runner.process_id
    runner.ask(state)
    time.sleep(0.2)
    runner.drop()
    runner.agent = as_agent(f"{bots}:Follower")
    runner.ask(state)
    assert answered(runner).action == 0
    assert runner.process_id != first
    runner.close()
