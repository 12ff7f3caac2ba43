import json
import os
import re
import signal
import time

import pytest

pytest.importorskip("starlette", reason="Starlette is not installed")

from starlette.testclient import TestClient

from rave_agents import from_step
from rave_agents.agents.named_agents import as_agent
from rave_agents.game.game_state import PlayerId
from rave_agents.plots.board import Board, Cell, Tiling
from rave_agents.plots.board_svg import STYLE, board_svg
from rave_agents.sessions.live import LiveSession
from rave_agents.sessions.session import Turn
from rave_agents.sessions.setting_up import set_up_session
from rave_agents.web.app import Page
from rave_agents.web.pictures import Pictures
from rave_agents.web.snapshot import snapshot

AGENT = "uct(simulations=20)"
HERE = "http://127.0.0.1:80"


class Browser:
    """A session's page, as a browser asks for it."""

    def __init__(self, live):
        self.live = live
        self.client = TestClient(Page(live, "token").guarded, base_url=HERE)

    def state(self, **query):
        return self.client.get("/token/state", params=query).json()

    def do(self, what, **more):
        return self.client.post("/token/do", json={"do": what, **more})

    def until(self, true, seconds=20):
        """The state once it is so."""
        ends = time.monotonic() + seconds
        while not true(told := self.state()):
            assert time.monotonic() < ends, told
            time.sleep(0.01)
        return told


@pytest.fixture
def open_page():
    """Gives a function that begins a session and opens its page."""
    begun = []

    def open_it(game, agent=AGENT, *, seats=(0,), beside=False, **options):
        session = set_up_session(game, agent, seats=seats, **options)
        live = LiveSession(session, adviser=as_agent(AGENT), beside=beside)
        begun.append(live)
        live.start()
        return Browser(live)

    yield open_it
    for live in begun:
        live.close()


def test_a_move_is_answered_by_the_agent(open_page):
    page = open_page("tic_tac_toe")
    told = page.do("move", seat=0, action=4).json()
    assert told["turns"][0]["names"] == ["x(1,1)"]
    told = page.until(lambda told: len(told["turns"]) == 2)
    assert told["thought"]["simulations"] == 20
    assert told["movers"] == [0]


def test_the_page_names_the_sides(open_page):
    told = open_page("chess", "random", seats=(1,)).until(lambda told: told["movers"] == [1])
    assert [seat["side"] for seat in told["seats"]] == ["Black", "White"]
    assert told["status"] == "Your move, White (seat 1)."


def test_all_pages_show_the_same_game(open_page):
    page = open_page("tic_tac_toe", seats=(0, 1))
    other = Browser(page.live)
    page.do("move", seat=0, action=4)
    assert other.state()["turns"] == page.state()["turns"] != []


def test_nothing_is_sent_twice(open_page):
    page = open_page("tic_tac_toe", seats=(0, 1))
    told = page.state()
    assert "<svg" in told["picture"]["svg"]
    assert page.client.get("/token/state", params={"version": told["version"]}).status_code == 204
    assert "picture" not in page.state(position=told["position"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"do": "move", "seat": 0, "action": 9}, "not legal"),
        ({"do": "move", "seat": 1, "action": 0}, "Seat 1 is an agent's"),
        ({"do": "move", "seat": 7, "action": 0}, "no seat 7"),
        ({"do": "move", "seat": 0, "action": "4"}, "action must be an integer"),
        ({"do": "jump"}, "do must be one of"),
        ({"do": "seat", "place": 1, "who": "nobody"}, "Unknown agent"),
        ({"do": "seat", "place": 1, "who": "os:system"}, "Unknown agent 'os:system'"),
        ({"do": "seat", "place": 1, "who": "gtp(command=ls)"}, "no command"),
        ({"do": "seat", "place": 9, "who": "person"}, "no seat 9"),
        ({"do": "pace", "seconds": "fast"}, "seconds must be a finite number"),
    ],
)
def test_what_cannot_be_done_is_told(open_page, asked, message):
    page = open_page("tic_tac_toe")
    answer = page.do(asked.pop("do"), **asked)
    assert answer.status_code == 400
    assert message in answer.json()["error"]
    assert page.state()["turns"] == []


def test_undo_hint_swap_seats_and_new(open_page):
    page = open_page("tic_tac_toe")
    page.do("hint")
    told = page.until(lambda told: told["thought"] is not None and not told["advising"])
    assert told["turns"] == []
    assert told["thought"]["player"] == 0
    page.do("move", seat=0, action=4)
    page.until(lambda told: len(told["turns"]) == 2)
    assert page.do("undo").json()["turns"] == []
    page.do("swap")
    assert page.until(lambda told: len(told["turns"]) == 1)["people"] == [1]
    page.do("seat", place=0, who="person")
    assert page.state()["people"] == [0, 1]
    assert page.do("new").json()["turns"] == []


