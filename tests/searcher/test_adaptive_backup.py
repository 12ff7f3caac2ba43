"""AdaptiveBackup: ``auto`` with minimax backups where a learned value's file says so."""

import copy
import re

import gymnasium
import numpy as np
import pyspiel
import pytest
from helpers.random_values import random_value
from rave_openspiel import AutoBot

from rave_agents import Limit, LinearValue, SearchConfig, Searcher, make_agent
from rave_agents.analysis.position_analysis import analyse
from rave_agents.analysis.review import review_game
from rave_agents.engines.gtp_engine import GtpEngine
from rave_agents.games import rules_class
from rave_agents.kernel.values.minimax_backup import JudgedMinimax
from rave_agents.learning.to_file import choose_backup
from rave_agents.parts import UCB1, MinimaxBackup

GAME = "breakthrough(rows=5,columns=4)"
RULES = rules_class("breakthrough")(rows=5, columns=4)
AUTO = SearchConfig.preset("auto")


def value(backup="minimax_backup", rules=RULES):
    return random_value(rules, backup=backup)


@pytest.fixture
def path(tmp_path):
    """A file that says that minimax is better."""
    path = tmp_path / "value.npz"
    value().save(path)
    return path


def searched(config=AUTO, evaluator=None, simulations=60):
    searcher = Searcher(config, seed=1, evaluator=evaluator or value())
    return searcher, searcher.search(RULES.new_initial_state(), Limit(simulations=simulations))


def rows(result):
    return [(row.visits, row.value) for row in result.actions]


def test_it_is_best_first_minimax_where_the_value_says_so():
    searcher, result = searched()
    _, explicit = searched(AUTO.replace(rule="ucb1(c=0.05)", backup="minimax_backup"))
    assert type(searcher.rooted_tree().running.backup) is JudgedMinimax
    assert rows(result) == rows(explicit)
    assert (result.minimax, explicit.minimax) == (True, False)
    assert f"using a value learned for {RULES}, with minimax backups" in result.summary()
    assert result.to_dict()["minimax"] is True


def test_with_a_value_that_does_not_it_is_the_mean():
    _, result = searched(evaluator=value("mean_backup"))
    _, explicit = searched(AUTO.replace(backup="mean_backup"))
    assert rows(result) == rows(explicit)
    assert not result.minimax
    assert "minimax" not in result.summary()


@pytest.mark.parametrize(
    "chosen",
    [
        {"backup": "mean_backup"},
        {"rule": "ucb1"},
        {"rule": "puct(c=1)"},
        {"playout_moves": 2},
    ],
)
def test_what_is_asked_for_goes_first(chosen):
    _, result = searched(AUTO.replace(**chosen))
    assert not result.minimax


@pytest.mark.full(but=["5"])
@pytest.mark.parametrize("level", [5, 10])
def test_levels_are_of_the_whole_agent(level):
    _, result = searched(AUTO.replace(level=level))
    assert result.minimax


@pytest.mark.slow
def test_other_constants_of_the_rule_leave_it_to_the_file():
    assert searched(AUTO.replace(c=0.7))[1].minimax
    _, result = searched(AUTO.replace(minimax_c=0.4))
    _, explicit = searched(AUTO.replace(rule="ucb1(c=0.4)", backup="minimax_backup"))
    assert rows(result) == rows(explicit)


def test_other_agents_average():
    assert not searched(SearchConfig.preset("uct"))[1].minimax


def test_the_tree_is_kept_between_moves_and_in_a_copy():
    searcher, result = searched()
    searcher.advance(result.action)
    twin = copy.copy(searcher)
    state = searcher.root.clone()
    again = searcher.search(state, Limit(simulations=30))
    assert again.root_visits > again.simulations
    assert again.minimax
    assert rows(twin.search(state, Limit(simulations=30))) == rows(again)


def test_a_searcher_goes_from_one_backup_to_the_other():
    """Another game is searched without the value's minimax, and this one with it again."""
    searcher, first = searched(simulations=20)
    searcher.evaluator = None
    other = searcher.search(rules_class("nim")().new_initial_state(), Limit(simulations=20))
    searcher.evaluator = value()
    again = searcher.search(RULES.new_initial_state(), Limit(simulations=20))
    assert (first.minimax, other.minimax, again.minimax) == (True, False, True)


