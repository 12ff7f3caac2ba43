"""SearchConfig: what it is composed of, by whatever it is given, and what it refuses."""

import dataclasses
import functools
import inspect
import json
import math
import pickle
from typing import NamedTuple, get_type_hints

import numpy as np
import pytest

import rave_agents.parts
from rave_agents import SearchConfig
from rave_agents.config.part_specs import part_spec
from rave_agents.config.specs import parse_call
from rave_agents.errors import UnknownNameError
from rave_agents.parts import (
    GRAVE,
    HRAVE,
    MCCFR,
    MCPS,
    PUCT,
    UCB1,
    Action,
    AdaptivePlayouts,
    AdaptiveUCB1,
    AdaptiveUrgency,
    AllPlayers,
    AverageStrategy,
    BlendScores,
    CheckRefutations,
    CheckTerminal,
    DecisiveMoves,
    DirichletNoise,
    DrawLayer,
    Edge,
    Exp3,
    Fuego,
    GameTraits,
    GraveBias,
    Greedy,
    Gumbel,
    HandSelected,
    HiddenTrust,
    LastGoodReply,
    Linear,
    MatrixEquilibrium,
    MaxBonus,
    MaxChild,
    Maximin,
    MinimumMSE,
    Move,
    NoAmaf,
    Node,
    NodeAmaf,
    NoNoise,
    NoProofNumbers,
    NoProofs,
    NoSkipping,
    NoSolver,
    OnlineValue,
    Pachi,
    PowerMean,
    ProofNumbers,
    Proofs,
    RandomTies,
    RankBonus,
    ReducedParentValue,
    RegretMatching,
    RobustChild,
    Rows,
    ScheduledPUCT,
    SearchingPlayer,
    SecureChild,
    SkipSolved,
    Solver,
    SteeredPlayouts,
    Stepped,
    Survivor,
    TiesWithin,
    Transpositions,
    UCB1Tuned,
    UniformPlayouts,
    VisitedEdges,
    VisitShares,
    WinningMoves,
    exploration,
    implements,
)

INF, NAN = math.inf, math.nan

FIELDS = get_type_hints(SearchConfig)


def kinds(config):
    """The classes of a configuration's parts, nested ones included, as one text."""
    return {name: repr(getattr(config, name)) for name in config.field_names()}


# What it is composed of.


def test_the_default_is_plain_uct():
    assert kinds(SearchConfig()) == kinds(
        SearchConfig(
            rule=UCB1(c=0.5),
            simultaneous=UCB1(c=3.0),
            ties=RandomTies(),
            first_play_urgency=INF,
            amaf=NoAmaf(),
            proofs=NoProofs(),
            playouts=UniformPlayouts(),
            playout_count=1,
            root_noise=NoNoise(),
            final_move=RobustChild(),
        )
    )


@pytest.mark.parametrize(
    ("field", "spec", "part"),
    [
        ("rule", "ucb1_tuned", UCB1Tuned()),
        ("rule", "puct(c=2)", PUCT(2.0)),
        ("simultaneous", "regret_matching(gamma=0.1)", RegretMatching(0.1)),
        ("simultaneous", "exp3", Exp3()),
        ("ties", "ties_within(tolerance=0.05)", TiesWithin(0.05)),
        ("amaf", "hrave", HRAVE()),
        (
            "amaf",
            "grave(ref=50,schedule=hand_selected(k=300),weighting=linear(last=1))",
            GRAVE(50, schedule=HandSelected(300.0), weighting=Linear(last=1.0)),
        ),
        ("amaf", " node_amaf( schedule = pachi( equivalence = 5 ) ) ", NodeAmaf(Pachi(5.0))),
        ("amaf", 'node_amaf(schedule="fuego(initial=0.9,final=50)")', NodeAmaf(Fuego(0.9, 50.0))),
        ("amaf", 'node_amaf(schedule="minimum_mse")', NodeAmaf(MinimumMSE())),
        (
            "proofs",
            "proofs(numbers=proof_numbers(goal=searching_player,bonus=rank_bonus(draws=draw_layer),"
            "visits=inf),checks=check_terminal)",
            Proofs(
                numbers=ProofNumbers(SearchingPlayer(), RankBonus(DrawLayer()), visits=INF),
                checks=CheckTerminal(),
            ),
        ),
        ("final_move", "secure_child(A=-1)", SecureChild(-1.0)),
        ("root_noise", "dirichlet_noise(alpha=0.03)", DirichletNoise(alpha=0.03)),
        ("playouts", "steered_playouts(playout_temperature=0.5)", SteeredPlayouts(0.5)),
    ],
)
def test_a_spec_stands_for_a_part(field, spec, part):
    assert SearchConfig(**{field: spec}) == SearchConfig(**{field: part})
    assert SearchConfig().replace(**{field: spec}) == SearchConfig(**{field: part})


def test_a_part_inside_a_part_may_be_a_spec_too():
    given = NodeAmaf(schedule="hand_selected(k=300)", winning="winning_moves(weight=0.1)")
    expected = NodeAmaf(schedule=HandSelected(300.0), winning=WinningMoves(0.1))
    assert SearchConfig(amaf=given) == SearchConfig(amaf=expected)


def test_the_rule_holds_where_players_move_at_the_same_time_too():
    assert SearchConfig(rule=PUCT(2)).simultaneous == PUCT(2.0)
    assert type(SearchConfig(rule="puct").simultaneous) is PUCT
    assert type(SearchConfig().replace(rule=UCB1Tuned()).simultaneous) is UCB1Tuned
    assert SearchConfig(rule=UCB1(0.1), simultaneous=UCB1(2)).simultaneous.c == 2.0
    assert SearchConfig().replace(rule=UCB1(0.1), simultaneous=UCB1(2)).simultaneous.c == 2.0


def test_sequential_halving_is_for_one_player_at_a_time():
    assert SearchConfig(rule="gumbel", final_move="survivor").simultaneous == UCB1(3.0)
    changed = SearchConfig().replace(rule=Gumbel(), final_move=Survivor(), simultaneous=PUCT(2))
    assert changed.replace(rule=Gumbel(8)).simultaneous == PUCT(2)


