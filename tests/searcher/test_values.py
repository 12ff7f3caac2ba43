"""Value functions: what they are asked, what their values count for, and which are refused."""

import math
from typing import NamedTuple

import numpy as np
import pyspiel
import pytest
from helpers.exhaustive import Exhaustive
from helpers.games import joint_random_game, random_game
from helpers.race import Race
from helpers.trees import check_tree, dump
from rave_openspiel import OpenSpielState

from rave_agents import Limit, SearchConfig, Searcher, make_agent
from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.frameworks.adapters import load_game
from rave_agents.games import rules_class
from rave_agents.games.bits import count_bits
from rave_agents.kernel.tree import UNEXPANDED, edge_rows
from rave_agents.kernel.values.implicit_minimax import JudgedEdges
from rave_agents.parts import UCB1, Greedy, Judging, Proofs, implements, position_value

CHANCE, TERMINAL = -1, -4


class Pieces(NamedTuple):
    """The difference of pieces, for breakthrough."""

    weight: float = 0.05


@implements(position_value, Pieces)
def pieces(value, rules, state, returns):
    returns[0] = value.weight * (count_bits(state.pieces[0]) - count_bits(state.pieces[1]))
    returns[1] = -returns[0]


def plain_pieces(state):
    """The same as a function of a kit's state."""
    own = [sum(plane.ravel()) for plane in state.observation(0)[:2]]
    return 0.05 * (own[0] - own[1]) * (1 - 2 * state.current_player())


class Truth:
    """Tells what best play leads to, and counts how often it is asked."""

    def __init__(self, rules):
        self.exhaustive = Exhaustive(rules)
        self.asked = 0

    def __call__(self, state):
        self.asked += 1
        (values,) = self.exhaustive.values(state.history)
        return values


@pytest.fixture
def compiled_games(monkeypatch):
    """OpenSpiel's games are searched on our rules, in the quick run, too."""
    monkeypatch.delenv("RAVE_AGENTS_GAMES", raising=False)


def breakthrough(rows=5, columns=4):
    return rules_class("breakthrough")(rows=rows, columns=columns).new_initial_state()


def judged(state, value, simulations=500, seed=1, **changes):
    config = SearchConfig(**{"judging": Judging(playout_moves=0), **changes})
    searcher = Searcher(config, seed=seed, evaluator=value)
    searcher.search(state, Limit(simulations=simulations))
    return searcher


def utilities_of(searcher):
    """[edges, players] the judgements of a tree's edges."""
    record = searcher._trees.searches[0].tree.running.judging
    assert isinstance(record, JudgedEdges)
    return record.utilities.reshape(-1, searcher.root.num_players())


@pytest.mark.full(but=4)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "kind",
    [
        {"zero_sum": True, "whole": False},
        {"num_players": 1, "whole": False},
        {"num_players": 3, "whole": False},
        {"zero_sum": True, "whole": True},  # With draws.
    ],
)
def test_the_truth_about_a_game_leads_to_its_value_without_playouts(kind, seed):
    game = random_game(seed, width=3, depth=5, **kind)
    truth = Truth(game.rules)
    if len(truth.exhaustive.values(())) > 1:
        pytest.skip("Best play may lead to several returns.")
    (values,) = truth.exhaustive.values(())
    judging = Judging(playout_moves=0, minimax=1.0)
    result = judged(game, truth, rule=Greedy(), judging=judging).result()
    mover = game.current_player()
    assert truth.exhaustive.values((result.action,)) == frozenset([values])
    (chosen,) = (row for row in result.actions if row.action == result.action)
    assert chosen.value == pytest.approx(values[mover], abs=1e-6)
    assert truth.asked > 0


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("seed", range(4))
def test_the_truth_leads_to_the_value_where_chance_moves(seed):
    game = random_game(seed, width=3, depth=5, chance=0.4, whole=False, zero_sum=True)
    truth = Truth(game.rules)
    (values,) = truth.exhaustive.values(())
    searcher = judged(game, truth, simulations=3000, judging=Judging(playout_moves=0, minimax=0.5))
    rows = edge_rows(searcher.tree, 0)
    player = game.current_player()
    best = utilities_of(searcher)[rows.start : rows.stop, player].max()
    assert best == pytest.approx(values[player], abs=1e-6)


