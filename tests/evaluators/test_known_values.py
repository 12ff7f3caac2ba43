"""Values that are shipped with the package, and levels of strength."""

import numpy as np
import pytest

from rave_agents import Limit, LinearValue, SearchConfig, Searcher, make_agent
from rave_agents.arena.match import play_match
from rave_agents.evaluators import levels, shipped
from rave_agents.evaluators.levels import DEFAULT, LEVELS, PATH, Ladder, Level
from rave_agents.evaluators.move_policy import NUMBERS, MovePolicy, load_learned
from rave_agents.evaluators.other_sizes import rules_named
from rave_agents.evaluators.tuple_network import network_for
from rave_agents.games import rules_class

RULES = rules_class("breakthrough")(rows=5, columns=4)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a value for one small game, in the place of the shipped ones."""
    network = network_for(RULES)
    weights = np.random.default_rng(1).normal(0, 0.3, (1, 1, network.size + 1))
    value = LinearValue(
        str(RULES),
        weights.astype(np.float16).astype(np.float32),
        utilities=(-1.0, 1.0),
        utility_sum=0.0,
        network=network,
        players=2,
    )
    value.save(tmp_path / shipped.file_name(RULES))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    monkeypatch.setattr(levels, "CALIBRATED", tmp_path / "levels.json")
    caches = shipped.value_for, levels.calibrated, levels.ladder_of
    for cached in caches:
        cached.cache_clear()
    yield tmp_path
    for cached in caches:
        cached.cache_clear()


def visits(state, config, *, simulations=60):
    result = Searcher(config, seed=1).search(state, Limit(simulations=simulations))
    return result.known, [row.visits for row in result.actions]


def test_auto_uses_what_is_known_of_a_game_and_says_so(folder):
    state, auto = RULES.new_initial_state(), SearchConfig.preset("auto")
    known, with_value = visits(state, auto)
    unknown, without = visits(state, auto.replace(known=False))
    assert (known, unknown) == (str(RULES), None)
    assert with_value != without
    result = Searcher(auto, seed=1).search(state, Limit(simulations=10))
    assert result.learned == "value"
    assert f"using a value learned for {RULES}" in str(result)


def test_nothing_is_known_of_a_game_of_ones_own_with_the_same_name(folder):
    class Breakthrough(type(RULES)):
        """The same game, as a user's module might have it."""

    state = Breakthrough(rows=5, columns=4).new_initial_state()
    assert visits(state, SearchConfig.preset("auto"))[0] is None


@pytest.mark.slow
def test_a_search_without_a_shipped_value_is_the_same(folder):
    state, auto = RULES.replace(rows=6).new_initial_state(), SearchConfig.preset("auto")
    assert visits(state, auto) == visits(state, auto.replace(known=False))


def test_an_evaluator_that_is_given_goes_first(folder):
    state, auto = RULES.new_initial_state(), SearchConfig.preset("auto")
    given = Searcher(auto, seed=1, evaluator=lambda state: 0.0)
    assert given.search(state, Limit(simulations=10)).known is None


def test_a_policy_can_be_known_of_a_game(folder):
    rules = rules_class("hex")(num_cols=3, num_rows=3)
    numbers = np.random.default_rng(1).normal(0, 2, NUMBERS).astype(np.float32)
    MovePolicy(str(rules), numbers, made="at random").save(folder / shipped.file_name(rules))
    state, auto = rules.new_initial_state(), SearchConfig.preset("auto")
    result = Searcher(auto, seed=1).search(state, Limit(simulations=10))
    assert (result.known, result.learned) == (str(rules), "policy")
    assert visits(state, auto) != visits(state, auto.replace(known=False))


def test_every_shipped_file_fits_its_game():
    for path in shipped.shipped_files():
        value = load_learned(path)
        assert value.made
        name = path.stem.partition("-")[0]
        assert value.game.startswith(f"{name}(")
        rules = rules_named(value.game, rules_class(name))
        assert shipped.value_for(rules).game == value.game
        assert path.name == shipped.file_name(rules)
    assert sum(path.stat().st_size for path in shipped.FOLDER.glob("*")) < 12 * 2**20


def moves(level, threads, *, plies=3):
    agent = make_agent(f"auto(level={level},threads={threads})", RULES, 0, seed=4)
    state, found = RULES.new_initial_state(), []
    for _ in range(plies):
        found.append(agent.step(state))
        state.apply_action(found[-1])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 5])
