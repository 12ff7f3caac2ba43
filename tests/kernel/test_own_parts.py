"""Parts of the user's own: rules, schedules, playout policies, root noise, final moves."""

import math
import os
import pathlib
from typing import NamedTuple

import numpy as np
import pytest
from helpers.games import (
    Parallel,
    RandomEvaluator,
    RandomGame,
    RandomRules,
    random_game,
    written_game,
)
from helpers.processes import run_python
from helpers.spiel import decision
from helpers.trees import check_tree, dump

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.agents.named_agents import make_agent
from rave_agents.errors import FormulaError, UnknownNameError
from rave_agents.parts import (
    GRAVE,
    PUCT,
    UCB1,
    HandSelected,
    NodeAmaf,
    Proofs,
    RegretMatching,
    SteeredPlayouts,
    TiesWithin,
    UniformPlayouts,
    action_weight,
    beta,
    exploration,
    implements,
    noisy,
    preference,
    score,
)


def tree_of(config, state, *, seed=4, simulations=500, evaluator=None):
    searcher = Searcher(config, seed=seed, evaluator=evaluator)
    searcher.search(state, Limit(simulations=simulations))
    return dump(searcher)


# All that a user writes.


class OwnUCB1(NamedTuple):
    """UCB1 once more."""

    c: float = 0.5


@implements(exploration, OwnUCB1)
def own_ucb1(rule, node, edge):
    return rule.c * math.sqrt(math.log(node.N) / max(edge.n, 1.0))


class OwnSchedule(NamedTuple):
    """The hand-selected schedule once more."""

    k: float = 50.0


@implements(beta, OwnSchedule)
def own_schedule(schedule, n, n_amaf):
    return math.sqrt(schedule.k / (3.0 * n + schedule.k))


class OwnScore(NamedTuple):
    """The whole score: PUCT."""

    c: float = 0.5


@implements(score, OwnScore)
def own_score(rule, amaf, node, edge):
    return edge.q + rule.c * edge.p * math.sqrt(node.N) / (edge.n + 1.0)


class OwnPlayouts(NamedTuple):
    """Steered playouts once more."""

    temperature: float = 0.05


@implements(action_weight, OwnPlayouts)
def own_playouts(policy, action):
    return math.exp(action.trust * (action.q - action.mean) / policy.temperature)


class Prefers(NamedTuple):
    """Playouts that take one action, where it is legal, so many times more often."""

    action: int = 0
    times: float = 50.0


@implements(action_weight, Prefers)
def prefers(policy, action):
    return policy.times if action.action == policy.action else 1.0


class FavoursLast(NamedTuple):
    """A share of the priors for the last action."""

    share: float = 0.5


@implements(noisy, FavoursLast)
def favours_last(noise, priors, random):
    return (1 - noise.share) * priors + noise.share * np.eye(len(priors))[-1]


class LeastVisits(NamedTuple):
    """The opposite of the robust child, in Python that no compiler takes."""


@implements(preference, LeastVisits)
def least_visits(final_move, value, visits, sure):
    return float(f"{-visits}"), value


SAME = {
    "rule": ({"rule": OwnUCB1(0.5)}, {}, None),
    "rule and proofs": ({"rule": OwnUCB1(0.5), "proofs": Proofs()}, {"proofs": Proofs()}, None),
    "score": ({"rule": OwnScore(0.5)}, {"rule": PUCT(0.5)}, RandomEvaluator()),
    "schedule": (
        {"amaf": NodeAmaf(OwnSchedule(50.0))},
        {"amaf": NodeAmaf(HandSelected(50.0))},
        None,
    ),
    "both": (
        {"amaf": GRAVE(schedule=OwnSchedule(50.0)), "rule": OwnUCB1(0.5)},
        {"amaf": GRAVE(schedule=HandSelected(50.0))},
        None,
    ),
    "playouts": ({"playouts": OwnPlayouts(0.05)}, {"playouts": SteeredPlayouts(0.05)}, None),
}


