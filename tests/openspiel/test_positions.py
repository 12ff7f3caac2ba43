"""Positions set up by the user: a bot goes by the position, not by the history of its moves."""

import copy
import json
import pathlib
import pickle
import random
import re

import numpy as np
import open_spiel
import open_spiel.python.games
import pyspiel
import pytest
from helpers.spiel import after, own_type, written_game
from helpers.trees import dump
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import mcts
from rave_openspiel import (
    AutoBot,
    MCTSBot,
    OpenSpielState,
    PNEvaluator,
    PNMCTSBot,
    RaveBot,
    RaveEvaluator,
    SearchRLAgent,
    UCTBot,
    positions,
    states,
)
from rave_openspiel.knowledge import Knowledge
from rave_openspiel.positions import moves_between, position_key, start_of
from rave_openspiel.turn_based import one_at_a_time

from rave_agents import UnsupportedGameError

KINGS = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
MATE = "4k3/8/8/8/8/2r5/1r6/4K3 w - - 0 1"
"""After Kf1 black mates by Rc1."""


def clobber_text(state):
    rows = re.findall(r"^ *\d+([ox.]+)$", str(state), re.MULTILINE)
    return f"{state.current_player()}{''.join(rows)}"


def dots_text(state):
    """The lines that are drawn, in the order of actions."""
    legal = state.legal_actions()
    return "".join("0" if line in legal else "1" for line in range(state.num_distinct_actions()))


SET_UP = {
    "antichess": str,
    "breakthrough": lambda state: "\n".join(map(str, state.history())) + "\n",
    "catch": pyspiel.State.to_json,
    "chess": str,
    "clobber(rows=4,columns=4)": clobber_text,
    "connect_four": pyspiel.State.to_json,
    "crazyhouse": str,
    "dots_and_boxes": dots_text,
    "gomoku(size=5,connect=4)": lambda state: json.dumps("".join(str(state).split())),
    "rbc": str,
    "shogi": str,
    "tic_tac_toe": pyspiel.State.to_json,
}
"""Games of OpenSpiel that begin at a text of the user's, and what writes a position so."""


def set_up(name, plies, seed):
    """A position after random moves, set up by its text: it has no history of its moves."""
    game, draw = pyspiel.load_game(name), random.Random(seed)
    state = game.new_initial_state()
    for _ in range(plies):
        legal = state.legal_actions()
        after = state.child(draw.choice(legal))
        if after.is_terminal():
            break
        state = after
    return game.new_initial_state(SET_UP[name](state))


def played(state, plies, seed=1):
    draw = random.Random(seed)
    for _ in range(plies):
        legal = [
            action for action in state.legal_actions() if not state.child(action).is_terminal()
        ]
        if state.is_terminal() or not legal:
            return state
        state.apply_action(draw.choice(legal))
    return state


def bot_for(kind, game, simulations=40, seed=5, **changes):
    if kind is not MCTSBot:
        return kind(game, simulations=simulations, seed=seed, hidden="see", **changes)
    random_state = np.random.RandomState(seed)
    rollouts = mcts.RandomRolloutEvaluator(1, random_state)
    return MCTSBot(game, 1.4, simulations, rollouts, random_state=random_state)


def answers_as_fresh(used, new, first, second):
    """A bot that has looked at one position answers at another as a new one does."""
    for bot in (used, new):
        bot.restart()
    used.step(first)
    for bot in (used, new):
        bot._reseed(9)
    action = used.step(second)
    assert action == new.step(second)
    assert action in second.legal_actions()
    assert used.last_result.actions == new.last_result.actions
    if used._searcher.rooted_tree() is not None:
        assert dump(used._searcher) == dump(new._searcher)


