"""The native bridge gives what Python gives, and everything works without it."""

import dataclasses
import gc
import logging
import math
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import time

import numpy as np
import pyspiel
import pytest
from helpers.processes import run_python
from helpers.spiel import FEW, OPEN, PythonState, decision
from helpers.trees import dump
from rave_openspiel import OpenSpielState, compiled_games, native, native_library, states
from rave_openspiel.native_simulator import NativeSimulator
from rave_openspiel.playouts import RandomPlayouts, random_bots
from rave_openspiel.simulator import OpenSpielSimulator, RolloutSimulator

from rave_agents import GameError, Limit, RaveAgentsError, SearchConfig, Searcher
from rave_agents.parts import UCB1, Proofs, SteeredPlayouts
from rave_agents.simulate.simulator import Header, Status, Step, grown_frame, make_frame, simulated


@pytest.fixture(autouse=True)
def _openspiels_own_states(monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "openspiel")


needs_compiler = pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")

SMALL = 'extern "C" int three() { return 3; }\n'

QUICK = [*FEW, "chess", "connect_four", "go", "hex", "y"]

PLACEMENT_SPECS = [
    "tic_tac_toe",
    "hex(board_size=4)",
    "hex(num_cols=3,num_rows=5)",
    "hex(board_size=4,swap=true)",
    "y(board_size=5)",
    "havannah(board_size=3)",
    "havannah(board_size=3,swap=true)",
    "mnk(m=4,n=3,k=3)",
    "gomoku(size=5,connect=4)",
    "gomoku(size=5,connect=4,anti=true,wrap=true)",
    "gomoku(size=3,dims=3,connect=3)",
    "dots_and_boxes(num_rows=2,num_cols=3)",
    "dots_and_boxes(num_rows=2,num_cols=2,utility_margin=true)",
]


def library():
    loaded = native.bridge()
    if loaded is None:
        pytest.skip(native.diagnosis())
    return loaded


def tree_of(state, config, simulations, seed=1):
    searcher = Searcher(config, seed=seed)
    searcher.search(state, Limit(simulations=simulations))
    return dump(searcher)


def assert_equal_trees(state, config, simulations):
    library()
    before = (state.history(), str(state))
    given = tree_of(OpenSpielState(state), config, simulations)
    assert (state.history(), str(state)) == before
    assert given == tree_of(PythonState(state), config, simulations)


@pytest.mark.slow
@pytest.mark.full(but=[f"{name}-rave" for name in QUICK])
@pytest.mark.parametrize("preset", ["rave", "pn_mcts"])
@pytest.mark.parametrize(
    "name", [name for name in OPEN if not name.startswith(("python_", "nogo"))]
)
def test_trees_are_those_of_the_python_provider(name, preset):
    state = decision(name, moves=0 if name in ("catch", "cliff_walking") else 2)
    assert native.is_native(state)
    config = dataclasses.replace(
        SearchConfig.preset(preset), expand_visits=1, search_forced_moves=True
    )
    assert_equal_trees(state, config, 30)


RAVE = SearchConfig.preset("rave")
LATE = RAVE.replace(expand_visits=2)
STEERED = LATE.replace(playouts=SteeredPlayouts(playout_temperature=0.05))
OF_PLACEMENT = [LATE, LATE.replace(proofs=Proofs()), STEERED]
KEPT_STATES = ["tic_tac_toe", "connect_four", "chess", "go(board_size=5)", "backgammon", "quoridor"]
TREES = [
    *((name, RAVE.replace(playout_count=3, expand_visits=4), 60) for name in ("pig", "y")),
    # Long narrow trees: the bridge starts from states that earlier simulations came through.
    *((name, SearchConfig(rule=UCB1(c=0.1), expand_visits=1), 300) for name in KEPT_STATES),
    *((spec, OF_PLACEMENT[at % 3], 100) for at, spec in enumerate(PLACEMENT_SPECS)),
    # A playout that does not fit is lost, with the numbers that it drew.
    ("go(board_size=19,max_game_length=2000)", RAVE.replace(playout_count=4), 4),
]


@pytest.mark.full(but=4)
@pytest.mark.parametrize(("spec", "config", "simulations"), TREES, ids=[tree[0] for tree in TREES])
def test_trees_of_other_searches(spec, config, simulations):
    assert_equal_trees(decision(spec), config, simulations)


