"""Worlds do not tell the truth more often than what the player knows does, and keep to the time."""

import itertools
import logging
import math
import random
import time

import pyspiel
import pytest
from helpers.spiel import decision
from rave_openspiel import OpenSpielState, RaveBot
from rave_openspiel.adapter import OpenSpielGame
from rave_openspiel.deals import seeded_state
from rave_openspiel.history_chain import HistoryChain
from rave_openspiel.knowledge import Knowledge
from rave_openspiel.unseen_moves import counts_moves
from rave_openspiel.worlds import warn_seldom_settled, world_source

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.arena import play_match


def drawn_worlds(state, count, simulations=300, seed=1):
    source = world_source(state, state.current_player(), random.Random(seed).random)
    getattr(source, "begin", lambda *_: None)(simulations, math.inf)
    return [source() for _ in range(count)]


def true_moves(state, worlds):
    """The share of the others' moves, and of chance's, that are the true ones."""
    player = state.current_player()
    steps = [step for step, move in enumerate(state.full_history()) if move.player != player]
    true = state.history()
    same = [world.history()[step] == true[step] for world in worlds for step in steps]
    return sum(same) / len(same)


@pytest.mark.full
def test_kriegspiel_forgets_the_opponents_moves():
    states = [decision("kriegspiel", 20, seed) for seed in range(6)]
    shares = [true_moves(state, drawn_worlds(state, 60)) for state in states]
    assert sum(shares) / len(shares) < 0.2  # A reference filter has 0.08.


@pytest.mark.slow
def test_dark_chess_is_seldom_the_truth():
    states = [decision("dark_chess", 20, seed) for seed in range(4)]
    shares = [
        sum(str(world) == str(state) for world in drawn_worlds(state, 60)) / 60 for state in states
    ]
    assert sum(shares) / len(shares) < 0.1


def look_alike(state, seed):
    """A position that looks the same, by a chain that starts at the true history."""
    unit = random.Random(seed).random
    knowledge = Knowledge(state, state.current_player())
    chain = HistoryChain(knowledge, unit)
    chain.learn_sites(knowledge.truth)
    return chain.advance(knowledge.truth, 100).world()


def unseen_pairs(name, count, depths=(0, 1, 2)):
    """Pairs of different positions that look the same to the player to move."""
    for seed in itertools.count():
        state = decision(name, depths[seed % len(depths)], seed)
        other = look_alike(state, seed)
        if other.history() != state.history():
            yield state, other
            count -= 1
        if count == 0:
            return


@pytest.mark.full(but=4)
@pytest.mark.parametrize(
    "name",
    [
        "bargaining",
        "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2)",
        "dark_chess",
        "dark_hex(board_size=3)",
        "go_fish",
        "hearts",
        "kuhn_poker",
        "kuhn_poker(players=3)",
        "leduc_poker",
        "liars_dice",
        "liars_dice(numdice=2)",
        "oh_hell",
        "oh_hell(players=3,num_suits=2,num_cards_per_suit=4)",
        "phantom_go(board_size=3)",
        "phantom_ttt",
        "tiny_bridge_2p",
        "tiny_hanabi",
        "trade_comm",
        "universal_poker",
    ],
)
def test_what_a_player_cannot_see_changes_nothing(name, pytestconfig):
    whole = pytestconfig.getoption("full") or pytestconfig.getoption("slow")
    for pair in unseen_pairs(name, 20 if whole else 2):
        one, other = (
            Searcher(SearchConfig.preset("auto"), seed=1).search(
                OpenSpielState(state), Limit(simulations=30)
            )
            for state in pair
        )
        # As texts: values of positions that strategies never reach are not numbers.
        assert (one.action, repr(one.actions)) == (other.action, repr(other.actions))


@pytest.mark.full(but=["gin_rummy", "skat"])
@pytest.mark.parametrize(
    "name",
    ["battleship", "blackjack", "euchre", "gin_rummy", "hearts", "kriegspiel", "skat", "spades"],
)
def test_worlds_in_the_middle_of_a_game_are_those_of_positions_that_look_the_same(
    name, pytestconfig
):
    whole = pytestconfig.getoption("full") or pytestconfig.getoption("slow")
    depths = (0,) if name == "blackjack" else (8, 20)
    for pair in unseen_pairs(name, 8 if whole else 1, depths):
        one, other = ([str(world) for world in drawn_worlds(state, 3)] for state in pair)
        assert one == other


def test_the_number_of_moves_in_vain_is_not_given_away():
    state = pyspiel.load_game("phantom_ttt").new_initial_state()
    for action in (4, 4, 0, 0, 1, 8):  # The second player tries 4, and the first one 0, in vain.
        state.apply_action(action)
    lengths = {len(world.history()) for world in drawn_worlds(state, 60)}
    assert len(lengths) > 1
    assert not counts_moves(state.get_game())


@pytest.mark.parametrize("name", ["kuhn_poker", "dark_chess", "kriegspiel", "go_fish", "hearts"])
def test_moves_are_counted_where_everybody_can(name):
    assert counts_moves(pyspiel.load_game(name))


@pytest.mark.full(but=2)
@pytest.mark.parametrize(
    "name",
    [
        "phantom_ttt",
        "phantom_ttt_ir",
        "dark_hex",
        "phantom_go(board_size=3)",
        "coop_box_pushing(horizon=5)",
    ],
)
def test_games_that_others_play_are_played_to_the_end(name):
    assert play_match(name, "rave(simulations=8)", "random", games=2, seed=1).complete


