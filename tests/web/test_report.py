import base64
import csv
import hashlib
import json
import re

import pytest
from typer.testing import CliRunner

from rave_agents import from_step
from rave_agents.arena import find_best, play_match, play_tournament, run_scaling, run_sweep
from rave_agents.arena.report_data import load_report
from rave_agents.cli import app
from rave_agents.frameworks.adapters import load_game
from rave_agents.records.header import KINDS
from rave_agents.web.replay import replay
from rave_agents.web.report_page import report_page

AGENTS = {
    "rave": "rave(simulations=40)",
    "uct <b>": "uct(simulations=20)",
    "own": from_step(lambda state: min(state.legal_actions())),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A file of each kind."""
    folder = tmp_path_factory.mktemp("report")
    paths = {what: folder / f"{what}.jsonl" for what in KINDS}
    games = ["tic_tac_toe", "connect_four"]
    results = {
        "tournament": play_tournament(
            games, AGENTS, games_per_pairing=2, output=paths["tournament"]
        ),
        "match": play_match("tic_tac_toe", "random", "random", games=2, output=paths["match"]),
        "sweep": run_sweep(
            "tic_tac_toe", "uct", "random", {"c": [0.1, 1]}, games=2, simulations=5,
            output=paths["sweep"],
        ),
        "scaling": run_scaling(
            "tic_tac_toe", "uct", "uct(simulations=10)", simulations=[5, 50], games=6,
            output=paths["scaling"],
        ),
        "race": find_best(
            "tic_tac_toe", ["random", "uct(simulations=200)"], seconds=2, output=paths["race"]
        ),
    }  # fmt: skip
    return paths, results


@pytest.fixture(scope="module")
def page(files):
    data = load_report(files[0]["tournament"])
    return report_page(data, games=1, ask=["rave(simulations=40)"])


@pytest.mark.compiled
def test_a_tournament_is_read_as_it_was(files):
    assert str(load_report(files[0]["tournament"]).result) == str(files[1]["tournament"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "agents"), [("match", 2), ("sweep", 3), ("scaling", 3), ("race", 2)]
)
def test_the_other_kinds_are_read_as_tournaments(files, what, agents):
    result = load_report(files[0][what]).result
    assert result.finished == len(files[0][what].read_text().splitlines()) - 1
    assert len(result.agents) == agents


def test_a_race_ends_when_it_has_found_out_and_so_all_its_games_were_planned(files):
    result = load_report(files[0]["race"]).result
    assert result.complete
    assert result.finished == files[1]["race"].finished


def test_a_race_of_three_players_has_no_report(tmp_path):
    path = tmp_path / "race.jsonl"
    agents = ["random", "uct(simulations=2)"]
    find_best("goofspiel(players=3,num_cards=3)", agents, seconds=0.1, output=path)
    with pytest.raises(ValueError, match="is one for 3 players"):
        load_report(path)


def test_a_sweeps_cells_keep_their_scores(files):
    result = load_report(files[0]["sweep"]).result
    assert [m.score for m in result.matches] == [c.match.score for c in files[1]["sweep"].cells]


@pytest.mark.full
def test_unfinished_files_have_a_report(files, tmp_path):
    path = tmp_path / "cut.jsonl"
    content = files[0]["tournament"].read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert "of 12 games" in report_page(load_report(path), games=1)


def test_a_file_without_games_has_a_report(files, tmp_path):
    path = tmp_path / "begun.jsonl"
    path.write_text(files[0]["tournament"].read_text().splitlines(keepends=True)[0])
    assert "0 of 12 games" in report_page(load_report(path))


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "notes"
    path.write_text('{"a": 1}\n')
    with pytest.raises(ValueError, match="not a file of games"):
        load_report(path)


@pytest.mark.full
def test_the_page_loads_nothing_from_elsewhere(page):
    assert not re.findall(r'(?:src|href)="(?!data:)[^"]*"', page)
    addresses = re.findall(r"https?://[^\s\"\\]*", re.sub(r"base64,[^\"]*", "", page))
    assert set(addresses) <= {"http://www.w3.org/2000/svg"}  # a name, which nothing loads


def test_the_page_runs_its_own_script_alone(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert not re.search(r"<[^>]*\bon\w+=", page.partition("<script")[0])


@pytest.mark.compiled
def test_the_title_says_who_plays_what(files, page):
    assert f"<h1>Tournament of {len(AGENTS)} agents in 2 games</h1>" in page
    match = report_page(load_report(files[0]["match"]), games=0)
    assert "<title>Match of random" in match
    assert "in tic_tac_toe</title>" in match


@pytest.mark.slow
def test_names_are_escaped(page):
    assert "uct &lt;b&gt;" in page
    assert "uct <b>" not in page


@pytest.mark.parametrize("what", ["Ratings", "Cross table", "Time", "By game", "Games", "Settings"])
def test_the_page_has_all_parts(page, what):
    assert f"<h2>{what}</h2>" in page


def thoughts(page):
    """The searches that a page shows."""
    games = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
    return [step["thought"] for game in games for step in game["steps"] if step["thought"]]


def test_the_page_shows_what_agents_thought_that_are_asked(page):
    assert all(thought["simulations"] == 40 for thought in thoughts(page))
    assert any(row["amaf_visits"] > 0 for thought in thoughts(page) for row in thought["actions"])
    assert "rave plays x(" in page


@pytest.mark.full
def test_no_agent_is_asked_by_itself(files):
    page = report_page(load_report(files[0]["match"]), games=1)
    assert "plays" in page
    assert thoughts(page) == []


def test_who_is_asked_must_be_in_the_file(files):
    with pytest.raises(ValueError, match=r"Unknown agent to ask 'rave\(simulations=41\)'. Did you"):
        report_page(load_report(files[0]["tournament"]), ask=["rave(simulations=41)"])


@pytest.mark.full
def test_the_command_asks(files, tmp_path):
    words = [
        "report",
        str(files[0]["tournament"]),
        "--html",
        str(tmp_path / "page"),
        "--games",
        "1",
    ]
    done = CliRunner().invoke(app, [*words, "--ask", "uct(simulations=20)"])
    assert done.exit_code == 0, done.output
    assert thoughts((tmp_path / "page").read_text())


@pytest.mark.parametrize("play", ["sweep", "scaling"])
def test_an_opponent_that_is_one_of_those_compared_has_a_name_of_its_own(tmp_path, play):
    path = tmp_path / "games"
    if play == "sweep":
        run_sweep(
            "tic_tac_toe", "uct", "uct(c=0.5)", {"c": [0.5, 1]}, games=2, simulations=5, output=path
        )
    else:
        run_scaling(
            "tic_tac_toe", "uct", "uct(simulations=5)", simulations=[5, 9], games=2, output=path
        )
    result = load_report(path).result
    assert len(result.agents) == 3
    assert result.agents[-1].endswith(" (opponent)")
    assert "(opponent)" in report_page(load_report(path), games=0)


def test_strength_over_simulations_is_drawn(files):
    assert "<h2>Strength</h2>" in report_page(load_report(files[0]["scaling"]), games=0)


def test_replayed_agents_think_what_they_played(files):
    data = load_report(files[0]["tournament"])
    match = data.result.matches[0]
    agents = tuple(data.specs[name] for name in match.agents)
    game = load_game(match.game)
    for record in match.records:
        steps = list(replay(game, agents, record, match.seed))
        thought = [step for step in steps if step.result is not None]
        assert thought
        assert all((step.result.action,) == step.ply.actions for step in thought)
        assert len(steps) == len(record.actions) + 1
        assert steps[-1].ply.state.is_terminal()


@pytest.mark.full
def test_games_with_chance_and_simultaneous_moves_are_replayed(tmp_path):
    games, path = ["pig(winscore=10)", "goofspiel(num_cards=3)"], tmp_path / "games"
    agents = ["random", "uct(simulations=5)"]
    play_tournament(games, agents, games_per_pairing=2, output=path)
    page = report_page(load_report(path), games=4)
    assert page.count("The end.") == 4
    assert "cannot be replayed" not in page


@pytest.mark.full
def test_a_game_that_is_not_known_here_is_left_out(files, tmp_path):
    path = tmp_path / "unknown.jsonl"
    path.write_text(files[0]["match"].read_text().replace('"tic_tac_toe"', '"no_such_game"'))
    assert "it cannot be replayed here" in report_page(load_report(path))


@pytest.mark.slow
def test_the_command_writes_page_picture_and_table(files, tmp_path):
    outputs = {name: tmp_path / f"report.{name}" for name in ("html", "png", "csv")}
    options = [word for name, path in outputs.items() for word in (f"--{name}", str(path))]
    done = CliRunner().invoke(app, ["report", str(files[0]["match"]), *options, "--games", "1"])
    assert done.exit_code == 0, done.output
    assert outputs["html"].read_text().startswith("<!doctype html>")
    assert outputs["png"].read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(outputs["csv"].open()))
    assert [row["game"] for row in rows] == ["all"] * 2 + ["tic_tac_toe"] * 2


def test_the_command_alone_prints_the_tables(files):
    done = CliRunner().invoke(app, ["report", str(files[0]["tournament"])])
    assert done.exit_code == 0
    assert "95 % interval" in done.output


@pytest.mark.full
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_whole_in_a_browser_and_on_a_phone(page, open_file, width):
    tab = open_file(page, width)
    assert tab.locator("#said").inner_text() == "The end."
    tab.locator("#back").click()
    assert tab.locator("#said").inner_text() != "The end."
    assert tab.locator("#board svg").count() == 1
    tab.keyboard.press("u")
    assert tab.locator("#error").is_hidden()
    for details in tab.locator("summary").all():
        details.click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_settings_of_the_file_are_on_the_page(files, page):
    header = json.loads(files[0]["tournament"].read_text().splitlines()[0])
    assert f"&quot;seed&quot;: {header['seed']}" in page
