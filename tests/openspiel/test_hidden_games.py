"""Every game with hidden information: worlds that agree and a game to its end, or a refusal."""

import pathlib
import random
import sys

import pyspiel
import pytest
from helpers.spiel import TYPES, drawn_action
from rave_openspiel import RaveBot
from rave_openspiel.worlds import RESAMPLING, UNRELIABLE, view, world_source

from rave_agents.errors import UnsupportedGameError

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs" / "results"))
import hidden_games

GAMES = hidden_games.hidden_games()
SIMULTANEOUS = ("coop_box_pushing",)
"""Games whose worlds are of the game in which players move in turn: see test_leaks.py."""
PLAYED = [game.name for game in GAMES if game.worlds and game.name not in SIMULTANEOUS]
SEARCHES = 2
SLOW = ("python_liars_poker", "python_team_dominoes")
"""Games in Python whose long histories are searched once."""
MOST_MOVES = 400
"""Moves after which a long game is left: crazy_eights may last for thousands."""


def test_every_game_that_loads_is_in_the_table():
    hidden = [
        kind.short_name
        for kind in TYPES.values()
        if kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
        and kind.default_loadable
    ]
    assert sorted(game.name for game in GAMES) == sorted(hidden)


@pytest.mark.full(but=2)
@pytest.mark.parametrize("name", PLAYED)
def test_worlds_agree_and_bots_play(name):
    game = pyspiel.load_game(name)
    rng = random.Random(4)
    bot = RaveBot(game, simulations=2, seed=1)
    state, searches, moves = game.new_initial_state(), 0, 0
    while not state.is_terminal() and moves < MOST_MOVES:
        moves += 1
        due = state.current_player() >= 0 and (searches == 0 or rng.random() < 0.15)
        if not due or searches == (1 if name in SLOW else SEARCHES):
            state = state.child(drawn_action(state, rng))
            continue
        searches += 1
        player = state.current_player()
        source = world_source(state, player, rng.random)
        for world in (source(), source()):
            assert world.current_player() == player
            assert world.legal_actions() == state.legal_actions()
            assert view(world, player) == view(state, player)
        before = state.serialize()
        action = bot.step(state)
        assert state.serialize() == before
        state = state.child(action)
    assert searches > 0
    assert state.is_terminal() or moves == MOST_MOVES


@pytest.mark.parametrize("game", [game for game in GAMES if not game.worlds], ids=lambda g: g.name)
def test_the_others_are_refused_with_the_reason(game):
    with pytest.raises(UnsupportedGameError) as caught:
        RaveBot(pyspiel.load_game(game.name))
    assert game.remark in str(caught.value)


@pytest.mark.slow
@pytest.mark.full(but=8)
@pytest.mark.parametrize("name", sorted(RESAMPLING | UNRELIABLE.keys()))
def test_games_with_a_method_of_their_own_are_known(name):
    state = pyspiel.load_game(name).new_initial_state()
    rng = random.Random(1)
    while state.is_chance_node():
        state = state.child(drawn_action(state, rng))
    world = state.resample_from_infostate(state.current_player(), rng.random)
    assert view(world, state.current_player()) == view(state, state.current_player())
