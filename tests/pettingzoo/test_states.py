"""PettingZoo environments as game states, and their translation to OpenSpiel's."""

import copy
import logging
import pickle

import numpy as np
import pettingzoo
import pytest
from helpers import zoo
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import parallel_to_aec, turn_based_aec_to_parallel
from rave_openspiel import OpenSpielState
from rave_pettingzoo import AECState, ParallelState, game_state, translation

from rave_agents import GameState, Limit, SearchConfig, Searcher, UnsupportedGameError
from rave_agents.environments.copying import equal
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.game.game_state import PlayerId
from rave_agents.simulate.simulator import Status, grown_frame, make_frame, simulated
from rave_agents.testing import check_game_state

BOARDS = {
    "tictactoe-v3": {},
    "connect_four-v3": {},
    "go-v5": {"board_size": 5},
    "chess-v6": {},
}


def search(state, preset="rave", simulations=50, seed=1, **changes):
    config = SearchConfig.preset(preset).replace(**changes)
    return Searcher(config, seed=seed).search(state, Limit(simulations=simulations))


@pytest.mark.parametrize("name", ["tictactoe-v3", "connect_four-v3"])
@pytest.mark.parametrize("translate", [True, False])
def test_state_conforms(name, translate):
    check_game_state(lambda: AECState(zoo.classic(name), translate=translate), games=2)


def test_state_of_go_conforms():
    env = zoo.classic("go-v5", board_size=3)
    # On so small a board OpenSpiel would end one random game in fifty by repetition.
    check_game_state(lambda: AECState(env, translate=False), games=1, max_moves=200)


@pytest.mark.slow
def test_state_of_an_environment_of_ones_own_conforms():
    def make():
        env = zoo.Counting()
        env.reset()
        return AECState(env)

    check_game_state(make, games=1)


def test_rewards_are_summed_up_for_each_agent():
    env = zoo.classic("tictactoe-v3")
    state = AECState(env)
    for action in (0, 3, 1, 4, 2):
        state.apply_action(action)
    assert state.is_terminal()
    assert state.current_player() == PlayerId.TERMINAL
    assert state.returns() == [1.0, -1.0]
    assert list(state.legal_actions()) == []


class Trio(zoo.Counting):
    """Three agents; who says 1 is out with -1; the last one wins; cut off after nine moves."""

    def __init__(self):
        super().__init__()
        self.possible_agents = ["a", "b", "c"]
        self.action_spaces = {a: zoo.spaces.Discrete(2) for a in self.possible_agents}
        self.observation_spaces = {a: zoo.spaces.Discrete(20) for a in self.possible_agents}

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        self.agent_selection = "a"

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._clear_rewards()
        self.put(self.get() + 1)
        alive = [a for a in self.agents if not self.terminations[a]]
        following = alive[(alive.index(agent) + 1) % len(alive)]
        if action == 1:
            self.terminations[agent] = True
            self.rewards[agent] = -1
            if len(alive) == 2:
                self.rewards[following] = 5
                self.terminations[following] = True
        if self.get() >= 9:
            self.truncations = dict.fromkeys(self.agents, True)
        self.agent_selection = following
        self._accumulate_rewards()
        self._deads_step_first()


def test_dead_agents_are_passed_over():
    env = Trio()
    env.reset()
    state = AECState(env)
    state.apply_action(1)
    assert state.current_player() == 1
    state.apply_action(0)
    assert state.current_player() == 2
    state.apply_action(1)
    assert state.is_terminal()
    assert state.returns() == [-1.0, 5.0, -1.0]


def test_truncation_is_the_end():
    env = Trio()
    env.reset()
    state = AECState(env)
    for _ in range(9):
        assert not state.is_terminal()
        state.apply_action(0)
    assert state.is_terminal()
    assert state.returns() == [0.0, 0.0, 0.0]


def test_three_players_are_searched():
    env = Trio()
    env.reset()
    env.step(1)
    result = search(AECState(env), "uct", simulations=300)
    assert result.action == 0