def test_every_game_that_begins_at_a_text_is_tried():
    """By the headers of OpenSpiel that declare it."""
    games = pathlib.Path(open_spiel.__file__).parent / "games"
    takes = re.compile(r"NewInitialState\(\s*const (?:std::string|nlohmann::json)& ?\w+\)\s*const")
    found = {path.stem for path in games.glob("*/*.h") if takes.search(path.read_text())}
    if not found:
        pytest.skip("OpenSpiel is installed without its headers")
    assert found == {name.partition("(")[0] for name in SET_UP}


def pairs(name, most):
    """Positions with an action that is legal in both, and the second one after it."""
    found = 0
    for seed in range(40):
        first, second = (set_up(name, 2 + seed % 7, 100 * seed + each) for each in range(2))
        if first.is_terminal() or second.is_terminal() or str(first) == str(second):
            continue
        common = [
            action
            for action in sorted(set(first.legal_actions()) & set(second.legal_actions()))
            if second.child(action).current_player() >= 0
        ]
        if common and found < most:
            second.apply_action(random.Random(seed).choice(common))
            found += 1
            yield first, second
    assert found > 0


KINDS = [RaveBot, UCTBot, AutoBot, PNMCTSBot, MCTSBot]


@pytest.mark.full(but=["chess", "clobber(rows=4,columns=4)", "dots_and_boxes"])
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        # Something is hidden in rbc: other bots are refused, or see it.
        (name, UCTBot if name == "rbc" else KINDS[place % len(KINDS)])
        for place, name in enumerate(SET_UP)
    ],
)
def test_a_bot_that_looked_at_one_position_answers_at_another_as_a_new_one(name, kind):
    game = pyspiel.load_game(name)
    bots = [bot_for(kind, game, simulations=20) for _ in range(2)]
    for first, second in pairs(name, most=2):
        answers_as_fresh(*bots, first, second)


@pytest.mark.full(but=["clobber(rows=4,columns=4)"])
@pytest.mark.parametrize("name", ["chess", "gomoku(size=5,connect=4)", "clobber(rows=4,columns=4)"])
def test_a_game_that_begins_at_a_text_keeps_its_tree(name):
    state = set_up(name, 3, seed=1)
    bot = bot_for(UCTBot, state.get_game(), simulations=600)
    state.apply_action(bot.step(state))
    state.apply_action(bot.last_result.principal_variation[1])
    bot.step(state)
    assert bot.last_result.root_visits > 600


def test_games_of_an_unknown_version_are_told_by_their_text(monkeypatch):
    monkeypatch.setattr(positions, "TRIED_VERSION", "0")
    monkeypatch.setattr(states, "_prepared", {})
    monkeypatch.setattr(states, "_latest", [(None, None)])
    positions._is_tried_version.cache_clear()
    state = set_up("connect_four", 4, seed=1)
    bots = [bot_for(UCTBot, state.get_game()) for _ in range(2)]
    for first, second in pairs("connect_four", most=3):
        assert not OpenSpielState(second).traits.fixed_by_history
        answers_as_fresh(*bots, first, second)
    later = played(state.clone(), 2)
    assert OpenSpielState(state).moves_to(OpenSpielState(later)) == later.history()
    positions._is_tried_version.cache_clear()


def test_an_action_that_a_bot_is_told_of_at_another_position_leaves_no_tree_of_it():
    game = pyspiel.load_game("chess")
    bot = bot_for(UCTBot, game)
    bot.step(game.new_initial_state(KINGS))
    state = game.new_initial_state(MATE)
    move = state.string_to_action(0, "Kf1")
    bot.inform_action(state, state.current_player(), move)
    state.apply_action(move)
    assert bot.step(state) in state.legal_actions()
    assert bot.last_result.root_visits == 40


@pytest.mark.full(but=["clobber(rows=4,columns=4)"])
@pytest.mark.parametrize("name", ["chess", "clobber(rows=4,columns=4)", "gomoku(size=5,connect=4)"])
def test_copies_of_a_bot_keep_the_position_that_was_set_up(name):
    state = played(set_up(name, 3, seed=1), 2)
    bot = bot_for(UCTBot, state.get_game())
    bot.step(state)
    twin = copy.deepcopy(bot)
    assert position_key(twin._searcher.root.state) == position_key(state)
    assert twin.step(state) == bot.step(state)


