"""The way of one move from a bot to the compiled loop and back: short, and through few files."""

import pathlib
import sys

import pyspiel
import pytest
from rave_openspiel import RaveBot

import rave_agents
from rave_agents.compiler.entry import Entry
from rave_agents.searcher import kept_trees

ROOT = pathlib.Path(rave_agents.__file__).parents[1]

MOST_FUNCTIONS = 48
"""Python functions of ours that a move may take: properties and comprehensions count, too."""

MOST_FILES = 17

MOST_FRAMES = 6
"""From ``step`` to the call of the compiled loop, both included."""


PROVIDERS = {"compiled": "compiled rules", "openspiel": "native"}
"""Who simulates, for each value of ``RAVE_AGENTS_GAMES``."""


@pytest.fixture(params=PROVIDERS)
def provider(request, monkeypatch):
    """What runs the simulations: a game's compiled rules, and OpenSpiel's own states."""
    from rave_openspiel.native import is_in_use

    monkeypatch.setenv("RAVE_AGENTS_GAMES", request.param)
    if request.param == "openspiel" and not is_in_use():
        pytest.skip("there is no bridge")
    return PROVIDERS[request.param]


OWN = tuple(str(ROOT / folder) for folder in ("rave_agents", "adapters"))


def own_frames(frame):
    """The frames of our code from this one outwards."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(OWN):
            yield frame
        frame = frame.f_back


def traced(move):
    """The functions that a call takes, and how deep the compiled loop is called in it."""
    functions, depths = set(), []

    def note(frame, event, _):
        if event == "call" and next(own_frames(frame), None) is frame:
            code = frame.f_code
            path = pathlib.Path(code.co_filename).relative_to(ROOT).as_posix()
            functions.add((path, code.co_qualname))
            loop = frame.f_back.f_code.co_name == "run_slice"  # The other calls move rows.
            if path.endswith("machine_code.py") and loop:
                depths.append(len(list(own_frames(frame))))

    sys.setprofile(note)
    try:
        move()
    finally:
        sys.setprofile(None)
    return functions, depths


def warm_bot(name, **parameters):
    """A bot that has played two moves of a game, and the position of its next one."""
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    bots = [RaveBot(game, seed=seed, **parameters) for seed in (1, 2)]
    for _ in range(2):
        for bot in bots:
            state.apply_action(bot.step(state))
    return bots[0], state


@pytest.mark.compiled
@pytest.mark.full(but=["openspiel"])
def test_a_warm_step_is_a_short_way(provider, monkeypatch):
    monkeypatch.setattr(kept_trees, "WATCHED", {})  # Other tests have own parts.
    bot, state = warm_bot("hex(board_size=7)", simulations=500)
    functions, depths = traced(lambda: bot.step(state))
    assert bot.last_result.provider == provider
    listed = "\n".join(sorted(f"{path} {name}" for path, name in functions))
    assert len(functions) <= MOST_FUNCTIONS, listed
    assert len({path for path, _ in functions}) <= MOST_FILES, listed
    assert set(depths) <= set(range(1, MOST_FRAMES + 1)), depths
    assert depths, "the loop was not called"


@pytest.mark.compiled
@pytest.mark.full(but=["openspiel"])
def test_a_warm_step_clones_the_root_for_searcher_and_bridge_alone(provider, monkeypatch):
    """Compiled rules play the new moves on, and need no clone."""
    from rave_openspiel.states import OpenSpielState

    bot, state = warm_bot("hex(board_size=5)", simulations=50)
    clone, clones = OpenSpielState.clone, []
    monkeypatch.setattr(OpenSpielState, "clone", lambda self: clones.append(self) or clone(self))
    bot.step(state)
    assert len(clones) == (1 if provider == "compiled rules" else 2)


@pytest.mark.compiled
@pytest.mark.full
def test_compiled_rules_play_the_new_moves_alone(monkeypatch):
    from rave_agents.games.kit import rules_simulator

    bot, state = warm_bot("hex(board_size=5)", simulations=50)
    call, played = rules_simulator.simulated, []

    def noted(simulator, frame):
        played.append(int(frame.header[0]))
        return call(simulator, frame)

    monkeypatch.setattr(rules_simulator, "simulated", noted)
    bot.step(state)
    assert played == [2]


@pytest.mark.compiled
@pytest.mark.full(but=["openspiel"])
def test_a_warm_step_lays_nothing_out(provider, monkeypatch):
    bot, state = warm_bot("hex(board_size=7)", simulations=500)
    bound, records = Entry.bound, []
    monkeypatch.setattr(
        Entry,
        "bound",
        lambda entry, record, before: records.append(record) or bound(entry, record, before),
    )
    grown = bot.step(state)
    assert grown in state.legal_actions()
    assert records == []