def backed_up(searcher, value, node, state):
    """What is to be expected at a node by max^n, slowly; None where chance was drawn first."""
    tree = searcher.tree
    if state.is_terminal():
        return state.returns()
    edges = {}
    for edge in edge_rows(tree, node):
        child = state.clone()
        child.apply_action(int(tree.edge_action[edge]))
        below = int(tree.edge_child[edge])
        if below != UNEXPANDED:
            edges[edge] = backed_up(searcher, value, below, child)
        else:
            edges[edge] = child.returns() if child.is_terminal() else value(child)
    for edge, expected in edges.items():
        assert utilities_of(searcher)[edge] == pytest.approx(expected, abs=1e-6)
    mover = state.current_player()
    if mover == CHANCE:
        chances = [chance for _, chance in state.chance_outcomes()]
        return np.average(list(edges.values()), axis=0, weights=chances)
    return max(edges.values(), key=lambda values: values[mover])


class Drawn:
    """A value that follows from the position alone, for each player."""

    def __init__(self, low=-1.0):
        self.low = low

    def __call__(self, state):
        numbers = np.random.default_rng([7, *state.history]).uniform(self.low, 1.0, 3)
        return list(numbers[: state.num_players()])


@pytest.mark.full(but=2)
@pytest.mark.parametrize("kind", [{}, {"num_players": 3}, {"num_players": 1}])
@pytest.mark.parametrize("proofs", [None, Proofs(optional=True)])
def test_minimax_values_are_those_of_a_slow_form(kind, proofs):
    game = random_game(3, width=4, depth=7, whole=False, **kind)
    changes = {} if proofs is None else {"proofs": proofs}
    searcher = judged(game, Drawn(), simulations=300, **changes)
    check_tree(searcher.rooted_tree())
    if proofs is None:
        backed_up(searcher, Drawn(), 0, game)


class SlowSearch:
    """UCT without playouts, with implicit minimax backups: written for reading alone."""

    def __init__(self, state, value, c, weight, first_play):
        self.value, self.c, self.weight, self.first_play = value, c, weight, first_play
        self.root = self.node(state)

    def node(self, state):
        over = state.is_terminal()
        mover = state.current_player()
        node = {"state": state, "mover": mover, "visits": 0, "edges": []}
        for action in [] if over else state.legal_actions():
            child = state.clone()
            child.apply_action(action)
            judged = child.returns() if child.is_terminal() else self.value(child)
            edge = {"action": action, "n": 0, "sum": 0.0, "v": list(judged), "child": None}
            node["edges"].append({**edge, "state": child})
        return node

    def score(self, node, edge):
        v = (edge["v"][node["mover"]] + 1) / 2
        if edge["n"] == 0:
            q = v if self.first_play else math.inf
        else:
            q = (1 - self.weight) * edge["sum"] / edge["n"] + self.weight * v
        return q + self.c * math.sqrt(math.log(node["visits"]) / max(edge["n"], 1))

    def simulate(self):
        path, node = [], self.root
        while node is not None and node["edges"] and node["visits"]:
            edge = max(node["edges"], key=lambda edge: self.score(node, edge))
            path.append((node, edge))
            last, node = edge, edge["child"]
        if node is None and last["n"] >= 1:
            node = last["child"] = self.node(last["state"])
            node["visits"] = 1
        state = last["state"] if path else self.root["state"]
        returns = state.returns() if state.is_terminal() else self.value(state)
        if node is not None:
            node["visits"] += 1
        for above, edge in reversed(path):
            edge["n"] += 1
            edge["sum"] += (returns[above["mover"]] + 1) / 2
            below = edge["child"]
            if below is not None and below["edges"]:
                mover = below["mover"]
                edge["v"] = max(below["edges"], key=lambda each: each["v"][mover])["v"]
            if above is not node:
                above["visits"] += 1


@pytest.mark.parametrize(("weight", "first_play"), [(0.4, True), (1.0, True), (0.0, True)])
def test_a_search_is_that_of_a_slow_form(weight, first_play):
    game = random_game(5, width=5, depth=8, whole=False)
    slow = SlowSearch(game, Drawn(), 0.3, weight, first_play)
    for _ in range(400):
        slow.simulate()
    judging = Judging(playout_moves=0, minimax=weight, first_play=first_play)
    searcher = judged(game, Drawn(), simulations=400, rule=UCB1(c=0.3), judging=judging)
    tree = searcher.tree
    visits = {int(tree.edge_action[e]): int(tree.edge_visits[e]) for e in edge_rows(tree, 0)}
    assert visits == {edge["action"]: edge["n"] for edge in slow.root["edges"]}


