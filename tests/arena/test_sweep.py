import json
import math

import pytest

from rave_agents.arena import play_match, run_sweep
from rave_agents.arena.sweep import parse_vary
from rave_agents.config.specs import parse_values
from rave_agents.errors import UnknownNameError
from rave_agents.parts import HandSelected, MinimumMSE

VARY = {"c": [0, 0.5], "playout_count": [1, 2]}


def sweep(**changes):
    options = {"games": 3, "simulations": 15, "seed": 4, **changes}
    return run_sweep("tic_tac_toe", "uct", "rave", options.pop("vary", VARY), **options)


def moves_of(result):
    return [
        [(record.number, record.actions, record.returns) for record in cell.match.records]
        for cell in result.cells
    ]


@pytest.fixture(scope="module")
def straight():
    """A sweep that ran through."""
    return sweep()


def test_cells_are_the_product_in_grid_order(straight):
    result = straight
    assert [str(cell) for cell in result.cells] == [
        "c=0,playout_count=1", "c=0,playout_count=2",
        "c=0.5,playout_count=1", "c=0.5,playout_count=2",
    ]  # fmt: skip
    assert len({tuple(r.opening for r in cell.match.records) for cell in result.cells}) == 1
    rows = result.to_dict()["rows"]
    assert [row["ci95"] for row in rows] == [list(cell.match.interval) for cell in result.cells]


def test_a_cell_is_the_match_of_its_agent(straight):
    result = straight
    spec = "uct(c=0.5,playout_count=2)"
    alone = play_match("tic_tac_toe", spec, "rave", games=3, simulations=15, seed=4)
    assert moves_of(result)[3] == [(r.number, r.actions, r.returns) for r in alone.records]
    assert result.cells[3].match.agents == alone.agents == (
        "uct(simulations=15,c=0.5,playout_count=2)", "rave(simulations=15)",
    )  # fmt: skip


def test_limits_can_be_varied():
    result = sweep(vary={"simulations": [5, 10]}, games=1)
    assert [cell.match.agents[0] for cell in result.cells] == [
        "uct(simulations=5)", "uct(simulations=10)",
    ]  # fmt: skip
    assert (result.agent, result.opponent) == ("uct", "rave(simulations=15)")


def simulations(games, **changes):
    vary = {"simulations": [1, 100]}
    return run_sweep(
        changes.pop("on", "tic_tac_toe"), "uct", "uct(simulations=10)", vary, games=games
    )


@pytest.mark.slow
def test_the_best_is_the_cell_whose_interval_lies_above_all_others():
    result = simulations(20)
    one, two = (cell.match.interval for cell in result.cells)
    assert one[1] < two[0]
    assert result.best is result.cells[1]
    assert "best" in str(result)
    assert "overlap" not in str(result)
    assert result.to_dict()["best"] == {"simulations": 100}


@pytest.mark.slow
def test_nothing_is_called_the_best_where_intervals_overlap():
    result = simulations(2, on="connect_four")
    one, two = (cell.match for cell in result.cells)
    assert one.score.score < two.score.score
    assert one.interval[1] > two.interval[0]
    assert result.best is None
    assert result.to_dict()["best"] is None
    assert "none is the best: the intervals of the 2 highest overlap" in str(result)


def test_a_single_combination_or_nothing_played_has_no_best():
    seen = []
    assert sweep(vary={"c": [0.5]}, games=2).best is None
    sweep(games=1, progress=seen.append)
    assert seen[0].best is None


SEVERAL = ["tic_tac_toe", "connect_four"]


@pytest.fixture(scope="module")
def several():
    """A sweep over two games."""
    return run_sweep(SEVERAL, "uct", "rave", VARY, games=3, simulations=15, seed=4)


@pytest.mark.slow
def test_a_sweep_over_several_games_is_a_sweep_in_each(several, straight):
    result = several
    assert result.games == tuple(SEVERAL)
    assert result.complete
    assert result.of("tic_tac_toe") == result.cells[:4]
    assert moves_of(result)[:4] == moves_of(straight)
    with pytest.raises(KeyError, match="No games of 'hex' were planned"):
        result.of("hex")


