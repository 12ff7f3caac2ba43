"""Every sequential game with perfect information that OpenSpiel can load by its name."""

import random

import pyspiel
import pytest
from helpers.spiel import FEW, OPEN, drawn_action
from helpers.trees import dump
from rave_openspiel import OpenSpielState, refusal
from rave_openspiel.adapter import ADAPTER
from rave_openspiel.playouts import ALTERNATING_GAMES
from rave_openspiel.simulator import RolloutSimulator

from rave_agents import Limit, SearchConfig, Searcher, UnsupportedGameError, testing

SEARCHED_MOVES = 40
"""Moves that are searched; the rest of a game is played at random."""


def test_all_supported_games_are_there():
    assert len(OPEN) >= 44
    rewards = pyspiel.GameType.RewardModel.REWARDS
    types = [pyspiel.load_game(name).get_type() for name in OPEN]
    assert sum(game_type.reward_model == rewards for game_type in types) >= 3
    assert sum(game_type.short_name.startswith("python_") for game_type in types) >= 2
    assert all(refusal(game_type) is None for game_type in types)


@pytest.mark.full(but=4)
@pytest.mark.parametrize("name", OPEN)
def test_low_budget_search_plays_a_whole_game(name):
    draw = random.Random(name)
    state = pyspiel.load_game(name).new_initial_state()
    searcher = Searcher(SearchConfig.preset("rave"), seed=1)
    searched = 0
    while not state.is_terminal():
        if state.is_chance_node() or searched == SEARCHED_MOVES:
            action = drawn_action(state, draw)
        else:
            before = (state.serialize(), str(state))
            result = searcher.search(state, Limit(simulations=3))
            assert (state.serialize(), str(state)) == before
            action = result.action
            legal = state.legal_actions()
            assert action in legal
            assert [row.action for row in result.actions] == legal
            if len(legal) > 1:
                assert result.root_visits == 3
                assert sum(row.visits for row in result.actions) == 2  # the first is the root's own
            searched += 1
        state.apply_action(action)
    assert searched > 0


OTHER_PARAMETERS = [
    "quoridor(players=3)",
    "chess(chess960=true)",
    "chinese_checkers(players=3)",
    "go(handicap=2)",
    "hex(board_size=4,swap=true)",
    "nim(pile_sizes=1;2;3)",
    "breakthrough(rows=5,columns=4)",
]
"""Parameters that change who plays."""


@pytest.mark.full(but=[*FEW, *OTHER_PARAMETERS[-3:]])
@pytest.mark.parametrize("name", [*OPEN, *OTHER_PARAMETERS])
def test_states_and_simulators_conform(name):
    game = pyspiel.load_game(name)

    def make_state():
        state = game.new_initial_state()
        if name == "python_hangman":  # a clone of its first position has no chance outcomes
            state.apply_action(random.Random(1).randrange(len(state.legal_actions())))
        return OpenSpielState(state)

    testing.check_game_state(make_state, games=1, seed=3)


@pytest.mark.full(but=12)
@pytest.mark.parametrize("name", OPEN)
def test_alternating_games_are_those_in_the_table(name):
    """Random games tell: in a listed game players take turns at every decision; a game for two
    without chance that is played in C++ and is not listed shows a player who moves twice."""
    game = pyspiel.load_game(name)
    chance = game.get_type().chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC
    eligible = game.num_players() == 2 and not chance
    eligible = eligible and RolloutSimulator.can_play(game.new_initial_state())
    if name not in ALTERNATING_GAMES and not eligible:
        return
    assert eligible, "the table is for two players without chance"
    draw = random.Random(name)
    alternates = True
    positions = 0
    while alternates and positions < 1200:
        state = game.new_initial_state()
        previous = 1 - state.current_player()
        while not state.is_terminal():
            alternates = alternates and state.current_player() == 1 - previous
            previous = state.current_player()
            state.apply_action(draw.choice(state.legal_actions()))
            positions += 1
    assert alternates == (name in ALTERNATING_GAMES)


def test_the_table_is_sorted_by_registered_games():
    assert set(OPEN) >= ALTERNATING_GAMES


@pytest.mark.parametrize("name", ["stones_and_gems"])
def test_unsupported_games_are_refused(name):
    with pytest.raises(UnsupportedGameError, match="cannot be searched"):
        ADAPTER.load_game(name)


@pytest.mark.parametrize("name", ["tarok", "bridge_uncontested_bidding"])
def test_a_search_refuses_states_of_games_it_cannot_play(name):
    state = pyspiel.load_game(name).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    for given in (state, OpenSpielState(state)):
        with pytest.raises(UnsupportedGameError, match=r"no worlds|cannot be searched"):
            Searcher().search(given, Limit(simulations=10))


def test_a_copy_and_a_search_outlive_the_state_that_theirs_comes_from():
    game = pyspiel.load_game("morpion_solitaire")  # Whose own clones do not.

    def tree(state):
        searcher = Searcher(SearchConfig.preset("uct"), seed=1)
        searcher.search(state, Limit(simulations=30))
        return dump(searcher)

    living = game.new_initial_state()
    action = living.legal_actions()[0]
    living.apply_action(action)
    orphan = OpenSpielState(game.new_initial_state().child(action))
    copy = orphan.clone()
    _overwriting = [bytearray(b"\xff" * size) for size in range(600, 40_000, 64)]
    assert tree(orphan) == tree(copy) == tree(OpenSpielState(living))