def test_mask_is_taken_from_the_info_else_from_the_observation():
    class Masked(wrappers.BaseWrapper):
        @property
        def infos(self):
            return {
                "player_2": {},
                "player_1": {"action_mask": np.array([0, 1, 1, 0, 0, 0, 0, 0, 0])},
            }

    env = Masked(zoo.classic("tictactoe-v3"))
    state = AECState(env)
    assert list(state.legal_actions()) == [1, 2]
    state.apply_action(1)
    assert list(state.legal_actions()) == [0, 2, 3, 4, 5, 6, 7, 8]


def test_state_goes_its_own_way():
    env = zoo.classic("connect_four-v3")
    before = copy.deepcopy(zoo.seen(env))
    state = AECState(env)
    state.apply_action(3)
    search(state)
    assert equal(zoo.seen(env), before)
    env.step(0)
    assert list(state.env.board[35:]) == [0, 0, 0, 1, 0, 0, 0]


def test_copies_keep_the_position_and_pickles_are_refused():
    env = zoo.classic("connect_four-v3")
    env.step(3)
    state = AECState(env)
    assert copy.deepcopy(state).position_key() == state.position_key()
    with pytest.raises(TypeError, match="would lose the position"):
        pickle.dumps(state)


@pytest.mark.full(but=["tictactoe-v3", "connect_four-v3", "go-v5"])
@pytest.mark.parametrize("name", BOARDS)
def test_translated_and_untranslated_games_agree(name):
    """On legal actions and players at every position, and on the results."""
    choices = zoo.choices(1)
    for _ in range({"chess-v6": 1, "go-v5": 4}.get(name, 10)):
        state = AECState(zoo.classic(name, **BOARDS[name]))
        followed = None
        seen = set()
        while not state.is_terminal():
            found = translation.translated(state.env)
            if name == "go-v5" and found.state.is_terminal():
                assert repeats(seen, state)
                break
            assert translation.matches(found, state.current_player(), state.legal_actions())
            if followed is not None:
                assert sorted(followed.legal_actions()) == sorted(found.state.legal_actions())
            seen.add(str(state).partition(":")[0])
            index = choices.randrange(len(found.actions))
            action = found.actions[index]
            followed = found.state.clone()
            followed.apply_action(found.state.legal_actions()[index])
            state.apply_action(action)
        else:
            # White is OpenSpiel's second player in chess.
            returns = followed.returns() if name != "chess-v6" else followed.returns()[::-1]
            claimed = name == "chess-v6" and state.env.board.can_claim_draw()
            assert followed.is_terminal() or claimed
            assert list(state.returns()) == (list(returns) if followed.is_terminal() else [0, 0])


def repeats(seen, state):
    """Whether this board was there before: OpenSpiel ends such a game of Go as a draw."""
    return str(state).partition(":")[0] in seen


def action_of(env, move):
    if isinstance(move, int):
        return move
    state = AECState(env)
    return next(
        a
        for a in state.legal_actions()
        if state.action_to_string(0, a) == move or state.action_to_string(1, a) == move
    )


def test_go_is_won_in_one_by_passing_on_both_ways():
    env = zoo.classic("go-v5", board_size=3)
    for action in (4, 9):  # Black in the middle, white passes: a pass wins by 1.5.
        env.step(action)
    for translate in (True, False):
        state = AECState(env, translate=translate)
        result = search(state, "uct_solver", simulations=200)
        assert state.action_to_string(0, result.action) == "pass"
        assert result.proven == "win"


def test_translation_grows_the_same_tree_as_openspiel():
    env = zoo.classic("connect_four-v3")
    for action in (3, 3, 2):
        env.step(action)
    ours = search(AECState(env), simulations=200)
    theirs = search(OpenSpielState(translation.translated(env.unwrapped).state), simulations=200)
    assert ours.actions == theirs.actions


def test_playouts_of_chess_are_drawn_by_the_weights_of_pettingzoos_actions():
    state = AECState(zoo.classic("chess-v6"))
    weights = np.where(np.random.default_rng(1).random((2, 4672)) < 0.5, 1.0, 1e-30)
    frame = make_frame(
        num_players=2,
        playouts=1,
        playout_stream=np.arange(1, 5, dtype=np.int64),
        move_capacity=4,
        action_weights=weights,
    )
    simulator = state.simulator(frame, None)
    assert isinstance(simulator, translation.ChessSimulator)
    while simulated(simulator, frame) == Status.FRAME_FULL:
        frame = grown_frame(frame)
        simulator.bind(frame)
    for player, action in zip(frame.move_players[:12], frame.move_actions[:12], strict=True):
        assert player == state.current_player()
        assert weights[player, action] == weights[player, state.legal_actions()].max()
        state.apply_action(int(action))


