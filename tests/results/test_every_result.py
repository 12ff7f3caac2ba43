"""Every kind of result: one line, a table that fits, plain values, rows, a picture."""

import builtins
import csv
import dataclasses
import functools
import io
import json
import math
import re

import pyspiel
import pytest

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.analysis.solve import solve_position
from rave_agents.arena import (
    Outcome,
    find_best,
    play_match,
    play_tournament,
    rate,
    run_bench,
    run_scaling,
    run_sweep,
)
from rave_agents.arena.statistics import MatchScore
from rave_agents.learning.result import LearningResult
from rave_agents.learning.rounds import Learned
from rave_agents.results.result import Result
from rave_agents.results.tables import Column, Table


def search(game, simulations=100, player=None, preset="auto"):
    state = pyspiel.load_game(game).new_initial_state()
    searcher = Searcher(SearchConfig.preset(preset), seed=1)
    return searcher.search(state, Limit(simulations=simulations), player=player)


def evaluation():
    rave_pettingzoo = pytest.importorskip("rave_pettingzoo")
    policies = {"player_1": "random", "player_2": "random(seed=1)"}
    return rave_pettingzoo.evaluate("classic/tictactoe_v3", policies, episodes=4)


def env_tournament():
    rave_pettingzoo = pytest.importorskip("rave_pettingzoo")
    policies = {"one": "random", "two": "random", "three": "random"}
    return rave_pettingzoo.tournament("classic/tictactoe_v3", policies, episodes=2)


LONG = "uct(simulations=2,c=0.123456789,playout_count=1,temperature=0.987654321,expand_visits=2)"

KINDS = {
    "search": lambda: search("tic_tac_toe"),
    "search of Gomoku 19": lambda: search("gomoku(size=19)", 20, preset="rave"),
    "search of Hex 11": lambda: search("hex(board_size=11)", preset="rave"),
    "search of simultaneous moves": lambda: search("oshi_zumo(coins=30)", player=0, preset="uct"),
    "match": lambda: play_match("tic_tac_toe", LONG, "random", games=4),
    "match with a test": lambda: play_match("tic_tac_toe", "random", "random", games=4, sprt="0,5"),
    "tournament": lambda: play_tournament(
        ["tic_tac_toe", "nim"], {chr(96 + n) * n: "random" for n in range(1, 13)},
        games_per_pairing=2,
    ),
    "sweep": lambda: run_sweep(
        "tic_tac_toe", "uct(simulations=2)", "random", {"c": [0.1, 1 / 3], "playout_count": [1, 2]},
        games=2,
    ),
    "race": lambda: find_best("tic_tac_toe", ["random", "uct"], seconds=0.1, simulations=2),
    "scaling": lambda: run_scaling("tic_tac_toe", "uct", LONG, simulations=[2, 4], games=2),
    "bench": lambda: run_bench(["tic_tac_toe"], rounds=1, round_seconds=0.001, move_times=False),
    "evaluation": evaluation,
    "tournament of environments": env_tournament,
    "solution": lambda: solve_position("tic_tac_toe", positions=50),
    "ratings": lambda: rate([Outcome("a", "b", 1.0, 0), Outcome("b", "c", 0.5, 0)]),
}  # fmt: skip


@functools.cache
def made(kind):
    return KINDS[kind]()


@pytest.fixture(params=KINDS)
def result(request):
    return made(request.param)


@pytest.mark.full(but=5)
def test_it_is_a_result(result):
    assert isinstance(result, Result)


def test_its_repr_is_one_short_line(result):
    text = repr(result)
    assert type(result).__name__ in text
    assert len(text) < 200
    assert text.isprintable()


