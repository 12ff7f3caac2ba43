"""Compiled rules whose ids are large."""

import pytest
from helpers.large_ids import FarCells

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.errors import GameError


@pytest.mark.full(but=["grave"])
@pytest.mark.parametrize("preset", ["uct", "rave", "grave", "pn_mcts", "auto"])
def test_python_simulates_rules_whose_ids_no_table_can_have(preset):
    searcher = Searcher(SearchConfig.preset(preset), seed=1)
    state = FarCells().new_initial_state()
    result = searcher.search(state, Limit(simulations=50))
    assert result.provider == "python"
    assert result.action in state.legal_actions()
    assert searcher.rooted_tree().num_actions < 5000


def test_rules_of_large_ids_say_how_many_actions_a_position_has():
    with pytest.raises(ValueError, match=r"num_distinct_actions is 1000000000, and .*max_actions"):
        FarCells(room=0)


def test_rules_refuse_ids_beyond_four_bytes():
    with pytest.raises(GameError, match=r"num_distinct_actions must be .* to 2,147,483,647"):
        FarCells(ids=2**40)
