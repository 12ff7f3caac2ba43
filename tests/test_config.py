"""SearchConfig: every bad value is refused by a message that names the field."""

import dataclasses
import enum
import json
import math

import numpy as np
import pytest

from rave_agents import SearchConfig
from rave_agents.options import Amaf, FinalMove, Selection

INF, NAN = math.inf, math.nan

BAD_VALUES = {
    "selection": ["ucb", ""],
    "exploration": [-0.1, INF, NAN],
    "simultaneous_exploration": [-0.1, INF, NAN],
    "gamma": [-0.1, 1.1, NAN],
    "tie_tolerance": [-0.1, INF, NAN],
    "first_play_urgency": [NAN],
    "amaf": ["all", None, True],
    "amaf_players": ["mine", None, True],
    "grave_ref": [-1, 2**31],
    "grave_table_visits": [0, -1, 2**20 + 1],
    "rave_schedule": ["silver", ""],
    "rave_k": [0, -1.0, INF, NAN],
    "rave_bias": [-0.01, INF, NAN],
    "fuego_initial": [0, -1.0, INF, NAN],
    "fuego_final": [0, -1.0, INF, NAN],
    "pachi_equivalence": [0, -1.0, INF, NAN],
    "grave_bias": [-0.01, INF, NAN],
    "rave_blend": ["values", None],
    "amaf_weighting": ["quadratic", None],
    "amaf_weight_first": [-0.1, INF, NAN],
    "amaf_weight_last": [-0.1, INF, NAN],
    "winning_move_weight": [-0.1, 1.1, NAN],
    "count_winning_moves": [],
    "amaf_unvisited": [],
    "solver": [],
    "check_terminal": [],
    "check_refutations": [],
    "proof_numbers": ["both", None, True],
    "proof_bonus": ["ranks", None],
    "proof_constant": [-0.1, INF, NAN],
    "proof_visits": [0, -1, NAN],
    "proof_weight": [-0.1, 1.1, NAN],
    "draw_layer": [],
    "skip_solved": [],
    "skip_solved_visits": [-1, 2**31],
    "final_proven": [],
    "contempt": [-0.1, 1.1, NAN],
    "expand_visits": [0, -1, 2**20 + 1],
    "playouts": [0, -3, 2**20 + 1],
    "playout_temperature": [0, 0.009, -1, -INF, NAN],
    "dirichlet_epsilon": [-0.1, 1.1, NAN],
    "dirichlet_alpha": [0, -1, INF, NAN],
    "final_move": ["best", 3],
    "maximin_visits": [-1, INF, NAN],
    "secure_constant": [INF, -INF, NAN],
    "temperature": [-1, INF, NAN],
    "hidden": ["guess", None, True],
    "utility_range": ["fixed", None],
    "threads": [0, -1, 257],
    "max_memory_mb": [0, -1, INF, NAN],
    "reuse_tree": [],
    "search_forced_moves": [],
    "early_stop": [],
}
WRONG_TYPES = {
    float: ["1", None, True, [1.0]],
    int: ["1", None, True, 2.0],
    bool: [1, "True", None],
}

FIELDS = {field.name: field for field in dataclasses.fields(SearchConfig)}

VALUES = [(name, value) for name, values in BAD_VALUES.items() for value in values]
TYPES = [
    (name, value) for name, field in FIELDS.items() for value in WRONG_TYPES.get(field.type, [])
]
TYPES += [
    (name, value)
    for name in ("selection", "rave_schedule")
    for value in (0, None, True, int, (), (1.0,), lambda n: n)
]


def test_every_field_has_its_bad_values():
    assert BAD_VALUES.keys() == FIELDS.keys()
    assert {name for name, _ in VALUES + TYPES} == FIELDS.keys()


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_a_bad_value_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        SearchConfig(**{name: value})
    with pytest.raises(ValueError, match=name):
        SearchConfig().replace(**{name: value})


@pytest.mark.parametrize(("name", "value"), TYPES)
def test_a_wrong_type_is_refused(name, value):
    with pytest.raises(TypeError, match=name):
        SearchConfig(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("exploration", 0),
        ("first_play_urgency", INF),
        ("playout_temperature", 0.01),
        ("playout_temperature", INF),
        ("first_play_urgency", -INF),
        ("rave_bias", 0),
        ("expand_visits", 2**20),
        ("dirichlet_epsilon", 1),
        ("secure_constant", -1),
        ("temperature", 0),
        ("playouts", np.int32(4)),
        ("rave_k", np.float32(2.5)),
        ("amaf", Amaf.NODE),
        ("final_move", "max"),
    ],
)
def test_values_at_the_edges_are_taken_as_the_fields_type(name, value):
    taken = getattr(SearchConfig(**{name: value}), name)
    assert taken == value
    assert type(taken) is FIELDS[name].type