def test_chess_tree_ends_where_a_draw_can_be_claimed():
    env = zoo.classic("chess-v6")
    shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"]
    for move in [*shuffle, "g1f3", "g8f6"]:
        env.step(action_of(env, move))
    # After f3g1 black could claim by f6g8, which would repeat the start a third time.
    state = AECState(env)
    drawing = action_of(env, "f3g1")
    after = state.clone()
    after.apply_action(drawing)
    assert after.is_terminal()
    result = search(state, "uct", simulations=100)
    row = next(row for row in result.actions if row.action == drawing)
    assert row.visits > 1
    assert row.value == 0.0


def test_chess_castling_and_a_rooks_move_of_the_same_number_are_told_apart():
    board = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    env = zoo.classic("chess-v6")
    env.unwrapped.board.set_fen(board)
    env.unwrapped.board.clear_stack()
    state = AECState(env)
    found = translation.translated(state.env)
    assert translation.matches(found, 0, state.legal_actions())
    result = search(state, "uct", simulations=200, expand_visits=1)
    names = {result.action_name(row.action) for row in result.actions}
    assert {"e1g1", "e1c1", "h1g1"} <= names
    assert len(names) == len(result.actions)


def test_mismatch_falls_back_to_the_environment_with_a_warning(caplog, monkeypatch):
    env = zoo.classic("tictactoe-v3")
    monkeypatch.setattr(env.unwrapped.board, "squares", [1, 1, 0, 0, 0, 0, 0, 0, 0])
    # It is the first player's turn, and he has two marks more: no game leads here.
    env.unwrapped.possible_agents = ["player_2", "player_1"]
    state = AECState(env)
    monkeypatch.setitem(
        translation._TRANSLATIONS,
        "pettingzoo.classic.tictactoe.tictactoe.raw_env",
        lambda raw: translation._same_actions(translation._game("tic_tac_toe").new_initial_state()),
    )
    with caplog.at_level(logging.WARNING, "rave_agents"):
        result = search(state)
    assert result.action in range(2, 9)
    assert "environment itself is searched" in caplog.text


@pytest.mark.parametrize("komi", [7, 6.5])
def test_go_is_translated_unless_points_can_be_equal(komi):
    env = zoo.classic("go-v5", board_size=5, komi=komi)
    found = translation.translated(env.unwrapped)
    assert (found is None) == (komi == 7)


def test_shimmy_is_searched_in_its_own_state():
    env = zoo.shimmy("backgammon", seed=2)
    state = game_state(env)
    assert isinstance(state, OpenSpielState)
    assert state.state.history() == env.game_state.history()
    before = env.game_state.history()
    search(state, simulations=5)
    assert env.game_state.history() == before
    assert isinstance(game_state(zoo.shimmy("hex", board_size=3), translate=False), AECState)


def test_final_returns_of_shimmy_are_openspiels():
    state = AECState(zoo.shimmy("tic_tac_toe"))
    for action in (0, 3, 1, 4, 2):
        state.apply_action(action)
    assert list(state.returns()) == [1.0, -1.0]


