"""Searches with regrets of information sets, as agents and searchers see them."""

import copy
import itertools
import pickle

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy
from open_spiel.python.algorithms import exploitability
from rave_openspiel import AutoBot, MCCFRBot, OpenSpielState, SearchPolicy

from rave_agents import Limit, SearchConfig, Searcher, make_agent
from rave_agents.arena import play_match
from rave_agents.config import regrets
from rave_agents.equilibrium.questions import Questions, estimated_size
from rave_agents.errors import UnsupportedGameError

MCCFR = SearchConfig.preset("mccfr")


def kuhn(*history):
    """A position of Kuhn poker: the two cards, then passes (0) and bets (1)."""
    state = pyspiel.load_game("kuhn_poker").new_initial_state()
    for action in history:
        state.apply_action(action)
    return state


def searched(state, simulations=200, seed=1, **parameters):
    config = MCCFR.replace(**parameters) if parameters else MCCFR
    return Searcher(config, seed=seed).search(state, Limit(simulations=simulations))


def test_the_result_has_the_average_strategy():
    result = searched(kuhn(2, 0), 2000)
    bet, check = (dict(result.policy)[action] for action in (1, 0))
    assert bet + check == pytest.approx(1.0)
    assert result.simulations == 2000
    assert result.took_part == ("MCCFR",)
    assert result.provider == "native"
    assert result.worlds is None
    # Visits share out the traversals that reached the information set, by that strategy.
    assert sum(row.visits for row in result.actions) == pytest.approx(result.root_visits, abs=1)
    assert result.value > 0  # The best card.
    assert "MCCFR" in str(result.to_dict())


def test_the_best_and_the_worst_answer_to_a_bet():
    assert dict(searched(kuhn(1, 2, 1), 2000).policy)[1] > 0.97  # Calls with the king.
    assert dict(searched(kuhn(1, 0, 1), 2000).policy)[0] > 0.97  # Folds the jack.


def test_what_is_hidden_changes_nothing():
    # The same card of one's own, another card of the other player's.
    same = [searched(kuhn(1, other), seed=7) for other in (0, 2)]
    assert same[0].policy == same[1].policy
    assert same[0].action == same[1].action


def test_a_directed_search_answers_for_its_own_position_only():
    directed = MCCFR.replace(regrets=regrets.MCCFR(targeting=0.9))
    for seen in ((1, 0), (1, 2)):
        searcher = Searcher(directed, seed=7)
        found = searcher.search(kuhn(*seen), Limit(simulations=100))
        assert found.root_visits > 80
        assert searcher.keeps_regrets
        assert searcher.known(kuhn(0, 1)) is None
    assert found.policy == searched(kuhn(1, 0), 100, 7, regrets=directed.regrets).policy


def test_moves_are_drawn_from_the_strategy():
    actions = [searched(kuhn(0, 1), 300, seed=seed).action for seed in range(12)]
    # The jack is bet with a probability between 0 and 1/3.
    assert set(actions) == {0, 1} or searched(kuhn(0, 1), 300).policy[1][1] < 0.05


def test_regrets_are_kept_between_moves_and_games():
    agent = make_agent("mccfr", "kuhn_poker", seed=1, simulations=50)
    agent.step(OpenSpielState(kuhn(0, 1)))
    agent.restart()
    agent.step(OpenSpielState(kuhn(0, 1)))
    whole = searched(kuhn(0, 1), 100)
    assert agent.last_result.simulations == 50
    assert agent.last_result.policy == whole.policy
    fresh = make_agent("mccfr", "kuhn_poker", seed=1, simulations=50, reuse_tree=False)
    policies = []
    for _ in range(2):
        fresh.step(OpenSpielState(kuhn(0, 1)))
        policies.append(fresh.last_result.policy)
    assert policies[0] == policies[1] == searched(kuhn(0, 1), 50).policy


