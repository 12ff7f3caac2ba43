"""Games that papers on RAVE play and OpenSpiel has not, against plain rules."""

import pyspiel
import pytest
import rave_openspiel  # noqa: F401  (it adds them to OpenSpiel)
from helpers.slow_boards import SlowAtariGo, SlowDomineering, SlowKnightthrough

from rave_agents.analysis.solve import solve_position
from rave_agents.frameworks.own_games import as_game
from rave_agents.games import rules_class
from rave_agents.testing import check_rules

SIZES = {
    "atari_go": ({"board_size": 9}, {"board_size": 4}, {"board_size": 2}),
    "knightthrough": ({"rows": 8, "columns": 8}, {"rows": 5, "columns": 4}),
    "domineering": ({"rows": 8, "columns": 8}, {"rows": 3, "columns": 5}),
}
SLOW = {
    "atari_go": lambda board_size: SlowAtariGo(board_size, board_size),
    "knightthrough": SlowKnightthrough,
    "domineering": SlowDomineering,
}
CASES = [(name, sizes) for name, all_sizes in SIZES.items() for sizes in all_sizes]


@pytest.mark.full(but=["atari_go-sizes1", "knightthrough-sizes4", "domineering-sizes6"])
@pytest.mark.parametrize(("name", "sizes"), CASES)
def test_the_compiled_rules_are_the_plain_ones(name, sizes):
    rules = rules_class(name)(**sizes)
    check_rules(rules, lambda: SLOW[name](**sizes), games=20, interpreted_games=1, strings=False)


@pytest.mark.parametrize("name", SIZES)
def test_openspiel_knows_it_by_name(name, capfd):
    sizes = SIZES[name][-1]
    written = ",".join(f"{key}={value}" for key, value in sizes.items())
    game = pyspiel.load_game(f"{name}({written})")
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    assert as_game(f"{name}({written})").name == str(game)
    capfd.readouterr()


@pytest.mark.parametrize(
    ("game", "winner"),
    [
        # Berlekamp 1988; Breuker, Uiterwijk & van den Herik 2000: who begins wins on 2x2 to 4x4
        # squares, and who comes second on 5x5.
        ("domineering(rows=2,columns=2)", 0),
        ("domineering(rows=3,columns=3)", 0),
        ("domineering(rows=4,columns=4)", 0),
        ("domineering(rows=5,columns=5)", 1),
    ],
)
def test_known_outcomes(game, winner):
    state = as_game(game).new_initial_state()
    assert solve_position(state).outcome[winner] == 1.0


@pytest.mark.parametrize(
    ("name", "sizes", "message"),
    [
        ("knightthrough", {"rows": 3}, "at least 4 and have at most 64 squares, got rows=3"),
        ("domineering", {"columns": 9}, "at least 2 and have at most 64 squares"),
        ("atari_go", {"board_size": 20}, "board_size must be an integer from 2 to 19, got 20"),
    ],
)
def test_sizes_that_are_not_allowed_are_refused(name, sizes, message):
    with pytest.raises(ValueError, match=message):
        rules_class(name)(**sizes)