def test_a_mixed_strategy_stays_when_the_rule_changes():
    changed = SearchConfig(simultaneous=Exp3(0.1)).replace(rule=PUCT())
    assert changed == SearchConfig(rule=PUCT(), simultaneous=Exp3(0.1))


# Numbers.

BAD_NUMBERS = {
    "first_play_urgency": [NAN],
    "playout_count": [0, -3, 2**20 + 1],
    "contempt": [-0.1, 1.1, NAN],
    "temperature": [-1, INF, NAN],
    "random_moves": [-0.1, 1.1, NAN],
    "expand_visits": [0, -1, 2**20 + 1],
    "threads": [0, -1, 257],
    "leaves": [0, -1, 2**20 + 1],
    "max_memory_mb": [0, -1, INF, NAN],
    "final_proven": [],
    "reuse_tree": [],
    "search_forced_moves": [],
    "early_stop": [],
    "known": [],
    "endgame_share": [-0.1, 1, NAN],
    "level": [-1, 11],
}
AT_LEAST_0 = [-0.1, INF, NAN]
ABOVE_0 = [0, -1.0, INF, NAN]
SHARE = [-0.1, 1.1, NAN]

GUMBEL = SearchConfig(rule=Gumbel(), final_move=Survivor())
PROVING = SearchConfig(proofs=Proofs(numbers=ProofNumbers(), skipping=SkipSolved()))
BAD_IN_PARTS = [
    (SearchConfig(rule=UCB1()), "rule.c", AT_LEAST_0),
    (SearchConfig(rule=PUCT()), "rule.c", AT_LEAST_0),
    (SearchConfig(rule=AdaptiveUCB1()), "rule.c", AT_LEAST_0),
    (SearchConfig(rule=AdaptiveUCB1()), "rule.chance_factor", AT_LEAST_0),
    (SearchConfig(rule=AdaptiveUCB1()), "rule.chance_c", AT_LEAST_0),
    (SearchConfig(rule=AdaptiveUCB1()), "rule.late_c", AT_LEAST_0),
    (SearchConfig(rule=AdaptiveUCB1()), "rule.late_visits", ABOVE_0),
    (SearchConfig(rule=AdaptiveUCB1()), "rule.values_factor", AT_LEAST_0),
    (SearchConfig(rule=AdaptiveUCB1()), "rule.values_c", AT_LEAST_0),
    (SearchConfig(rule=AdaptiveUCB1()), "rule.priors_c", AT_LEAST_0),
    (SearchConfig(rule=AdaptiveUCB1()), "rule.minimax_c", AT_LEAST_0),
    (SearchConfig(first_play_value=AdaptiveUrgency()), "first_play_value.with_priors", SHARE),
    (SearchConfig(rule=ScheduledPUCT()), "rule.c_init", AT_LEAST_0),
    (SearchConfig(rule=ScheduledPUCT()), "rule.c_base", ABOVE_0),
    (GUMBEL, "rule.max_considered", [0, -1]),
    (GUMBEL, "rule.c_visit", [*AT_LEAST_0, 1e7]),
    (GUMBEL, "rule.c_scale", [*AT_LEAST_0, 1e7]),
    (GUMBEL, "rule.gumbel_scale", [*AT_LEAST_0, 1e7]),
    (SearchConfig(rule=UCB1Tuned()), "rule.c", AT_LEAST_0),
    (SearchConfig(first_play_value=ReducedParentValue()), "first_play_value.reduction", AT_LEAST_0),
    (SearchConfig(playouts=DecisiveMoves()), "playouts.anti_decisive", []),
    (SearchConfig(playouts=LastGoodReply()), "playouts.context", [0, 3]),
    (SearchConfig(playouts=LastGoodReply()), "playouts.forgetting", []),
    (SearchConfig(backup=PowerMean()), "backup.p", [0.5, *AT_LEAST_0, 1001]),
    (SearchConfig.preset("auto"), "amaf.trust.unvisited", SHARE),
    (SearchConfig(amaf=NodeAmaf(trust=HiddenTrust())), "amaf.trust.unvisited", SHARE),
    (SearchConfig(simultaneous=RegretMatching()), "simultaneous.gamma", SHARE),
    (SearchConfig(simultaneous=Exp3()), "simultaneous.gamma", [0, *SHARE]),
    (SearchConfig(regrets=MCCFR()), "regrets.regret_power", [*AT_LEAST_0, 8.5]),
    (SearchConfig(regrets=MCCFR()), "regrets.average_power", [*AT_LEAST_0, 8.5]),
    (SearchConfig(regrets=MCCFR()), "regrets.floor", []),
    (SearchConfig(regrets=MCCFR()), "regrets.sweeps", []),
    (SearchConfig(regrets=MCCFR()), "regrets.first_sweeps", [-1, 5001]),
    (SearchConfig(regrets=MCCFR()), "regrets.tremble", [*AT_LEAST_0, 64.5]),
    (SearchConfig(regrets=MCCFR()), "regrets.growth", [0, 0.5, -1, NAN]),
    (SearchConfig.preset("auto"), "regrets.least_entries", ABOVE_0),
    (SearchConfig.preset("mccfr"), "regrets.targeting", SHARE),
    (SearchConfig.preset("auto"), "regrets.histories_per_second", ABOVE_0),
    (SearchConfig.preset("auto"), "regrets.small_game", AT_LEAST_0),
    (SearchConfig.preset("auto"), "regrets.directed_simulations", AT_LEAST_0),
    (SearchConfig.preset("auto"), "regrets.longest_directed", AT_LEAST_0),
    (SearchConfig.preset("auto"), "regrets.most_deals", AT_LEAST_0),
    (SearchConfig(ties=TiesWithin()), "ties.tolerance", AT_LEAST_0),
    (SearchConfig(proofs=Proofs()), "proofs.optional", []),
    (SearchConfig(transpositions=Transpositions()), "transpositions.optional", []),
    (SearchConfig.preset("auto"), "proofs.checks.patience", [0, -1.0, NAN]),
    (SearchConfig.preset("auto"), "amaf.trust.expand_visits", [0, -1, 2**20 + 1]),
    (SearchConfig(), "judging.playout_moves", [-1]),
    (SearchConfig(), "judging.minimax", SHARE),
    (SearchConfig(), "judging.first_play", []),
    (SearchConfig(), "judging.prior_temperature", [0, -1.0, NAN]),
    (SearchConfig(), "judging.least_expand_visits", [0, -1]),
    (SearchConfig(learning=OnlineValue()), "learning.learned_weight", SHARE),
    (SearchConfig(learning=OnlineValue()), "learning.step_size", ABOVE_0),
    (SearchConfig(amaf=GRAVE()), "amaf.ref", [-1, 2**31]),
    (SearchConfig(amaf=MCPS()), "amaf.refresh", AT_LEAST_0),
    (SearchConfig(amaf=GRAVE()), "amaf.table_visits", [0, -1, 2**20 + 1]),
    (SearchConfig(amaf=NodeAmaf(HandSelected())), "amaf.schedule.k", ABOVE_0),
    (SearchConfig(amaf=NodeAmaf(MinimumMSE())), "amaf.schedule.bias", AT_LEAST_0),
    (SearchConfig(amaf=GRAVE(schedule=Fuego())), "amaf.schedule.initial", ABOVE_0),
    (SearchConfig(amaf=HRAVE(Fuego())), "amaf.schedule.final", ABOVE_0),
    (SearchConfig(amaf=NodeAmaf(Pachi())), "amaf.schedule.equivalence", ABOVE_0),
    (SearchConfig(amaf=NodeAmaf(GraveBias())), "amaf.schedule.bias", AT_LEAST_0),
    (SearchConfig(amaf=NodeAmaf(weighting=Linear())), "amaf.weighting.first", AT_LEAST_0),
    (SearchConfig(amaf=HRAVE(weighting=Linear())), "amaf.weighting.last", AT_LEAST_0),
    (SearchConfig(amaf=NodeAmaf(winning=WinningMoves())), "amaf.winning.weight", SHARE),
    (PROVING, "proofs.numbers.constant", AT_LEAST_0),
    (PROVING, "proofs.numbers.visits", [0, -1, NAN]),
    (PROVING, "proofs.numbers.weight", SHARE),
    (PROVING, "proofs.skipping.visits", [-1, 2**31]),
    (
        SearchConfig(playouts=SteeredPlayouts()),
        "playouts.playout_temperature",
        [0, 0.009, -1, -INF, NAN],
    ),
    (
        SearchConfig(playouts=AdaptivePlayouts()),
        "playouts.playout_temperature",
        [0, 0.009, -1, -INF, NAN],
    ),
    (SearchConfig(root_noise=DirichletNoise()), "root_noise.epsilon", SHARE),
    (SearchConfig(root_noise=DirichletNoise()), "root_noise.alpha", ABOVE_0),
    (SearchConfig(final_move=SecureChild()), "final_move.A", [INF, -INF, NAN]),
    (SearchConfig(final_move=Maximin()), "final_move.visits", AT_LEAST_0),
    (SearchConfig(final_move=MatrixEquilibrium()), "final_move.visits", AT_LEAST_0),
    (SearchConfig(final_move=MatrixEquilibrium()), "final_move.threshold", SHARE),
    (SearchConfig(final_move=MatrixEquilibrium()), "final_move.fewest", AT_LEAST_0),
    (SearchConfig(final_move=VisitShares()), "final_move.threshold", SHARE),
    (SearchConfig(final_move=VisitShares()), "final_move.margin", SHARE),
    (SearchConfig(final_move=VisitShares()), "final_move.visits", AT_LEAST_0),
]
NAMED_BY_PLACE_ALONE = {
    "amaf.trust.expand_visits",
    "proofs.numbers.visits",
    "proofs.skipping.visits",
    "playouts.playout_temperature",
}
"""Their last word names another field too."""
WRONG_TYPES = {
    float: ["1", None, True, [1.0]],
    int: ["1", None, True, 2.0],
    bool: [1, "True", None],
}