@pytest.mark.slow
@pytest.mark.full(but=2)
@pytest.mark.parametrize("fpu", [math.inf, 0.4])
@pytest.mark.parametrize("name", SAME)
def test_what_computes_the_same_grows_the_same_tree(name, fpu):
    own, built_in, evaluator = SAME[name]
    shared = SearchConfig(rule=UCB1(0.5), first_play_urgency=fpu)
    state = random_game(6, depth=9, chance=0.1, whole=False)
    expected = tree_of(shared.replace(**built_in), state, evaluator=evaluator)
    found = tree_of(shared.replace(**own), state, evaluator=evaluator)
    assert len(expected) > 10
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["goofspiel(num_cards=5,points_order=descending)", "go_fish"])
def test_own_parts_search_simultaneous_and_hidden_games(spec):
    state = decision(spec)
    own = SearchConfig(rule=OwnUCB1(0.5), amaf=NodeAmaf(OwnSchedule(50.0)))
    built_in = SearchConfig(rule=UCB1(0.5), amaf=NodeAmaf(HandSelected(50.0)))
    results = [
        Searcher(config, seed=2).search(state, Limit(simulations=100), player=0)
        for config in (own, built_in)
    ]
    assert results[0].actions == results[1].actions


class NeedsPriors(NamedTuple):
    """A rule that raises where an edge has no prior probability, which all edges have."""


@implements(exploration, NeedsPriors)
def by_prior(rule, node, edge):
    if edge.p <= 0.0:
        raise ValueError("an edge without a prior probability")
    return edge.p / (edge.n + 1.0)


@pytest.mark.full
@pytest.mark.compiled
def test_a_rule_is_asked_about_edges_alone():
    config = SearchConfig(rule=NeedsPriors(), amaf=NodeAmaf())
    assert len(tree_of(config, decision("hex(board_size=5)"))) > 10


@pytest.mark.full
@pytest.mark.compiled
def test_many_edges_are_scored_at_once_as_they_are_one_by_one():
    state = decision("gomoku(size=9)")
    at_once, one_by_one = (
        tree_of(SearchConfig(rule=rule, amaf=NodeAmaf()), state, simulations=3000)
        for rule in (UCB1(0.5), OwnUCB1(0.5))
    )
    assert len(at_once) > 100
    assert at_once == one_by_one


# Playouts, root noise and the final move.


def choice_for_the_playout():
    """Player 0 moves, then player 1, then player 0: who took action 0 last has won."""
    nodes = {(): (0, [0, 1])}
    for first in (0, 1):
        nodes[first,] = (1, [0, 1])
        for second in (0, 1):
            nodes[first, second] = (0, [0, 1])
            nodes[first, second, 0], nodes[first, second, 1] = [1.0, 0.0], [0.0, 1.0]
    return written_game(nodes)


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize(
    ("playouts", "value"),
    [(UniformPlayouts(), 0.5), (Prefers(0, 50.0), 50 / 51), (Prefers(1, 50.0), 1 / 51)],
)
def test_an_own_policy_chooses_the_playouts_moves(playouts, value):
    # No child gets a node, so that all but the first move is the playout's.
    config = SearchConfig(playouts=playouts, expand_visits=10_000)
    result = Searcher(config, seed=1).search(choice_for_the_playout(), Limit(simulations=4000))
    assert result.value == pytest.approx(value, abs=0.03)


class GrowsNaN(NamedTuple):
    after: float = 20.0


@implements(action_weight, GrowsNaN)
def _grows_nan(policy, action):
    return math.nan if action.n > policy.after else 1.0


class RaisingPlayouts(NamedTuple):
    after: float = 20.0


@implements(action_weight, RaisingPlayouts)
def _raising_playouts(policy, action):
    if action.n > policy.after:
        raise ValueError("too often")
    return 1.0


class Extremes(NamedTuple):
    infinite: float = math.inf


@implements(action_weight, Extremes)
def _extremes(policy, action):
    return policy.infinite if action.action == 0 else 0.0


