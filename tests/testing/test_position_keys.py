"""The check that states with equal keys are the same position."""

import pytest
from helpers.graphs import GraphRules, GraphState

from rave_agents.errors import ConformanceError
from rave_agents.games import rules_class
from rave_agents.testing import check_game_state


class Forgetful(GraphState):
    """A state whose key forgets where it is."""

    def position_key(self):
        return self.rules.seed


def test_a_key_that_forgets_what_the_rules_ask_is_found():
    rules = GraphRules(4, nodes=12, loops=False)
    check_game_state(lambda: GraphState(rules), games=10)
    with pytest.raises(ConformanceError, match=r"Equal keys of position_key\(\)"):
        check_game_state(lambda: Forgetful(rules), games=10)


@pytest.mark.parametrize("name", ["hex", "dots_and_boxes"])
def test_keys_of_compiled_rules_pass_the_check(name):
    small = {"hex": {"num_cols": 3, "num_rows": 3}, "dots_and_boxes": {}}[name]
    check_game_state(rules_class(name)(**small), games=2)