def at(config, place):
    """What stands at a place such as ``amaf.schedule``."""
    return functools.reduce(getattr, place.split("."), config)


def owner(config, place):
    """The part that has the field at a place."""
    return at(config, place.rpartition(".")[0])


def with_value(config, place, value):
    """The outermost part with another value at a place, unchecked."""
    name, _, inner = place.partition(".")

    def changed(part, inner):
        field, _, deeper = inner.partition(".")
        new = changed(getattr(part, field), deeper) if deeper else value
        return part._replace(**{field: new})

    return {name: changed(getattr(config, name), inner)}


def refusals(values):
    return [
        pytest.param(config, place, value, id=f"{type(owner(config, place)).__name__}.{place}")
        for config, place, bad in BAD_IN_PARTS
        for value in values(get_type_hints(type(owner(config, place)))[place.split(".")[-1]], bad)
    ]


def test_every_number_has_its_bad_values():
    numbers = (float, int, bool)
    assert BAD_NUMBERS.keys() == {name for name, kind in FIELDS.items() if kind in numbers}
    told = {Edge, GameTraits, Node, Action, Move, Rows}
    shipped = {
        part
        for part in vars(rave_agents.parts).values()
        if inspect.isclass(part) and issubclass(part, tuple) and part not in told
    }
    expected = {
        (part, name)
        for part in shipped
        for name, kind in get_type_hints(part).items()
        if kind in numbers
    }
    tested = {
        (type(owner(config, place)), place.split(".")[-1]) for config, place, _ in BAD_IN_PARTS
    }
    assert tested == expected
    assert len(expected) == len(BAD_IN_PARTS) == 82


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, bad in BAD_NUMBERS.items() for value in bad]
)
def test_a_number_out_of_range_is_refused(name, value):
    with pytest.raises(ValueError, match=rf"^{name} must be .* got"):
        SearchConfig(**{name: value})
    with pytest.raises(ValueError, match=rf"^{name} must be .* got"):
        SearchConfig().replace(**{name: value})