@pytest.mark.slow
def test_agents_wait_in_a_pause(open_page):
    page = open_page("tic_tac_toe", seats=(0, 1))
    page.do("pause")
    page.do("seat", place=0, who=AGENT)
    page.do("seat", place=1, who=AGENT)
    time.sleep(0.1)
    assert page.state()["turns"] == []
    page.do("step")
    page.until(lambda told: len(told["turns"]) == 1)
    page.do("resume")
    assert "The game is over" in page.until(lambda told: told["over"])["status"]


def test_moves_at_the_same_time_are_collected_unseen(open_page):
    page = open_page("goofspiel(num_cards=3)", seats=(0, 1))
    told = page.until(lambda told: told["movers"] == [0, 1])
    turns = len(told["turns"])
    told = page.do("move", seat=0, action=2).json()
    assert told["movers"] == [1]
    assert len(told["turns"]) == turns
    assert told["seats"][0]["chosen"]
    page.do("move", seat=1, action=0)
    assert page.state()["turns"][turns]["names"] == ["[P0]Bid: 3", "[P1]Bid: 1"]


def test_a_choice_is_not_told_before_all_have_chosen(open_page):
    page = open_page("oshi_zumo(coins=4,size=2)")
    told = page.until(lambda told: told["seats"][1]["chosen"])
    assert page.live.thought is not None
    assert told["thought"] is None
    told = page.do("move", seat=0, action=1).json()
    assert len(told["turns"]) == 1


def test_what_is_sent_does_not_depend_on_the_hidden_hand():
    sent = []
    for card in (1, 4, 5):
        session = set_up_session("leduc_poker", AGENT)
        for outcome in (0, card):
            session._play(Turn(PlayerId.CHANCE, (), (outcome,), (str(outcome),)), ())
        live = LiveSession(session, adviser=as_agent(AGENT))
        told = snapshot(live, Pictures(session), asked=1)
        told.pop("position")
        sent.append(json.dumps(told))
    assert sent[0] == sent[1] == sent[2]


def test_an_agents_thought_is_not_told_where_it_knows_a_hand(open_page):
    page = open_page("leduc_poker", "uct(simulations=20)")
    page.until(lambda told: told["movers"] == [0])
    page.do("move", seat=0, action=1)
    told = page.until(lambda told: told["movers"] == [0] and told["thinking"] is None)
    assert page.live.thought is not None
    assert told["thought"] is None
    assert all(turn["value"] is None for turn in told["turns"])


def test_a_failing_agent_is_told_of_and_asked_again(open_page, tmp_path):
    answers = iter([RuntimeError("out of order"), 0])

    @from_step
    def moody(state):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    page = open_page("tic_tac_toe", moody)
    page.do("move", seat=0, action=4)
    assert "out of order" in page.until(lambda told: told["error"])["error"]
    assert page.do("resume").json()["error"] == ""
    assert page.until(lambda told: len(told["turns"]) == 2)["movers"] == [0]


def test_who_resigns_loses(open_page):
    page = open_page("tic_tac_toe")
    told = page.do("resign", seat=0).json()
    assert told["over"]
    assert told["returns"] == [-1.0, 1.0]


def test_a_game_is_reviewed_on_the_page(open_page):
    page = open_page("tic_tac_toe", seats=(0, 1))
    assert page.client.get("/token/review").status_code == 404
    assert page.do("review").status_code == 400
    for seat, action in ((0, 0), (1, 3), (0, 2), (1, 8), (0, 4)):
        page.do("move", seat=seat, action=action)
    told = page.do("review").json()
    ends = time.monotonic() + 60
    while not told["review"]["ready"]:  # As the page asks: with the version that it shows.
        assert time.monotonic() < ends
        answer = page.client.get("/token/state", params={"version": told["version"]})
        told = told if answer.status_code == 204 else answer.json()
        time.sleep(0.01)
    review = page.client.get("/token/review")
    assert "Review of tic_tac_toe" in review.text
    policy = review.headers["content-security-policy"]
    assert re.search(r"script-src 'self' 'sha256-\S+';", policy)


def test_a_game_that_hides_something_is_reviewed_when_it_is_over(open_page):
    page = open_page("leduc_poker")
    page.until(lambda told: told["movers"] == [0])
    assert "when it is over" in page.do("review").json()["error"]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/token/", {}, 200),
        ("/token/", {"host": "localhost:8000"}, 200),
        ("/token/", {"host": "evil.example"}, 403),
        ("/token/", {"host": "127.0.0.1.evil.example:80"}, 403),
        ("/token/state", {"origin": "http://evil.example"}, 403),
        ("/token/state", {"origin": HERE, "host": "127.0.0.1:80"}, 200),
        ("/", {}, 404),
        ("/guess/", {}, 404),
        ("/token/app.py", {}, 404),
        ("/token/../page.html", {}, 404),
    ],
)
def test_only_this_machines_own_page_is_answered(open_page, path, headers, status):
    page = open_page("tic_tac_toe", seats=(0, 1))
    assert page.client.get(path, headers=headers).status_code == status


