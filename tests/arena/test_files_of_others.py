"""Files of results that anybody may have written: they are read, and nothing in them runs."""

import base64
import csv
import io
import itertools
import json
import os
import re
import sys

import pytest
from rich.console import Console
from typer.testing import CliRunner

from rave_agents.arena import merge_journals, play_match
from rave_agents.arena.report_data import load_report
from rave_agents.cli import app, terminal
from rave_agents.frameworks.adapters import framework_errors
from rave_agents.frameworks.plain_games import make_plain_game
from rave_agents.records.journal import read_journal
from rave_agents.results.progress import view_of
from rave_agents.results.terminal_display import TerminalDisplay
from rave_agents.web.report_page import report_page

EFFORT = {"moves": 2, "simulations": 40, "seconds": 0.1}
HEADER = {
    "format": "rave-agents match",
    "version": 2,
    "rave-agents": "0.1.0",
    "game": "tic_tac_toe",
    "agents": ["random", "uct(simulations=9)"],
    "games": 1,
    "seed": 0,
    "opening_plies": 2,
}
GAME = {
    "number": 0,
    "first_seat": 0,
    "opening": [7, 5],
    "actions": [7, 5, 6, 2, 8],
    "returns": [1.0, -1.0],
    "efforts": [EFFORT, EFFORT],
}