@pytest.mark.parametrize(("config", "place", "value"), refusals(lambda kind, bad: bad))
def test_a_parts_number_out_of_range_is_refused_however_it_is_given(config, place, value):
    parts, last = with_value(config, place, value), place.split(".")[-1]
    in_specs = {name: part_spec(part) for name, part in parts.items()}
    for changes in (parts, in_specs):
        with pytest.raises(ValueError, match=rf"^{place} must be .* got"):
            SearchConfig(**changes)
    with pytest.raises(ValueError, match=rf"^{place} must be .* got"):
        config.replace(**{place: value})
    if place not in NAMED_BY_PLACE_ALONE:
        with pytest.raises(ValueError, match=rf"^{last} must be .* got"):
            config.replace(**{last: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in BAD_NUMBERS for value in WRONG_TYPES[FIELDS[name]]],
)
def test_a_wrong_type_is_refused(name, value):
    with pytest.raises(TypeError, match=f"^{name} must be"):
        SearchConfig(**{name: value})


@pytest.mark.parametrize(
    ("config", "place", "value"), refusals(lambda kind, bad: WRONG_TYPES[kind])
)
def test_a_wrong_type_in_a_part_is_refused(config, place, value):
    with pytest.raises(TypeError, match=f"^{place} must be"):
        SearchConfig(**with_value(config, place, value))
    with pytest.raises(TypeError, match=f"^{place} must be"):
        config.replace(**{place: value})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rule": UCB1(-1)}, "rule.c must be a finite number of at least 0, got -1."),
        (
            {"amaf": NodeAmaf(HandSelected(0))},
            "amaf.schedule.k must be a finite number above 0, got 0.",
        ),
        ({"contempt": 1.5}, "contempt must be a number in [0, 1], got 1.5."),
        ({"simultaneous": Exp3(0)}, "simultaneous.gamma must be a number in (0, 1], got 0."),
        ({"threads": 257}, "threads must be an integer from 1 to 256, got 257."),
        ({"expand_visits": 0}, "expand_visits must be an integer from 1 to 1,048,576, got 0."),
        ({"final_move": SecureChild(INF)}, "final_move.A must be a finite number, got inf."),
        ({"first_play_urgency": NAN}, "first_play_urgency must be a number, got nan."),
        (
            {"proofs": Proofs(numbers=ProofNumbers(visits=0))},
            "proofs.numbers.visits must be a number above 0, or infinity, got 0.",
        ),
    ],
)
def test_messages_say_what_is_allowed(given, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  (the whole message is compared)
        SearchConfig(**given)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("config", "place", "value"),
    [
        (SearchConfig(), "rule.c", 0),
        (SearchConfig(), "first_play_urgency", INF),
        (SearchConfig(), "first_play_urgency", -INF),
        (SearchConfig(), "expand_visits", 2**20),
        (SearchConfig(), "temperature", 0),
        (SearchConfig(), "contempt", 1),
        (SearchConfig(), "playout_count", np.int32(4)),
        (SearchConfig(playouts=SteeredPlayouts()), "playouts.playout_temperature", 0.01),
        (SearchConfig(playouts=AdaptivePlayouts()), "playouts.playout_temperature", 0.01),
        (SearchConfig(amaf=NodeAmaf()), "amaf.schedule.bias", 0),
        (SearchConfig(amaf=NodeAmaf(HandSelected())), "amaf.schedule.k", np.float32(2.5)),
        (SearchConfig(amaf=GRAVE()), "amaf.ref", 2**31 - 1),
        (SearchConfig(root_noise=DirichletNoise()), "root_noise.epsilon", 1),
        (SearchConfig(final_move=SecureChild()), "final_move.A", -1),
        (SearchConfig(simultaneous=RegretMatching()), "simultaneous.gamma", 0),
        (SearchConfig(simultaneous=Exp3()), "simultaneous.gamma", 1e-9),
        (PROVING, "proofs.numbers.visits", INF),
        (PROVING, "proofs.skipping.visits", np.int64(0)),
    ],
)
def test_values_at_the_edges_are_taken_as_the_fields_type(config, place, value):
    taken = at(config.replace(**{place: value}), place)
    holder = type(owner(config, place)) if "." in place else SearchConfig
    assert taken == value
    assert type(taken) is get_type_hints(holder)[place.split(".")[-1]]


def test_infinity_may_be_a_text():
    """As strict JSON and specs may have it."""
    assert SearchConfig(first_play_urgency="-inf").first_play_urgency == -INF
    for visits in ("inf", '"inf"'):
        spec = f"proofs(numbers=proof_numbers(visits={visits}))"
        assert SearchConfig(proofs=spec).proofs.numbers.visits == INF


@pytest.mark.parametrize("name", ["hidden", "utility_range"])
@pytest.mark.parametrize("value", ["guess", "", None, True])
def test_another_choice_is_refused(name, value):
    with pytest.raises(UnknownNameError, match=rf"{name} must be .* or .*, got "):
        SearchConfig(**{name: value})


