"""Games of an evaluator against itself, as data to train on."""

import collections
import itertools

import numpy as np
import pytest
from helpers.games import JointRandomRules
from helpers.observed import JointObserved, Single, drawing, long_game, observed_game

from rave_agents import SearchConfig, save_examples, self_play

PUCT = SearchConfig.preset("puct")


def played(game, seed=3, players=2, **options):
    return list(self_play(game, drawing(seed, players), simulations=20, seed=seed, **options))


@pytest.mark.parametrize("players", [1, 2, 3])
def test_every_position_is_told_with_what_followed(players):
    game = observed_game(3, depth=8, chance=0.2, num_players=players)
    examples = played(game, players=players, games=5)
    assert {example.game for example in examples} == set(range(5))
    for example in examples:
        assert example.policy.sum() == pytest.approx(1.0)
        assert not example.policy[~example.legal_actions_mask].any()
        assert example.outcome == example.outcomes[example.player]
        assert len(example.outcomes) == players
    for number in range(5):
        moves = [example.move for example in examples if example.game == number]
        assert moves == list(range(len(moves)))


def test_the_outcome_is_that_of_the_game_that_was_played():
    game = observed_game(1, depth=6)
    for example in played(game, games=4):
        history = tuple(int(a) for a in example.observation if a >= 0)
        assert example.player == game.rules.player(history)
        assert set(example.outcomes.tolist()) <= {-1.0, 0.0, 1.0}


def test_equal_seeds_play_equal_games_whatever_runs_beside():
    game = observed_game(4, depth=8, chance=0.3)
    one = played(game, games=6)
    other = played(game, games=6, side_by_side=2, overlap=False)

    def in_order(examples):
        ordered = sorted(examples, key=lambda example: (example.game, example.move))
        return [(e.game, e.move, e.observation.tolist(), e.policy.tolist()) for e in ordered]

    assert in_order(one) == in_order(other)


@pytest.mark.full
def test_after_some_moves_the_most_visited_is_played():
    game = long_game()
    config = PUCT.replace(temperature=5.0)
    always = played(game, games=3, config=config, temperature_moves=0)
    drawn = played(game, games=3, config=config)

    def shares_of_the_played(examples):
        by_game = collections.defaultdict(list)
        for example in examples:
            by_game[example.game].append(example)
        for positions in by_game.values():
            for here, after in itertools.pairwise(positions):
                action = int(after.observation[here.move])
                yield here.policy[action] == here.policy.max()

    assert all(shares_of_the_played(always))
    assert not all(shares_of_the_played(drawn))


def test_a_player_who_expects_little_resigns_if_told_to():
    game = long_game()
    examples = played(game, games=3, resign_below=0.9)
    assert [example.move for example in examples] == [0, 0, 0]
    assert [example.outcomes.tolist() for example in examples] == [
        pytest.approx([0.9, -0.9], abs=1e-6)
    ] * 3


@pytest.mark.slow
def test_examples_are_saved_as_arrays(tmp_path):
    examples = played(long_game(), games=2)
    count = save_examples(examples, tmp_path / "games.npz")
    arrays = np.load(tmp_path / "games.npz")
    assert arrays["observation"].shape == (count, 16)
    assert arrays["policy"].shape == arrays["legal_actions_mask"].shape == (count, 6)
    assert arrays["outcome"].tolist() == [example.outcome for example in examples]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"games": 0}, ValueError, "games must be an integer of at least 1"),
        ({"games": 1, "side_by_side": 0}, ValueError, "side_by_side must be an integer"),
        ({"games": 1, "temperature_moves": -3}, ValueError, "temperature_moves must be an integer"),
        ({"games": 1, "resign_below": 2.0}, ValueError, "resign_below must be a number in .-1, 1."),
        ({"games": 1, "resign_below": "x"}, TypeError, "resign_below must be a finite number"),
        (
            {"games": 1, "config": "puct"},
            TypeError,
            "must be a .*SearchConfig or None, got 'puct'",
        ),
    ],
)
def test_bad_arguments_are_refused_at_once(options, error, message):
    with pytest.raises(error, match=message):
        self_play(long_game(), drawing(1), **options)


def test_nobody_resigns_where_that_says_nothing_of_the_others():
    game = observed_game(3, depth=8, num_players=3)
    with pytest.raises(ValueError, match="resign_below is for games of two players"):
        self_play(game, drawing(1, 3), games=1, resign_below=-0.5)


def test_an_evaluator_of_single_positions_is_refused():
    with pytest.raises(TypeError, match="Single takes one position at a time"):
        self_play(long_game(), Single(1), games=1)


def test_games_with_simultaneous_moves_are_refused():
    game = JointObserved(JointRandomRules(4))
    while game.current_player() != -2:
        game.apply_action(game.legal_actions()[0])
    with pytest.raises(ValueError, match="one player moves at a time"):
        list(self_play(game, drawing(1), games=1))


def test_there_must_be_examples_to_save(tmp_path):
    with pytest.raises(ValueError, match="no examples"):
        save_examples([], tmp_path / "games.npz")