def journal(folder, header=(), **fields):
    path = folder / "games.jsonl"
    lines = [{**HEADER, **dict(header)}, {**GAME, **fields}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


HOSTILE = """
import pathlib
pathlib.Path("RAN_IMPORT").touch()
def f():
    pathlib.Path("RAN_CALL").touch()
"""
AGENTS = [
    "uct(simulations=20,evaluator=hostile:f)",
    "uct(simulations=20,evaluator=hostile.X)",
    "uct(simulations=20,schedule=hostile.X)",
    "rave(simulations=20,rule=hostile.X(c=1))",
    "gtp(command=touch RAN_COMMAND)",
    "uci(command=touch RAN_COMMAND)",
    "uct(simulations=20,evaluator=value.npz)",
]
GAMES = [
    "gymnasium:Opponent-v0(game=tic_tac_toe,opponent=gtp(command=touch RAN_COMMAND))",
    "Opponent-v0(game=tic_tac_toe,opponent=gtp(command=touch RAN_COMMAND))",
    "gymnasium:hostile:Env-v0",
    "pettingzoo:hostile.env",
    "pettingzoo:connect_four_v3(render_mode=human)",
    "efg_game(filename=value.npz)",
    "nfg_game(filename=value.npz)",
    "bargaining(instances_file=value.npz)",
    "colored_trails(boards_file=value.npz)",
    "misere(game=bargaining(instances_file=value.npz))",
    "tic_tac_toe(name=efg_game,filename=value.npz)",
]


OPENED, HOOKED = [], []
"""The files that this process has opened; whether that is noted."""


def _note(event, details):
    if event == "open":
        OPENED.append(str(details[0]))


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """A folder as after unpacking somebody's results; gives what was run or opened in it."""
    (tmp_path / "hostile.py").write_text(HOSTILE)
    (tmp_path / "value.npz").write_bytes(b"what must not be read")
    before = (tmp_path / "value.npz").stat().st_atime_ns
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    OPENED.clear()
    if not HOOKED:
        sys.addaudithook(_note)  # for good: none can be taken away
        HOOKED.append(True)

    def found():
        ran = [name for name in os.listdir(tmp_path) if name.startswith("RAN")]
        ran += [name for name in OPENED if name.endswith(("value.npz", "hostile.py"))]
        assert (tmp_path / "value.npz").stat().st_atime_ns == before
        return [*ran, *(name for name in sys.modules if name == "hostile")]

    return found


def _everything(path):
    """What the program does with a file that it reads; the exit codes."""
    runs = [
        ["report", str(path)],
        ["report", str(path), "--html", "page.html", "--csv", "table.csv", "--png", "page.png"],
        ["merge", "merged.jsonl", str(path)],
    ]
    return [CliRunner().invoke(app, words).exit_code for words in runs]


@pytest.mark.full
@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_in_a_file_is_a_name(agent, opened, tmp_path):
    path = journal(tmp_path, {"agents": [agent, "uct(simulations=20)"]})
    assert _everything(path) == [0, 0, 0]
    assert opened() == []
    assert agent.split(",")[0] in (tmp_path / "page.html").read_text()


@pytest.mark.full
@pytest.mark.parametrize("game", GAMES)
def test_a_game_in_a_file_is_made_only_if_it_is_plain(game, opened, tmp_path):
    assert _everything(journal(tmp_path, {"game": game})) == [0, 0, 0]
    assert opened() == []
    assert "it cannot be replayed here (only games that" in (tmp_path / "page.html").read_text()


SWEEP = {
    "format": "rave-agents sweep",
    "game": ["tic_tac_toe"],
    "agent": "uct",
    "opponent": "uct(evaluator=hostile:f)",
    "vary": {"value": ["hostile.X", "value.npz"]},
    "simulations": 5,
    "seconds": None,
}
SCALING = {
    "format": "rave-agents scaling",
    "agent": "uct(evaluator=hostile.X)",
    "against": ["gtp(command=touch RAN_COMMAND)"],
    "simulations": [5, 10],
}
TOURNAMENT = {
    "format": "rave-agents tournament",
    "agents": dict(enumerate(AGENTS)),
    "games": GAMES[:3],
    "games_per_pairing": 2,
    "gauntlet": [],
    "anchor": None,
}


@pytest.mark.parametrize("header", [SWEEP, SCALING, TOURNAMENT], ids=lambda h: h["format"][12:])
def test_files_of_all_kinds_run_nothing(header, opened, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps({**HEADER, **header}) + "\n")
    assert _everything(path) == [0, 0, 0]
    assert opened() == []


@pytest.mark.full
def test_what_lies_beside_a_file_is_not_imported_in_its_reading(opened, tmp_path):
    (tmp_path / "xxhash.py").write_text(HOSTILE)  # as an optional module of some library
    assert _everything(journal(tmp_path)) == [0, 0, 0]
    assert str(tmp_path) not in sys.path
    assert opened() == []


PLAIN = [
    "tic_tac_toe",
    "openspiel:hex(board_size=3)",
    "go(board_size=5,komi=6.5)",
    "goofspiel(num_cards=3,points_order=descending)",
    "turn_based_simultaneous_game(game=goofspiel(num_cards=3,points_order=descending))",
    "nim(pile_sizes=1;3;5)",
]


@pytest.mark.parametrize("game", PLAIN)
def test_plain_games_are_made(game):
    assert make_plain_game(game).num_players == 2


@pytest.mark.full
@pytest.mark.parametrize("game", ["pettingzoo:tictactoe_v3", "shimmy:hex(board_size=3)"])
def test_plain_games_of_other_frameworks_are_made(game):
    assert make_plain_game(game).num_players == 2


@pytest.mark.full
@pytest.mark.parametrize(
    "game",
    [
        "blotto(coins=60,fields=12)",
        "mnk(m=40000,n=40000)",
        "cliff_walking(height=30000,width=30000)",
        "connect_four(rows=0)",
        "deep_sea(size=100000000)",
        "lewis_signaling(num_states=2000000000)",
    ],
)
def test_a_game_that_takes_all_memory_or_crashes_is_told_of(game, tmp_path):
    page = report_page(load_report(journal(tmp_path, {"game": game})))
    assert "it cannot be replayed here" in page


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("action", [9, 100, 10**6, 2**31 - 1, 2**31, 2**62])
@pytest.mark.parametrize("game", ["tic_tac_toe", "mancala", "connect_four", "othello"])
def test_an_action_that_is_not_legal_is_never_handed_to_the_game(game, action, tmp_path):
    fields = {"opening": [], "actions": [action]}
    page = report_page(load_report(journal(tmp_path, {"game": game}, **fields)))
    assert f"Action {action}, number 1 of the game, is not legal" in page


@pytest.mark.full
@pytest.mark.parametrize(
    ("actions", "said"),
    [([7, 5, 6, 2, 8, 0], "over after 5 of 6"), ([7, 5, 5], "Action 5, number 3")],
)
def test_actions_that_do_not_fit_are_told_of(actions, said, tmp_path):
    assert said in report_page(load_report(journal(tmp_path, actions=actions)))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"actions": [7, 5, -1]}, r"Line 2 of .*jsonl .*: actions\[2\] must be an integer"),
        ({"actions": [7, 5, 2.0]}, r"actions\[2\] must be an integer"),
        ({"actions": [7, 5, True]}, r"actions\[2\] must be an integer"),
        ({"actions": "7"}, "actions must be a list"),
        ({"actions": [5, 7]}, "actions must begin with those of opening"),
        ({"number": 1}, "number must be an integer from 0 to 0, got 1"),
        ({"number": "0"}, "number must be an integer"),
        ({"first_seat": 2}, "first_seat must be an integer from 0 to 1"),
        ({"returns": [1.0]}, "returns must be a list of 2"),
        ({"returns": [1.0, None]}, r"returns\[1\] must be a number"),
        ({"returns": [1e200, 0]}, r"returns\[0\] must be a number"),
        (
            {"returns": [float("nan"), 0]},
            "line 2 is not a JSON object, for NaN is no finite number",
        ),
        ({"efforts": [EFFORT, {}]}, r"efforts\[1\] must have moves, simulations, seconds"),
        ({"efforts": [EFFORT, {**EFFORT, "moves": -1}]}, r"efforts\[1\]\.moves must be"),
        ({"efforts": [EFFORT, {**EFFORT, "seconds": "1"}]}, r"efforts\[1\]\.seconds must be"),
        ({"ending": 3}, "ending must be a text"),
        ({"ending": "\ud800"}, "ending has half a surrogate pair"),
        ({"fault": 1}, "fault must be True or False"),
    ],
)
def test_a_value_that_is_not_allowed_is_named_by_file_line_and_field(fields, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        load_report(journal(tmp_path, **fields))
    with pytest.raises(ValueError, match=said if "number must" not in said else "number"):
        merge_journals(tmp_path / "merged", [tmp_path / "games.jsonl"])


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"seed": None}, "Line 1 of .*: seed must be an integer"),
        ({"seed": -1}, "seed must be an integer"),
        ({"version": 4}, "version must be an integer from 2 to 3, got 4"),
        ({"tables": "x", "by": []}, "tables must be a list"),
        ({"tables": [3], "by": []}, "tables must be a list of objects, got 3"),
        ({"tables": [], "by": []}, "from 1 to 100000 pairings, there are 0"),
        ({"tables": [{"game": "x", "agents": ["a"]}], "by": []}, "agents must be a list of 2"),
        ({"tables": [{"game": "x", "agents": ["a", "b"]}], "by": ["y"]}, "y is missing"),
        ({"tables": [{"game": "x", "agents": ["a", "b"]}]}, "by is missing"),
        ({"games": 0}, "games must be an integer from 1"),
        ({"games": 10**9}, "games must be an integer from 1"),
        ({"agents": ["random"]}, "agents must be a list of 2"),
        ({"agents": ["random", 3]}, r"agents\[1\] must be a text"),
        ({"game": ["tic_tac_toe"]}, "game must be a text"),
        ({"anchor": "nobody"}, "anchor is not one of the agents"),
        ({"opening_plies": "two"}, "opening_plies must be an integer"),
        ({**SWEEP, "vary": {str(n): list(range(10)) for n in range(9)}}, "to 100000 pairings"),
        ({**SWEEP, "vary": {}, "agent": "uct("}, "agent: .*Not of the form|agent: "),
        ({**SCALING, "simulations": [0]}, r"simulations\[0\] must be above 0"),
        ({**TOURNAMENT, "gauntlet": ["x"]}, "gauntlet has names that are not agents"),
        ({**TOURNAMENT, "agents": {str(n): "random" for n in range(999)}}, "to 100000 pairings"),
    ],
)
def test_a_first_line_that_is_not_allowed_is_named_by_field(header, said, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps({**HEADER, **header}) + "\n")
    with pytest.raises(ValueError, match=said):
        load_report(path)


