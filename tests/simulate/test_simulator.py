"""The contract between the loop and the provider of simulations."""

import pathlib
import time

import pytest
from helpers.games import Position, RandomEvaluator, random_game, written_game
from helpers.processes import run_python
from helpers.trees import check_tree, dump

from rave_agents import GameError, Limit, SearchConfig, Searcher
from rave_agents.kernel import loop
from rave_agents.parts import (
    PUCT,
    UCB1,
    DirichletNoise,
    NoAmaf,
    NodeAmaf,
    Proofs,
)


class Corridor(Position):
    """A position that is only the number of moves made, so that long games are quick."""

    def __init__(self, length, moves=0):
        self.length, self.moves = length, moves

    def clone(self):
        return Corridor(self.length, self.moves)

    def apply_action(self, action):
        self.moves += 1

    def current_player(self):
        return -4 if self.moves == self.length else self.moves % 2

    def legal_actions(self):
        return [self.moves % 3, 3]

    def returns(self):
        return [1.0, 0.0]

    def num_players(self):
        return 2

    def num_distinct_actions(self):
        return 4

    def min_utility(self):
        return 0.0

    def max_utility(self):
        return 1.0

    def position_key(self):
        return self.moves


class OneWay(Corridor):
    """The same without any choice."""

    def clone(self):
        return OneWay(self.length, self.moves)

    def legal_actions(self):
        return [self.moves % 3]


def search(state, simulations, evaluator=None, **changes):
    config = SearchConfig(**{"amaf": NodeAmaf(), "search_forced_moves": True, **changes})
    searcher = Searcher(config, seed=1, evaluator=evaluator)
    return searcher, searcher.search(state, Limit(simulations=simulations))


@pytest.mark.slow
def test_paths_longer_than_the_frame():
    searcher, result = search(OneWay(260), 265, expand_visits=1)
    assert result.root_visits == 265
    assert result.nodes == 261
    assert searcher.tree.node_visits[:261].tolist() == [265 - n for n in range(261)]
    check_tree(searcher)


@pytest.mark.slow
@pytest.mark.full(but=["3"])
@pytest.mark.parametrize("playouts", [1, 3])
def test_playouts_longer_than_the_frame(playouts):
    searcher, result = search(Corridor(3000), 20, playout_count=playouts)
    assert result.root_visits == result.simulations == 20
    assert [row.value for row in result.actions] == [1.0, 1.0]
    check_tree(searcher)


@pytest.mark.compiled
def test_more_actions_than_the_frame():
    count = 5000
    nodes = {(): (0, range(count))}
    nodes |= {(a,): [a / count, 1 - a / count] for a in range(count)}
    state = written_game(nodes, num_distinct_actions=count)
    searcher, result = search(state, 6000, rule=UCB1(0.1), amaf=NoAmaf())
    assert len(result.actions) == count
    assert min(row.visits for row in result.actions) == 1
    assert result.action == count - 1
    check_tree(searcher)


def test_more_chance_outcomes_than_the_frame():
    count = 3000
    nodes = {(): (0, [1]), (1,): [(i, 1 / count) for i in range(count)]}
    nodes |= {(1, i): [float(i % 2), 0.0] for i in range(count)}
    searcher, result = search(written_game(nodes), 500, expand_visits=1)
    assert result.root_visits == 500
    assert result.value == pytest.approx(0.5, abs=0.1)
    check_tree(searcher)


class CustomError(Exception):
    pass


METHODS = ["clone", "current_player", "legal_actions", "apply_action", "returns", "chance_outcomes"]


def failing_game(method, after):
    """A game whose method raises, once, on its call of this number; and the error."""
    error = CustomError(method)
    calls = [0]

    class Failing(Position):
        pass

    def fail(self, *arguments):
        calls[0] += 1
        if calls[0] == after:
            raise error
        return getattr(Position, method)(self, *arguments)

    setattr(Failing, method, fail)
    base = random_game(2, chance=0.3, depth=8)
    return Failing(base.rules), error


@pytest.mark.full(but=6)
@pytest.mark.parametrize("after", [30, 31, 200])
@pytest.mark.parametrize("method", METHODS)
def test_a_states_exception_comes_out_as_it_is(method, after):
    state, error = failing_game(method, after)
    searcher = Searcher(SearchConfig(amaf=NodeAmaf()), seed=1)
    with pytest.raises(CustomError) as raised:
        searcher.search(state, Limit(simulations=5000))
    assert raised.value is error
    check_tree(searcher)
    partial = searcher.result()
    assert 1 <= partial.root_visits == partial.simulations < 5000
    assert searcher.search(state, Limit(simulations=100)).root_visits == 100
    check_tree(searcher)


@pytest.mark.parametrize("method", ["evaluate", "prior"])
def test_an_evaluators_exception_comes_out_as_it_is(method):
    error = CustomError(method)

    class Failing(RandomEvaluator):
        calls = 0

    def fail(self, state):
        self.calls += 1
        if self.calls == 20:
            raise error
        return getattr(RandomEvaluator, method)(self, state)

    setattr(Failing, method, fail)
    searcher = Searcher(seed=1, evaluator=Failing())
    state = random_game(2, depth=8)
    with pytest.raises(CustomError) as raised:
        searcher.search(state, Limit(simulations=5000))
    assert raised.value is error
    check_tree(searcher)
    assert searcher.search(state, Limit(simulations=100)).root_visits == 100


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(3), StopIteration(), MemoryError()]
)
def test_any_exception_comes_out_as_it_is(error):
    class Failing(Position):
        def returns(self):
            raise error

    searcher = Searcher(seed=1)
    with pytest.raises(type(error)) as raised:
        searcher.search(Failing(random_game(2).rules), Limit(simulations=5000))
    assert raised.value is error
    assert searcher.search(random_game(2), Limit(simulations=100)).root_visits == 100