def test_weights_without_bounds_are_taken_as_the_nearest_that_count():
    config = SearchConfig(playouts=Extremes(1e300), expand_visits=10_000)
    result = Searcher(config, seed=1).search(choice_for_the_playout(), Limit(simulations=1000))
    assert result.value > 0.97


def test_own_noise_changes_the_roots_priors():
    state = random_game(6, depth=9)
    config = SearchConfig(rule=PUCT(10.0), first_play_urgency=0.5)
    count = len(state.legal_actions())
    plain = Searcher(config, seed=1).search(state, Limit(simulations=200))
    noised = Searcher(config.replace(root_noise=FavoursLast(0.9)), seed=1).search(
        state, Limit(simulations=200)
    )
    assert [row.prior for row in plain.actions] == pytest.approx([1 / count] * count)
    assert [row.prior for row in noised.actions] == pytest.approx(
        [0.1 / count] * (count - 1) + [0.1 / count + 0.9]
    )
    assert noised.actions[-1].visits > 2 * plain.actions[-1].visits


class Shuffles(NamedTuple):
    """Noise of Python's own: no compiler could take it."""


SHUFFLED = []


@implements(noisy, Shuffles)
def _shuffles(noise, priors, random):
    told = {"priors": [str(prior) for prior in priors]}
    SHUFFLED.append(told)
    return np.array(sorted(random.random(len(priors))), np.float32)


def test_own_noise_runs_in_python_once_a_search_and_draws_by_the_seed():
    SHUFFLED.clear()
    state = random_game(6, depth=9)
    config = SearchConfig(rule=PUCT(1.0), root_noise=Shuffles())
    first, again, other = (
        [
            row.prior
            for row in Searcher(config, seed=seed).search(state, Limit(simulations=50)).actions
        ]
        for seed in (1, 1, 2)
    )
    assert len(SHUFFLED) == 3
    assert len(set(first)) > 1
    assert first == sorted(first)
    assert first == again != other


def test_an_own_final_move_chooses_among_the_moves_with_visits():
    state = random_game(6, depth=9)
    most, least = (
        Searcher(SearchConfig(final_move=final_move), seed=1).search(state, Limit(simulations=300))
        for final_move in ("robust_child", LeastVisits())
    )
    visits = {row.action: row.visits for row in least.actions}
    assert min(visits.values()) > 0
    assert visits[least.action] == min(visits.values()) < visits[most.action]
    assert [row.visits for row in most.actions] == [row.visits for row in least.actions]
    few = Searcher(SearchConfig(final_move=LeastVisits()), seed=1).search(
        state, Limit(simulations=2)
    )
    assert {row.action: row.visits for row in few.actions}[few.action] == 1


# By name.


def tree_by(spec):
    agent = make_agent(spec, RandomGame(), 0, seed=4)
    agent.searcher.search(RandomGame().new_initial_state(), Limit(simulations=300))
    return dump(agent.searcher)


@pytest.mark.parametrize(
    ("own", "built_in"),
    [
        ("rave(schedule=own_schedule(k=3))", "rave(schedule=hand_selected(k=3))"),
        (
            "grave(ref=5,schedule=own_schedule(k=3),expand_visits=2)",
            "grave(ref=5,schedule=hand_selected(k=3),expand_visits=2)",
        ),
        ("uct(rule=own_ucb1(c=0.2))", "uct(rule=ucb1(c=0.2))"),
        (
            "uct(amaf=node_amaf(schedule=own_schedule(k=3)),rule=own_ucb1)",
            "uct(amaf=node_amaf(schedule=hand_selected(k=3)))",
        ),
        (
            "uct(playouts=own_playouts(temperature=0.5))",
            "uct(playouts=steered_playouts(playout_temperature=0.5))",
        ),
    ],
)
def test_a_spec_names_parts_of_this_process(own, built_in):
    assert tree_by(own) == tree_by(built_in) != tree_by("uct")


def test_a_spec_names_own_noise_and_final_moves():
    spec = "puct(root_noise=favours_last(share=0.25),final_move=least_visits)"
    config = make_agent(spec, RandomGame(), 0).searcher.config
    expected = SearchConfig.preset("puct").replace(
        root_noise=FavoursLast(0.25), final_move=LeastVisits()
    )
    assert config == expected


