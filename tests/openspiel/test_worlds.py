"""Worlds: they agree with what the player knows, vary as they should, and forget the truth."""

import itertools
import math
import random
from collections import Counter

import numpy as np
import pyspiel
import pytest
import scipy
from helpers.spiel import decision
from rave_openspiel import first_history as first_history_module
from rave_openspiel import replayed_worlds
from rave_openspiel.first_history import first_history
from rave_openspiel.history_chain import Budget
from rave_openspiel.knowledge import Knowledge
from rave_openspiel.listed_worlds import listed
from rave_openspiel.worlds import ReplayedWorlds, resamples, view, world_source

from rave_agents.errors import GameError


def seen(state, player):
    return view(state, player) if state.current_player() >= 0 else None


def retold(state, player):
    """What the player saw at every step of the history, which must be legal."""
    now = state.get_game().new_initial_state()
    told = []
    for move in state.full_history():
        assert now.current_player() == move.player
        now.apply_action_with_legality_check(move.action)
        told.append(seen(now, player))
    return told


def posterior(state, player):
    """Every history in which the player sees the same, and its probability."""
    truth = retold(state, player)
    history = state.full_history()
    found = {}

    def follow(now, step, probability):
        if step == len(history):
            found[tuple(now.history())] = probability
            return
        if now.current_player() != history[step].player:
            return
        if now.is_chance_node():
            choices = now.chance_outcomes()
        elif now.current_player() == player:
            choices = [(history[step].action, 1.0)]
        else:
            legal = now.legal_actions()
            choices = [(action, 1.0 / len(legal)) for action in legal]
        for action, share in choices:
            after = now.child(action)
            if seen(after, player) == truth[step]:
                follow(after, step + 1, probability * share)

    follow(state.get_game().new_initial_state(), 0, 1.0)
    total = sum(found.values())
    return {line: probability / total for line, probability in found.items()}


def p_value(expected, drawn):
    """Of Pearson's test, with rare worlds put together."""
    total = sum(drawn.values())
    assert set(drawn) <= set(expected)
    often = [line for line in expected if expected[line] * total >= 5]
    rare = [line for line in expected if expected[line] * total < 5]
    groups = [[line] for line in often] + ([rare] if rare else [])
    observed = [sum(drawn[line] for line in group) for group in groups]
    wanted = [sum(expected[line] for line in group) * total for group in groups]
    return scipy.stats.chisquare(observed, wanted).pvalue if len(groups) > 1 else 1.0


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("liars_dice", 3),
        ("first_sealed_auction", 1),
        ("tiny_hanabi", 1),
        ("leduc_poker", 3),
        ("coordinated_mp", 1),
        ("phantom_ttt(gameversion=abrupt)", 2),
    ],
)
def test_listed_worlds_have_exactly_the_posterior_distribution(name, moves):
    state = decision(name, moves, seed=3)
    player = state.current_player()
    worlds = listed(Knowledge(state, player), Budget(math.inf))
    units = itertools.count()
    drawn = Counter()
    for _ in range(4_000):  # Evenly spaced numbers draw each world as often as its probability.
        drawn[tuple(worlds.draw(lambda: (next(units) + 0.5) / 4_000).history())] += 1
    expected = posterior(state, player)
    assert set(drawn) == set(expected)
    for line, probability in expected.items():
        assert drawn[line] == pytest.approx(4_000 * probability, abs=1.01)


def test_unseen_attempts_are_listed_too():
    state = pyspiel.load_game("phantom_ttt").new_initial_state()
    for action in (4, 4, 0):  # O tried the centre, which X does not see.
        state.apply_action(action)
    worlds = listed(Knowledge(state, 0), Budget(math.inf))
    expected = [[4, place] for place in range(9) if place != 4]
    expected += [[4, *line] for line in ([4, place] for place in range(9) if place != 4)]
    assert sorted(world.history() for world in worlds.states) == sorted(expected)
    assert listed(Knowledge(state, 0), Budget(10)) is None


@pytest.mark.slow
@pytest.mark.full(but=["kuhn_poker"])
@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("kuhn_poker", 1),
        ("leduc_poker", 1),
        ("leduc_poker", 3),
        ("liars_dice", 1),
        ("liars_dice", 3),
        ("liars_dice(numdice=2)", 1),
        ("first_sealed_auction", 1),
        ("tiny_bridge_2p", 1),
        ("tiny_hanabi", 1),
        ("latent_ttt", 3),
        ("coordinated_mp", 1),
    ],
)
def test_the_first_particle_has_the_posterior_distribution(name, moves, monkeypatch):
    monkeypatch.setattr(replayed_worlds, "listed", lambda *_: None)
    assert_drawn_from_the_posterior(name, moves)