def test_all_games_together_have_the_pairs_of_each(several):
    result = several
    for index, cell in enumerate(result.of()):
        parts = [result.of(game)[index] for game in SEVERAL]
        assert cell.parameters == parts[0].parameters == parts[1].parameters
        assert cell.match.finished == 6
        assert cell.match.pairs.pairs == sum(part.match.pairs.pairs for part in parts)
        wins = sum(part.match.score.wins for part in parts)
        assert cell.match.score.wins == wins


def test_games_are_rows_of_tables_and_of_the_picture(several):
    result = several
    assert [table.title for table in result.tables()] == ["all games", *SEVERAL]
    assert result.columns()["game"] == ["tic_tac_toe"] * 4 + ["connect_four"] * 4
    names = [label.get_text() for label in result.plot().axes[0].get_yticklabels()]
    assert len(names) == 12
    assert names[4].startswith("tic_tac_toe: c=0")
    assert [row["game"] for row in result.to_dict()["rows"]] == result.columns()["game"]
    assert len(result.to_dict()["all_games"]) == 4


@pytest.mark.parametrize(
    ("games", "error", "message"),
    [
        ("hex(board_size=3)xx,tic_tac_toe", UnknownNameError, "after the closing parenthesis"),
        ("tic_tac_toe,hexx", UnknownNameError, "Unknown game 'hexx'"),
        ("tic_tac_toe,tic_tac_toe", ValueError, "given twice"),
        ([], ValueError, "at least one game"),
        ("hex(board_size=3", ValueError, "Unbalanced parentheses"),
    ],
)
def test_each_game_of_a_list_is_checked(games, error, message):
    with pytest.raises(error, match=message):
        run_sweep(games, "uct", "random", {"c": [1]}, games=1)


@pytest.mark.slow
def test_a_parameter_that_changed_no_game_is_named():
    vary = {"contempt": [0.1, 0.9], "c": [0, 1]}
    result = run_sweep("connect_four", "uct", "uct", vary, games=2, simulations=30)
    assert result.idle == ("contempt",)


def test_the_dictionary_is_strict_json_with_these_keys(straight):
    values = json.loads(json.dumps(straight.to_dict(), allow_nan=False))
    assert list(values) == [
        "game",
        "agent",
        "opponent",
        "seed",
        "games",
        "rows",
        "all_games",
        "best",
    ]
    assert list(values["rows"][0]) == [
        "game", "parameters", "games", "score", "wins", "draws", "losses", "ci95", "elo",
        "elo_ci95",
    ]  # fmt: skip
    assert values["rows"][2]["parameters"] == {"c": 0.5, "playout_count": 1}
    assert (values["agent"], values["games"]) == ("uct(simulations=15)", 3)


def test_infinite_values_are_kept_as_in_a_spec(tmp_path):
    path = tmp_path / "infinite.jsonl"
    vary = {"first_play_urgency": [0.5, math.inf]}
    result = sweep(vary=vary, games=1, output=path)
    assert result.to_dict()["rows"][1]["parameters"] == {"first_play_urgency": "inf"}
    assert sweep(vary=vary, games=1, output=path).to_dict() == result.to_dict()


@pytest.mark.parametrize(
    "schedules",
    [["hand_selected(k=5.0)", "minimum_mse"], [HandSelected(k=5.0), MinimumMSE()]],
    ids=["specs", "objects"],
)
def test_parts_are_varied_as_specs_or_objects(tmp_path, schedules):
    path = tmp_path / "parts.jsonl"
    options = {"games": 1, "simulations": 15, "seed": 4, "output": path}
    result = run_sweep("tic_tac_toe", "rave", "random", {"schedule": schedules}, **options)
    assert [str(cell) for cell in result.cells] == [
        "schedule=hand_selected(k=5.0)",
        "schedule=minimum_mse",
    ]
    again = run_sweep("tic_tac_toe", "rave", "random", {"schedule": schedules}, **options)
    assert again.to_dict() == result.to_dict()
    assert len(path.read_text().splitlines()) == 3


