"""The bots in OpenSpiel's registry, and ``load_bot`` with and without it."""

import gc
import math
import signal
import subprocess
import threading
import time
import weakref

import pyspiel
import pytest
import rave_openspiel
from helpers.processes import run_python
from rave_openspiel import RaveBot, native_library, registry, stock
from rave_openspiel.adapter import ADAPTER
from rave_openspiel.load import BOT_TYPES, can_play
from rave_openspiel.named_bots import UCTBot

from rave_agents import RaveAgentsError, SearchConfig, UnknownNameError, UnsupportedGameError
from rave_agents.agents.named_agents import agent_types
from rave_agents.config.specs import format_parameters
from rave_agents.parts import (
    GRAVE,
    PUCT,
    DrawLayer,
    HandSelected,
    MinimumMSE,
    NodeAmaf,
    ProofNumbers,
    Proofs,
    RankBonus,
    VisitedEdges,
)

LOADABLE = [game.name for game in ADAPTER.games()]
STOCK = {"fixed_action_preference", "uniform_random", "uniform_restricted_actions"}
OURS = set(BOT_TYPES)
try:
    rave_openspiel.register_bots()
    REGISTRAR, reason = registry._registrar(), ""
except RaveAgentsError as error:
    REGISTRAR, reason = None, str(error)
needs_registry = pytest.mark.skipif(REGISTRAR is None, reason=reason)

loaders = pytest.mark.parametrize(
    "load_bot",
    [
        pytest.param(pyspiel.load_bot, id="pyspiel", marks=needs_registry),
        pytest.param(rave_openspiel.load_bot, id="rave_openspiel"),
    ],
)


@pytest.fixture
def hex_game():
    return pyspiel.load_game("hex(board_size=3)")


@pytest.fixture
def made(monkeypatch):
    """The Python bots that the registry makes from now on."""
    bots = []

    def make(*arguments):
        bots.append(rave_openspiel.load.make_bot(*arguments))
        return bots[-1]

    monkeypatch.setattr(REGISTRAR, "_make", make)
    return bots


def use(monkeypatch, make):
    """Let the registry make these bots."""
    monkeypatch.setattr(REGISTRAR, "_make", lambda *arguments: make())


@needs_registry
def test_the_named_bots_are_registered_beside_openspiels():
    assert set(pyspiel.registered_bots()) >= OURS | STOCK
    assert {"uct", "rave", "grave", "pn_mcts", "rave_pn"} <= OURS
    assert registry.diagnosis().startswith("register_bots() loads ")


@needs_registry
@pytest.mark.full(but=[name for name in LOADABLE if name != "colored_trails"])  # slow to load
@pytest.mark.parametrize("name", LOADABLE)
def test_openspiel_is_told_truly_which_games_they_play(name):
    game = pyspiel.load_game(name)
    expected = {bot for bot in OURS if can_play(bot, game.get_type())}
    assert set(pyspiel.bots_that_can_play_game(game)) & OURS == expected
    for player in range(game.num_players()):
        assert set(pyspiel.bots_that_can_play_game(game, player)) & OURS == expected
    assert not set(pyspiel.bots_that_can_play_game(game, game.num_players())) & OURS
    assert not set(pyspiel.bots_that_can_play_game(game, -1)) & OURS


@needs_registry
@pytest.mark.parametrize("spec", ["hex", "kuhn_poker", "matrix_pd", "pig"])
def test_both_worlds_tell_the_same(spec):
    game = pyspiel.load_game(spec)
    others = agent_types().keys() - OURS  # Named agents that OpenSpiel's registry lacks.
    assert set(rave_openspiel.registered_bots()) == {*pyspiel.registered_bots(), *others}
    for arguments in [(), (0,), (1,), (9,)]:
        told = rave_openspiel.bots_that_can_play_game(game, *arguments)
        stock = pyspiel.bots_that_can_play_game(game, *arguments)
        assert [name for name in told if name not in others] == stock