# Parts.


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("rule", UCB1, r"^rule takes a part of the search, or its spec such as 'ucb1'"),
        ("rule", 3, "^rule takes a part of the search"),
        ("rule", (0.5,), "^rule takes a part of the search"),
        ("amaf", None, "^amaf takes a part of the search, or its spec such as 'no_amaf'"),
        ("amaf", True, "^amaf takes a part of the search"),
        ("rule", HandSelected(), "^rule takes one of the parts .*puct.*, not hand_selected"),
        ("rule", RegretMatching(), "^rule takes one of the parts .*, not regret_matching"),
        ("amaf", UCB1(), "^amaf takes one of the parts .*node_amaf.*, not ucb1"),
        ("amaf", NodeAmaf(UCB1()), r"^amaf\.schedule takes one of the parts .*, not ucb1"),
        ("proofs", Proofs(checks=SkipSolved()), r"^proofs\.checks takes one of the parts"),
        ("proofs", Proofs(numbers=None), r"^proofs\.numbers takes a part of the search"),
        ("final_move", UCB1(), "^final_move takes one of the parts robust_child"),
        ("root_noise", RobustChild(), "^root_noise takes one of the parts no_noise"),
        ("playouts", RandomTies(), "^playouts takes one of the parts uniform_playouts"),
        ("proofs", "proofs(numbers=None)", r"^proofs\.numbers takes a part .* got None"),
        ("rule", "ucb1(c=None)", r"^rule\.c must be a finite number of at least 0, got None"),
        ("rule", "ucb1(c=True)", r"^rule\.c must be a finite number of at least 0, got True"),
        ("rule", 'ucb1(c="0.5")', r"^rule\.c must be a finite number of at least 0, got '0\.5'"),
        ("rule", "math:sqrt", "^rule: 'math:sqrt' is not a part of a search"),
    ],
)
def test_what_is_no_such_part_is_refused(field, value, message):
    with pytest.raises(TypeError, match=message):
        SearchConfig(**{field: value})


@pytest.mark.parametrize(
    ("field", "spec", "message"),
    [
        ("rule", "ucb", r"Unknown rule 'ucb'\. Did you mean 'ucb1'"),
        ("rule", "exp3", r"Unknown rule 'exp3'"),
        ("final_move", "secure", r"Unknown final_move 'secure'\. Did you mean 'secure_child'"),
        ("amaf", "node_amaf(schedule=pachy)", r"Unknown amaf\.schedule 'pachy'\. Did you mean 'pa"),
        ("amaf", "grave(reff=3)", r"Unknown parameter of grave 'reff'\. Did you mean 'ref'"),
        ("rule", "puct(k=1)", r"Unknown parameter of puct 'k'\. There are: c"),
        ("rule", "no_such_module:Rule", "There is no module 'no_such_module'"),
        ("rule", "rave_agents.parts:UCB2", "has no name 'UCB2'. Did you mean 'UCB1'"),
        ("rule", "rave_agents.parts.UCB1", "written with a colon, rave_agents.parts:UCB1"),
    ],
)
def test_an_unknown_name_in_a_spec_is_answered_with_the_nearest(field, spec, message):
    with pytest.raises(UnknownNameError, match=message):
        SearchConfig(**{field: spec})
    with pytest.raises(UnknownNameError, match=message):
        SearchConfig().replace(**{field: spec})


@pytest.mark.parametrize("quote", ["'", '"'])
def test_values_may_be_in_quotes(quote):
    name, values = parse_call(f"f(text={quote}a, b(c{quote}, other=2,third=it's)")
    assert (name, values) == ("f", {"text": "a, b(c", "other": 2, "third": "it's"})


@pytest.mark.parametrize(
    "spec", ["", "ucb1(c=1", "ucb1(c=1))", "ucb1(1)", "ucb1(c=1,c=2)", '"ucb1"', 'ucb1(c="1)']
)
def test_a_spec_that_does_not_parse_is_refused(spec):
    with pytest.raises(ValueError, match=r"Not of the form|Given twice|Unbalanced"):
        SearchConfig(rule=spec)


# Parts of one's own, by name.


class ConfigTestRule(NamedTuple):
    weight: float
    times: int = 3
    flag: bool = False


@implements(exploration, ConfigTestRule)
def _explore(rule, node, edge):
    return rule.weight * rule.times


def test_a_registered_part_has_a_name():
    config = SearchConfig(rule="config_test_rule(weight=2,flag=True)")
    assert config == SearchConfig(rule=ConfigTestRule(2.0, flag=True))
    assert SearchConfig(rule=ConfigTestRule(2)).replace(times=5).rule == ConfigTestRule(2.0, 5)


def test_a_parts_name_stands_only_where_the_part_may():
    with pytest.raises(UnknownNameError, match="Unknown amaf 'config_test_rule'"):
        SearchConfig(amaf="config_test_rule(weight=2)")


def test_what_has_no_default_must_be_given():
    with pytest.raises(TypeError, match=r"rule: config_test_rule needs weight"):
        SearchConfig(rule="config_test_rule")


MODULE = """
from typing import NamedTuple
from rave_agents.parts import beta, implements

class Half(NamedTuple):
    k: float = 100.0

@implements(beta, Half)
def half(schedule, n, n_amaf):
    return schedule.k / (schedule.k + n)
"""