def test_a_near_name_is_offered():
    with pytest.raises(ValueError, match="Did you mean 'secure'"):
        SearchConfig(final_move="secur")
    with pytest.raises(TypeError, match=r"'exploraton'.*Did you mean 'exploration'"):
        SearchConfig().replace(exploraton=1.0)
    with pytest.raises(TypeError, match="Did you mean 'rave_k'"):
        SearchConfig.from_dict({"ravek": 1.0})
    with pytest.raises(ValueError, match=r"Unknown preset 'rav'\. Did you mean 'rave'"):
        SearchConfig.preset("rav")


def test_puct_does_not_blend_with_ucb():
    with pytest.raises(ValueError, match=r"rave_blend='ucb'.*selection='puct'"):
        SearchConfig(selection="puct", rave_blend="ucb")


@pytest.mark.parametrize(
    ("name", "value"),
    [("winning_move_weight", 0.3), ("count_winning_moves", True)],
)
def test_what_needs_amaf_is_refused_without(name, value):
    with pytest.raises(ValueError, match=f"{name} needs AMAF statistics: set amaf, .*'node'"):
        SearchConfig(**{name: value})
    with pytest.raises(ValueError, match=name):
        SearchConfig(amaf="node", **{name: value}).replace(amaf="none")
    for amaf in ("node", "grave", "global"):
        assert getattr(SearchConfig(amaf=amaf, **{name: value}), name) == value


@pytest.mark.parametrize("name", ["check_terminal", "skip_solved"])
def test_what_needs_something_proven_is_refused_without(name):
    with pytest.raises(ValueError, match=f"{name} needs the solver or proof numbers: set solver"):
        SearchConfig(**{name: True})
    for known in ({"solver": True}, {"proof_numbers": "searcher"}):
        assert getattr(SearchConfig(**{name: True}, **known), name)


@pytest.mark.parametrize("name", ["solver", "check_terminal"])
def test_refutations_are_refused_without_what_finds_them(name):
    with pytest.raises(ValueError, match="check_refutations needs solver and check_terminal"):
        SearchConfig.preset("pn_mcts").replace(**{name: False})
    config = SearchConfig.preset("pn_mcts").replace(**{name: False}, check_refutations=False)
    assert not config.check_refutations


def test_a_draw_layer_is_refused_where_there_are_no_ranks():
    with pytest.raises(ValueError, match=r"draw_layer .* proof_bonus='max' .* 'dense_rank'"):
        SearchConfig(proof_numbers="searcher", proof_bonus="max", draw_layer=True)
    assert SearchConfig(proof_numbers="searcher", draw_layer=True).draw_layer


def test_winning_moves_are_counted_for_the_bias_too():
    assert not SearchConfig(amaf="node").counts_winning_moves
    assert SearchConfig(amaf="node", count_winning_moves=True).counts_winning_moves
    assert SearchConfig(amaf="node", winning_move_weight=0.1).counts_winning_moves


def test_presets():
    assert set(SearchConfig.preset_names()) >= {"uct", "puct", "rave"}
    for name in SearchConfig.preset_names():
        assert isinstance(SearchConfig.preset(name), SearchConfig)
    assert SearchConfig.preset("uct") == SearchConfig()
    assert SearchConfig.preset("uct").amaf is Amaf.NONE
    assert SearchConfig.preset("rave").amaf is Amaf.NODE
    assert SearchConfig.preset("grave").amaf is Amaf.GRAVE
    assert SearchConfig.preset("hrave").amaf is Amaf.GLOBAL
    assert SearchConfig.preset("rave_weighted").amaf_weighting == "linear"
    assert SearchConfig.preset("rave_winning_move").winning_move_weight > 0
    assert SearchConfig.preset("puct").selection is Selection.PUCT


def test_the_first_plan_as_it_is_written():
    # (1 - β) UCT + β RAVE, β = sqrt(k / (3 n + k)), k = 500, C = sqrt(2), one table, each child
    # visited once first.
    config = SearchConfig.preset("rave_global")
    assert (config.amaf, config.rave_schedule, config.rave_blend) == (
        "global",
        "hand_selected",
        "ucb",
    )
    assert (config.rave_k, config.exploration) == (500.0, math.sqrt(2.0))
    assert (config.amaf_unvisited, config.first_play_urgency) == (False, INF)


@pytest.mark.parametrize("name", SearchConfig.preset_names())
def test_dictionaries_go_there_and_back(name):
    config = SearchConfig.preset(name).replace(max_memory_mb=3)
    values = config.to_dict()
    assert values.keys() == FIELDS.keys()
    assert not any(isinstance(value, enum.Enum) for value in values.values())
    assert SearchConfig.from_dict(values) == config
    assert SearchConfig.from_dict(json.loads(json.dumps(values))) == config
    assert SearchConfig.from_dict({"rave_k": 7}) == SearchConfig(rave_k=7.0)


def test_replace_changes_a_copy():
    config = SearchConfig()
    changed = config.replace(final_move="max", playouts=3)
    assert (changed.final_move, changed.playouts) == (FinalMove.MAX, 3)
    assert config == SearchConfig()
    assert changed.replace(final_move="robust", playouts=1) == config


def test_it_cannot_be_changed():
    config = SearchConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.exploration = 2.0
    assert hash(config) == hash(SearchConfig())
    with pytest.raises(TypeError):
        SearchConfig("ucb1")