@pytest.mark.slow
@pytest.mark.full(but=1)
@needs_registry
@pytest.mark.parametrize("name", sorted(OURS))
def test_a_registered_bot_plays_what_the_python_bot_plays(name):
    mixes = name in ("regret_matching", "exp3")
    game = pyspiel.load_game("oshi_zumo" if mixes else "connect_four")
    parameters = {"simulations": 20, "seed": 3}
    histories = []
    for load_bot in (pyspiel.load_bot, rave_openspiel.load_bot):
        state = game.new_initial_state()
        pyspiel.evaluate_bots(state, [load_bot(name, game, i, parameters) for i in (0, 1)], 1)
        histories.append(state.history())
    assert histories[0] == histories[1]


@pytest.mark.parametrize(
    "spec",
    [
        "misere(game=tic_tac_toe())",
        "add_noise(epsilon=1.,seed=1,game=tic_tac_toe())",
        "hex(num_cols=2,num_rows=4,swap=true)",
        "python_tic_tac_toe",
        "misere(game=python_tic_tac_toe())",
        "pig(players=3,winscore=10)",
        "catch",
        "kuhn_poker",
        "oshi_zumo(coins=4)",
    ],
)
@needs_registry
def test_the_game_is_the_very_one_with_its_parameters(spec, made):
    import open_spiel.python.games  # noqa: F401

    game = pyspiel.load_game(spec)
    seats = range(game.num_players())
    bots = [pyspiel.load_bot("rave", game, i, {"simulations": 5, "seed": 1}) for i in seats]
    assert [bot.game for bot in made] == [game for _ in seats]
    assert {str(bot.game) for bot in made} == {str(game)}
    state = game.new_initial_state()
    assert pyspiel.evaluate_bots(state, bots, 1) == state.returns()


@needs_registry
def test_positions_that_do_not_come_from_the_start():
    """One played into, and one that no moves lead to."""
    game = pyspiel.load_game("chess")
    mate_in_one = game.new_initial_state("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1")
    player = mate_in_one.current_player()
    bot = pyspiel.load_bot("uct_solver", game, player, {"simulations": 200, "seed": 1})
    bot.restart_at(mate_in_one)
    action = bot.step(mate_in_one)
    assert mate_in_one.action_to_string(action) == "Re8#"
    other = pyspiel.load_bot("rave", game, 1 - player, {"simulations": 2})
    bots = [None, None]
    bots[player], bots[1 - player] = bot, other
    assert pyspiel.evaluate_bots(mate_in_one, bots, 1)[player] == 1.0


@needs_registry
def test_every_method_of_a_bot_is_passed_on(hex_game, made):
    bot = pyspiel.load_bot("rave", hex_game, 0, {"simulations": 50, "seed": 1})
    [inner] = made
    twin = RaveBot(hex_game, player_id=0, simulations=50, seed=1)
    state = hex_game.new_initial_state()
    assert bot.provides_policy()
    assert bot.provides_force_action()
    assert bot.is_clonable()
    assert bot.get_policy(state) == twin.get_policy(state)
    assert bot.step_with_policy(state) == twin.step_with_policy(state)
    assert bot.step(state) == twin.step(state)
    for each in (bot, twin):
        each.force_action(state, 4)
    state.apply_action(4)
    for each in (bot, twin):
        each.inform_action(state, 1, 0)
    state.apply_action(0)
    assert bot.step(state) == twin.step(state)
    assert inner.last_result.simulations == twin.last_result.simulations
    with pytest.raises(ValueError, match="one player moves at a time"):
        bot.inform_actions(state, [1, 2])
    for each in (bot, twin):
        each.restart_at(state)
    assert bot.step(state) == twin.step(state)
    bot.restart()
    assert inner._searcher.root is None


@needs_registry
def test_a_clone_plays_by_itself(hex_game, made):
    bot = pyspiel.load_bot("rave", hex_game, 0, {"simulations": 50, "seed": 1})
    clone = bot.clone()
    twin = made[0].clone()
    del bot
    state = hex_game.new_initial_state()
    assert clone.step(state) in state.legal_actions()
    assert clone.clone().step(state) in state.legal_actions()
    assert twin.seed != made[0].seed


