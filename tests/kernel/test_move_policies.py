"""Playout policies that see the moves before: what they are told, on every provider."""

import math
from typing import Annotated, NamedTuple

import pyspiel
import pytest
from helpers.games import random_game
from helpers.trees import dump, search_tree
from rave_openspiel import compiled_games, states

from rave_agents import FormulaError, Limit, SearchConfig, Searcher, UnsupportedGameError
from rave_agents.kernel.move_policies import decisive_weight
from rave_agents.parts import (
    FLOAT,
    Array,
    DecisiveMoves,
    Kept,
    Move,
    implements,
    learn_move,
    lookahead,
    move_weight,
    one,
    runs_as,
)

ROWS, COLUMNS = 4096, 8
"""The moves that ``Diary`` notes, and what of each."""


class Seen(NamedTuple):
    """Weights that depend on all that a policy knows of a move."""

    looks: int = 2


@implements(lookahead, Seen)
def _looks(policy):
    return policy.looks


@implements(move_weight, Seen)
def _weight(policy, move):
    weight = 1.0 + (7 * move.last + 3 * move.own_last + 5 * move.action + move.player) % 11
    if move.wins:
        weight *= 4.0
    return 0.1 if move.loses else weight


class Diary(NamedTuple):
    """Decisive moves as far as they are looked for; the moves of all playouts are noted."""

    looks: int = 0


@runs_as(Diary)
class Notes(NamedTuple):
    options: Diary
    rows: Annotated[Array, one(FLOAT, ROWS * COLUMNS, kept=Kept.SEARCH)]
    count: Annotated[Array, one(FLOAT, kept=Kept.SEARCH)]


@implements(lookahead, Notes)
def _diary_looks(notes):
    return notes.options.looks


@implements(move_weight, Notes)
def _decisive(notes, move):
    if move.wins:
        return math.inf
    return 0.0 if move.loses else 1.0


@implements(learn_move, Notes)
def _note(notes, move, value):
    row = int(notes.count[0])
    if row < ROWS:
        noted = (move.player, move.action, move.last, move.own_last, value)
        for place in range(5):
            notes.rows[row * COLUMNS + place] = noted[place]
        notes.count[0] += 1


def noted(searcher):
    """The moves of each simulation: player, action, last, own last, value."""
    notes = search_tree(searcher).running.playouts.own
    rows = notes.rows.reshape(ROWS, COLUMNS)[: int(notes.count[0]), :5]
    starts = [place for place, row in enumerate(rows) if row[2] == -1]
    return [rows[first:end] for first, end in zip(starts, [*starts[1:], len(rows)], strict=True)]


class Broken(NamedTuple):
    """A weight that may be negative, or NaN where it is 2."""

    weight: float = 0.0


@implements(move_weight, Broken)
def _broken(policy, move):
    return math.inf - math.inf if policy.weight == 2.0 else policy.weight


def searched(game, policy, simulations=200, *, moves=(), seed=1, **changes):
    state = pyspiel.load_game(game).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    for action in moves:
        state.apply_action(action)
    searcher = Searcher(SearchConfig(playouts=policy, **changes), seed=seed)
    result = searcher.search(
        state, Limit(simulations=simulations), player=max(state.current_player(), 0)
    )
    return searcher, result


@pytest.fixture(params=["compiled rules", "native", "python"])
def provider(request, monkeypatch):
    """Each kind of provider in turn."""
    use(request.param, monkeypatch)
    return request.param


def use(provider, monkeypatch):
    """Search OpenSpiel's games by a kind of provider."""
    games = "compiled" if provider == "compiled rules" else "openspiel"
    monkeypatch.setenv(compiled_games.SWITCH, games)
    if provider == "python":
        monkeypatch.setattr(states, "bridge", lambda: None)


TWICE = "dots_and_boxes(num_rows=1,num_cols=2)"
"""A game in which who takes a box moves again."""


@pytest.mark.full(but=[TWICE])
@pytest.mark.parametrize("game", ["connect_four", "hex(board_size=4)", TWICE])
def test_every_provider_tells_the_same_of_a_move(game, monkeypatch):
    trees = {}
    for provider in ("compiled rules", "native", "python"):
        use(provider, monkeypatch)
        searcher, result = searched(game, Seen(), 80)
        trees[result.provider] = dump(searcher)
    assert len(trees) == 3
    first, *others = trees.values()
    assert all(other == first for other in others)