@pytest.mark.parametrize("spec", [*OPEN, *PLACEMENT_SPECS])
def test_shrinking_games_are_those_in_the_table(spec):
    """Random games tell: in a listed one the legal actions are those before, less the one taken."""
    game = pyspiel.load_game(spec)
    if not native.is_shrinking(game):
        assert game.get_type().short_name not in native.SHRINKING_GAMES or "swap=true" in spec
        return
    draw = random.Random(spec)
    positions = 0
    while positions < 1500:
        state = game.new_initial_state()
        remaining = state.legal_actions()
        while not state.is_terminal():
            assert not state.is_chance_node()
            assert state.legal_actions() == remaining
            action = draw.choice(remaining)
            remaining.remove(action)
            state.apply_action(action)
            positions += 1


def providers(root, **capacities):
    """The native and the generic provider, each on a frame of its own."""
    frames = [
        make_frame(
            num_players=root.num_players(),
            playouts=1,
            playout_stream=np.arange(1, 5, dtype=np.int64),
            **capacities,
        )
        for _ in range(2)
    ]
    shrinking = native.is_shrinking(root.get_game())
    simulators = (
        NativeSimulator(library(), root, frames[0], shrinking=shrinking),
        OpenSpielSimulator(root, frames[1], num_distinct_actions=root.num_distinct_actions()),
    )
    return list(zip(simulators, frames, strict=True))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spec", ["connect_four", "hex(board_size=5)", "pig", "backgammon"])
def test_a_frame_that_is_too_small_grows(spec, weighted):
    told = []
    root = decision(spec)
    shape = root.num_players(), root.num_distinct_actions() if weighted else 0
    capacities = {"move_capacity": 1, "action_capacity": 1}
    weights = np.random.default_rng(1).random(shape)
    for simulator, frame in providers(root, action_weights=weights, **capacities):
        statuses = []
        for _ in range(30):
            frame.header[Header.EXPAND] = 1
            statuses.append(simulated(simulator, frame))
            header = frame.header
            statuses += header[[Header.REQUIRED_ACTIONS, Header.REQUIRED_MOVES]].tolist()
            if statuses[-3] == Status.FRAME_FULL:
                frame = grown_frame(frame)  # noqa: PLW2901
                simulator.bind(frame)
            else:
                end = int(frame.playout_ends[0])
                statuses += frame.move_actions[:end].tolist()
                statuses += frame.move_players[:end].tolist()
                statuses += frame.returns[0].tolist()
        told.append(statuses)
    assert Status.FRAME_FULL in told[0]
    assert told[0] == told[1]


@pytest.mark.parametrize("spec", ["tic_tac_toe", "connect_four", "dots_and_boxes", "breakthrough"])
def test_a_reply_is_tried_after_each_action(spec):
    """At the end of random games, where replies end them: the true states tell when."""
    draw = random.Random(spec)
    ended = 0
    for _ in range(12):
        state = two_moves_before_the_end(spec, draw)
        actions = state.legal_actions()
        children = [state.child(action) for action in actions]
        for player, reply in {(c.current_player(), r) for c in children for r in c.legal_actions()}:
            expected = [ending(child, player, reply) for child in children]
            ended += sum(returns is not None for returns in expected)
            for simulator, frame in providers(state):
                frame.header[Header.STEP] = Step.TRY_REPLY
                frame.header[Header.NUM_ACTIONS] = len(actions)
                frame.header[Header.PLAYER] = player
                frame.header[Header.REPLY] = reply
                frame.actions[: len(actions)] = actions
                assert simulated(simulator, frame) == Status.DONE
                for index, returns in enumerate(expected):
                    assert bool(frame.child_ends[index]) == (returns is not None)
                    assert returns is None or frame.child_returns[index].tolist() == returns
    assert ended > 10


def two_moves_before_the_end(spec, draw):
    """A decision from which a random game ended after two moves."""
    states = [pyspiel.load_game(spec).new_initial_state()]
    while not states[-1].is_terminal():
        states.append(states[-1].child(draw.choice(states[-1].legal_actions())))
    return states[-3]


def ending(child, player, reply):
    """The returns if the player may answer so and this ends the game, else None."""
    if child.current_player() != player or reply not in child.legal_actions():
        return None
    after = child.child(reply)
    return after.returns() if after.is_terminal() else None