def test_what_others_choose_at_the_same_time_is_not_seen():
    game = pyspiel.load_game("goofspiel(imp_info=True,num_cards=4)")
    bot = RaveBot(game, player_id=1, simulations=100, seed=1)
    state = game.new_initial_state()
    while not state.is_simultaneous_node():
        state.apply_action(state.chance_outcomes()[0][0])
    before = state.serialize()
    assert bot.step(state) in state.legal_actions(1)
    assert state.serialize() == before
    assert bot.last_result.worlds.distinct > 1


@pytest.mark.full(but=1)
@pytest.mark.parametrize("name", ["battleship", "hearts", "kriegspiel"])
def test_a_deadline_is_kept_and_something_is_searched(name):
    state = OpenSpielState(decision(name, 20, 1))
    searcher = Searcher(SearchConfig.preset("uct"), seed=1)
    searcher.search(state, Limit(simulations=2))
    for seconds in (0.001, 0.1):
        searcher.reset()
        started = time.process_time()
        result = searcher.search(state, Limit(seconds=seconds))
        assert time.process_time() - started < seconds + 0.1
        assert result.searched
        assert result.simulations >= 4
        assert result.worlds.distinct >= 1


def test_a_world_that_costs_more_than_the_time_is_drawn_once():
    state = OpenSpielState(decision("bridge", 3, 1))
    result = Searcher(seed=1).search(state, Limit(seconds=0.01))
    assert result.worlds.drawn == 1
    assert result.simulations >= 4


def test_a_search_without_time_says_so():
    state = pyspiel.load_game("chess").new_initial_state()
    bot = RaveBot(state.get_game(), seconds=1e-9, seed=1)
    _, report = bot.step_verbose(state)
    assert "NOT SEARCHED for lack of time" in report
    assert "Forced" not in report
    assert not bot.last_result.searched
    assert "NOT SEARCHED" in bot.last_result.summary()


@pytest.mark.parametrize("name", ["kuhn_poker", "go_fish", "kriegspiel"])
def test_the_result_tells_of_the_worlds(name):
    state = OpenSpielState(decision(name, 1, 2))
    result = Searcher(seed=1).search(state, Limit(simulations=50))
    worlds = result.worlds
    assert worlds.drawn >= 50
    assert 1 <= worlds.distinct <= worlds.drawn
    assert 1 <= worlds.effective <= worlds.drawn
    assert 0 <= worlds.share_of_first <= 1
    assert result.to_dict()["worlds"]["distinct"] == worlds.distinct
    assert "effective sample size" in str(result)


def test_nothing_is_told_of_worlds_where_nothing_is_hidden():
    result = Searcher(seed=1).search(
        pyspiel.load_game("tic_tac_toe").new_initial_state(), Limit(simulations=50)
    )
    assert result.worlds is None


def test_independent_worlds_all_count():
    state = OpenSpielState(decision("leduc_poker", 1, 2))
    worlds = Searcher(seed=1).search(state, Limit(simulations=200)).worlds
    assert worlds.method == "resample_from_infostate"
    assert worlds.effective == 200
    assert worlds.distinct == len({str(world) for world in drawn_worlds(state.state, 300)})


def test_a_game_that_seldom_settles_says_so_when_a_bot_is_made(caplog):
    warn_seldom_settled.cache_clear()
    game = pyspiel.load_game("dark_chess")
    with caplog.at_level(logging.WARNING, "rave_agents"):
        RaveBot(game)
        RaveBot(game)
        RaveBot(pyspiel.load_game("kuhn_poker"))
    assert caplog.text.count("seldom comes to its end") == 1


def deals(**options):
    """The returns of a match of negotiation, which depend on its deals."""
    match = play_match("negotiation", "random", "random", games=12, **options)
    return [record.returns for record in match.records]


@pytest.mark.full
def test_deals_by_the_games_own_generator_come_from_the_seed_of_the_match():
    assert deals(seed=1) == deals(seed=1, jobs=2)
    games = OpenSpielGame(pyspiel.load_game("negotiation"))
    dealt = [games.seeded_initial_state(seed).state for seed in (1, 1, 2)]
    for state in dealt:
        state.apply_action(state.legal_actions()[0])
    assert len({str(state) for state in dealt}) == 2
    assert games.seeded_initial_state(1).state.get_game() == games.game


@pytest.mark.parametrize("name", ["tarok", "bridge_uncontested_bidding"])
def test_other_generators_can_be_seeded(name):
    def dealt(seed):
        state = seeded_state(pyspiel.load_game(name), seed)
        state.apply_action(state.legal_actions()[0])
        return str(state)

    seeds = (0, 1, 7, 2**31 - 1)
    assert [dealt(seed) for seed in seeds] == [dealt(seed) for seed in seeds]
    assert len({dealt(seed) for seed in seeds}) == len(seeds)


def search_with(name, **changes):
    state = OpenSpielState(decision(name, 0, 1))
    searcher = Searcher(SearchConfig.preset("auto").replace(**changes), seed=1)
    return searcher.search(state, Limit(simulations=60))


def test_auto_draws_its_move_where_something_is_hidden():
    rows = search_with("liars_dice", final_move="visit_shares(margin=1.0,visits=0.0)").actions
    most = max(row.visits for row in rows)
    kept = [row.visits if row.visits >= 0.2 * most else 0 for row in rows]
    assert [row.probability for row in rows] == pytest.approx([n / sum(kept) for n in kept])
    assert kept.count(0) < len(kept) - 1
    few = search_with("liars_dice", margin=1.0).actions  # None has a hundred visits.
    assert max(row.probability for row in few) == 1.0


@pytest.mark.parametrize(
    ("name", "changes"),
    [("tic_tac_toe", {}), ("blackjack", {}), ("leduc_poker", {"hidden": "see"})],
)
def test_auto_plays_the_robust_child_elsewhere(name, changes):
    expected = search_with(name, final_move="robust_child", **changes)
    assert search_with(name, **changes).actions == expected.actions