def test_what_varies_may_belong_to_a_part_that_the_agents_spec_has():
    spec = "rave(schedule=hand_selected)"
    result = run_sweep("tic_tac_toe", spec, "random", {"k": [1, 9]}, games=1, simulations=15)
    assert [cell.match.agents[0] for cell in result.cells] == [
        f"rave(simulations=15,schedule=hand_selected,k={k})" for k in (1, 9)
    ]


def test_csv_has_a_line_for_each_cell(straight, tmp_path):
    result = straight
    path = tmp_path / "table.csv"
    result.to_csv(path)
    header, *rows = (line.split(",") for line in path.read_text().splitlines())
    assert header == [
        "game", "c", "playout_count", "games", "wins", "draws", "losses", "score", "score_low",
        "score_high", "elo", "elo_low", "elo_high",
    ]  # fmt: skip
    assert [row[1:4] for row in rows] == [
        ["0", "1", "3"], ["0", "2", "3"], ["0.5", "1", "3"], ["0.5", "2", "3"],
    ]  # fmt: skip
    assert [float(row[7]) for row in rows] == [cell.match.score.score for cell in result.cells]


def test_vary_is_read_as_values_of_a_spec():
    assert parse_vary(["a=1,0.5,True,None", ' b = x , "y,z" ']) == {
        "a": [1, 0.5, True, None],
        "b": ["x", "y,z"],
    }
    assert parse_vary(["amaf.schedule=hand_selected(k=1),fuego(initial=2,final=9)"]) == {
        "amaf.schedule": ["hand_selected(k=1)", "fuego(initial=2,final=9)"]
    }


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["k"], "Not of the form KEY=VALUE"),
        (["a..b=1"], "Not of the form KEY=VALUE"),
        (["=1"], "Not of the form KEY=VALUE"),
        (["a="], "Not of the form KEY=VALUE"),
        (["a=1,,2"], "A value is missing in '1,,2'"),
        (["a=1,"], "A value is missing"),
        (["a=f(1"], "Unbalanced"),
        (["a=1", "a=2"], "Varied twice: 'a'"),
    ],
)
def test_vary_of_another_form_is_refused(texts, message):
    with pytest.raises(ValueError, match=message):
        parse_vary(texts)


def test_an_empty_value_is_written_in_quotes():
    assert parse_values('""') == [""]


@pytest.mark.parametrize(
    ("agent", "vary", "error", "message"),
    [
        ("rave", {"schedul": [1]}, UnknownNameError, "parameter of rave 'schedul'.*'schedule'"),
        ("rave", {"k": [1]}, UnknownNameError, "'k': it belongs to the part hand_selected"),
        ("rave", {"schedule": ["fuegoo"]}, UnknownNameError, "Did you mean 'fuego'"),
        ("rave", {"schedule": ["fuego(k=1)"]}, UnknownNameError, "parameter of fuego 'k'"),
        ("rav", {"bias": [1]}, UnknownNameError, "Did you mean 'rave'"),
        ("rave(bias=3)", {"bias": [1]}, ValueError, "sets 'bias' already"),
        ("rave", {"bias": [1, 2, 1]}, ValueError, "value 1 twice"),
        ("rave", {"bias": []}, ValueError, "needs a list of values"),
        ("rave", {"bias": "12"}, ValueError, "needs a list of values"),
        ("rave", {}, ValueError, "at least one parameter"),
        ("uct", {"c": [0, -1]}, ValueError, "c must be"),
    ],
)
def test_a_grid_that_cannot_be_played_is_refused(tmp_path, agent, vary, error, message):
    path = tmp_path / "none.jsonl"
    with pytest.raises(error, match=message):
        run_sweep("tic_tac_toe", agent, "random", vary, output=path)
    assert not path.exists()