@pytest.mark.parametrize("spec", ["tic_tac_toe", "connect_four"])
def test_what_openspiel_refuses_is_raised_as_pyspiel_raises_it(spec):
    messages = []
    for simulator, frame in providers(pyspiel.load_game(spec).new_initial_state()):
        frame.path[:10] = 3
        frame.header[Header.PATH_LENGTH] = 10
        assert simulated(simulator, frame) == Status.FAILED
        with pytest.raises(pyspiel.SpielError) as raised:
            simulator.raise_pending()
        messages.append(str(raised.value))
        frame.header[Header.PATH_LENGTH] = 0
        assert simulated(simulator, frame) == Status.DONE
    assert messages[0] == messages[1] != ""


def test_a_broken_interface_is_a_game_error():
    """A game with actions beyond what it states; here the provider is told of fewer."""
    root = pyspiel.load_game("connect_four").new_initial_state()
    [(_, frame), _] = providers(root)

    class Fewer:
        """The same state, stating fewer actions."""

        _pybind11_conduit_v1_ = root._pybind11_conduit_v1_
        get_game = root.get_game

        def num_distinct_actions(self):
            return 5

        def clone(self):
            return self

        @property
        def state(self):
            return self

    simulator = NativeSimulator(library(), Fewer(), frame, shrinking=False)
    for expand in (0, 1):
        frame.header[Header.EXPAND] = expand
        assert [simulated(simulator, frame) for _ in range(9)].count(Status.FAILED) > 0
        with pytest.raises(GameError, match="num_distinct_actions"):
            simulator.raise_pending()


def test_a_deadline_stops_in_the_middle_of_a_playout():
    root = pyspiel.load_game("go(board_size=19)").new_initial_state()
    [(simulator, frame), _] = providers(root)
    assert simulated(simulator, frame) == Status.DONE
    simulator.deadline = time.perf_counter() + 0.0002  # a playout takes some milliseconds
    assert simulated(simulator, frame) == Status.STOPPED
    simulator.deadline = math.inf
    assert simulated(simulator, frame) == Status.DONE


@pytest.mark.full
def test_providers_are_released_with_their_roots():
    state = pyspiel.load_game("go(board_size=19)").new_initial_state()

    def cycle(count):
        for _ in range(count):
            providers(state)[0][0].raise_pending  # noqa: B018
        gc.collect()

    cycle(200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cycle(2000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 8000, "kilobytes: the states of 2000 providers take more than 20000"


def test_python_games_and_transformed_python_games_go_around_the_bridge():
    for spec, expected in [
        ("tic_tac_toe", True),
        ("misere(game=tic_tac_toe())", True),
        ("python_tic_tac_toe", False),
        ("misere(game=python_tic_tac_toe())", False),
    ]:
        assert native.is_native(pyspiel.load_game(spec).new_initial_state()) == expected
    frame = make_frame(num_players=2, playouts=1, playout_stream=np.ones(4, np.int64))
    state = OpenSpielState(pyspiel.load_game("python_tic_tac_toe").new_initial_state())
    assert isinstance(state.simulator(frame, None), OpenSpielSimulator)


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """Nothing is loaded or compiled yet; returns ``monkeypatch``."""

    def forget():
        for function in (native.bridge, native._load, native_library._compiler_version):
            function.cache_clear()

    forget()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv(native.SWITCH, raising=False)
    monkeypatch.setenv(compiled_games.SWITCH, "openspiel")
    monkeypatch.setattr(states, "_prepared", {})
    yield monkeypatch
    forget()


def provider_of(state):
    frame = make_frame(num_players=2, playouts=1, playout_stream=np.ones(4, np.int64))
    return type(OpenSpielState(state).simulator(frame, None))


@pytest.mark.parametrize("value", ["2", "perhaps"])
def test_the_switch_refuses_other_values_when_it_is_needed(fresh, value):
    fresh.setenv(native.SWITCH, value)
    with pytest.raises(ValueError, match=f"RAVE_AGENTS_NATIVE must be 0 .* got '{value}'"):
        OpenSpielState(decision("hex"))
    assert "must be 0 (or" in native.diagnosis()


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        *((word, "0") for word in ("0", "false", "False", "no", "OFF", "n", " 0 ")),
        *((word, "1") for word in ("1", "true", "Yes", "on", "TRUE")),
        ("", ""),
    ],
)
def test_the_switch_takes_the_usual_words(fresh, value, meaning):
    fresh.setenv(native.SWITCH, value)
    assert native.switch() == meaning