def test_what_serialization_forgets_is_not_pickled():
    state = played(set_up("clobber(rows=4,columns=4)", 3, seed=1), 2)
    with pytest.raises(TypeError, match="does not keep where it began"):
        pickle.dumps(OpenSpielState(state))
    chess = played(set_up("chess", 3, seed=1), 2)
    again = pickle.loads(pickle.dumps(OpenSpielState(chess)))
    assert again.position_key() == OpenSpielState(chess).position_key()


# ---- positions of Python games, written by hand


def board(rows, mover):
    game = pyspiel.load_game("python_tic_tac_toe")
    state = game.new_initial_state()
    state.board[:] = [list(row) for row in rows]
    state._cur_player = mover
    return state


@pytest.mark.slow
@pytest.mark.parametrize("kind", [UCTBot, AutoBot, RaveBot, PNMCTSBot])
def test_a_board_written_by_hand_is_another_position(kind):
    second = board([".x.", "oo.", "..."], 0)
    second.apply_action(0)
    bots = [bot_for(kind, second.get_game(), simulations=300) for _ in range(2)]
    answers_as_fresh(*bots, board(["..o", "x..", "..."], 0), second)
    assert bots[0].last_result.action == 5


def test_a_board_edited_after_some_moves_is_another_position():
    state = played(pyspiel.load_game("python_tic_tac_toe").new_initial_state(), 2)
    before = state.clone()
    after = played(state.clone(), 1)
    assert moves_between(before, after) == after.history()[2:]
    after.board[after.board == "o"] = "."
    assert moves_between(before, after) is None


def test_attributes_written_between_two_calls_are_seen():
    state = board([".x.", "oo.", "..."], 0)
    bot = bot_for(UCTBot, state.get_game(), simulations=200)
    assert bot.get_policy(state) == bot.get_policy(state)
    assert bot.step(state) == 5
    bot.get_policy(state)
    state.board[0] = list("xx.")
    assert bot.step(state) == 2


class OwnState(pyspiel.State):
    """Nim with one heap, of whatever a test puts on it."""

    def __init__(self, game):
        super().__init__(game)
        self.heap = 6
        self.extra = None
        self._mover = 0

    def current_player(self):
        return pyspiel.PlayerId.TERMINAL if self.heap == 0 else self._mover

    def _legal_actions(self, player):
        return [take for take in range(3) if take < self.heap]

    def _apply_action(self, action):
        self.heap -= action + 1
        self._mover = 1 - self._mover

    def _action_to_string(self, player, action):
        return f"take {action + 1}"

    def is_terminal(self):
        return self.heap == 0

    def returns(self):
        won = 2 * self._mover - 1 if self.heap == 0 else 0  # Who took the last one, wins.
        return [won, -won]

    def __str__(self):
        return "nothing to see here"


class Thing:
    """A part of a position."""

    def __init__(self, value):
        self.value = value


class Unpickled:
    """An object whose pickles leave its content out, as those of many environments do."""

    def __init__(self, value):
        self.value = value

    def __reduce__(self):
        return Unpickled, (0,)

    def __deepcopy__(self, memo):
        return Unpickled(self.value)


@pytest.fixture(scope="module")
def own_game():
    return written_game(own_type("test_own_strings"), OwnState, actions=3, length=100)


def own(game, heap, extra=None):
    state = game.new_initial_state()
    state.heap, state.extra = heap, extra
    return state