MODULE = """
import math
from typing import NamedTuple

from rave_agents.parts import beta, exploration, implements

class Halving(NamedTuple):
    k: float = 500.0

@implements(beta, Halving)
def halving(schedule, n, n_amaf):
    return math.sqrt(schedule.k / (3.0 * n + schedule.k))

class Wide(NamedTuple):
    c: float = 0.1

@implements(exploration, Wide)
def wide(rule, node, edge):
    return rule.c * math.sqrt(math.log(node.N) / max(edge.n, 1.0))
"""


@pytest.mark.slow
def test_a_spec_names_parts_of_a_module(tmp_path, monkeypatch):
    (tmp_path / "own_parts_of_a_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    own = "schedule=own_parts_of_a_module:Halving(k=3),rule=own_parts_of_a_module:Wide(c=0.2)"
    found = tree_by(f"rave({own})")
    assert found == tree_by("rave(schedule=hand_selected(k=3),rule=ucb1(c=0.2))")
    config = make_agent(f"rave({own})", RandomGame(), 0).searcher.config
    assert SearchConfig.from_dict(config.to_dict()) == config
    assert "own_parts_of_a_module:Halving(k=3.0)" in config.to_dict()["amaf"]
    # Once imported, the module's parts are known by their names alone.
    assert tree_by("rave(schedule=halving(k=3),rule=wide(c=0.2))") == found


def test_what_a_module_lacks_is_refused(tmp_path, monkeypatch):
    (tmp_path / "own_parts_but_few.py").write_text("Thing = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnknownNameError, match="'own_parts_but_few' has no name 'Other'"):
        make_agent("rave(schedule=own_parts_but_few:Other)", RandomGame(), 0)
    with pytest.raises(TypeError, match="'own_parts_but_few:Thing' is not a part of a search"):
        make_agent("rave(schedule=own_parts_but_few:Thing)", RandomGame(), 0)
    with pytest.raises(UnknownNameError, match=r"Unknown schedule 'own_schedul'.*'own_schedule'"):
        make_agent("rave(schedule=own_schedul)", RandomGame(), 0)


# What is refused when the configuration is made.


class Unregistered(NamedTuple):
    c: float = 0.5


class Mistyped(NamedTuple):
    c: float = 0.5
    visits: int = 3
    name: str = "x"


@implements(exploration, Mistyped)
def _mistyped(rule, node, edge):
    return 0.0


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("rule", lambda n, q: q, "takes a part of the search.*a part of your own is an instance"),
        ("rule", OwnUCB1, "takes a part of the search.*a part of your own is an instance"),
        ("rule", (0.5,), "takes a part of the search.*a part of your own is an instance"),
        ("amaf", NodeAmaf(0.5), r"amaf\.schedule takes a part of the search"),
        ("rule", Unregistered(), "nothing is registered for Unregistered.*implement score or expl"),
        (
            "amaf",
            NodeAmaf(Unregistered()),
            r"amaf\.schedule: nothing is registered for Unregistered",
        ),
        ("playouts", Unregistered(), "nothing is registered for Unregistered.*action_weight"),
        ("root_noise", Unregistered(), "nothing is registered for Unregistered.*noisy"),
        ("final_move", Unregistered(), "nothing is registered for Unregistered.*preference"),
        ("rule", HandSelected(), "takes one of the parts .*own_ucb1.*, not hand_selected"),
        ("rule", RegretMatching(), "takes one of the parts .*, not regret_matching"),
        ("amaf", NodeAmaf(OwnUCB1()), "takes one of the parts .*own_schedule.*, not own_ucb1"),
        ("rule", OwnPlayouts(), "takes one of the parts .*, not own_playouts"),
        ("rule", OwnUCB1("1"), r"rule\.c must be a finite number.*, got '1'"),
        ("rule", Mistyped(visits=2.5), r"rule\.visits must be an integer, got 2\.5"),
        ("rule", Mistyped(), r"rule\.name must be a number, True, False or a part"),
    ],
)
def test_wrong_kinds_are_refused_when_the_configuration_is_made(field, value, message):
    with pytest.raises(TypeError, match=message) as caught:
        SearchConfig(**{field: value})
    assert str(caught.value).startswith(field)


