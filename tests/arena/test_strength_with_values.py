"""The default agent uses a learned value at least as well as the presets do."""

import pytest

from rave_agents.arena.match import play_match
from rave_agents.learning.learn import learn


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """The path of a value learned of a game, once."""
    paths = {}

    def path_of(game):
        if game not in paths:
            paths[game] = tmp_path_factory.mktemp("learned") / "value.npz"
            learn(game, games=30, rounds=2, simulations=40).save(paths[game])
        return paths[game]

    return path_of


@pytest.mark.full
@pytest.mark.parametrize(
    ("game", "other", "limit"),
    [
        ("breakthrough(rows=6,columns=6)", "uct", {"simulations": 300}),
        ("connect_four", "uct_solver", {"simulations": 300}),
    ],
)
def test_auto_is_not_weaker_with_a_learned_value(game, other, limit, learned):
    """40 games; of equals 1 in 100 matches ends below 0.3."""
    path = learned(game)
    agents = f"auto(evaluator={path})", f"{other}(c=0.2,evaluator={path})"
    score = play_match(game, *agents, games=40, seed=1, **limit).score
    assert (score.wins + 0.5 * score.draws) / 40 >= 0.3