def test_without_unvisited_values_every_edge_is_tried_first():
    game = random_game(5, width=5, depth=8, whole=False)
    count = len(game.legal_actions())
    judging = Judging(playout_moves=0, first_play=False)
    result = judged(game, Drawn(), simulations=count + 1, judging=judging).result()
    assert [row.visits for row in result.actions] == [1] * count


@pytest.mark.slow
@pytest.mark.full(but=["3"])
@pytest.mark.parametrize("moves", [0, 3, math.inf])
def test_a_compiled_value_grows_the_tree_of_the_same_value_in_python(moves):
    # Without a playout of its own, so that both draw the same random numbers.
    state = Race(goal=4).new_initial_state()
    config = {"judging": Judging(playout_moves=moves, minimax=0.3)}
    fast = judged(state, Ahead(), simulations=300, **config)
    slow = judged(state, plain_ahead, simulations=300, **config)
    assert fast.result().provider != slow.result().provider or JIT_DISABLED
    assert dump(fast.rooted_tree()) == dump(slow.rooted_tree())


class Ahead(NamedTuple):
    """Who is ahead in the race has more to expect."""


@implements(position_value, Ahead)
def ahead(value, rules, state, returns):
    total = 3.0 + state.places[0] + state.places[1] + state.places[2]
    for player in range(rules.num_players):
        returns[player] = 2.0 * (1.0 + state.places[player]) / total


def plain_ahead(state):
    places = state.record.places.astype(float)
    return list(2.0 * (1.0 + places) / (3.0 + places.sum()))


def test_a_cut_playout_has_so_many_moves_of_players():
    lengths = []

    def look(state):
        lengths.append(len(state.history))
        return [0.0, 0.0]

    game = random_game(1, width=3, depth=12, whole=False)
    judging = Judging(playout_moves=2, minimax=0.0, first_play=False)
    judged(game, look, simulations=1, judging=judging)
    assert lengths in ([2], [])  # The game may end before.
    state = breakthrough()
    searcher = judged(state, Pieces(0.0), simulations=1, judging=judging)
    ends = searcher._trees.searches[0]._frame.playout_ends
    assert ends[0] == 2


def test_playouts_are_cut_where_players_move_at_the_same_time():
    game = joint_random_game(1)
    asked = []

    def value(state):
        asked.append(state)
        return [0.0] * state.num_players()

    searcher = Searcher(SearchConfig(judging=Judging(playout_moves=1)), seed=1, evaluator=value)
    searcher.search(game, Limit(simulations=30), player=0)
    assert asked


def test_playouts_are_cut_where_something_is_hidden():
    state = pyspiel.load_game("leduc_poker").new_initial_state()
    for action in (0, 1):
        state.apply_action(action)
    asked = []

    def value(state):
        asked.append(state)
        return [0.0, 0.0]

    result = Searcher(
        SearchConfig(judging=Judging(playout_moves=1)), seed=1, evaluator=value
    ).search(state, Limit(simulations=50))
    assert asked
    assert result.simulations == 50


def test_openspiels_own_game_takes_a_compiled_value(compiled_games):
    state = pyspiel.load_game("breakthrough(rows=5,columns=4)").new_initial_state()
    searcher = Searcher(SearchConfig(), seed=1, evaluator=Pieces())
    assert searcher.search(state, Limit(simulations=50)).provider == "compiled rules" or (
        JIT_DISABLED
    )


@pytest.mark.slow
def test_a_number_is_the_view_of_the_player_to_move():
    state = breakthrough()
    tree = dump(judged(state, plain_pieces, simulations=200).rooted_tree())
    assert tree == dump(judged(state, Pieces(), simulations=200).rooted_tree())


def test_a_spec_names_a_value_and_what_it_is_used_for(compiled_games):
    game = load_game("breakthrough(rows=5,columns=4)")
    module = f"{__name__}:Pieces(weight=0.02)"
    spec = f"uct(evaluator={module},simulations=50,minimax=0.2,playout_moves=4)"
    agent = make_agent(spec, game, 0, seed=1)
    agent.step(game.new_initial_state())
    assert agent.searcher.evaluator == Pieces(0.02)
    assert agent.searcher.config.judging == Judging(playout_moves=4, minimax=0.2)