@needs_registry
def test_parameters_arrive_with_their_types(hex_game, made):
    parameters = {
        "simulations": 7,
        "seconds": 0.1,
        "seed": 11,
        "verbose": False,
        "c": 0.1 + 0.2,
        "ref": 30,
        "reuse_tree": False,
        "amaf": "grave",
        "schedule": "hand_selected(k=300)",
        "first_play_urgency": float("-inf"),
    }
    pyspiel.load_bot("rave", hex_game, 1, parameters)
    bot = made[0]
    assert (bot.player_id, bot.seed, bot.verbose) == (1, 11, False)
    assert (bot.limit.simulations, bot.limit.seconds) == (7, 0.1)
    assert bot.config == SearchConfig.preset("rave").replace(
        c=0.1 + 0.2,
        amaf=GRAVE(ref=30, schedule=HandSelected(k=300)),
        reuse_tree=False,
        first_play_urgency=-math.inf,
    )
    pyspiel.load_bot("rave", hex_game, 0, {"seed": None, "simulations": 5})
    assert made[1].seed is not None


@loaders
def test_parameters_in_the_name(load_bot, hex_game):
    spec = "rave(simulations=5,seed=1,c=0.5,reuse_tree=False,amaf=grave)"
    state = hex_game.new_initial_state()
    bot = RaveBot(hex_game, simulations=5, seed=1, c=0.5, reuse_tree=False, amaf=GRAVE())
    assert load_bot(spec, hex_game, 0).step(state) == bot.step(state)
    assert load_bot("rave(first_play_urgency=inf)", hex_game, 0).provides_policy()


NESTED = [
    (
        "rave",
        {"schedule": "hand_selected(k=300)"},
        {"amaf": NodeAmaf(schedule=HandSelected(k=300))},
    ),
    ("rave", {"schedule": "hand_selected()"}, {"amaf": NodeAmaf(schedule=HandSelected())}),
    ("rave", {"rule": "puct(c=0.1234567890123)"}, {"rule": PUCT(c=0.1234567890123)}),
    ("rave", {"amaf.schedule.bias": 0.05}, {"amaf": NodeAmaf(schedule=MinimumMSE(bias=0.05))}),
    (
        "uct",
        {"amaf": "grave(ref=50,schedule=hand_selected(k=1e-07),edges=visited_edges)"},
        {"amaf": GRAVE(ref=50, schedule=HandSelected(k=1e-07), edges=VisitedEdges())},
    ),
    (
        "uct",
        {"proofs": "proofs(numbers=proof_numbers(visits=inf,bonus=rank_bonus(draws=draw_layer)))"},
        {"proofs": Proofs(numbers=ProofNumbers(visits=math.inf, bonus=RankBonus(DrawLayer())))},
    ),
]


@pytest.mark.parametrize(("name", "parameters", "parts"), NESTED)
def test_the_specs_of_parts_are_passed_on(hex_game, name, parameters, parts, request):
    calls = (
        (name, hex_game, 0, parameters),
        (f"{name}({format_parameters(parameters)})", hex_game, 0),
    )
    found = [rave_openspiel.load_bot(*call).config for call in calls]
    if REGISTRAR is not None:
        made = request.getfixturevalue("made")
        for call in calls:
            pyspiel.load_bot(*call)
        found += [bot.config for bot in made]
    assert set(map(str, found)) == {str(SearchConfig.preset(name).replace(**parts))}