def test_a_part_of_a_module_is_imported_by_its_name_and_written_so(tmp_path, monkeypatch):
    (tmp_path / "config_test_parts.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    config = SearchConfig(amaf="node_amaf(schedule=config_test_parts:Half(k=50))")
    assert config.amaf.schedule == (50.0,)
    assert type(config.amaf.schedule).__name__ == "Half"
    values = config.to_dict()
    assert values["amaf"] == "node_amaf(schedule=config_test_parts:Half(k=50.0))"
    assert SearchConfig.from_dict(json.loads(json.dumps(values))) == config


# What does not go together.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"proofs": Proofs(NoSolver(), NoProofNumbers())},
            "proofs: nothing is proven without a solver and proof numbers: use no_proofs",
        ),
        (
            {"proofs": Proofs(NoSolver(), ProofNumbers(), checks=CheckRefutations())},
            "proofs: check_refutations needs a solver: use check_terminal, or solver=solver",
        ),
        (
            {"final_move": AverageStrategy()},
            "final_move=average_strategy needs simultaneous=regret_matching or exp3",
        ),
        (
            {"simultaneous": RegretMatching(), "amaf": GRAVE()},
            "simultaneous=regret_matching takes AMAF statistics from the nodes themselves: "
            "use amaf=node_amaf or no_amaf, not grave",
        ),
        (
            {"regrets": MCCFR(), "proofs": Proofs()},
            "regrets=mccfr proves nothing",
        ),
        ({"regrets": MCCFR(), "hidden": "see"}, "regrets=mccfr needs to see nothing"),
        ({"simultaneous": Exp3(), "amaf": HRAVE()}, "use amaf=node_amaf or no_amaf, not hrave"),
        (
            {"simultaneous": Exp3(), "proofs": Proofs()},
            "simultaneous=exp3 is for simultaneous moves, .*: leave proofs out",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        SearchConfig(**changes)
    with pytest.raises(ValueError, match=message):
        SearchConfig().replace(**changes)


@pytest.mark.parametrize("name", ["solver", "numbers"])
def test_replacing_a_part_of_a_part_is_checked_too(name):
    config = SearchConfig.preset("pn_mcts").replace(checks=CheckRefutations())
    gone = {"solver": NoSolver(), "numbers": NoProofNumbers()}
    if name == "solver":
        with pytest.raises(ValueError, match="check_refutations needs a solver"):
            config.replace(solver=gone["solver"])
        config = config.replace(checks=CheckTerminal()).replace(solver=gone["solver"])
    else:
        config = config.replace(checks=CheckTerminal(), numbers=gone["numbers"])
    other = "numbers" if name == "solver" else "solver"
    with pytest.raises(ValueError, match="nothing is proven without a solver and proof numbers"):
        config.replace(**{other: gone[other]})


def test_what_is_proven_and_mixed():
    assert not SearchConfig().proves
    assert not SearchConfig().mixes
    assert SearchConfig(proofs=Proofs()).proves
    assert SearchConfig(proofs=Proofs(NoSolver(), ProofNumbers())).proves
    assert SearchConfig(simultaneous=Exp3()).mixes


# Unknown names.


@pytest.mark.parametrize(
    ("config", "changes", "message"),
    [
        (
            SearchConfig.preset("rave"),
            {"k": 300},
            r"Unknown SearchConfig field 'k': it belongs to the part hand_selected\. "
            r"Give that, as in schedule=hand_selected\(k=\.\.\.\)\.",
        ),
        (SearchConfig(), {"tolerance": 0.1}, r"as in ties=ties_within\(tolerance=\.\.\.\)"),
        (SearchConfig(), {"epsilon": 0.1}, r"as in root_noise=dirichlet_noise\(epsilon=\.\.\.\)"),
        (SearchConfig(), {"schedule": Pachi()}, "'schedule': it belongs to the part"),
        (SearchConfig.preset("uct_solver"), {"draws": DrawLayer()}, r"bonus=rank_bonus\(draws="),
        (SearchConfig.preset("puct"), {"gamma": 0.1}, "it belongs to the part regret_matching"),
        (SearchConfig(), {"exploraton": 1.0}, "Unknown SearchConfig field 'exploraton'"),
        (SearchConfig(), {"expand_visit": 1}, "Did you mean 'expand_visits'"),
        (SearchConfig.preset("rave"), {"shedule": Pachi()}, "Did you mean 'schedule'"),
        (SearchConfig(), {"uct_c": 2.0}, "'uct_c': use c, halved"),
        (SearchConfig.preset("rave"), {"amaf.schedule.k": 3}, r"'amaf\.schedule\.k'"),
        (SearchConfig.preset("rave"), {"amaf.bias": 3}, r"Unknown SearchConfig field 'amaf\.bias'"),
        (SearchConfig(), {"rule.c.c": 3}, r"Unknown SearchConfig field 'rule\.c\.c'"),
    ],
)
def test_replace_refuses_a_name_that_is_nowhere_and_says_where_it_belongs(config, changes, message):
    with pytest.raises(TypeError, match=message):
        config.replace(**changes)


def test_a_near_name_is_offered():
    with pytest.raises(TypeError, match=r"Unknown SearchConfig field 'ruel'\. Did you mean 'rule'"):
        SearchConfig(ruel="puct")
    with pytest.raises(TypeError, match="Did you mean 'playout_count'"):
        SearchConfig.from_dict({"playoutcount": 1})
    with pytest.raises(UnknownNameError, match=r"Unknown preset 'rav'\. Did you mean 'rave'"):
        SearchConfig.preset("rav")


# replace.


def test_replace_changes_a_copy():
    config = SearchConfig()
    changed = config.replace(final_move=MaxChild(), playout_count=3)
    assert changed == SearchConfig(final_move=MaxChild(), playout_count=3)
    assert config == SearchConfig()
    assert changed.replace(final_move=RobustChild(), playout_count=1) == config
    assert config.replace() == config


def test_a_field_of_a_part_in_use_is_replaced_by_its_name():
    config = SearchConfig.preset("rave").replace(schedule="hand_selected(k=300)", expand_visits=1)
    assert config == SearchConfig(
        rule=AdaptiveUCB1(0.0, chance_c=0.7),
        simultaneous=AdaptiveUCB1(3.0, chance_factor=1.0, values_factor=1.0, priors_c=3.0),
        amaf=NodeAmaf(schedule=HandSelected(300.0)),
        expand_visits=1,
    )
    assert config.replace(k=7).amaf == NodeAmaf(schedule=HandSelected(7.0))
    grave = SearchConfig.preset("rave").replace(ref=3, amaf="grave", bias=0.1)
    assert kinds(grave)["amaf"] == repr(GRAVE(3, schedule=MinimumMSE(0.1)))


def test_a_name_replaces_every_field_of_one_class():
    assert SearchConfig().replace(c=0.2) == SearchConfig(rule=UCB1(0.2), simultaneous=UCB1(0.2))
    assert SearchConfig.preset("puct").replace(c=2) == SearchConfig(
        rule=PUCT(2.0), first_play_urgency=0.5
    )


def test_a_name_of_several_classes_fields_needs_its_place():
    config = SearchConfig(rule=UCB1(0.2), simultaneous=PUCT(1.0))
    with pytest.raises(ValueError, match=r"Several parts have a field 'c': say rule\.c or simult"):
        config.replace(c=0.3)
    assert config.replace(**{"rule.c": 0.3}) == SearchConfig(rule=UCB1(0.3), simultaneous=PUCT())
    changed = config.replace(**{"simultaneous.c": 0.3})
    assert changed == SearchConfig(rule=UCB1(0.2), simultaneous=PUCT(0.3))
    with pytest.raises(
        ValueError, match=r"say proofs\.numbers\.visits or proofs\.skipping\.visits"
    ):
        PROVING.replace(visits=3)
    assert PROVING.replace(**{"proofs.skipping.visits": 3}).proofs.skipping == SkipSolved(3)
    assert PROVING.replace(**{"proofs.skipping.visits": 3}).proofs.numbers == ProofNumbers()


def test_a_place_says_which_of_two_equal_parts_is_meant():
    changed = SearchConfig(rule=UCB1(0.2)).replace(**{"rule.c": 0.3})
    assert changed == SearchConfig(rule=UCB1(0.3), simultaneous=UCB1(0.2))


def test_a_name_of_the_configurations_own_field_means_that():
    config = SearchConfig(playouts=SteeredPlayouts(0.5)).replace(temperature=1)
    assert config == SearchConfig(playouts=SteeredPlayouts(0.5), temperature=1.0)
    changed = config.replace(**{"playouts.playout_temperature": 0.1})
    assert changed == SearchConfig(playouts=SteeredPlayouts(0.1), temperature=1.0)


def test_takes_says_which_names_replace_knows():
    rave = SearchConfig.preset("rave")
    assert all(rave.takes(name, {}) for name in ("rule", "schedule", "bias", "amaf.schedule.bias"))
    assert not any(rave.takes(name, {}) for name in ("k", "ref", "amaf.bias", "shedule"))
    assert rave.takes("ref", {"amaf": "grave"})


# Equality.


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"rule": UCB1(0.5)}, {"rule": PUCT(0.5)}),
        ({"ties": RandomTies()}, {"ties": TiesWithin(0.0)}),
        ({"amaf": NodeAmaf()}, {"amaf": HRAVE()}),
        ({"amaf": NodeAmaf(MinimumMSE(0.1))}, {"amaf": NodeAmaf(GraveBias(0.1))}),
        ({"amaf": NodeAmaf(edges=VisitedEdges())}, {"amaf": NodeAmaf()}),
        ({"final_move": MaxChild()}, {"final_move": RobustChild()}),
        ({"proofs": Proofs(checks=CheckTerminal())}, {"proofs": Proofs()}),
        (
            {"proofs": Proofs(numbers=ProofNumbers(goal=AllPlayers()))},
            {"proofs": Proofs(numbers=ProofNumbers(goal=SearchingPlayer()))},
        ),
        ({"rule": UCB1(0.5)}, {"rule": UCB1(0.4)}),
        ({"contempt": 0.5}, {"contempt": 0.4}),
    ],
)
def test_configurations_of_other_parts_or_numbers_differ(one, other):
    one, other = SearchConfig(**one), SearchConfig(**other)
    assert one != other
    assert len({one, other}) == 2
    differing = one.changes_from(other)
    assert other.replace(**differing) == one


