import json
import math
import os
import subprocess
import sys
import textwrap

import pytest

import rave_agents.agents.named_agents as agents_module
from rave_agents.agents.state_agents import RandomAgent
from rave_agents.arena import RunError, play_match, run_sweep
from rave_agents.arena.report_data import load_report
from rave_agents.arena.sweep import parse_vary
from rave_agents.config.specs import parse_values
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.frameworks.agent import AgentType
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


def games_of(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [(tuple(line["parameters"].values()), line["number"]) for line in lines[1:]]


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A sweep that ran through, and its file."""
    path = tmp_path_factory.mktemp("sweep") / "straight.jsonl"
    return sweep(output=path), path


def test_cells_are_the_product_in_grid_order(straight):
    result, _ = straight
    assert [str(cell) for cell in result.cells] == [
        "c=0,playout_count=1", "c=0,playout_count=2",
        "c=0.5,playout_count=1", "c=0.5,playout_count=2",
    ]  # fmt: skip
    assert result.complete
    assert result.finished == 12


def test_games_are_interleaved(straight):
    _, path = straight
    cells = [(0, 1), (0, 2), (0.5, 1), (0.5, 2)]
    assert games_of(path) == [(cell, number) for number in range(3) for cell in cells]


def test_a_cell_is_the_match_of_its_agent(straight):
    result, _ = straight
    spec = "uct(c=0.5,playout_count=2)"
    alone = play_match("tic_tac_toe", spec, "rave", games=3, simulations=15, seed=4)
    assert moves_of(result)[3] == [(r.number, r.actions, r.returns) for r in alone.records]
    assert result.cells[3].match.agents == alone.agents == (
        "uct(simulations=15,c=0.5,playout_count=2)", "rave(simulations=15)",
    )  # fmt: skip


def test_rows_have_the_intervals_that_pairs_give(straight):
    result, _ = straight
    rows = result.to_dict()["rows"]
    assert [row["ci95"] for row in rows] == [list(cell.match.interval) for cell in result.cells]


def test_cells_share_their_openings(straight):
    result, _ = straight
    openings = {tuple(r.opening for r in cell.match.records) for cell in result.cells}
    assert len(openings) == 1


@pytest.mark.full
def test_the_number_of_jobs_changes_nothing(straight):
    assert moves_of(sweep(jobs=2)) == moves_of(straight[0])


def test_limits_can_be_varied():
    result = sweep(vary={"simulations": [5, 10]}, games=1)
    assert [cell.match.agents[0] for cell in result.cells] == [
        "uct(simulations=5)", "uct(simulations=10)",
    ]  # fmt: skip
    assert (result.agent, result.opponent) == ("uct", "rave(simulations=15)")


@pytest.mark.full(but=2)
@pytest.mark.parametrize("kept", [0, 1, 4, 11, 12])
def test_a_truncated_file_goes_on_to_the_same_table(straight, tmp_path, kept):
    result, path = straight
    resumed = tmp_path / "resumed.jsonl"
    resumed.write_text("".join(path.read_text().splitlines(keepends=True)[: kept + 1]))
    counts = []
    again = sweep(output=resumed, progress=lambda so_far: counts.append(so_far.finished))
    assert again.to_dict() == result.to_dict()
    assert moves_of(again) == moves_of(result)
    assert counts == list(range(kept, 13))
    assert games_of(resumed) == games_of(path)


@pytest.mark.full(but=1)
@pytest.mark.parametrize("torn", [1, 30, -1])
def test_a_torn_last_line_is_dropped(straight, tmp_path, torn):
    result, path = straight
    lines = path.read_text().splitlines(keepends=True)
    resumed = tmp_path / "resumed.jsonl"
    resumed.write_text("".join(lines[:4]) + lines[4][:torn])
    assert sweep(output=resumed).to_dict() == result.to_dict()
    assert games_of(resumed) == games_of(path)


def test_a_torn_header_is_written_again(straight, tmp_path):
    _, path = straight
    resumed = tmp_path / "resumed.jsonl"
    resumed.write_text(path.read_text()[:40])
    sweep(output=resumed)
    assert games_of(resumed) == games_of(path)


def test_of_a_game_that_is_there_twice_the_first_counts(straight, tmp_path):
    result, path = straight
    doubled = tmp_path / "doubled.jsonl"
    last = json.loads(path.read_text().splitlines()[-1])
    last["returns"] = [-value for value in last["returns"]]
    doubled.write_text(path.read_text() + json.dumps(last) + "\n")
    assert sweep(output=doubled).to_dict() == result.to_dict()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 5}, "seed is 4 there and 5 here"),
        ({"games": 2}, r"games is 3 there and 2 here \(a file can grow, not shrink\)"),
        ({"simulations": 16}, "simulations is 15 there and 16 here"),
        ({"opening_plies": 1}, "opening_plies is null there and 1 here"),
        ({"vary": {"c": [0, 0.5]}}, 'vary is {"c": .* "playout_count": .* there'),
        ({"seed": 5, "games": 2}, "games is 3 .*; seed is 4"),
        ({"seed": 5, "games": 4}, "another sweep: seed is 4 there and 5 here"),
        ({"vary": {**VARY, "contempt": [0, 0.1]}}, "vary is"),
    ],
)
def test_the_file_of_another_sweep_is_refused_and_left_alone(straight, changes, message):
    _, path = straight
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        sweep(output=path, **changes)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["notes", "notes\n", "[]\n", '{"a": 1}\n', '{"a": 1}\nb'])
def test_a_file_that_is_no_sweep_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "notes"
    path.write_text(content)
    with pytest.raises(ValueError, match="not the output of a sweep"):
        sweep(output=path)
    assert path.read_text() == content


@pytest.mark.parametrize(
    "change", [{"number": 3}, {"number": None}, {"parameters": {}}, {"returns": [1.0]}]
)
def test_a_line_that_is_no_game_of_the_sweep_is_named(straight, tmp_path, change):
    _, path = straight
    broken = tmp_path / "broken.jsonl"
    lines = path.read_text().splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), **change})
    broken.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"Line 3 of .*broken\.jsonl is not a game"):
        sweep(output=broken)


@pytest.mark.parametrize(
    ("returns", "said"),
    [
        ([1.5, -1.0], r"Line 3 of .* are from -1 to 1\."),
        ([math.nan, 1.0], "line 3 is not a JSON object, for NaN is no finite number"),
        ([-math.inf, math.inf], "line 3 is not a JSON object, for -Infinity is no finite number"),
    ],
)
def test_returns_that_the_game_does_not_have_are_refused(straight, tmp_path, returns, said):
    _, path = straight
    broken = tmp_path / "broken.jsonl"
    lines = path.read_text().splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), "returns": returns})
    broken.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=said):
        sweep(output=broken)


@pytest.mark.slow
def test_a_file_that_another_process_writes_is_refused(straight, tmp_path):
    path = tmp_path / "held.jsonl"
    path.write_bytes(straight[1].read_bytes())
    program = textwrap.dedent(f"""
        import os, pathlib
        from rave_agents.records.lock import FileLock
        lock = FileLock(pathlib.Path({str(path)!r}))
        print(os.getpid(), flush=True)
        input()
    """)
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        pid = holder.stdout.readline().strip()
        with pytest.raises(ValueError, match=rf"held\.jsonl is being written by process {pid} on"):
            sweep(output=path)
        with pytest.raises(ValueError, match=rf"by process {pid} on"):
            sweep(output=path)
        holder.kill()
    assert path.with_name("held.jsonl.lock").exists()
    assert sweep(output=path).to_dict() == straight[0].to_dict()
    assert not path.with_name("held.jsonl.lock").exists()


def test_two_sweeps_at_once_do_not_play_the_same_games(tmp_path):
    path = tmp_path / "games.jsonl"
    refused = []

    def again(result):
        if result.finished == 2:
            with pytest.raises(ValueError, match=rf"process {os.getpid()} on") as caught:
                sweep(output=path)
            refused.append(caught.value)

    assert sweep(output=path, progress=again).complete
    assert len(refused) == 1
    assert len(games_of(path)) == 12


def test_games_are_kept_in_files_alone(tmp_path):
    with pytest.raises(ValueError, match="/dev/zero is not a regular file"):
        sweep(output="/dev/zero")


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a process group")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_the_finished_games_and_the_sweep_goes_on(straight, tmp_path, jobs):
    path = tmp_path / "stopped.jsonl"
    script = textwrap.dedent(f"""
        import os, signal
        from rave_agents.arena import run_sweep

        def stop(result):
            if result.finished == 5:
                os.killpg(0, signal.SIGINT)

        if __name__ == "__main__":
            result = run_sweep("tic_tac_toe", "uct", "rave", {VARY}, games=3, simulations=15,
                               seed=4, jobs={jobs}, output={str(path)!r}, progress=stop)
            print(result.finished, result.complete)
    """)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    finished, complete = done.stdout.split()
    assert 5 <= int(finished) <= len(games_of(path)) < 12
    assert complete == "False"
    result = sweep(output=path)
    assert result.to_dict() == straight[0].to_dict()
    assert moves_of(result) == moves_of(straight[0])


def test_keyboard_interrupt_without_a_file_keeps_the_finished_games():
    def stop(result):
        if result.finished == 6:
            raise KeyboardInterrupt

    result = sweep(progress=stop)
    assert [len(cell.match.records) for cell in result.cells] == [2, 2, 1, 1]
    assert not result.complete


def test_a_failing_agent_names_its_cell_and_keeps_the_finished_games(monkeypatch, tmp_path):
    class Picky(RandomAgent):
        def __init__(self, game, player, *, patience=0, seed=None):
            super().__init__(seed=seed)
            self.patience = patience

        def step(self, state):
            return super().step(state) if self.patience else -1

    kind = AgentType("of a test", {"patience": 0, "seed": None}, Picky)
    monkeypatch.setitem(agents_module._TYPES, "picky", kind)
    path = tmp_path / "failed.jsonl"
    message = r"patience=0: Game 1, seat 0, agent picky\(patience=0\): ValueError: .*not legal"
    with pytest.raises(RunError, match=message) as caught:
        run_sweep("tic_tac_toe", "picky", "random", {"patience": [1, 0]}, output=path)
    assert [len(cell.match.records) for cell in caught.value.result.cells] == [1, 0]
    assert games_of(path) == [((1,), 0)]


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


def test_no_cell_is_best_before_the_first_game():
    seen = []
    sweep(games=1, progress=seen.append)
    assert seen[0].best is None


def test_a_single_combination_is_not_the_best_of_anything():
    assert sweep(vary={"c": [0.5]}, games=2).best is None


SEVERAL = ["tic_tac_toe", "connect_four"]


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A sweep over two games, and its file."""
    path = tmp_path_factory.mktemp("sweep") / "several.jsonl"
    options = {"games": 3, "simulations": 15, "seed": 4, "output": path}
    return run_sweep(SEVERAL, "uct", "rave", VARY, **options), path


@pytest.mark.slow
def test_a_sweep_over_several_games_is_a_sweep_in_each(several, straight):
    result, _ = several
    assert result.games == tuple(SEVERAL)
    assert result.complete
    assert result.of("tic_tac_toe") == result.cells[:4]
    assert moves_of(result)[:4] == moves_of(straight[0])
    with pytest.raises(KeyError, match="No games of 'hex' were planned"):
        result.of("hex")


def test_all_games_together_have_the_pairs_of_each(several):
    result, _ = several
    for index, cell in enumerate(result.of()):
        parts = [result.of(game)[index] for game in SEVERAL]
        assert cell.parameters == parts[0].parameters == parts[1].parameters
        assert cell.match.finished == 6
        assert cell.match.pairs.pairs == sum(part.match.pairs.pairs for part in parts)
        wins = sum(part.match.score.wins for part in parts)
        assert cell.match.score.wins == wins


def test_games_are_rows_of_tables_and_of_the_picture(several):
    result, _ = several
    assert [table.title for table in result.tables()] == ["all games", *SEVERAL]
    assert result.columns()["game"] == ["tic_tac_toe"] * 4 + ["connect_four"] * 4
    names = [label.get_text() for label in result.plot().axes[0].get_yticklabels()]
    assert len(names) == 12
    assert names[4].startswith("tic_tac_toe: c=0")
    assert [row["game"] for row in result.to_dict()["rows"]] == result.columns()["game"]
    assert len(result.to_dict()["all_games"]) == 4


@pytest.mark.slow
def test_a_sweep_grows_by_games(straight, several, tmp_path):
    path = tmp_path / "grown.jsonl"
    path.write_text(straight[1].read_text())
    options = {"games": 3, "simulations": 15, "seed": 4, "output": path}
    grown = run_sweep("tic_tac_toe,connect_four", "uct", "rave", VARY, **options)
    assert grown.to_dict() == several[0].to_dict()
    assert load_report(path).result.games == tuple(SEVERAL)


@pytest.mark.parametrize(
    ("games", "error", "message"),
    [
        ("hex(board_size=3)xx,tic_tac_toe", UnknownNameError, "Behind the closing parenthesis"),
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
    values = json.loads(json.dumps(straight[0].to_dict(), allow_nan=False))
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
    assert len(games_of(path)) == 2


def test_what_varies_may_belong_to_a_part_that_the_agents_spec_has():
    spec = "rave(schedule=hand_selected)"
    result = run_sweep("tic_tac_toe", spec, "random", {"k": [1, 9]}, games=1, simulations=15)
    assert [cell.match.agents[0] for cell in result.cells] == [
        f"rave(simulations=15,schedule=hand_selected,k={k})" for k in (1, 9)
    ]


def test_csv_has_a_line_for_each_cell(straight, tmp_path):
    result, _ = straight
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


def test_games_for_more_players_are_refused():
    with pytest.raises(UnsupportedGameError, match="two players"):
        run_sweep("pig(players=3)", "uct", "random", {"c": [0]})


@pytest.mark.parametrize("name", ["games", "jobs", "opening_plies", "seed"])
def test_numbers_are_checked(name):
    with pytest.raises(ValueError, match=name):
        sweep(**{name: -1})