def test_its_text_is_the_summary_and_tables_that_fit(result, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = str(result)
    assert text.startswith(result.summary())
    for table in result.tables():
        lines = table.text(80).splitlines()
        titles = {table.title, *table.notes}
        assert max(len(line) for line in lines if line not in titles) <= 80
        assert "\n".join(lines) in text


def test_its_html_has_every_cell(result):
    page = result._repr_html_()
    cells = sum(len(row) for table in result.tables() for row in table.rows)
    assert page.count("<td>") + page.count("<th>") == cells
    assert page.count("<table>") == page.count("</table>") == len(result.tables())


def test_its_plain_values_are_strict_json(result):
    text = json.dumps(_without_infinite_proof_numbers(result.to_dict()), allow_nan=False)
    assert json.loads(text)


def _without_infinite_proof_numbers(value):
    if isinstance(value, dict):
        return {key: _without_infinite_proof_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_infinite_proof_numbers(item) for item in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def test_its_csv_has_its_columns(result, tmp_path):
    path = tmp_path / "rows.csv"
    text = result.to_csv(path)
    assert path.read_text(encoding="utf-8") == text
    header, *rows = csv.reader(io.StringIO(text))
    columns = result.columns()
    assert header == list(columns)
    assert len(rows) == len(next(iter(columns.values()))) > 0
    for name, texts in zip(header, zip(*rows, strict=True), strict=True):
        for value, text in zip(columns[name], texts, strict=True):
            if isinstance(value, float) and not math.isnan(value):
                assert float(text) == value


@pytest.mark.needs("pandas")
def test_its_frame_has_what_its_csv_has(result):
    pandas = pytest.importorskip("pandas")
    frame = result.to_frame()
    read = pandas.read_csv(io.StringIO(result.to_csv()))
    pandas.testing.assert_frame_equal(frame, read, check_dtype=False)


@pytest.mark.slow
@pytest.mark.full(but=3)
def test_its_picture_can_be_saved(result, tmp_path):
    pytest.importorskip("matplotlib")
    result.plot().savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_a_missing_pandas_is_told_with_the_remedy(monkeypatch):
    imported = builtins.__import__

    def without(name, *args, **options):
        if name == "pandas":
            raise ImportError(name)
        return imported(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'pandas>=2\.0'$"):
        made("ratings").to_frame()


def test_a_search_at_80_columns_keeps_words_and_numbers_whole():
    result = search("tic_tac_toe")
    header = result.tables()[0].text(80).splitlines()[0].split()
    assert header[:3] == ["action", "visits", "value"]
    for row in result.tables()[0].text(80).splitlines()[2:]:
        assert "…" not in row
        assert row.split()[1].isdigit()


def test_a_wide_terminal_sees_all_columns():
    table = search("tic_tac_toe").tables()[0]
    assert table.text(200).splitlines()[0].split("  ")[0] == "action"
    assert len(table.text(200).splitlines()) == len(table.rows)
    for name in table.rows[0]:
        assert name in table.text(200)


def test_columns_of_the_highest_rank_are_left_out_first():
    columns = [
        Column("name", ["a"], text=True),
        Column("much", ["12345"]),
        Column("less", ["12345"], rank=1),
        Column("least", ["12345"], rank=2),
    ]
    assert Table(columns).text(26).splitlines() == ["name   much   less  least",
                                                    "a     12345  12345  12345"]  # fmt: skip
    assert Table(columns).text(18).splitlines() == ["name   much   less", "a     12345  12345"]
    assert Table(columns).text(11).splitlines() == ["name   much", "a     12345"]


def test_columns_that_do_not_fit_follow_below():
    columns = [Column("name", ["a"], text=True), *(Column(str(n), ["0.123"]) for n in range(3))]
    assert Table(columns).text(18).splitlines() == [
        "name      0      1", "a     0.123  0.123", "", "name      2", "a     0.123",
    ]  # fmt: skip


def test_names_are_folded_where_they_have_words():
    column = Column("agent", ["uct(simulations=10,c=0.5,discount=0.75)"], text=True)
    lines = Table([column, Column("score", ["0.500"])]).text(36).splitlines()
    assert lines == [
        "agent                      score",
        "uct(simulations=10,c=0.5,  0.500",
        "discount=0.75)",
    ]


def test_printing_a_match_shows_its_score(capsys):
    print(play_match("tic_tac_toe", "random", "random", games=2))
    shown = capsys.readouterr().out
    assert shown.startswith("tic_tac_toe, 2 games, seed 0: random ")
    assert "95 % interval" in shown


def test_a_tournament_names_no_highest_rating_where_there_is_none():
    level = play_tournament("tic_tac_toe", {"a": "random", "b": "random"}, games_per_pairing=1)
    nothing = dataclasses.replace(level, records=((),))
    assert nothing.summary() == "tic_tac_toe, 0 of 1 played, seed 0"


def before_the_first_game(run, *arguments, **options):
    """What a run reports before its first game."""
    seen = []
    run(*arguments, progress=seen.append, **options)
    assert seen[0].finished == 0
    return seen[0]


def environment_run(name, policies):
    rave_pettingzoo = pytest.importorskip("rave_pettingzoo")
    run = getattr(rave_pettingzoo, name)
    return before_the_first_game(run, "classic/tictactoe_v3", policies, episodes=2)


WITHOUT_GAMES = {
    "match": lambda: before_the_first_game(
        play_match, "tic_tac_toe", "random", "random", games=2, sprt="0,5"
    ),
    "tournament": lambda: before_the_first_game(
        play_tournament, ["tic_tac_toe", "nim"], {"a": "random", "b": "random"}, games_per_pairing=2
    ),
    "sweep": lambda: before_the_first_game(
        run_sweep, "tic_tac_toe", "uct(simulations=2)", "random", {"c": [0.1, 1]}, games=2
    ),
    "scaling": lambda: before_the_first_game(
        run_scaling, "tic_tac_toe", "uct", "random", simulations=[2, 4], games=2
    ),
    "race": lambda: before_the_first_game(
        find_best, "tic_tac_toe", ["random", "uct"], seconds=0.1, simulations=2
    ),
    "race of one player": lambda: before_the_first_game(
        find_best, "2048", ["random", "uct"], seconds=0.1, simulations=1
    ),
    "evaluation": lambda: environment_run("evaluate", {"player_1": "random", "player_2": "random"}),
    "tournament of environments": lambda: environment_run(
        "tournament", {"one": "random", "two": "random"}
    ),
    "learning": lambda: LearningResult(
        game="nim",
        output="nim.npz",
        learned=Learned(*[0] * len(Learned._fields)),
        checks=(),
        minimax=MatchScore(0, 0, 0),
    ),
}


@pytest.mark.parametrize("kind", WITHOUT_GAMES)
def test_no_score_and_no_interval_is_shown_without_games(kind):
    result = WITHOUT_GAMES[kind]()
    for text in (str(result), result._repr_html_()):
        assert not re.search(r"nan|inf\b|0\.0+ to 1\.0+|- to -", text)