@loaders
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"simulation": 5}, UnknownNameError, "of rave 'simulation'. Did you mean 'simulations'"),
        ({"simulations": 0}, ValueError, "simulations must be an integer from 1"),
        ({"reuse_tree": 1}, TypeError, "reuse_tree must be True or False"),
        ({"schedule": "hand_selected(k=0)"}, ValueError, "k must be a finite number above 0"),
        ({"c": {"name": "hex"}}, TypeError, "c must be a finite number"),
        ({"name": "other"}, UnknownNameError, "Unknown parameter of rave 'name'"),
    ],
)
def test_wrong_parameters_raise(load_bot, hex_game, parameters, error, message):
    with pytest.raises(error, match=message):
        load_bot("rave", hex_game, 0, parameters)


@loaders
def test_wrong_games_and_seats_raise(load_bot, hex_game):
    with pytest.raises(UnsupportedGameError, match="IMPERFECT_INFORMATION"):
        load_bot("rave", pyspiel.load_game("tarok"), 0)
    with pytest.raises(UnsupportedGameError, match="simultaneous moves"):
        load_bot("uct_solver", pyspiel.load_game("matrix_pd"), 0, {"simulations": 5})
    with pytest.raises(ValueError, match="from 0 to 1"):
        load_bot("rave", hex_game, 2)
    with pytest.raises((TypeError, pyspiel.SpielError), match=r"got None|got none"):
        load_bot("rave", None, 0)


def test_load_bot_gives_the_python_bot_and_openspiels_own(hex_game):
    bot = rave_openspiel.load_bot("uct", hex_game, 1, {"simulations": 5, "seed": 1})
    assert type(bot) is UCTBot
    assert bot.player_id == 1
    state = hex_game.new_initial_state()
    for arguments in [
        ("uniform_random", hex_game, 0),
        ("uniform_random", hex_game, 0, {"seed": 1}),
    ]:
        assert rave_openspiel.load_bot(*arguments).step(state) in state.legal_actions()
    fixed = rave_openspiel.load_bot("fixed_action_preference", hex_game, 0)
    assert fixed.step(state) == 0
    with pytest.raises(UnknownNameError, match=r"Unknown bot 'rav'\. Did you mean 'rave'"):
        rave_openspiel.load_bot("rav", hex_game, 0)
    with pytest.raises(ValueError, match="not in both"):
        rave_openspiel.load_bot("rave(seed=1)", hex_game, 0, {"simulations": 5})


def test_no_name_of_this_package_is_one_of_openspiels():
    assert not OURS & STOCK
    assert not OURS & set(stock.AGENT_TYPES)


@needs_registry
def test_errors_of_a_bot_are_the_callers(hex_game):
    bot = pyspiel.load_bot("rave", hex_game, 0, {"simulations": 5})
    state = hex_game.new_initial_state()
    state.apply_action(0)
    with pytest.raises(ValueError, match="plays as player 0, but player 1"):
        bot.step(state)
    with pytest.raises(ValueError, match="plays as player 0, but player 1"):
        pyspiel.evaluate_bots(hex_game.new_initial_state(), [bot, bot], 0)
    with pytest.raises(ValueError, match="the state is of connect_four"):
        bot.step(pyspiel.load_game("connect_four").new_initial_state())
    with pytest.raises(TypeError):
        bot.step(None)


@needs_registry
@pytest.mark.parametrize("error", [KeyError("mine"), KeyboardInterrupt(), SystemExit(3)])
def test_any_exception_comes_out_as_the_object_that_it_is(hex_game, monkeypatch, error):
    class FailingBot(pyspiel.Bot):
        def __init__(self):
            super().__init__()

        def _fail(self, *arguments):
            raise error

        step = restart = restart_at = inform_action = force_action = get_policy = _fail
        step_with_policy = provides_policy = provides_force_action = is_clonable = clone = _fail

    use(monkeypatch, FailingBot)
    bot = pyspiel.load_bot("rave", hex_game, 0)
    state = hex_game.new_initial_state()
    for call in (
        lambda: bot.step(state),
        lambda: bot.step_with_policy(state),
        lambda: bot.get_policy(state),
        bot.restart,
        lambda: bot.restart_at(state),
        lambda: bot.inform_action(state, 0, 1),
        lambda: bot.force_action(state, 1),
        bot.provides_policy,
        bot.is_clonable,
        bot.clone,
        lambda: pyspiel.evaluate_bots(state, [bot, bot], 0),
    ):
        with pytest.raises(type(error)) as raised:
            call()
        assert raised.value is error

    def fail():
        raise error

    use(monkeypatch, fail)
    with pytest.raises(type(error)) as raised:
        pyspiel.load_bot("rave", hex_game, 0)
    assert raised.value is error