@pytest.mark.full(but=["small"])
@needs_compiler
@pytest.mark.parametrize("name", ["small", "REGISTRY"])
def test_what_is_in_the_cache_is_used_without_a_compiler(fresh, tmp_path, name, caplog):
    """As in a container image of several stages, whose last has no compiler."""
    source = tmp_path / "small.cpp"
    source.write_text(SMALL)
    part = getattr(native_library, name, native_library.Part("small", "small", source, "platform"))
    path = native_library.built_library(part, retry=False)
    caplog.clear()
    fresh.delenv("CXX", raising=False)
    fresh.setenv("PATH", str(tmp_path))
    native_library._compiler_version.cache_clear()
    assert native_library.built_library(part, retry=False) == path
    fresh.setenv("CXX", str(broken_compiler(tmp_path)))
    assert native_library.built_library(part, retry=True) == path
    path.unlink()
    stem = path.stem.rpartition("-")[0]
    path.with_name(f"{stem}-other.so").write_bytes(b"of another machine")
    with pytest.raises(native_library.BridgeError, match="it is broken"):
        native_library.built_library(part, retry=True)


@pytest.mark.full
@needs_compiler
def test_a_sanitized_library_in_the_cache_does_not_end_a_process_without_a_compiler(fresh):
    """AddressSanitizer ends a process that loads it late; the process that made it had it early."""
    part = native_library.REGISTRY
    fresh.setenv("CXX", "g++ -fsanitize=address")
    with fresh.context() as patch:
        patch.setattr(native_library, "_test", lambda part, path: None)
        sanitized = native_library.built_library(part, retry=False)
    code = "from rave_openspiel import registry; print(registry.diagnosis())"
    done = run_python("-c", code, CXX="no-such-compiler", **{native.SWITCH: ""})
    assert sanitized.exists()
    assert done.returncode == 0, done.stderr
    assert "no-such-compiler cannot be run" in done.stdout


def test_another_open_spiel_gets_a_library_of_its_own(fresh):
    before = native_library._key(native_library.BRIDGE)
    fresh.setattr(native_library, "_pyspiel_content", lambda: "another build")
    assert native_library._key(native_library.BRIDGE) != before


def test_a_copied_open_spiel_keeps_its_libraries(fresh):
    """Layers of container images keep times in whole seconds."""
    content = native_library._pyspiel_content()
    assert content.startswith("sha256="), "the wheel's record"
    assert str(pathlib.Path(pyspiel.__file__).stat().st_size) in content


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("spec", "switch", "provider"),
    [
        ("hex(board_size=3)", "1", "native"),
        ("hex(board_size=3)", "0", "python with C++ playouts"),
        ("python_tic_tac_toe", "1", "python"),
        ("nogo(board_size=3)", "0", "compiled rules"),
        ("kuhn_poker", "1", "native"),
        ("kuhn_poker", "0", "python"),
    ],
)
def test_the_result_tells_which_provider_ran(monkeypatch, spec, switch, provider):
    library()
    monkeypatch.setenv(native.SWITCH, switch)
    native.bridge.cache_clear()
    state = decision(spec, moves=0)
    found = Searcher(SearchConfig.preset("uct"), seed=1).search(state, Limit(simulations=20))
    native.bridge.cache_clear()
    assert found.provider == provider
    assert f"({provider})" in str(found)


def broken_compiler(folder, *, version="echo broken 1.0"):
    path = folder / "broken-c++"
    path.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then {version}; exit; fi\n'
        f"echo >> {folder}/calls\necho 'bridge.cpp:1: error: it is broken' >&2\nexit 1\n"
    )
    path.chmod(0o755)
    return path


def test_a_broken_compiler_leaves_the_python_providers(fresh, tmp_path, caplog):
    fresh.setenv("CXX", str(broken_compiler(tmp_path)))
    for attempt in range(2):  # the second finds the failure noted
        native.bridge.cache_clear()
        native._load.cache_clear()
        caplog.clear()
        with caplog.at_level(logging.WARNING, "rave_agents"):
            assert provider_of(decision("hex")) is RolloutSimulator
        [message] = [m for m in caplog.messages if "cannot be used" in m]
        assert "it is broken" in message
        assert "with one seed they draw other playouts" in caplog.text
        assert len(caplog.messages) == (2 if attempt == 0 else 1)
    assert "it is broken" in native.diagnosis()
    assert (tmp_path / "calls").read_text() == "\n"