def test_equal_configurations_have_one_hash():
    one = SearchConfig(rule="puct(c=1)", amaf=NodeAmaf(HandSelected(300)))
    other = SearchConfig(rule=PUCT(1.0), amaf="node_amaf(schedule=hand_selected(k=300))")
    assert one == other
    assert hash(one) == hash(other)
    assert one in {other}
    assert one != one.to_dict()


def test_it_cannot_be_changed():
    config = SearchConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.rule = UCB1(2.0)
    with pytest.raises(AttributeError):
        config.rule.c = 2.0
    with pytest.raises(TypeError):
        SearchConfig("ucb1")


# Presets, and what is written of a configuration.

FSU_NUMBERS = "proof_numbers(goal=searching_player,bonus=rank_bonus,constant=1.0,visits=inf)"
SIMULTANEOUS = "adaptive_ucb1(c=3.0,chance_factor=1.0,values_factor=1.0,priors_c=3.0)"
RAVE = {
    "rule": "adaptive_ucb1(c=0.0,chance_c=0.7)",
    "simultaneous": SIMULTANEOUS,
    "amaf": "node_amaf",
}
EAGER_RAVE = {**RAVE, "expand_visits": 1}
PN_PROOFS = "proofs(numbers=proof_numbers,skipping=skip_solved,checks=check_terminal)"
AUTO_PROOFS = PN_PROOFS.replace(
    "proof_numbers", "proof_numbers(bonus_trust=learned_bonus_trust)"
).replace("check_terminal", "check_refutations(patience=256.0)")
ROOT_OF_2 = "ucb1(c=1.4142135623730951)"