def test_several_threads_put_their_minimax_values_together():
    _, result = searched(AUTO.replace(threads=2), simulations=80)
    assert result.minimax
    assert sum(row.visits for row in result.actions) >= 70


def test_the_file_keeps_the_word_and_refuses_others(path, tmp_path):
    assert LinearValue.load(path).backup == "minimax_backup"
    with pytest.raises(ValueError, match=r"backup must be 'mean_backup' or 'minimax_backup'"):
        value("power_mean")
    arrays = dict(np.load(path))
    np.savez(tmp_path / "wrong.npz", **{**arrays, "backup": "best"})
    with pytest.raises(ValueError, match="got 'best'"):
        LinearValue.load(tmp_path / "wrong.npz")
    del arrays["backup"]
    np.savez(tmp_path / "old.npz", **arrays)
    assert LinearValue.load(tmp_path / "old.npz").backup == "mean_backup"


@pytest.mark.full
def test_openspiels_bots_show_a_tree_with_visits_and_rewards(path, monkeypatch):
    monkeypatch.delenv("RAVE_AGENTS_GAMES", raising=False)
    game = pyspiel.load_game(GAME)
    bot = AutoBot(game, simulations=60, seed=1, evaluator=str(path))
    state = game.new_initial_state()
    root = bot.mcts_search(state)
    assert bot.last_result.minimax
    assert [child.explore_count for child in root.children] == [
        row.visits for row in bot.last_result.actions
    ]
    assert all(abs(child.total_reward) <= child.explore_count for child in root.children)
    assert root.best_child().action == bot.last_result.action
    policy, action = bot.step_with_policy(state)
    assert dict(policy)[action] == pytest.approx(max(chance for _, chance in policy))
    assert "minimax" in str(bot.last_result)


@pytest.mark.slow
def test_engines_analyses_reviews_and_environments_use_it(path, monkeypatch):
    monkeypatch.delenv("RAVE_AGENTS_GAMES", raising=False)
    agent = f"auto(simulations=40,evaluator={path})"
    engine = GtpEngine(GAME, agent, seed=1)
    line = engine.answer("lz-analyze b 50")
    assert re.search(r"visits \d+ winrate \d+", line)
    assert engine.answer("genmove b").startswith("= ")
    analysis = analyse(GAME, agent, seed=1)
    assert analysis.result.minimax
    assert "with minimax backups" in str(analysis)
    state, played = RULES.new_initial_state(), []
    for _ in range(3):
        played.append(state.legal_actions()[0])
        state.apply_action(played[-1])
    assert len(review_game(GAME, played, agent).values) == 4
    env = gymnasium.make("rave_gymnasium:Opponent-v0", game=GAME, opponent=agent)
    _, info = env.reset(seed=1)
    env.step(int(np.flatnonzero(info["action_mask"])[0]))


@pytest.mark.compiled
@pytest.mark.full
def test_a_prepared_search_is_the_same():
    searcher = Searcher(AUTO, seed=1, evaluator=value())
    searcher.prepare(RULES.new_initial_state())
    result = searcher.search(RULES.new_initial_state(), Limit(simulations=60))
    assert result.minimax
    assert rows(result) == rows(searched()[1])


def test_the_configuration_is_written_and_read_again():
    assert AUTO.to_dict()["backup"] == "adaptive_backup"
    assert SearchConfig.from_dict(AUTO.to_dict()) == AUTO
    explicit = AUTO.replace(backup="minimax_backup", rule=UCB1(0.05))
    assert isinstance(explicit.backup, MinimaxBackup)
    assert make_agent("auto(backup=adaptive_backup)", RULES).searcher.config == AUTO


def test_where_nothing_is_known_it_says_nothing():
    state = rules_class("nim")().new_initial_state()
    result = Searcher(AUTO, seed=1).search(state, Limit(simulations=10))
    assert (result.known, result.minimax) == (None, False)


@pytest.mark.full
def test_a_match_decides_and_averages_stay_without_evidence():
    judge = value()
    score = choose_backup(RULES, judge, games=2, seconds=0.001)
    assert score.games == 2
    assert judge.backup == "mean_backup"