def test_the_switch_demands_the_bridge(fresh, tmp_path):
    fresh.setenv("CXX", str(broken_compiler(tmp_path)))
    fresh.setenv(native.SWITCH, "1")
    for _ in range(2):  # and tries again each time
        with pytest.raises(RaveAgentsError, match=r"(?s)RAVE_AGENTS_NATIVE=1.*it is broken"):
            OpenSpielState(decision("hex"))
    assert (tmp_path / "calls").read_text() == "\n\n"
    fresh.setenv("CXX", "no-such-compiler")
    with pytest.raises(RaveAgentsError, match="no-such-compiler"):
        OpenSpielState(decision("hex"))


def test_without_a_compiler_the_reason_says_so(fresh, tmp_path):
    fresh.delenv("CXX", raising=False)
    fresh.setenv("PATH", str(tmp_path))
    assert native.bridge() is None
    assert "there is no C++ compiler" in native.diagnosis()


ENDS_ITS_PROCESS = """
#include <cstdlib>
namespace { struct Ends { Ends() { std::abort(); } } ends; }
"""


@pytest.mark.slow
@pytest.mark.full(but=["when-it-is-loaded"])
@needs_compiler
@pytest.mark.parametrize("when", ["when-it-is-loaded", "in-a-simulation"])
def test_a_library_that_crashes_is_not_used(fresh, tmp_path, caplog, when):
    """The self-test runs in another process, which it may crash."""
    source = tmp_path / "bridge.cpp"
    part = native_library.BRIDGE
    without_root = part.source.read_text().replace("root_(root.Clone())", "root_(nullptr)", 1)
    source.write_text(ENDS_ITS_PROCESS if when == "when-it-is-loaded" else without_root)
    fresh.setattr(native, "BRIDGE", part._replace(source=source))
    with caplog.at_level(logging.WARNING, "rave_agents"):
        assert provider_of(decision("hex")) is RolloutSimulator
    assert any("failed its test" in message for message in caplog.messages)


BUILD = """
import pathlib, sys
from rave_openspiel import native_library
part = native_library.Part("small", "a small library", pathlib.Path(sys.argv[1]), "platform")
print(native_library.built_library(part, retry=False))
"""


def both_outputs(*arguments, **environment):
    """What two processes print that run this program of Python at the same time."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", *map(str, arguments)],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    return outputs[0][0]


@pytest.mark.full
@needs_compiler
def test_two_processes_that_build_a_library_at_once_both_succeed(tmp_path):
    source, cache = tmp_path / "small.cpp", tmp_path / "cache"
    source.write_text(SMALL)
    environment = {"NUMBA_CACHE_DIR": str(cache), native.SWITCH: "0"}
    told = both_outputs(BUILD, source, **environment)
    assert [path.name for path in cache.glob("*/*")] == [pathlib.Path(told.strip()).name]


@pytest.mark.full(but=2)
@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("uct", {}),
        ("rave", {}),
        ("grave", {}),
        ("uct", {"playouts": SteeredPlayouts(playout_temperature=0.05)}),
    ],
)
@pytest.mark.parametrize("name", ["leduc_poker", "liars_dice", "go_fish", "gin_rummy"])
def test_trees_of_hidden_information_are_equal(name, preset, changes, monkeypatch):
    state = pyspiel.load_game(name).new_initial_state()
    draw = random.Random(5)
    while state.is_chance_node():
        state.apply_action(draw.choice(state.chance_outcomes())[0])
    results = []
    for value in ("1", "0"):
        monkeypatch.setenv(native.SWITCH, value)
        native.bridge.cache_clear()
        searcher = Searcher(SearchConfig.preset(preset).replace(**changes), seed=3)
        results.append(searcher.search(OpenSpielState(state), Limit(simulations=60)))
    native.bridge.cache_clear()
    assert results[0].to_dict()["actions"] == results[1].to_dict()["actions"]
    assert results[0].nodes == results[1].nodes


def test_playouts_of_openspiels_bots_tell_whose_move_each_was():
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    state.apply_action(4)
    bots = random_bots(2, lambda: 7)
    players, actions, _ = RandomPlayouts(state.get_game()).play(state, bots, 1)
    assert [4, *actions] == state.history()
    assert list(players) == [(1, 0)[place % 2] for place in range(len(actions))]