@pytest.mark.slow
def test_a_copy_shares_the_value_and_the_tree_can_be_kept():
    state = breakthrough()
    searcher = judged(state, Pieces(), simulations=300)
    action = searcher.result().action
    searcher.advance(action)
    state.apply_action(action)
    kept = searcher.result().root_visits
    assert searcher.search(state, Limit(simulations=400)).root_visits >= kept > 0
    check_tree(searcher.rooted_tree())


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (math.nan, "finite numbers"),
        (1.5, "from -1 to 1"),
        ([0.0], "all 2 players"),
        ([0.0, math.inf], "finite numbers"),
        ("good", "got 'good'"),
        (None, "got None"),
    ],
)
def test_a_value_that_a_search_cannot_use_is_refused(answer, message):
    with pytest.raises(GameError, match=message):
        judged(breakthrough(), lambda state: answer, simulations=10)


def test_one_number_is_refused_where_there_are_three_players():
    with pytest.raises(GameError, match="expected returns of all 3 players"):
        judged(random_game(1, num_players=3), lambda state: 0.0, simulations=10)


class Wrong(NamedTuple):
    """A value that is none."""

    number: float


@implements(position_value, Wrong)
def wrong(value, rules, state, returns):
    returns[0] = value.number


@pytest.mark.parametrize("number", [7.0, math.nan, -math.inf])
def test_a_compiled_value_that_a_search_cannot_use_is_refused(number):
    with pytest.raises(GameError, match=f"from -1 to 1.*got .{number}"):
        judged(breakthrough(), Wrong(number), simulations=10)


@pytest.mark.compiled
@pytest.mark.full
def test_machine_code_refuses_it_and_leaves_the_tree_whole():
    with pytest.raises(GameError, match="from -1 to 1"):
        judged(breakthrough(), Wrong(math.nan), simulations=10)


def test_an_exception_of_the_value_is_raised_and_leaves_the_tree_whole():
    error = RuntimeError("no value here")
    calls = []

    def value(state):
        calls.append(state)
        if len(calls) > 40:
            raise error
        return 0.0

    searcher = Searcher(SearchConfig(), seed=1, evaluator=value)
    with pytest.raises(RuntimeError) as raised:
        searcher.search(breakthrough(), Limit(simulations=500))
    assert raised.value is error
    check_tree(searcher.rooted_tree())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"evaluator": 3}, TypeError, "an evaluator must be a function of a state"),
        ({"evaluator": "nothing.npz"}, OSError, "nothing.npz': there is no such file"),
        ({"evaluator": __file__}, ValueError, "test_values.py:Name"),
        ({"evaluator": "."}, OSError, "directory"),
        ({"evaluator": Truth}, TypeError, "missing a required argument: 'rules'"),
        ({"evaluator": UCB1()}, TypeError, "nothing is registered for UCB1"),
        ({"config": SearchConfig(judging=Judging(minimax=0.1))}, ValueError, "pass evaluator="),
    ],
)
def test_what_is_no_value_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Searcher(**arguments)


@pytest.mark.parametrize("moves", [-1, 1.5, math.nan])
def test_playout_moves_are_whole(moves):
    with pytest.raises(ValueError, match="playout_moves must be"):
        SearchConfig(judging=Judging(playout_moves=moves))


def test_a_compiled_value_is_refused_for_a_game_that_is_not_of_the_kit():
    state = OpenSpielState(pyspiel.load_game("tic_tac_toe").new_initial_state())
    with pytest.raises(UnsupportedGameError, match="Pieces is compiled with the rules"):
        judged(state, Pieces(), simulations=10)


def test_what_a_game_has_paid_before_counts_beside_the_value():
    state = pyspiel.load_game("morpion_solitaire").new_initial_state()
    for _ in range(3):  # Each move brings 1.
        state.apply_action(state.legal_actions()[0])
    judging = Judging(playout_moves=0.0, minimax=0.0, first_play=False)
    searcher = Searcher(SearchConfig(judging=judging), seed=1, evaluator=lambda state: 2.0)
    result = searcher.search(state, Limit(simulations=5))
    assert {row.value for row in result.actions if row.visits > 0} == {3.0 + 1.0 + 2.0}
