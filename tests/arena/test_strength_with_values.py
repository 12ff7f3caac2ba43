"""The default agent uses a learned value at least as well as the presets do."""

import pytest

from rave_agents.analysis.learn import learn_value
from rave_agents.arena.match import play_match

GAMES = ["breakthrough(rows=6,columns=6)", "connect_four", "hex(board_size=5)"]


@pytest.mark.full
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("other", ["uct", "uct_solver"])
@pytest.mark.parametrize("limit", [{"simulations": 400}, {"seconds": 0.01}], ids=str)
def test_auto_is_not_weaker_with_a_learned_value(game, other, limit, tmp_path):
    """40 games; of equals 1 in 1,000 matches ends below 0.3."""
    path = tmp_path / "value.npz"
    learn_value(game, games=100, rounds=2, simulations=50).save(path)
    agents = f"auto(evaluator={path})", f"{other}(c=0.2,evaluator={path})"
    score = play_match(game, *agents, games=40, seed=1, **limit).score
    assert (score.wins + 0.5 * score.draws) / 40 > 0.3