def test_a_failure_leaves_the_tree_as_it_was():
    """The simulation that failed is not in the tree: it equals that of the simulations before."""
    state, _ = failing_game("returns", 200)
    searcher = Searcher(SearchConfig(amaf=NodeAmaf()), seed=1)
    with pytest.raises(CustomError):
        searcher.search(state, Limit(simulations=5000))
    simulations = searcher.result().simulations
    whole = Searcher(SearchConfig(amaf=NodeAmaf()), seed=1)
    whole.search(random_game(2, chance=0.3, depth=8), Limit(simulations=simulations))
    assert dump(searcher) == dump(whole)


def broken(**methods):
    """A game, whole at its root, with some methods replaced below it."""

    class Broken(Position):
        pass

    for name, value in methods.items():

        def method(self, name=name, value=value):
            return value if self.history else getattr(Position, name)(self)

        setattr(Broken, name, method)
    return Broken(random_game(2, depth=8).rules)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"current_player": 2}, r"current_player\(\) gave 2"),
        ({"current_player": -2}, r"current_player\(\) gave -2"),
        ({"current_player": 0, "legal_actions": []}, r"legal_actions\(\) is empty"),
        ({"current_player": 0, "legal_actions": [99]}, "from 99 to 99"),
        ({"current_player": 0, "legal_actions": [-1]}, "from -1 to -1"),
        ({"current_player": -1, "chance_outcomes": [(0, 0.5), (1, 0.4)]}, "sum to 0.9"),
        ({"current_player": -1, "chance_outcomes": []}, "sum to 0"),
        ({"current_player": -4, "returns": [1.0]}, "for 2 players, got 1"),
        ({"current_player": -4, "returns": [1.0, float("nan")]}, "must be finite"),
    ],
)
@pytest.mark.parametrize("expand_visits", [1, 50])
def test_a_broken_game_is_refused_before_it_does_harm(methods, message, expand_visits):
    searcher = Searcher(SearchConfig(expand_visits=expand_visits), seed=1)
    with pytest.raises(GameError, match=message):
        searcher.search(broken(**methods), Limit(simulations=500))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([(0, 1.0)], "does not list exactly the legal actions"),
        ([], "does not list exactly the legal actions"),
        (-0.5, "not at least 0"),
        (float("nan"), "not at least 0"),
        (float("inf"), "not at least 0"),
        (1e308, "sum"),
        (800.0, "sum"),
        (0.0, "sum"),
        ([(0, 0.5), (0, 0.5)], "does not list exactly the legal actions"),
        ([(0, 0.5), (77, 0.5)], "does not list exactly the legal actions"),
    ],
)
def test_a_broken_prior_is_refused(prior, message):
    class Broken(RandomEvaluator):
        def prior(self, state):
            if isinstance(prior, list):
                return prior
            return [(action, prior) for action in state.legal_actions()]

    with pytest.raises(GameError, match=message):
        Searcher(seed=1, evaluator=Broken()).search(random_game(3), Limit(simulations=10))


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "count"),
    [
        *((kind, 30) for kind in ("grave", "evaluator", "openspiel")),
        ("openspiel_threads", 15),
    ],
)
def test_keyboard_interrupt_in_the_middle_of_searches(kind, count):
    """A real SIGINT always comes out as KeyboardInterrupt, silently, and the tree is whole."""
    script = pathlib.Path(__file__).with_name("interrupts.py")
    done = run_python(script, kind, count)
    assert done.stderr == ""
    assert done.stdout == f"interrupted {count}\n"
    assert done.returncode == 0


@pytest.mark.full(but=["parts0-changes0"])
@pytest.mark.compiled
@pytest.mark.parametrize(
    ("parts", "changes"),
    [
        (
            {},
            {"rule": UCB1(1), "first_play_urgency": 1, "playout_count": 3, "max_memory_mb": 1e-6},
        ),
        ({"amaf": NodeAmaf()}, {"expand_visits": 5, "bias": 0}),
        ({"proofs": Proofs()}, {"final_proven": False}),
        ({"rule": PUCT()}, {"root_noise": DirichletNoise(0.3), "c": 2}),
    ],
)
def test_numbers_players_and_evaluators_compile_nothing_anew(parts, changes, monkeypatch):
    """A combination of parts has one signature, whatever their numbers, the game, evaluators."""
    loaded = {}
    monkeypatch.setattr(loop.run, "_loaded", loaded)
    states = [random_game(1), random_game(1, num_players=1), random_game(1, num_players=3)]
    for number, state in enumerate([*states, *states]):
        config = SearchConfig(**parts).replace(**(changes if number >= 3 else {}))
        for evaluator in (None, RandomEvaluator()):
            if evaluator is None or config.playout_count == 1:
                searcher = Searcher(config, seed=1, evaluator=evaluator)
                searcher.search(state, Limit(simulations=30, seconds=10))
    assert len(loaded) == 1


def test_a_deadline_stops_in_the_middle_of_a_playout():
    class Slow(Corridor):
        def clone(self):
            return Slow(self.length, self.moves)

        def apply_action(self, action):
            time.sleep(0.001)
            super().apply_action(action)

    searcher = Searcher(seed=1)
    started = time.perf_counter()
    result = searcher.search(Slow(3000), Limit(seconds=0.1))
    assert time.perf_counter() - started < 0.2
    assert result.root_visits == 0
    assert result.action in (0, 3)