def test_nesting_that_no_parser_survives_is_refused(tmp_path):
    path = journal(tmp_path)
    path.write_text(path.read_text() + "[" * 100_000 + "]" * 100_000 + "\n")
    with pytest.raises(ValueError, match="line 3 is not a JSON object"):
        read_journal(path)


NAMES = [
    r"$\frac{1}{$",
    "$x$",
    "\x1b[31mred\x1b[0m",
    "\x9b31m",
    "[bold]markup[/bold]",
    "<script>alert(1)</script>",
    "\u202etxt.exe",
    "=cmd|' /C calc'!A0",
    "_hidden",
    ":warning:",
    "two\nlines",
    "\x00",
]


@pytest.fixture(scope="module")
def strange(tmp_path_factory):
    """A tournament of agents with strange names, and a strange game."""
    path = tmp_path_factory.mktemp("strange") / "games.jsonl"
    game = "\x1b]0;title\x07$\\frac{1}{$"
    agents = {name: f"uct(simulations={n})" for n, name in enumerate(NAMES, 1)}
    header = {**HEADER, **TOURNAMENT, "agents": agents, "games": [game], "anchor": NAMES[0]}
    lines = [
        {**GAME, "game": game, "agents": [one, two], "number": number, "ending": two}
        for one, two in itertools.pairwise(NAMES)
        for number in (0, 1)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *lines)))
    return path


CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.mark.full
def test_names_are_text_on_the_page_and_in_its_pictures(strange):
    page = report_page(load_report(strange))
    assert not CONTROLS.search(page)
    assert "<script>alert" not in page
    assert "\\u202etxt.exe" in page
    pictures = re.findall(r"svg\+xml;base64,([^\"]+)", page)
    drawn = "".join(base64.b64decode(picture).decode() for picture in pictures)
    assert not CONTROLS.search(drawn)
    assert r"$\frac{1}{$" in drawn
    assert "<script>alert" not in drawn


def test_names_are_no_input_for_tex(strange):
    import matplotlib as mpl

    with mpl.rc_context({"text.usetex": True}):
        page = report_page(load_report(strange), games=0)
    assert page.count("base64,") >= 2


def test_names_are_text_in_a_table_for_spreadsheets(strange, tmp_path):
    load_report(strange).result.to_csv(tmp_path / "table")
    text = (tmp_path / "table").read_text(encoding="utf-8")
    assert not CONTROLS.search(text)
    names = {row["agent"] for row in csv.DictReader(io.StringIO(text))}
    assert "'=cmd|' /C calc'!A0" in names
    assert not any(name.startswith(("=", "+", "-", "@")) for name in names)


def _on_a_terminal(monkeypatch, show):
    """What a terminal gets, its own colours left out."""
    written = io.StringIO()
    make = terminal._Console.__init__
    monkeypatch.setattr(
        terminal._Console,
        "__init__",
        lambda self, **options: make(
            self, file=written, force_terminal=True, color_system="truecolor", width=200
        ),
    )
    show()
    return re.sub(r"\x1b\[[0-9;]*m", "", written.getvalue())


def test_names_do_not_act_on_a_terminal(strange, monkeypatch):
    result = load_report(strange).result
    text = _on_a_terminal(monkeypatch, lambda: terminal.show_result(result))
    assert not CONTROLS.search(text)
    assert "[bold]markup[/bold]" in text
    assert ":warning:" in text
    assert "title" in text


def test_errors_and_progress_do_not_act_on_a_terminal(strange, monkeypatch):
    result = load_report(strange).result
    match = next(match for match in result.matches if match.records)

    def show():
        terminal.say("Error: \x1b]0;title\x07")
        display = TerminalDisplay(terminal._Console())
        display.update(view_of(match))
        display.stop()

    text = _on_a_terminal(monkeypatch, show)
    own = r"\x1b\[(\?25[hl]|2K|1A)"  # The display hides the cursor and goes back over its lines.
    assert not CONTROLS.search(re.sub(own, "", text).replace("\r", ""))


def test_a_board_in_colours_is_shown_without_escapes(monkeypatch):
    text = _on_a_terminal(monkeypatch, lambda: terminal.show("\x1b[31mx\x1b[0m o"))
    assert text == "x o\n"


def test_one_object_of_json_does_not_act_on_a_terminal(capsys):
    terminal.show_json({"name": "\x1b[31m \x9b31m \u202e"})
    written = capsys.readouterr().out
    assert not CONTROLS.search(written)
    assert json.loads(written)["name"] == "\x1b[31m \x9b31m \u202e"


def test_resuming_asks_the_agents_of_the_call_and_compares_texts(opened, tmp_path):
    path = tmp_path / "games.jsonl"
    play_match("tic_tac_toe", "random", "random", games=2, output=path)
    path.write_text(path.read_text().replace('"random"', '"uct(evaluator=hostile:f)"', 1))
    with pytest.raises(ValueError, match=r"agents is .*hostile:f.* there and .*random"):
        play_match("tic_tac_toe", "random", "random", games=2, output=path)
    assert opened() == []


def test_the_errors_of_frameworks_are_known():
    import pyspiel

    assert pyspiel.SpielError in framework_errors()


def test_the_guard_is_on_every_console():
    assert issubclass(type(terminal.stderr()), terminal._Console)
    assert issubclass(terminal._Console, Console)