def test_a_level_plays_the_same_moves_on_any_number_of_threads(level):
    assert moves(level, 1) == moves(level, 2)


def test_a_level_decides_the_simulations_whatever_limit_is_given():
    """Nothing is known of so small a board, and its levels were not measured."""
    rules = rules_class("mnk")(m=3, n=4, k=3)
    for level in (1, 2):
        searcher = Searcher(SearchConfig.preset("auto").replace(level=level), seed=1)
        for limit in (Limit(simulations=3), Limit(seconds=0.01)):
            searcher.reset()
            found = searcher.search(rules.new_initial_state(), limit)
            assert found.simulations == DEFAULT.levels[level - 1].simulations


def test_random_moves_are_drawn_uniformly():
    state, auto = RULES.new_initial_state(), SearchConfig.preset("auto")
    best, mixed, drawn = (
        np.array([row.probability for row in searched(state, auto.replace(random_moves=share))])
        for share in (0.0, 0.4, 1.0)
    )
    assert drawn == pytest.approx(1 / len(drawn))
    assert mixed == pytest.approx(0.6 * best + 0.4 * drawn)


def searched(state, config):
    return Searcher(config, seed=1).search(state, Limit(simulations=20)).actions


def test_the_levels_of_an_unmeasured_game_lead_up_to_the_full_search():
    simulations, _, random_moves = zip(*DEFAULT.levels, strict=True)
    assert len(DEFAULT.levels) == LEVELS
    assert list(simulations) == sorted(simulations)
    assert list(random_moves) == sorted(random_moves, reverse=True)
    assert random_moves[0] > 0.0
    assert DEFAULT.levels[-1] == PATH[-1] == (1000, 0.0, 0.0)


def test_levels_of_a_game_are_read_from_their_file(folder):
    ladder = Ladder(tuple(Level(number, 0.5, 0.1) for number in range(1, 11)), 100.0)
    levels.write_levels(levels.CALIBRATED, {str(RULES): ladder})
    config = SearchConfig.preset("auto").replace(level=7)
    result = Searcher(config, seed=1).search(RULES.new_initial_state(), Limit(simulations=50))
    assert (result.simulations, result.known) == (7, str(RULES))


def test_a_size_that_was_not_measured_has_the_levels_of_the_nearest_that_was(folder):
    small, large = (
        Ladder(tuple(Level(first + number, 0.5, 0.1) for number in range(LEVELS)), 100.0)
        for first in (1, 100)
    )
    sizes = {
        str(RULES.replace(rows=6, columns=6)): small,
        str(RULES.replace(rows=8, columns=8)): large,
    }
    levels.write_levels(levels.CALIBRATED, {**sizes, str(RULES): Ladder(PATH[:LEVELS], 1.0)})
    for rows, ladder in ((4, small), (5, small), (7, large)):
        found = levels.ladder_of(RULES.replace(rows=rows, columns=rows))
        assert found == ladder._replace(distance=None)
    assert levels.ladder_of(rules_class("tic_tac_toe")()) == DEFAULT


@pytest.mark.parametrize("level", [-1, 11, 2.5, "3"])
def test_a_level_that_there_is_not_is_refused(level):
    with pytest.raises((ValueError, TypeError), match="level"):
        SearchConfig.preset("auto").replace(level=level)


def test_levels_are_written_and_read_again(tmp_path):
    path, ladders = tmp_path / "levels.json", {"a(b=1)": DEFAULT, "c()": Ladder(PATH[:10], 90.5)}
    levels.write_levels(path, ladders)
    assert levels.read_levels(path) == ladders


@pytest.mark.parametrize("limit", ["simulations=10", "seconds=0.1", "clock=1"])
def test_a_limit_beside_a_level_is_refused(limit):
    with pytest.raises(ValueError, match="level=3 decides the simulations"):
        make_agent(f"auto(level=3,{limit})", RULES, 0)


def test_a_match_gives_a_level_no_limit():
    match = play_match(RULES, "auto(level=2)", "random", games=2, seconds=1.0, progress=False)
    assert match.score.games == 2


def test_the_shipped_levels_are_of_games_of_the_package():
    for game, ladder in levels.read_levels(levels.CALIBRATED).items():
        assert str(levels.rules_named(game, rules_class(game.partition("(")[0]))) == game
        assert ladder.levels[-1] == PATH[-1]
        assert ladder.distance > 0