def test_implements_takes_open_functions_and_parts():
    with pytest.raises(TypeError, match="takes an open function"):
        implements(math.sqrt, OwnUCB1)
    with pytest.raises(TypeError, match="a NamedTuple"):
        implements(exploration, dict)


# Parts that fail.


class RaisesLate(NamedTuple):
    c: float = 0.5


@implements(score, RaisesLate)
def _raises_late(rule, amaf, node, edge):
    if node.N > 40.0 and edge.n > 3.0:
        raise ValueError("too often")
    return edge.q - edge.n


class IsNoNumberLate(NamedTuple):
    c: float = 0.5


@implements(score, IsNoNumberLate)
def _is_no_number_late(rule, amaf, node, edge):
    return math.nan if node.N > 40.0 else edge.q - edge.n


class ScheduleOfNothing(NamedTuple):
    after: float = 40.0


@implements(beta, ScheduleOfNothing)
def _schedule_of_nothing(schedule, n, n_amaf):
    return math.nan


class RaisingSchedule(NamedTuple):
    after: float = 3.0


@implements(beta, RaisingSchedule)
def _raising_schedule(schedule, n, n_amaf):
    if n > schedule.after:
        raise ValueError("too often")
    return 0.5


TURNS, JOINT = "turns", "goofspiel(num_cards=5,points_order=descending)"

# The part, in which game and with which other parts, and what is told.
FAILURES = [
    ({"rule": RaisesLate()}, TURNS, "RaisesLate.* raised ValueError: too often"),
    ({"rule": IsNoNumberLate()}, TURNS, "IsNoNumberLate gave NaN for every action of a position"),
    (
        {"rule": RaisesLate(), "amaf": GRAVE(), "ties": TiesWithin(0.01)},
        TURNS,
        "RaisesLate.* raised ValueError: too often",
    ),
    ({"rule": IsNoNumberLate(), "proofs": Proofs()}, TURNS, "IsNoNumberLate gave NaN"),
    ({"rule": IsNoNumberLate()}, JOINT, "IsNoNumberLate gave NaN"),
    ({"rule": RaisesLate()}, "go_fish", "RaisesLate.* raised ValueError: too often"),
    (
        {"amaf": NodeAmaf(RaisingSchedule())},
        TURNS,
        "RaisingSchedule.* raised ValueError: too often",
    ),
    ({"amaf": NodeAmaf(ScheduleOfNothing())}, TURNS, "ScheduleOfNothing gave NaN for every action"),
    ({"playouts": GrowsNaN()}, TURNS, "GrowsNaN.* a playout policy gave NaN as an action's weight"),
    ({"playouts": RaisingPlayouts()}, TURNS, "RaisingPlayouts.* raised ValueError: too often"),
]


@pytest.mark.full(but=5)
@pytest.mark.parametrize(("parts", "game", "message"), FAILURES, ids=str)
def test_a_part_that_fails_ends_the_search_with_the_tree_whole(parts, game, message, capfd):
    state = random_game(6, depth=9) if game == TURNS else decision(game)
    searcher = Searcher(SearchConfig(**parts), seed=1)
    for _ in range(2):
        with pytest.raises(FormulaError, match=message) as caught:
            searcher.search(state, Limit(simulations=3000), player=0)
        if "too often" in message:
            assert str(caught.value.__cause__) == "too often"
        result = searcher.result()
        assert 1 <= result.simulations == result.root_visits < 3000
        assert sum(row.visits for row in result.actions) == result.simulations - 1
        if game == TURNS:
            check_tree(searcher)
    searcher.config = SearchConfig()
    assert searcher.search(random_game(1), Limit(simulations=30)).simulations == 30
    assert capfd.readouterr() == ("", "")