def test_a_search_stops_at_its_time_and_at_its_function():
    searcher = Searcher(MCCFR, seed=1)
    result = searcher.search(kuhn(0, 1), Limit(seconds=0.05))
    assert result.simulations > 0
    assert result.seconds < 1.0
    seen = []

    def interrupt(so_far):
        seen.append(so_far.simulations)
        raise KeyboardInterrupt

    before = searcher.result().root_visits
    with pytest.raises(KeyboardInterrupt):
        searcher.search(kuhn(0, 1), Limit(seconds=30.0), progress=interrupt)
    assert searcher.result().simulations == seen[0] > 0
    assert searcher.result().root_visits > before


def test_a_bot_copies_and_plays_on():
    game = pyspiel.load_game("kuhn_poker")
    bot = MCCFRBot(game, simulations=50, seed=1)
    bot.step(kuhn(0, 1))
    copies = copy.copy(bot), copy.deepcopy(bot), pickle.loads(pickle.dumps(bot))
    bot.step(kuhn(0, 1))
    for copied in copies:
        copied.step(kuhn(0, 1))
        assert copied.last_result.policy == bot.last_result.policy
        assert copied.last_result.action == bot.last_result.action
    sweeping = AutoBot(game, simulations=500, seed=1)
    sweeping.step(kuhn(0, 1))
    copied = copy.deepcopy(sweeping)
    assert copied.step(kuhn(1, 2)) == sweeping.step(kuhn(1, 2))
    assert copied.last_result.policy == sweeping.last_result.policy
    assert bot.step_verbose(kuhn(0, 1))[1].startswith("Finished 50 sims")
    with pytest.raises(ValueError, match="keeps regrets"):
        bot.mcts_search(kuhn(0, 1))


def test_a_policy_asks_one_search_for_all_information_sets():
    game = pyspiel.load_game("kuhn_poker")
    asked = SearchPolicy(MCCFRBot(game, simulations=100, seed=1))
    found = [asked.action_probabilities(kuhn(*cards)) for cards in ((0, 1), (1, 2), (0, 1))]
    assert found[0] == found[2] == dict(searched(kuhn(0, 1), 100).policy)
    assert found[1] == dict(searched(kuhn(1, 2), 100).policy)


def test_players_who_move_together_mix():
    game = pyspiel.load_game("matrix_rps")
    bot = MCCFRBot(game, player_id=1, simulations=2000, seed=1)
    bot.step(game.new_initial_state())
    assert [share for _, share in bot.last_result.policy] == pytest.approx([1 / 3] * 3, abs=0.1)


def test_with_perfect_information_the_search_begins_at_the_position():
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    for action in (0, 3, 1, 4):
        state.apply_action(action)
    result = searched(state, 200)
    assert dict(result.policy)[2] > 0.9  # It wins at once.
    assert result.value > 0.9


def test_it_plays_matches():
    found = play_match("leduc_poker", "mccfr(simulations=100)", "random", games=4, seed=1)
    assert found.finished == 4


def auto(name, seed=1, player=None, history=(), **parameters):
    """The result of ``auto`` at a position."""
    state = pyspiel.load_game(name).new_initial_state()
    for action in history:
        state.apply_action(action)
    limit = Limit(simulations=parameters.pop("simulations", 2000))
    config = SearchConfig.preset("auto").replace(**parameters)
    return Searcher(config, seed=seed).search(state, limit, player=player)


def test_auto_keeps_regrets_where_the_limit_suffices_for_the_game():
    assert auto("kuhn_poker", history=(0, 1)).took_part == ("CFR+",)
    assert "MCCFR" not in auto("liars_dice", history=(0, 1), simulations=500).took_part
    assert "MCCFR" not in auto("phantom_ttt", simulations=500).took_part
    assert "MCCFR" not in auto("tic_tac_toe", simulations=50).took_part
    assert auto("matrix_rps", player=0).took_part == ("CFR+",)


def test_auto_directs_traversals_in_large_games_while_the_limit_is_small():
    found = auto("phantom_ttt", history=(4, 4, 0), simulations=50)
    assert found.took_part == ("MCCFR", "uniform playouts")
    assert found.root_visits > 30  # Most traversals begin at the player's information set.
    assert found.worlds is None
    # Hardly a path would lead to the hand of a large deal; and what the user forbids.
    assert "MCCFR" not in auto("universal_poker", history=(1, 2), simulations=5).took_part
    never = regrets.AdaptiveRegrets(directed_simulations=0.0)
    assert "MCCFR" not in auto("phantom_ttt", simulations=50, regrets=never).took_part