@pytest.mark.slow
@pytest.mark.full(but=["leduc_poker"])
@pytest.mark.parametrize(
    ("name", "moves"),
    [("leduc_poker", 3), ("liars_dice", 3), ("first_sealed_auction", 1), ("tiny_bridge_2p", 1)],
)
def test_the_first_world_of_a_walk_has_the_posterior_distribution(name, moves, monkeypatch):
    monkeypatch.setattr(replayed_worlds, "listed", lambda *_: None)
    monkeypatch.setattr(replayed_worlds, "filtered", lambda *_: [])
    assert_drawn_from_the_posterior(name, moves)


def assert_drawn_from_the_posterior(name, moves):
    state = decision(name, moves, seed=3)
    player = state.current_player()
    expected = posterior(state, player)
    draw = random.Random(11).random
    drawn = Counter()
    for _ in range(300):
        source = ReplayedWorlds(state, player, draw)
        source.begin(simulations=30, deadline=math.inf)
        drawn[tuple(source().history())] += 1
    assert p_value(expected, drawn) > 0.01


@pytest.mark.full(but=["go_fish"])
@pytest.mark.parametrize("name", ["go_fish", "hearts", "oh_hell"])
def test_a_walk_starts_at_a_history_that_depends_on_the_seed_alone(name):
    state = decision(name, 9, seed=1)
    player = state.current_player()
    world = ReplayedWorlds(state, player, random.Random(1).random)()
    assert world.history() != state.history()
    starts = set()
    for seed in range(1000, 4000, 1000):
        one, other = (
            first_history(Knowledge(each, player), Budget(math.inf), seed)
            for each in (state, world)
        )
        assert one.actions == other.actions
        assert retold(one.states[-1], player) == retold(state, player)
        starts.add(tuple(one.actions))
    assert len(starts) == 3


def test_a_search_for_a_start_goes_on_as_a_new_one_would(monkeypatch):
    state = decision("go_fish", 6, seed=1)
    player, now = state.current_player(), state.get_game().new_initial_state()
    kept, new_ones = [], []
    monkeypatch.setattr(first_history_module, "_kept", kept)
    monkeypatch.setattr(
        first_history_module,
        "new_search",
        lambda *_, new=first_history_module.new_search: new_ones.append(new(*_)) or new_ones[-1],
    )
    for action in [*state.history(), None]:
        if now.current_player() == player:
            assert first_history(Knowledge(now, player), Budget(math.inf, 0.0)) is None  # No time.
            going_on = first_history(Knowledge(now, player), Budget(math.inf))
        if action is not None:
            now.apply_action(action)
    assert len(new_ones) == len(kept) == 1
    kept.clear()
    assert first_history(Knowledge(state, player), Budget(math.inf)).actions == going_on.actions
    assert new_ones[0].played == new_ones[1].played
    # At an earlier moment, or with other knowledge, there is none to go on with.
    for other in (decision("go_fish", 2, seed=1), decision("go_fish", 6, seed=2)):
        first_history(Knowledge(other, other.current_player()), Budget(math.inf))
    assert len(new_ones) == 4


def test_a_walk_that_finds_no_start_says_that_it_began_at_the_truth(monkeypatch, caplog):
    for name in ("MOST_ACTIONS", "MORE_ACTIONS"):
        monkeypatch.setattr(first_history_module, name, 0)
    replayed_worlds._warn_of_true_start.cache_clear()
    state = decision("hearts", 9, seed=1)
    source = ReplayedWorlds(state, state.current_player(), random.Random(1).random)
    source()
    assert source.method == replayed_worlds.TRUE_WALK == "walk from the true history"
    assert "no history of hearts" in caplog.text


@pytest.mark.parametrize(("name", "moves"), [("kuhn_poker", 1), ("leduc_poker", 3)])
def test_the_games_own_worlds_have_the_posterior_distribution(name, moves):
    state = decision(name, moves, seed=3)
    player = state.current_player()
    source = world_source(state, player, random.Random(11).random)
    drawn = Counter(tuple(source().history()) for _ in range(1000))
    assert p_value(posterior(state, player), drawn) > 0.01