def test_a_form_of_another_page_does_nothing(open_page):
    page = open_page("tic_tac_toe", seats=(0, 1))
    answer = page.client.post("/token/do", content='{"do": "resign", "seat": 0}')
    assert answer.status_code == 415
    assert not page.state()["over"]


def test_the_page_loads_nothing_from_elsewhere_and_is_small(open_page):
    page = open_page("tic_tac_toe", seats=(0, 1))
    answers = [page.client.get(f"/token/{name}") for name in ("", "page.js", "page.css")]
    text = "".join(answer.text for answer in answers)
    assert len(text.encode()) < 60_000
    assert not re.findall(r"https?://|@import|url\(", text)
    assert "default-src 'none'" in answers[0].headers["content-security-policy"]
    assert STYLE in answers[2].text


def test_the_page_with_a_large_board_is_sent_in_few_bytes(open_page):
    page = open_page("hex(board_size=11)", seats=(0, 1))
    asked = ("", "page.js", "page.css", "state")
    answers = [page.client.get(f"/token/{name}") for name in asked]
    assert all(answer.headers["content-encoding"] == "gzip" for answer in answers)
    assert sum(int(answer.headers["content-length"]) for answer in answers) < 30_000


def test_text_that_a_game_prints_is_escaped():
    cells = tuple(
        Cell(row=0, column=c, x=float(c), y=0.0, piece=piece, owner=None)
        for c, piece in enumerate(["<b>", "&"])
    )
    board = Board(tiling=Tiling.SQUARES, cells=cells, places={}, names=("<i>", ""))
    assert "<b>" not in board_svg(board)
    assert "<i>" not in board_svg(board)


@pytest.mark.full(but=["hex(board_size=3)"])
@pytest.mark.parametrize(
    ("game", "image"),
    [
        ("hex(board_size=3)", False),
        ("go(board_size=5)", False),
        ("breakthrough(rows=6,columns=4)", False),
        ("connect_four", False),
        ("chess", False),
        ("pettingzoo:tictactoe_v3", True),
        ("pettingzoo:connect_four_v3", True),
        ("gymnasium:FrozenLake-v1", True),
    ],
)
def test_positions_have_pictures(open_page, game, image):
    told = open_page(game, "random").until(lambda told: told["legal"])  # Seat 1 may begin.
    assert told["picture"]["image" if image else "svg"]
    if image:
        assert told["picture"]["image"].startswith("data:image/png;base64,")
    else:
        assert set(told["picture"]["places"]) >= {str(each["action"]) for each in told["legal"][:9]}


@pytest.mark.full
def test_an_agent_whose_process_is_killed_is_told_of_and_begins_anew(open_page, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # Its process compiles nothing.
    page = open_page("tic_tac_toe", "uct(seconds=20)", beside=True)
    page.do("move", seat=0, action=4)
    page.until(lambda told: told["thought"] is not None, 60)
    os.kill(page.live._runners[False, 1].process_id, signal.SIGKILL)
    told = page.until(lambda told: told["error"])
    assert "killed (SIGKILL)" in told["error"]
    page.do("resume")
    page.until(lambda told: told["thinking"] == 1)
    page.until(lambda told: page.do("hurry") and len(told["turns"]) == 2, 60)


@pytest.mark.parametrize(
    "who",
    [
        "{file}:made",
        "{file}:made(depth=2)",
        "bots:Greedy",
        "auto(evaluator={file}:made)",
        "rave(schedule={file}:made)",
        "gtp(command=touch {mark})",
        "auto(max_memory_mb=1000000000)",
        "uct(threads=1e9)",
    ],
)
def test_an_agent_named_by_a_request_runs_nothing(open_page, tmp_path, who):
    page = open_page("tic_tac_toe").client
    file, mark = tmp_path / "own.py", tmp_path / "ran"
    file.write_text(f"open({str(mark)!r}, 'w').close()\nmade = None\n")
    asked = {"do": "seat", "place": 1, "who": who.format(file=file, mark=mark)}
    assert page.post("/token/do", json=asked).status_code == 400
    assert not mark.exists()


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        '{"do": "pace", "seconds": ' + "9" * 400 + "}",
        '{"do": "move", "seat": ' + "9" * 400 + ', "action": 0}',
        '{"do": "move", "seat": 0, "action": ' + "9" * 5000 + "}",
        '{"do": "seat", "place": ' + "9" * 400 + ', "who": "uct"}',
        '{"do": "seat", "place": 1, "who": "uct(simulations=' + "9" * 400 + ')"}',
        b"\xff\xfe",
        "NaN",
    ],
)
def test_what_no_page_sends_is_refused_by_an_answer(open_page, content):
    page = open_page("tic_tac_toe").client
    headers = {"content-type": "application/json"}
    assert page.post("/token/do", content=content, headers=headers).status_code == 400


def test_a_seat_of_many_digits_is_nobodys(open_page):
    page = open_page("tic_tac_toe")
    assert page.client.get("/token/state?seat=" + "9" * 5000).status_code == 200