def test_a_game_whose_text_says_nothing_is_told_by_its_attributes(own_game):
    second = own(own_game, 8)
    second.apply_action(1)
    bots = [bot_for(UCTBot, own_game, simulations=200) for _ in range(2)]
    answers_as_fresh(*bots, own(own_game, 5), second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2),
        (1, 1.0),
        (0.0, -0.0),
        ([1, [2]], [1, [3]]),
        ({"a": 1}, {"a": 2}),
        (np.zeros(3), np.zeros(3, np.float32)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        ({1, 2}, {1, 3}),
        (Thing([1]), Thing([2])),
        (Unpickled(1), Unpickled(2)),
        (random.Random(1), random.Random(2)),
        (np.random.default_rng(1), np.random.default_rng(2)),
        (pyspiel.PlayerId.CHANCE, pyspiel.PlayerId.TERMINAL),
        (pyspiel.load_game("hex"), pyspiel.load_game("hex(board_size=3)")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_attributes_hold_tells_positions_apart(own_game, one, other):
    keys = [position_key(own(own_game, 6, copy.deepcopy(extra))) for extra in (one, one, other)]
    assert keys[0] == keys[1] != keys[2]
    assert hash(keys[0]) == hash(keys[1])


def test_what_cannot_be_told_apart_is_not_reused(own_game):
    state = own(own_game, 6, (number for number in range(3)))
    assert position_key(state) is None
    assert OpenSpielState(state).position_key() is None


def test_lists_that_contain_themselves_are_told_apart(own_game):
    one, other = [1], [2]
    one.append(one)
    other.append(other)
    keys = [position_key(own(own_game, 6, copy.deepcopy(extra))) for extra in (one, one, other)]
    assert keys[0] == keys[1] != keys[2]


PYTHON_GAMES = [
    kind.short_name
    for kind in pyspiel.registered_games()
    if kind.short_name.startswith("python_")
    and kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    and kind.default_loadable
]


@pytest.mark.parametrize("name", PYTHON_GAMES)
def test_openspiels_python_games_are_followed(name):
    state, draw = pyspiel.load_game(name).new_initial_state(), random.Random(1)
    if name == "python_hangman":  # OpenSpiel's own clone of its first state is of no use.
        state.apply_action(3)
    for _ in range(12):
        if state.is_terminal():
            break
        before = state.clone()
        assert position_key(before) == position_key(state)
        state.apply_action(draw.choice(state.legal_actions()))
        assert moves_between(before, state) == state.history()[len(before.history()) :]
    assert start_of(state).history() == []


# ---- evaluators with a memory


@pytest.mark.full(but=["gomoku(size=5,connect=4)"])
@pytest.mark.parametrize("name", ["chess", "gomoku(size=5,connect=4)", "python_tic_tac_toe"])
def test_a_proof_evaluator_remembers_positions_not_histories(name):
    if name == "python_tic_tac_toe":
        first, second = board(["xx.", "oo.", "..."], 0), board(["x.x", ".oo", "..."], 0)
    else:
        first, second = set_up(name, 4, seed=1), set_up(name, 4, seed=2)
    evaluator = PNEvaluator(first.get_game(), seed=1)
    assert [action for action, _ in evaluator.prior(first)] == first.legal_actions()
    assert [action for action, _ in evaluator.prior(second)] == second.legal_actions()
    assert evaluator.prior(second) == evaluator.prior(second)


@pytest.mark.parametrize("name", ["chess", "python_tic_tac_toe"])
def test_a_rave_evaluator_forgets_another_game_or_board(name):
    if name == "chess":
        first, second = set_up(name, 4, seed=1), played(set_up(name, 4, seed=2), 1)
        later = played(first.clone(), 1)
    else:
        first, second = board(["x..", "...", "..."], 1), board([".x.", "...", "..."], 1)
        later = first.clone()
    evaluator = RaveEvaluator(first.get_game(), seed=1)
    evaluator.evaluate(first)
    evaluator.evaluate(later)
    assert evaluator._table.num_playouts == 2
    evaluator.evaluate(second)
    assert evaluator._table.num_playouts == 1


# ---- replays begin at the true start


def test_the_start_of_a_game_is_where_it_was_set_up():
    for name in SET_UP:
        state = set_up(name, 4, seed=3)
        text = str(state)
        if state.is_terminal() or state.history():
            continue
        assert str(start_of(state)) == text
        later = played(state.clone(), 3)
        start = start_of(later)
        told = name.partition("(")[0] not in ("clobber", "dots_and_boxes", "gomoku")
        assert str(start) == text if told else start is None


def test_worlds_of_a_game_from_a_fen_begin_there():
    game = pyspiel.load_game("rbc")
    fen = "4k3/8/8/8/8/8/3PP3/4K3 w - - 0 1"
    state = played(game.new_initial_state(fen), 8)
    knowledge = Knowledge(state, state.current_player())
    assert str(knowledge.start) == fen
    source = OpenSpielState(state).worlds(state.current_player(), random.Random(1).random)
    for _ in range(5):
        world = source().state
        assert sum(sign.isalpha() for sign in str(world).split()[0]) <= 4


def test_what_is_known_of_one_start_is_not_used_for_another():
    game = pyspiel.load_game("rbc")
    fens = ["4k3/8/8/8/8/8/3PP3/4K3 w - - 0 1", "3qk3/8/8/8/8/8/3PP3/4K3 w - - 0 1"]
    for fen in fens:
        state = game.new_initial_state(fen)
        for move in game.new_initial_state(fens[0]).legal_actions()[:1]:
            state.apply_action(move)
        assert str(Knowledge(state, 0).truth.states[-1]) == str(state)
    usual = played(game.new_initial_state(), 30)
    assert str(Knowledge(usual, usual.current_player()).truth.states[-1]) == str(usual)


def test_a_hidden_game_edited_on_its_way_is_not_replayed_from_elsewhere():
    state = after("python_kuhn_poker", 0, 1)
    Knowledge(state, 0)
    state.cards[0] = 2
    with pytest.raises(UnsupportedGameError, match="does not lead here from the game's start"):
        Knowledge(state, 0)
    bot = UCTBot(state.get_game(), simulations=10, seed=1)
    with pytest.raises(UnsupportedGameError, match="worlds="):
        bot.step(state)


def test_a_game_of_simultaneous_moves_that_was_edited_is_not_played_in_turn():
    state = pyspiel.load_game("python_iterated_prisoners_dilemma").new_initial_state()
    assert one_at_a_time(state, 0).current_player() == 0
    state._returns[:] = [3.0, 4.0]
    with pytest.raises(UnsupportedGameError, match="a position of its own"):
        one_at_a_time(state, 0)


# ---- agents for reinforcement-learning environments


def environment(state):
    env = rl_environment.Environment(state.get_game(), include_full_state=True)
    env.reset()
    env._state = state
    return env, env.get_time_step()


def test_an_agent_of_an_environment_follows_a_game_from_its_fen():
    game = pyspiel.load_game("chess")
    informed = []

    class Noting(UCTBot):
        def inform_action(self, state, player_id, action):
            informed.append(str(state))
            super().inform_action(state, player_id, action)

    state = game.new_initial_state(MATE)
    state.apply_action(state.string_to_action(0, "Kf1"))
    env, time_step = environment(state)
    agent = SearchRLAgent(
        state.current_player(), env.action_spec()["num_actions"], game, Noting(game, simulations=20)
    )
    assert agent.step(time_step).action in state.legal_actions()
    assert informed == [MATE]


def test_an_agent_of_an_environment_refuses_what_was_not_serialized():
    state = played(set_up("clobber(rows=4,columns=4)", 3, seed=1), 2)
    env, time_step = environment(state)
    agent = SearchRLAgent(
        state.current_player(), env.action_spec()["num_actions"], state.get_game(), simulations=20
    )
    with pytest.raises(ValueError, match="is not the environment's position"):
        agent.step(time_step)