@needs_registry
def test_what_makes_no_bot_is_refused(hex_game, monkeypatch):
    use(monkeypatch, lambda: None)
    with pytest.raises(Exception, match="does not return the addresses"):
        pyspiel.load_bot("rave", hex_game, 0)


@pytest.mark.full
@needs_registry
def test_ctrl_c_ends_a_game_of_registered_bots(monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "openspiel")
    game = pyspiel.load_game("hex(board_size=3)")
    bots = [pyspiel.load_bot("uct", game, i, {"seconds": 20.0}) for i in (0, 1)]
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    state = game.new_initial_state()
    bots[0].restart()
    started = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pyspiel.evaluate_bots(state, bots, 1)
    timer.join()
    assert time.perf_counter() - started < 10


@needs_registry
def test_threads_play_at_the_same_time(hex_game):
    histories = {}

    def play(number):
        bots = [
            pyspiel.load_bot("rave", hex_game, i, {"simulations": 20, "seed": 1}) for i in (0, 1)
        ]
        state = hex_game.new_initial_state()
        pyspiel.evaluate_bots(state, bots, 1)
        histories[number] = state.history()

    running = [threading.Thread(target=play, args=[k], daemon=True) for k in range(2)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(60)
    assert len(histories) == 2
    assert len({tuple(history) for history in histories.values()}) == 1


@needs_registry
def test_bots_die_with_their_owners(hex_game, made):
    gc.freeze()  # Nothing older is looked through.
    state = hex_game.new_initial_state()
    before = set(REGISTRAR.held)  # Bots of other tests, which may die meanwhile.
    bot = pyspiel.load_bot("rave", hex_game, 0, {"simulations": 5})
    clone = bot.clone()
    bot.step(state)
    clone.step(state)
    assert len(REGISTRAR.held.keys() - before) == 1
    seen = weakref.ref(made.pop())
    del bot
    gc.collect()
    assert seen() is None
    assert REGISTRAR.held.keys() <= before
    clone.step(state)
    del clone
    gc.collect()
    alive = [each for each in gc.get_objects() if type(each) is RaveBot]
    assert not [bot for bot in alive if bot.game is hex_game]


PROGRAM = """
#include <memory>
#include "open_spiel/algorithms/evaluate_bots.h"
#include "open_spiel/spiel.h"
#include "open_spiel/spiel_bots.h"

extern "C" double first_return(const char* game_spec, const char* bot_spec) {
  std::shared_ptr<const open_spiel::Game> game = open_spiel::LoadGame(game_spec);
  auto first = open_spiel::LoadBot(bot_spec, game, 0);
  auto second = open_spiel::LoadBot(bot_spec, game, 1);
  return open_spiel::EvaluateBots(*game, {first.get(), second.get()}, 1)[0];
}
"""


@pytest.mark.full
@needs_registry
def test_a_cpp_program_loads_and_plays_them(tmp_path):
    """Its states are known to nobody in Python."""
    import ctypes

    source, library = tmp_path / "program.cpp", tmp_path / "program.so"
    source.write_text(PROGRAM)
    flags = [*native_library._flags(), *native_library._include_flags(), "-O0"]
    command = [*native_library.find_compiler(), *flags, str(source)]
    subprocess.run([*command, pyspiel.__file__, "-o", str(library)], check=True)
    play = ctypes.CDLL(str(library)).first_return
    play.restype = ctypes.c_double
    for spec, value in [("nim(pile_sizes=1;2;3)", -1.0), ("hex(board_size=2)", 1.0)]:
        assert play(spec.encode(), b"rave_pn(simulations=100,seed=1)") == value


def run(code, **environment):
    return run_python("-c", code, **environment)


WITHOUT = """
import pyspiel, rave_openspiel
assert "rave" not in pyspiel.registered_bots(), pyspiel.registered_bots()
assert "rave" in rave_openspiel.registered_bots()
game = pyspiel.load_game("hex(board_size=3)")
assert "rave" in rave_openspiel.bots_that_can_play_game(game, 1)
assert "uniform_random" in rave_openspiel.bots_that_can_play_game(game)
bots = [rave_openspiel.load_bot(name, game, i, {"seed": 1})
        for i, name in enumerate(["rave", "uniform_random"])]
print(pyspiel.evaluate_bots(game.new_initial_state(), bots, 1))
print(rave_openspiel.registry.diagnosis())
"""


IMPORT = """
import sys
started = []
sys.addaudithook(lambda event, arguments: started.append(event))
import pyspiel
before = pyspiel.registered_bots()
import rave_openspiel
assert pyspiel.registered_bots() == before
assert not {"subprocess.Popen", "os.posix_spawn", "os.fork"} & set(started)
assert "numba" not in sys.modules
"""
REGISTER = """
names = rave_openspiel.register_bots()
assert rave_openspiel.register_bots() == names
assert set(pyspiel.registered_bots()) == {*before, *names}
game = pyspiel.load_game("hex(board_size=3)")
print(pyspiel.load_bot("rave", game, 0, {"simulations": 5}).step(game.new_initial_state()) >= 0)
"""


@pytest.mark.slow
def test_the_import_starts_no_program_and_registers_no_bot(tmp_path):
    done = run(IMPORT, RAVE_AGENTS_NATIVE="", NUMBA_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@needs_registry
def test_bots_are_registered_on_request_once():
    done = run(IMPORT + REGISTER, RAVE_AGENTS_NATIVE="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


@pytest.mark.full
def test_without_the_registry_load_bot_knows_both_worlds():
    done = run(WITHOUT, RAVE_AGENTS_NATIVE="0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1] == "not used: RAVE_AGENTS_NATIVE=0"


@pytest.mark.slow
def test_without_a_compiler_the_request_says_so_and_names_the_way_without(tmp_path):
    environment = {"CXX": "no-such-compiler", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = run(
        "import rave_openspiel; rave_openspiel.register_bots()",
        RAVE_AGENTS_NATIVE="",
        **environment,
    )
    assert done.returncode != 0
    assert "no-such-compiler" in done.stderr
    assert "rave_openspiel.load_bot loads them without registration" in done.stderr


def test_the_switch_is_respected(monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_NATIVE", "perhaps")
    with pytest.raises(ValueError, match=r"must be 0 .* got 'perhaps'"):
        registry._registrar.__wrapped__()
    assert "must be 0 (or" in registry.diagnosis()
    monkeypatch.setenv("RAVE_AGENTS_NATIVE", "0")
    with pytest.raises(RaveAgentsError, match="RAVE_AGENTS_NATIVE=0 switches"):
        registry._registrar.__wrapped__()


@needs_registry
def test_a_taken_name_is_left_alone(hex_game):
    """As where the package is imported a second time."""
    before = pyspiel.registered_bots()
    registry._registrar.__wrapped__()
    assert pyspiel.registered_bots() == before
    assert pyspiel.load_bot("rave", hex_game, 0).provides_policy()


END = """
import pyspiel, rave_openspiel
rave_openspiel.register_bots()
game = pyspiel.load_game("hex(board_size=3)")
bot = pyspiel.load_bot("uct", game, 0, {"simulations": 5})
kept = [bot, bot.clone()]
import builtins
builtins.kept = kept
kept.append(kept)
print(bot.step(game.new_initial_state()) >= 0)
"""


@pytest.mark.slow
@needs_registry
def test_bots_that_outlive_the_program_end_it_in_peace():
    done = run(END)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
