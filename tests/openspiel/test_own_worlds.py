"""Games that draw their own worlds know no more than the player, or are replayed."""

import random

import numpy as np
import pyspiel
import pytest
from helpers.examples import load_example
from rave_openspiel import RaveBot
from rave_openspiel.worlds import RESAMPLING, resamples, resamples_at, world_source

own_worlds = load_example("own_worlds")

TRUSTED = {
    "bargaining": ["bargaining"],
    "blackjack": ["blackjack"],
    "bridge": ["bridge(use_double_dummy_result=false)"],
    "gin_rummy": ["gin_rummy(num_ranks=5,num_suits=2,hand_size=3,knock_card=6)", "gin_rummy"],
    "kuhn_poker": ["kuhn_poker", "kuhn_poker(players=4)"],
    "leduc_poker": ["leduc_poker", "leduc_poker(players=3)"],
    "universal_poker": [
        "universal_poker",
        "universal_poker(numHoleCards=2,numRanks=4,numSuits=4)",
        "universal_poker(betting=limit,numRounds=2,blind=50 100,firstPlayer=2 1,maxRaises=2 2)",
    ],
}
"""Each trusted game, with parameters that make its worlds differ."""

CASES = [(name, spec) for name, specs in TRUSTED.items() for spec in specs]

WORST = 6.0
"""Standard errors by which a share may be off, among thousands that are looked at."""


def rows(spec, positions, worlds):
    """The comparisons at positions where the game's own worlds are used."""
    draw = random.Random(spec)
    found = []
    for state in own_worlds.decisions(pyspiel.load_game(spec), positions, draw):
        if resamples_at(state):
            row = own_worlds.compared(state, worlds, draw)
            found += [] if row is None else [row]
    assert found
    return found


def check(spec, positions, worlds):
    found = rows(spec, positions, worlds)
    assert max(row.contradictions for row in found) == 0
    assert not any(row.missing for row in found)
    assert not any(row.deviation > WORST for row in found)
    more = [row.shares.own - max(row.shares.posterior, row.shares.uniform) for row in found]
    error = max(np.std(more), 0.5 / np.sqrt(worlds)) / np.sqrt(len(more))
    assert np.mean(more) < 4 * error


def test_every_trusted_game_is_compared():
    assert RESAMPLING.keys() == TRUSTED.keys()
    assert all(resamples(pyspiel.load_game(spec)) for _, spec in CASES)


@pytest.mark.full(but=["leduc_poker"])
@pytest.mark.parametrize("spec", [spec for _, spec in CASES])
def test_own_worlds_agree_with_the_posterior(spec):
    """``examples/own_worlds.py`` looks at more positions."""
    positions = {"gin_rummy": 1, "bridge(use_double_dummy_result=false)": 2}
    check(spec, positions.get(spec, 8), 200)


@pytest.mark.parametrize(
    "spec",
    [
        "oh_hell(num_suits=2,num_cards_per_suit=3)",
        "leduc_poker(suit_isomorphism=True)",
        "leduc_poker(action_mapping=True)",
        pytest.param("colored_trails", marks=pytest.mark.full),
    ],
)
def test_what_is_not_trusted_is_found_out(spec):
    """The comparison sees worlds that know too much, or leave out what may be."""
    game = pyspiel.load_game(spec)
    assert not resamples(game)
    draw = random.Random(spec)
    states = own_worlds.decisions(game, 6, draw)
    found = [own_worlds.compared(state, 150, draw) for state in states]
    assert any(row is not None and (row.missing or row.deviation > WORST) for row in found)


def layoff():
    """A position of gin rummy in which the other player has knocked."""
    game, draw = pyspiel.load_game("gin_rummy(num_ranks=5,num_suits=2,hand_size=3)"), None
    draw = random.Random(1)
    while True:
        for state in own_worlds.decisions(game, 24, draw):
            if "Phase: Layoff" in str(state):
                yield state


@pytest.mark.slow
def test_gin_rummys_layoff_is_replayed():
    states = layoff()
    for _ in range(20):
        state = next(states)
        assert resamples(state.get_game())
        assert not resamples_at(state)
        player = state.current_player()
        source = world_source(state, player, random.Random(1).random)
        hands = {world.observation_string(1 - player) for world in (source() for _ in range(60))}
        if len(hands) > 1:
            return
    pytest.fail("worlds do not differ")


@pytest.mark.parametrize(
    "spec",
    [
        "universal_poker(numPlayers=3,stack=1200 1200 1200,blind=100 100 100)",
        "bargaining(prob_end=0.5,max_num_instances=20)",
    ],
)
def test_parameters_in_which_a_game_fails_to_draw_are_replayed(spec):
    """OpenSpiel's own method ends the process, or raises."""
    game, draw = pyspiel.load_game(spec), random.Random(2)
    bot = RaveBot(game, simulations=20, seed=1)
    for state in own_worlds.decisions(game, 4, draw):
        assert bot.step(state) in state.legal_actions()
        assert bot.last_result.worlds.method in ("list", "particles", "walk")


@pytest.mark.parametrize("trump", [True, False])
def test_unseen_cards_of_oh_hell_come_from_the_deck_too(trump):
    """Two of three players' unseen cards: each is in their hands as often as it should be."""
    spec = "oh_hell(num_tricks_fixed=1)" if trump else "oh_hell(players=4,num_tricks_fixed=1)"
    state = pyspiel.load_game(spec).new_initial_state()
    draw = random.Random(3)
    while state.is_chance_node():
        state.apply_action(draw.choice(state.legal_actions()))
    player = state.current_player()
    source = world_source(state, player, draw.random)
    truth = own_worlds.secret(state, player)
    same = [(own_worlds.secret(source(), player) == truth).all() for _ in range(100)]
    assert sum(same) < 5