def test_environment_is_a_game_state_to_every_searcher():
    env = zoo.classic("connect_four-v3")
    assert isinstance(as_game_state(env), GameState)
    assert search(env).action in range(7)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: zoo.classic("rps-v2"), "move at the same time"),
        (lambda: zoo.shimmy("goofspiel"), "move at the same time"),
        (lambda: parallel_to_aec(pettingzoo.make("parallel", "classic/rps-v2")), "same time"),
        (lambda: pettingzoo.make("parallel", "classic/rps-v2"), "same time"),
    ],
)
def test_what_cannot_be_searched_is_refused_with_the_reason(make, reason):
    env = make()
    with pytest.raises(UnsupportedGameError, match=reason):
        game_state(env)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (
            zoo.own_leduc,
            r"the other player's card.*function\(env, agent, rng\).*register_worlds",
        ),
        (lambda: AECState(zoo.shimmy("kuhn_poker")), "keeps from its players"),
        # Dice inside an environment: its copies know what they will show.
        (lambda: AECState(zoo.shimmy("backgammon")), "openspiel:backgammon"),
    ],
)
def test_what_hides_something_is_refused_with_the_reason_unless_it_may_be_seen(make, reason):
    hiding = make()
    with pytest.raises(UnsupportedGameError, match=reason):
        search(hiding)
    assert search(hiding, simulations=5, hidden="see").simulations == 5


def test_shimmys_hidden_games_are_searched_in_the_worlds_of_openspiel():
    env = zoo.shimmy("kuhn_poker")
    state = env.game_state
    twin = next(
        other
        for other in (zoo.shimmy("kuhn_poker", seed=seed) for seed in range(20))
        if other.game_state.information_state_string() == state.information_state_string()
        and str(other.game_state) != str(state)
    )
    tables = [search(game_state(one), "uct").actions for one in (env, twin)]
    assert tables[0] == tables[1]


def test_environment_that_has_not_begun_or_is_over_is_refused():
    env = pettingzoo.make("aec", "classic/tictactoe-v3")
    for begun in (env, env.unwrapped):
        with pytest.raises(ValueError, match="has not been reset"):
            AECState(begun)
    env.reset()
    zoo.play(env, 100, zoo.choices(1))
    with pytest.raises(ValueError, match="over"):
        AECState(env)


def test_bad_arguments_are_refused():
    env = zoo.classic("tictactoe-v3")
    with pytest.raises(TypeError, match="translate must be True or False"):
        AECState(env, translate=1)
    with pytest.raises(TypeError, match="worlds must be a function"):
        AECState(env, worlds="all")
    with pytest.raises(TypeError, match="got str"):
        AECState("tictactoe")


class Watched(wrappers.BaseWrapper):
    """Fails when a search touches the live environment; its copies are free."""

    def __init__(self, env):
        super().__init__(env)
        self.owner = [id(self)]

    def _refuse(self):
        if id(self) in self.owner:  # Not by assert, which refers to the whole session of pytest.
            raise AssertionError("the live environment was touched")

    def step(self, action):
        self._refuse()
        super().step(action)

    def reset(self, seed=None, options=None):
        self._refuse()
        super().reset(seed, options)

    def render(self):
        self._refuse()
        return super().render()


@pytest.mark.slow
def test_live_environment_is_never_stepped_seeded_or_rendered():
    env = Watched(zoo.classic("connect_four-v3", render_mode="rgb_array"))
    before = copy.deepcopy(zoo.seen(env))
    search(AECState(env), simulations=30)
    assert equal(zoo.seen(env), before)
    with pytest.raises(AssertionError, match="touched"):
        env.step(0)


def test_parallel_view_of_a_turn_based_environment():
    env = turn_based_aec_to_parallel(zoo.Counting())
    env.reset(seed=0)
    state = game_state(env)
    assert isinstance(state, AECState)
    assert search(state, simulations=20).action in (0, 1)


@pytest.mark.slow
def test_parallel_environment_with_turns_conforms_and_is_searched():
    env = zoo.Turns()
    observations, infos = env.reset()

    def make():
        return ParallelState(env, observations=observations, infos=infos)

    check_game_state(make, games=3)
    # Who leaves 3 or 6 to the other wins: from 0 only by 1.
    assert search(make(), "uct_solver", simulations=500).action == 1
    assert env.sum == 0


def test_parallel_environment_of_turns_must_go_on_so():
    env = zoo.Turns()
    observations, infos = env.reset()
    env.infos = lambda: {}
    state = ParallelState(env, observations=observations, infos=infos)
    with pytest.raises(UnsupportedGameError, match="simultaneous=True"):
        state.apply_action(1)


def test_parallel_environment_needs_what_it_told_last():
    env = zoo.Turns()
    env.reset()
    with pytest.raises(UnsupportedGameError, match="ParallelState"):
        game_state(env)
