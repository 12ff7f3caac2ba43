import json
import math

import pytest

from rave_agents.arena import play_match, run_scaling


def scaling(**changes):
    options = {"simulations": [5, 40], "games": 4, "seed": 1, **changes}
    against = options.pop("against", ["random", "uct(simulations=20)"])
    return run_scaling("tic_tac_toe", options.pop("agent", "uct"), against, **options)


def moves_of(result):
    return [[(r.number, r.actions) for r in point.match.records] for point in result.cells]


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    path = tmp_path_factory.mktemp("scaling") / "straight.jsonl"
    return scaling(output=path), path


def test_a_point_is_the_match_of_its_limit(straight):
    alone = play_match("tic_tac_toe", "uct(simulations=40)", "random", games=4, seed=1)
    assert moves_of(straight[0])[1] == [(r.number, r.actions) for r in alone.records]
    assert [(p.parameters['simulations'], p.opponent) for p in straight[0].cells] == [
        (5, "random"), (40, "random"), (5, "uct(simulations=20)"), (40, "uct(simulations=20)"),
    ]  # fmt: skip


@pytest.mark.slow
def test_an_opponent_without_a_limit_keeps_one():
    assert {p.opponent for p in scaling(against="uct", games=1, simulations=[5]).cells} == {
        "uct(simulations=1000)"
    }


def test_curves_are_by_opponent_and_draw(straight):
    curves = straight[0].curves()
    assert list(curves) == ["random", "uct(simulations=20)"]
    limits, elos, lows, highs = curves["uct(simulations=20)"]
    assert limits == [5, 40]
    assert len(elos) == len(lows) == len(highs) == 2
    axes = straight[0].plot().axes[0]
    assert axes.get_xlabel() == "simulations a move"


def test_what_is_infinite_is_left_out_of_curves():
    result = scaling(agent="uct", against="random", simulations=[200], games=2)
    assert result.cells[0].match.score.losses == 0
    assert all(math.isnan(x) or math.isfinite(x) for c in result.curves().values() for x in c[1])


def test_curves_over_seconds():
    result = scaling(simulations=(), seconds=[0.001, 0.002], games=2, against="random")
    assert [p.match.agents[0] for p in result.cells] == [
        "uct(seconds=0.001)",
        "uct(seconds=0.002)",
    ]


def test_the_dictionary_is_strict_json(straight):
    values = json.loads(json.dumps(straight[0].to_dict(), allow_nan=False))
    assert [row["simulations"] for row in values["rows"]] == [5, 40, 5, 40]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seconds": [1.0]}, "one of the two"),
        ({"simulations": []}, "one of the two"),
        ({"simulations": [5, 5]}, "has 5 twice"),
        ({"agent": "uct(simulations=3)"}, "sets 'simulations' already"),
        ({"agent": "random"}, "random takes no simulations"),
        ({"against": []}, "opponents that differ"),
        ({"games": 0}, "games must be an integer from 1"),
    ],
)
def test_bad_arguments_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        scaling(**changes)