@pytest.mark.full
def test_a_playout_wins_at_once_where_it_can(provider):
    # Player 0 has three in a column, and player 1 is to move.
    searcher, result = searched(
        "connect_four", Diary(looks=1), 40, moves=(3, 0, 3, 0, 3), expand_visits=1000
    )
    assert provider.split()[-1] in result.provider
    replies = [(moves[0][1], moves[1][1], len(moves)) for moves in noted(searcher)[:-1]]
    assert {action for action, _, _ in replies} - {3}
    assert all((reply, count) == (3, 2) for action, reply, count in replies if action != 3)


@pytest.mark.full
def test_a_playout_lets_nobody_win_at_once_where_it_need_not(provider):
    # Player 1 gets three in a column by 0.
    searcher, _ = searched(
        "connect_four", Diary(looks=2), 60, moves=(1, 0, 6, 0, 1), expand_visits=1000
    )
    replies = [moves[1][1] for moves in noted(searcher)[:-1] if moves[0][1] == 0]
    assert replies
    assert set(replies) == {0}


def test_a_move_is_told_with_those_before_it_in_the_tree_and_in_the_playout():
    searcher, _ = searched("tic_tac_toe", Diary(), 3, expand_visits=1)
    simulations = noted(searcher)
    assert len(simulations) == 3
    for moves in simulations:
        game = pyspiel.load_game("tic_tac_toe").new_initial_state()
        played = [-1, -1]
        for player, action, last, own_last, _ in moves:
            assert (game.current_player(), played[-1], played[-2]) == (player, last, own_last)
            game.apply_action(int(action))
            played.append(action)
        assert game.is_terminal()
        returns = game.returns()
        for player, *_, value in moves:
            assert value == (returns[int(player)] + 1) / 2


def test_decisive_moves_are_infinitely_better_than_others():
    move = Move(player=0, action=1, last=-1, own_last=-1, wins=False, loses=False)
    assert decisive_weight(DecisiveMoves(), move) == 1.0
    assert decisive_weight(DecisiveMoves(), move._replace(wins=True)) == math.inf
    assert decisive_weight(DecisiveMoves(), move._replace(loses=True)) == 0.0
    assert (lookahead(DecisiveMoves()), lookahead(DecisiveMoves(anti_decisive=False))) == (2, 1)


def test_what_a_policy_has_learned_is_forgotten_when_a_search_begins():
    searcher, _ = searched("tic_tac_toe", Diary(), 3, expand_visits=1)
    first = search_tree(searcher).running.playouts.own.count[0]
    searcher.search(pyspiel.load_game("tic_tac_toe").new_initial_state(), Limit(simulations=1))
    assert 0 < search_tree(searcher).running.playouts.own.count[0] < first


@pytest.mark.full(but=["pig(players=3)", "goofspiel(num_cards=4)", "kuhn_poker"])
@pytest.mark.parametrize(
    "game",
    ["pig(players=3)", "goofspiel(num_cards=4)", "kuhn_poker", "chinese_checkers(players=3)"],
)
def test_it_plays_games_of_every_kind(game):
    changes = {"playout_count": 2} if game == "kuhn_poker" else {}
    _, result = searched(game, Seen(looks=0 if "chinese" in game else 2), 10, **changes)
    assert sum(row.visits for row in result.actions) >= 9


def test_other_moves_at_the_same_time_are_not_seen():
    searcher, _ = searched("matching_pennies_3p", Diary(), 2, expand_visits=64)
    assert all(len(moves) == 1 for moves in noted(searcher))


@pytest.mark.slow
@pytest.mark.full(but=["python"])
def test_frames_grow_for_policies(provider):
    """Twenty playouts have more moves than a frame has room for at first."""
    _, result = searched("breakthrough(rows=8,columns=8)", Seen(looks=0), 3, playout_count=20)
    assert sum(row.visits for row in result.actions) >= 2


@pytest.mark.parametrize("weight", [-1.0, 2.0], ids=["negative", "NaN"])
def test_a_weight_that_is_no_weight_is_refused(provider, weight):
    with pytest.raises(FormulaError, match="Broken"):
        searched("connect_four", Broken(weight), 20)


def test_all_weights_may_be_0():
    _, result = searched("tic_tac_toe", Broken(0.0), 20)
    assert sum(row.visits for row in result.actions) == 19


def test_with_threads_each_tree_has_a_policy_of_its_own():
    _, result = searched("connect_four", Diary(), 200, threads=2)
    assert sum(row.visits for row in result.actions) >= 198


def test_games_with_too_many_actions_for_tables_are_refused():
    state = random_game(1)
    state.rules.num_distinct_actions = 2**19
    searcher = Searcher(SearchConfig(playouts=Seen()), seed=1)
    with pytest.raises(UnsupportedGameError, match=r"playouts=seen .* num_distinct_actions\(\) is"):
        searcher.search(state, Limit(simulations=1))