@pytest.mark.slow
def test_a_directed_search_whose_memory_is_full_begins_anew():
    agent = make_agent("auto", "phantom_ttt", seed=1, simulations=60, max_memory_mb=1)
    used = []
    for _ in range(18):
        state = pyspiel.load_game("phantom_ttt").new_initial_state()
        agent.step(OpenSpielState(state))
        used.append(agent.last_result.nodes)
        assert agent.last_result.root_visits >= 60
        agent.restart()
    assert any(after < before for before, after in itertools.pairwise(used))


@pytest.mark.parametrize("deep", [False, True])
def test_the_length_and_deals_of_a_game_too_large_to_count(deep):
    start = OpenSpielState(pyspiel.load_game("phantom_ttt").new_initial_state())
    questions = Questions(start, np.zeros(4, np.int64))
    size = estimated_size(questions, 1000.0, 8 if deep else 0)
    assert size.histories == np.inf
    assert size.deals == 1.0
    assert (size.length > 7) == deep  # Five moves at least, and failed ones.


def test_auto_sweeps_small_games_first_whatever_the_simulations():
    found = auto("kuhn_poker", history=(0, 1), simulations=3)
    assert found.took_part == ("CFR+",)
    assert found.simulations == 3
    assert dict(found.policy)[1] < 0.45  # The jack is bet with a probability of 1/3 at most.
    off = {"regrets": "adaptive_regrets(small_game=0.0)", "simulations": 3}
    assert "CFR+" not in auto("kuhn_poker", history=(0, 1), **off).took_part


def test_with_perfect_information_the_simulations_pay_for_the_tree_of_a_small_game():
    few, enough = (auto("blotto", player=0, simulations=each).took_part for each in (8, 9))
    assert "CFR+" not in few  # 4,423 histories.
    assert enough == ("CFR+",)


def test_auto_mixes_unless_told_otherwise():
    rock = dict(auto("matrix_rps", player=0).policy)
    assert list(rock.values()) == pytest.approx([1 / 3] * 3, abs=0.01)
    drawn = {auto("matrix_rps", player=0, seed=seed, simulations=100).action for seed in range(12)}
    assert drawn == {0, 1, 2}
    jack = {"history": (0, 1), "final_move": "max_child"}
    assert sorted(share for _, share in auto("kuhn_poker", **jack).policy) == [0.0, 1.0]
    off = auto("kuhn_poker", history=(0, 1), regrets="no_regrets", simulations=100)
    assert "CFR+" not in off.took_part
    assert off.worlds is not None


@pytest.mark.slow
def test_auto_sees_nothing_that_is_hidden():
    same = [auto("kuhn_poker", history=(1, other), seed=5) for other in (0, 2)]
    assert same[0].policy == same[1].policy
    assert same[0].action == same[1].action


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "simulations", "most"),
    [("kuhn_poker", 10_000, 0.002), ("leduc_poker", 10_000, 0.1), ("leduc_poker", 100_000, 0.01)],
)
def test_auto_is_hardly_exploitable(name, simulations, most):
    game = pyspiel.load_game(name)
    found = SearchPolicy(AutoBot(game, simulations=simulations, seed=1))
    table = policy.tabular_policy_from_callable(game, found)
    assert exploitability.nash_conv(game, table) / 2 < most


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="uses no evaluator"):
        Searcher(MCCFR, evaluator=lambda state: 0.0)

    class NoStart:
        def __init__(self, state):
            self._state = state

        def __getattr__(self, name):
            if name in ("start", "visitor", "simulator", "world_simulator") or name[:2] == "__":
                raise AttributeError(name)
            return getattr(self._state, name)

        def clone(self):
            return NoStart(self._state.clone())

    with pytest.raises(UnsupportedGameError, match=r"no start\(\)"):
        searched(NoStart(OpenSpielState(kuhn(0, 1))))
