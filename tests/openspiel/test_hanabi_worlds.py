"""Worlds of Hanabi: every hand that agrees with what a player knows, each as often as it should."""

import itertools
import random
from collections import Counter

import pyspiel
import pytest
import scipy
from rave_openspiel import UCTBot
from rave_openspiel.hanabi_worlds import HanabiWorlds

SMALL = "colors=2,ranks=3,hand_size=2,max_information_tokens=3"
CARDS = [*range(6), 0, 0, 1, 3, 3, 4]
"""The small deck: three cards of rank 1, two of rank 2 and one of rank 3, in each of two colors."""


def positions(name, seed=1):
    """The decisions of a game of mostly hints and discards."""
    draw = random.Random(seed)
    state = pyspiel.load_game(name).new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(draw.choices(*zip(*state.chance_outcomes(), strict=True))[0])
            continue
        yield state
        plays = [a for a in state.legal_actions() if "(Play" in state.action_to_string(a)]
        others = [a for a in state.legal_actions() if a not in plays]
        state.apply_action(draw.choice(others if others and draw.random() < 0.9 else plays))


def views(state, player):
    """What a player has seen at every decision."""
    now, seen = state.get_game().new_initial_state(), []
    for action in state.history():
        now.apply_action(action)
        if not now.is_chance_node() and not now.is_terminal():
            seen.append(now.observation_string(player))
    return seen


@pytest.mark.full(but=[SMALL])
@pytest.mark.parametrize(
    "parameters",
    [SMALL, "", "players=3", "players=4", "observation_type=minimal", "random_start_player=True"],
)
def test_no_player_can_tell_a_world_from_the_truth(parameters):
    draw, changed = random.Random(2), 0
    for state in itertools.islice(positions(f"hanabi({parameters})"), 30):
        for player in range(state.num_players()):
            world = HanabiWorlds(state, player, draw.random)()
            if "random_start" not in parameters:  # Which a replay in this test draws again.
                assert views(world, player) == views(state, player)
            assert world.observation_string(player) == state.observation_string(player)
            assert world.observation_tensor(player) == state.observation_tensor(player)
            assert world.legal_actions(player) == state.legal_actions(player)
            changed += str(world) != str(state)
    assert changed > 20


def test_each_possible_hand_is_dealt_as_often_as_it_should_be():
    state = next(itertools.islice(positions(f"hanabi({SMALL})", seed=4), 7, None))
    player = state.current_player()
    source = HanabiWorlds(state, player, random.Random(3).random)
    steps = [held.step for held in source._hand]
    history = state.history()
    dealt = [move.action for move in state.full_history() if move.player < 0]
    unseen = Counter(CARDS)
    unseen.subtract(dealt)
    unseen.update(history[step] for step in steps)
    expected = Counter()
    for hand in itertools.permutations(list(unseen.elements()), len(steps)):
        other, cards = state.get_game().new_initial_state(), dict(zip(steps, hand, strict=True))
        for action in (cards.get(step, action) for step, action in enumerate(history)):
            if action not in other.legal_actions():  # A hint at cards that are not there.
                break
            other.apply_action(action)
        else:
            expected[hand] += views(other, player) == views(state, player)
    expected = {hand: count for hand, count in expected.items() if count}
    assert 2 < len(expected) < len(set(itertools.permutations(list(unseen.elements()), 2)))
    drawn = Counter(tuple(source().history()[step] for step in steps) for _ in range(1000))
    assert set(drawn) == set(expected)
    wanted = [count * 1000 / sum(expected.values()) for count in expected.values()]
    observed = [drawn[hand] for hand in expected]
    assert scipy.stats.chisquare(observed, wanted).pvalue > 0.01


def test_players_who_see_their_own_hand_keep_it():
    for state in itertools.islice(positions("hanabi(observation_type=seer)"), 5):
        assert str(HanabiWorlds(state, 0, random.Random(1).random)()) == str(state)


def test_searches_draw_these_worlds():
    bot = UCTBot(pyspiel.load_game("hanabi"), simulations=20, seed=1)
    bot.step(next(positions("hanabi")))
    assert bot.last_result.worlds.method == "deal"
    assert bot.last_result.worlds.distinct > 15