class Constant(NamedTuple):
    k: float = 0.5


@implements(beta, Constant)
def _constant(schedule, n, n_amaf):
    return schedule.k


@pytest.mark.parametrize("k", [5.0, -3.0, 1.01])
def test_a_schedule_that_gives_no_weight_is_refused(k):
    searcher = Searcher(SearchConfig(amaf=NodeAmaf(Constant(k))), seed=1)
    with pytest.raises(FormulaError, match="Constant: beta is a weight from 0 to 1, got"):
        searcher.search(random_game(6, depth=9), Limit(simulations=10))


def test_a_part_that_fails_in_one_of_several_threads_ends_the_search(capfd):
    searcher = Searcher(SearchConfig(rule=RaisesLate(), threads=3), seed=1)
    with pytest.raises(FormulaError, match="RaisesLate"):
        searcher.search(Parallel(RandomRules(6, depth=9)), Limit(simulations=30_000))
    assert capfd.readouterr() == ("", "")


class OnlyCredited(NamedTuple):
    c: float = 0.5


@implements(score, OnlyCredited)
def _only_credited(rule, amaf, node, edge):
    return 0.0 / edge.n if edge.n_amaf == 0.0 else edge.q_amaf


@pytest.mark.full
@pytest.mark.compiled
def test_a_rule_may_have_no_score_for_some_actions():
    """0 / 0 is NaN, and no error, as in all of the kernel."""
    config = SearchConfig(rule=OnlyCredited(), amaf=NodeAmaf())
    assert tree_of(config, random_game(6, depth=9), simulations=50)


# Scripts.


def run_script(path, text, **environment):
    path.write_text(text)
    tests = str(pathlib.Path(__file__).parents[1])
    paths = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    return run_python("-W", "error::RuntimeWarning", path, PYTHONPATH=paths, **environment)


WORKERS = """
from typing import NamedTuple
from rave_agents import AgentSpec
from rave_agents.arena.match import play_match
from rave_agents.parts import action_weight, beta, implements, kernel

@kernel
def fall(x):
    return 1.0 / (1.0 + x)

class Falling(NamedTuple):
    k: float = 100.0

class Lowest(NamedTuple):
    strength: float = 1.0

@implements(beta, Falling)
def falling(schedule, n, n_amaf):
    return fall(n / schedule.k)

@implements(action_weight, Lowest)
def lowest(policy, action):
    return fall(policy.strength * action.action)

if __name__ == "__main__":
    rave = AgentSpec("rave", {"schedule": Falling(3), "seed": 1})
    for agents in ((rave, "uct"), ("rave(schedule=falling(k=3))", "uct(playouts=lowest)")):
        for jobs in (1, 2):
            result = play_match("tic_tac_toe", *agents, games=4, simulations=50, seed=1, jobs=jobs)
            print(*(record.actions for record in result.records))
"""


@pytest.mark.full
def test_parts_of_a_script_play_in_several_processes(tmp_path):
    done = run_script(tmp_path / "script.py", WORKERS)
    assert done.returncode == 0, done.stderr
    assert "not kept on disk" not in done.stderr  # The workers know the script's file.
    objects, objects_of_two, names, names_of_two = done.stdout.splitlines()
    assert objects == objects_of_two
    assert names == names_of_two
    assert objects != names


def test_a_body_that_is_registered_again_takes_the_place_of_the_first():
    """As where a cell of a notebook is edited and run again."""

    class Signed(NamedTuple):
        sign: float = 1.0

    def spread():
        searcher = Searcher(SearchConfig(rule=Signed()), seed=1)
        result = searcher.search(random_game(6, depth=9), Limit(simulations=50))
        visits = [row.visits for row in result.actions]
        return max(visits) - min(visits)

    @implements(score, Signed)
    def least_visited(rule, amaf, node, edge):
        return -rule.sign * edge.n

    assert spread() <= 1

    @implements(score, Signed)
    def most_visited(rule, amaf, node, edge):
        return rule.sign * edge.n

    assert spread() > 1
