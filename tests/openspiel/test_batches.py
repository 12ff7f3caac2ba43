"""Evaluators of batches in OpenSpiel's games, on the bridge and without it."""

import numpy as np
import pytest
from helpers.interpreter import interpreted
from helpers.spiel import begun
from helpers.trees import dump
from rave_openspiel import native

from rave_agents import (
    BatchEvaluator,
    Limit,
    SearchConfig,
    Searcher,
    UnsupportedGameError,
    search_many,
)

PUCT = SearchConfig.preset("puct")


def linear(players, seen=None):
    """A net of one layer, drawn at random, whose answers follow from the observation."""
    random, weights = np.random.default_rng(0), {}

    def net(batch):
        flat = batch.observations.reshape(len(batch.players), -1)
        if not weights:
            size, actions = flat.shape[1], batch.legal_actions_mask.shape[1]
            weights["policy"] = random.normal(size=(size, actions))
            weights["values"] = random.normal(size=(size, players)) / 10
        if seen is not None:
            seen.extend(batch.observations)
        return flat @ weights["policy"], np.tanh(flat @ weights["values"])

    return BatchEvaluator(net)


@pytest.mark.parametrize(
    "spec",
    [
        "connect_four",
        "pig(players=3)",
        "2048",
        "kuhn_poker",
        "goofspiel(num_cards=4,points_order=descending,imp_info=False)",
        "backgammon",
    ],
)
def test_a_search_finds_the_same_with_the_bridge_and_without(spec, monkeypatch, provider):
    state = begun(spec)
    found = []
    for switch in ("0", "1"):
        monkeypatch.setenv(native.SWITCH, switch)
        native.bridge.cache_clear()
        if native.bridge() is None and switch == "1":
            pytest.skip(native.diagnosis())
        searcher = Searcher(PUCT, seed=1, evaluator=linear(state.num_players()))
        player = 0 if state.is_simultaneous_node() else None
        found.append(searcher.search(state, Limit(simulations=60), player=player))
    assert found[0].actions == found[1].actions
    assert (found[0].provider, found[1].provider) == ("python", "native")


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize("leaves", [1, 4])
@pytest.mark.parametrize("games", ["compiled", "openspiel"])
def test_compiled_and_interpreted_batches_are_equal(games, leaves, monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_GAMES", games)
    state, config = begun("connect_four"), PUCT.replace(leaves=leaves)
    searcher = Searcher(config, seed=1, evaluator=linear(2))
    searcher.search(state, Limit(simulations=100))
    with interpreted():
        other = Searcher(config, seed=1, evaluator=linear(2))
        other.search(state, Limit(simulations=100))
    assert dump(searcher) == dump(other)


def test_observations_are_the_games_own_tensors_of_the_player_to_move(provider):
    seen = []
    state = begun("tic_tac_toe")
    searcher = Searcher(PUCT, seed=1, evaluator=linear(2, seen))
    searcher.search(state, Limit(simulations=10))
    assert seen[0].shape == (3, 3, 3)
    assert seen[0].ravel().tolist() == state.observation_tensor(0)
    after = {tuple(state.child(a).observation_tensor(1)) for a in state.legal_actions()}
    assert tuple(seen[1].ravel().tolist()) in after


def test_an_exact_evaluator_finds_the_best_reply_in_tic_tac_toe(provider):
    """The only reply to a corner that does not lose is the centre."""
    values = {}

    def solve(state):
        if state.is_terminal():
            return state.returns()
        mover = state.current_player()
        seen = mover, tuple(state.observation_tensor(mover))
        if seen in values:
            return values[seen]
        best = max((solve(state.child(a)) for a in state.legal_actions()), key=lambda v: v[mover])
        values[seen] = best
        return best

    def truth(batch):
        rows = [
            values[int(player), tuple(seen.ravel().tolist())]
            for player, seen in zip(batch.players, batch.observations, strict=True)
        ]
        return np.zeros(batch.legal_actions_mask.shape), np.array(rows)

    state = begun("tic_tac_toe")
    solve(state)
    config = PUCT.replace(first_play_urgency=np.inf)
    searcher = Searcher(config, seed=1, evaluator=BatchEvaluator(truth))
    result = searcher.search(state.child(0), Limit(simulations=9))
    assert result.action == 4
    assert {row.action: row.value for row in result.actions if row.visits} == {
        action: 0.0 if action == 4 else -1.0 for action in range(1, 9)
    }


def test_searches_side_by_side_on_the_bridge_find_what_each_finds_alone(provider):
    state = begun("connect_four")
    states = [state.child(action) for action in state.legal_actions()]
    limit, evaluator = Limit(simulations=40), linear(2)
    together = search_many(states, limit, evaluator=evaluator, seed=2)
    apart = search_many(states, limit, evaluator=evaluator, seed=2, side_by_side=1)
    close = [
        (one.action, [row.visits for row in one.actions])
        == (other.action, [row.visits for row in other.actions])
        for one, other in zip(together, apart, strict=True)
    ]
    assert all(close)


def test_a_game_without_tensors_is_refused(provider):
    state = begun("morpion_solitaire")
    with pytest.raises(UnsupportedGameError, match="observation"):
        Searcher(PUCT, seed=1, evaluator=linear(1)).search(state, Limit(simulations=5))