PRESETS = {
    "uct": {},
    "puct": {"rule": "puct", "simultaneous": "puct(c=3.0)", "first_play_urgency": 0.5},
    "gumbel": {
        "rule": "gumbel",
        "simultaneous": "puct(c=3.0)",
        "first_play_urgency": 0.5,
        "final_move": "survivor",
    },
    "rave": RAVE,
    "grave": {**EAGER_RAVE, "amaf": "grave"},
    "mcps": {**EAGER_RAVE, "amaf": "mcps"},
    "hrave": {**EAGER_RAVE, "amaf": "hrave"},
    "rave_global": {
        "rule": ROOT_OF_2,
        "amaf": "hrave(schedule=hand_selected,blending=blend_scores,edges=visited_edges)",
    },
    "rave_weighted": {**EAGER_RAVE, "amaf": "node_amaf(weighting=linear(last=1.0))"},
    "rave_winning_move": {**EAGER_RAVE, "amaf": "node_amaf(winning=winning_moves(weight=0.1))"},
    "uct_solver": {"proofs": "proofs(skipping=skip_solved,checks=check_terminal)"},
    "best_first_minimax": {
        "rule": "ucb1(c=0.05)",
        "simultaneous": "greedy",
        "backup": "minimax_backup",
        "proofs": "proofs(skipping=skip_solved(visits=0),checks=check_terminal)",
        "expand_visits": 1,
    },
    "pn_mcts": {
        "rule": "adaptive_ucb1",
        "simultaneous": SIMULTANEOUS,
        "first_play_urgency": 0.5,
        "proofs": PN_PROOFS,
        "contempt": 0.35,
    },
    "auto": {
        "rule": "adaptive_ucb1",
        "simultaneous": SIMULTANEOUS,
        "first_play_value": "adaptive_urgency",
        "backup": "adaptive_backup",
        "amaf": "node_amaf(trust=learned_trust(unvisited=0.5,expand_visits=2))",
        "proofs": f"{AUTO_PROOFS[:-1]},optional=True)",
        "playouts": "adaptive_playouts",
        "learning": "online_value",
        "regrets": "adaptive_regrets",
        "final_move": "visit_shares",
        "contempt": 0.35,
        "expand_visits": 1,
        "search_forced_moves": True,
        "known": True,
        "endgame_share": 0.3,
    },
    "rave_pn": {**RAVE, "proofs": PN_PROOFS, "contempt": 0.35},
    "pn_mcts_fsu": {
        "rule": ROOT_OF_2,
        "proofs": f"proofs(solver=no_solver,numbers={FSU_NUMBERS},skipping=skip_solved,"
        "checks=check_terminal)",
        "contempt": 0.0,
        "expand_visits": 1,
    },
    "rave_maximin": {
        "rule": ROOT_OF_2,
        "simultaneous": ROOT_OF_2,
        "amaf": "node_amaf(schedule=hand_selected,blending=blend_scores,players=searching_player)",
        "final_move": "maximin",
    },
    "mccfr": {"regrets": "mccfr", "final_move": "average_strategy"},
    "regret_matching": {"simultaneous": "regret_matching", "final_move": "average_strategy"},
    "exp3": {"simultaneous": "exp3", "final_move": "average_strategy"},
}
"""What each changes of the defaults."""


def test_there_are_these_presets():
    assert set(SearchConfig.preset_names()) == PRESETS.keys()
    assert SearchConfig.preset("uct") == SearchConfig()


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_changes_this_and_nothing_else(name):
    config = SearchConfig.preset(name)
    implied = {"simultaneous": "ucb1(c=3.0)"} if "rule" in PRESETS[name] else {}
    assert config.changes_from(SearchConfig()) == {**implied, **PRESETS[name]}
    assert SearchConfig(**{"simultaneous": UCB1(3.0), **PRESETS[name]}) == config


def test_the_defaults_that_the_presets_rest_on():
    assert repr(NodeAmaf()) == (
        "NodeAmaf(schedule=MinimumMSE(bias=0.035), blending=BlendValues(), players=AllPlayers(), "
        "edges=AllEdges(), weighting=Uniform(), winning=NoWinningMoves(), "
        "trust=FullTrust())"
    )
    assert repr(GRAVE()).startswith("GRAVE(ref=20, table_visits=10, schedule=MinimumMSE(bias=0.035")
    assert repr(HRAVE())[:-1] + ", trust=FullTrust())" == repr(NodeAmaf()).replace(
        "NodeAmaf", "HRAVE"
    )
    assert repr(ProofNumbers()) == (
        "ProofNumbers(goal=AllPlayers(), bonus=MaxBonus(), constant=0.2, visits=1.0, weight=0.0, "
        "bonus_trust=FullTrust())"
    )
    assert repr(Proofs()) == (
        "Proofs(solver=Solver(), numbers=NoProofNumbers(), skipping=NoSkipping(), "
        "checks=CheckNothing(), optional=False)"
    )
    assert [HandSelected().k, SkipSolved().visits, Maximin().visits] == [500.0, 5, 10.0]
    assert [SteeredPlayouts().playout_temperature, PUCT().c, UCB1().c] == [0.05, 1.0, 0.5]
    assert [RegretMatching().gamma, Exp3().gamma, Linear()] == [0.3, 0.3, (2.0, 0.0)]


FULL = SearchConfig(
    rule=UCB1Tuned(0.3),
    simultaneous=PUCT(2.0),
    ties=TiesWithin(0.05),
    first_play_urgency=-INF,
    amaf=GRAVE(
        3,
        1,
        Fuego(0.9, 50.0),
        BlendScores(),
        SearchingPlayer(),
        VisitedEdges(),
        Stepped(),
        WinningMoves(0.1),
    ),
    proofs=Proofs(
        Solver(),
        ProofNumbers(SearchingPlayer(), RankBonus(DrawLayer()), 1.0, INF, 0.5),
        SkipSolved(1),
        CheckRefutations(),
    ),
    playouts=SteeredPlayouts(0.5),
    root_noise=DirichletNoise(0.1, 0.03),
    final_move=SecureChild(2.0),
    hidden="see",
    utility_range="observed",
    threads=2,
    reuse_tree=False,
)


@pytest.mark.parametrize(
    "config",
    [
        *(SearchConfig.preset(name).replace(max_memory_mb=3) for name in PRESETS),
        FULL,
        SearchConfig(rule=Greedy(), proofs=Proofs(NoSolver(), ProofNumbers(bonus=MaxBonus()))),
        SearchConfig(proofs=Proofs(skipping=NoSkipping()), final_move=Maximin(3)),
    ],
)
def test_dictionaries_go_there_and_back(config):
    values = config.to_dict()
    assert values.keys() == set(SearchConfig.field_names())
    assert {type(value) for value in values.values()} <= {str, int, float, bool}
    assert SearchConfig.from_dict(values) == config
    assert SearchConfig.from_dict(json.loads(json.dumps(values))) == config
    assert kinds(SearchConfig.from_dict(values)) == kinds(config)
    assert pickle.loads(pickle.dumps(config)) == config


def test_a_dictionary_may_have_some_fields_alone():
    assert SearchConfig.from_dict({}) == SearchConfig()
    assert SearchConfig.from_dict({"amaf": "grave(ref=7)"}) == SearchConfig(amaf=GRAVE(7))
    assert SearchConfig.from_dict({"amaf": GRAVE(7)}) == SearchConfig(amaf=GRAVE(7))