@pytest.mark.slow
@pytest.mark.full(but=["go_fish", "hearts"])
@pytest.mark.parametrize(
    "name",
    ["go_fish", "hearts", "euchre", "dou_dizhu", "hanabi", "bridge(use_double_dummy_result=False)"],
)
def test_replayed_worlds_are_histories_in_which_the_player_sees_the_same(name):
    for moves in (0, 7, 20):
        state = decision(name, moves, seed=moves)
        player = state.current_player()
        source = ReplayedWorlds(state, player, random.Random(1).random)
        found = [source() for _ in range(3)]
        for world in found:
            assert world.legal_actions() == state.legal_actions()
            assert retold(world, player) == retold(state, player)
        assert len({tuple(world.history()) for world in [*found, state]}) >= 3


@pytest.mark.full
def test_go_fish_forgets_the_truth(monkeypatch):
    """The share of the truth where something else could be, after a long and a short walk."""
    states = [decision("go_fish", 12, seed) for seed in range(10)]
    usual = [walked(state) for state in states]
    monkeypatch.setattr(replayed_worlds, "USUAL_STEPS", 100)
    cut_short = [walked(state) for state in states]
    monkeypatch.setattr(replayed_worlds, "first_history", lambda knowledge, *_: knowledge.truth)
    from_truth = [walked(state) for state in states]
    places = [source.sites for source, _ in usual]
    assert np.mean([*map(true_share, usual, places)]) < 0.3
    assert np.mean([*map(true_share, cut_short, places)]) < 0.3
    assert np.mean([*map(true_share, from_truth, places)]) > 0.45  # The measure can tell.


def walked(state):
    source = ReplayedWorlds(state, state.current_player(), random.Random(5).random)
    world = source()
    assert source.method == "walk"
    return source, (state, world)


def true_share(drawn, places):
    true, new = (history.full_history() for history in drawn[1])
    return np.mean([true[place].action == new[place].action for place in places])


def test_the_same_numbers_give_the_same_worlds():
    state = decision("go_fish", 10, seed=2)
    first, second = (
        ReplayedWorlds(state, state.current_player(), random.Random(9).random) for _ in range(2)
    )
    assert [first().history() for _ in range(3)] == [second().history() for _ in range(3)]


def test_the_true_state_is_not_changed():
    state = decision("go_fish", 10, seed=2)
    before = state.serialize()
    source = ReplayedWorlds(state, state.current_player(), random.Random(9).random)
    source().apply_action(state.legal_actions()[0])
    assert state.serialize() == before


@pytest.mark.parametrize("name", ["hearts", "euchre"])
def test_methods_that_forget_who_did_not_follow_suit_are_not_used(name):
    assert not resamples(pyspiel.load_game(name))
    impossible = 0
    for seed in range(30):
        state = decision(name, 18, seed)
        world = state.resample_from_infostate(state.current_player(), random.Random(1).random)
        try:
            retold(world, state.current_player())
        except pyspiel.SpielError:
            impossible += 1
    assert impossible > 0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda state, player, rng: None, "must return a pyspiel.State, got None"),
        (lambda state, player, rng: decision("leduc_poker", 0, 1), "of leduc_poker"),
        (lambda state, player, rng: state.child(0), "player 1 is to move"),
        (lambda state, player, rng: state.apply_action(0) or state, "player 1 is to move"),
    ],
)
def test_what_a_function_of_the_user_must_not_return(function, message):
    state = decision("kuhn_poker", 0, seed=1)
    before = state.serialize()
    source = world_source(state, state.current_player(), random.Random(1).random, function)
    with pytest.raises(GameError, match=message):
        source()
    assert state.serialize() == before  # The function gets a copy.


@pytest.mark.parametrize(("name", "method"), [("go_fish", "walk"), ("phantom_ttt", "particles")])
def test_a_world_serves_again_until_simulations_have_paid_for_the_next(name, method):
    state = decision(name, 5, seed=1)
    source = ReplayedWorlds(state, state.current_player(), random.Random(1).random)
    source.begin(simulations=40, deadline=math.inf)
    source()
    for _ in range(source.cycle):  # The first turn of each particle.
        source.allow(0.0)
        before = str(source())
    repeats = []
    for actions in (0.0, 1.0, 1.0, 100.0):
        source.allow(actions)
        world = str(source())
        repeats.append(source.repeated)
        assert not source.repeated or world == before
    assert source.method == method
    assert repeats == [True, True, True, False]
