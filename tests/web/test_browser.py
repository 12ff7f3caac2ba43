"""Whole games on the page, in a browser."""

import os
import signal

import pytest

from rave_agents.agents.named_agents import as_agent
from rave_agents.analysis.review import review_game
from rave_agents.sessions.live import LiveSession
from rave_agents.sessions.setting_up import set_up_session
from rave_agents.web.review_page import review_page
from rave_agents.web.server import Server

pytestmark = pytest.mark.full


@pytest.fixture
def serving():
    """Gives a function that serves a session."""
    pytest.importorskip("starlette")
    begun = []

    def serve(game, agent="uct(simulations=20)", *, beside=False):
        live = LiveSession(set_up_session(game, agent), adviser=as_agent(agent), beside=beside)
        begun.append(Server(live))
        begun[-1].start()
        return begun[-1]

    yield serve
    for each in begun:
        each.close()


def opened(chromium, server, said, *, checks=True, **options):
    """A tab with the page; with ``checks`` Playwright may evaluate there what the page may not."""
    tab = chromium.new_page(bypass_csp=checks, **options)
    tab.set_default_timeout(20_000)
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(server.address)
    tab.locator("#seats b").first.wait_for()
    return tab


def play_one(tab):
    """Play a move, on the board or from the list; returns whether the game goes on."""
    tab.wait_for_function(
        "shown.over || (shown.legal.length && shown.thinking === null && !shown.error)"
    )
    if tab.evaluate("shown.over"):
        return False
    turns = tab.evaluate("shown.turns.length")
    chosen = tab.evaluate("shown.seats.filter(seat => seat.chosen).length")
    cell = tab.locator("#board .cell.can").first
    (cell if cell.count() else tab.locator("#legal button").first).click()
    tab.wait_for_function(
        "([turns, chosen]) => shown.turns.length > turns"
        " || shown.seats.filter(seat => seat.chosen).length > chosen",
        arg=[turns, chosen],
    )
    return True


@pytest.mark.parametrize(
    "game",
    [
        "hex(board_size=4)",
        "go(board_size=5,max_game_length=12)",
        "connect_four",
        "leduc_poker",
        "goofspiel(num_cards=4)",
        "pettingzoo:tictactoe_v3",
        "dots_and_boxes(num_rows=1,num_cols=2)",
    ],
)
def test_a_whole_game_is_played(chromium, serving, game):
    said = []
    tab = opened(chromium, serving(game), said)
    moves = 0
    while play_one(tab):
        moves += 1
    assert moves > 0
    assert "The game is over" in tab.locator("#status").inner_text()
    assert said == []


def test_a_reload_and_a_second_tab_show_the_same_game(chromium, serving):
    said = []
    server = serving("hex(board_size=4)")
    one = opened(chromium, server, said)
    play_one(one)
    one.wait_for_function("shown.turns.length === 2")
    one.reload()
    two = opened(chromium, server, said)
    for tab in (one, two):
        tab.wait_for_function("shown.turns.length === 2")
    play_one(two)
    one.wait_for_function("shown.turns.length >= 3")
    assert said == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits(chromium, serving, width, scheme):
    said = []
    options = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
    tab = opened(chromium, serving("go(board_size=9)"), said, checks=False, **options)
    tab.locator("#board svg").wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    ground = tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) < 200) == (scheme == "dark")
    assert said == []


def test_moves_are_made_by_the_keyboard(chromium, serving):
    tab = opened(chromium, serving("tic_tac_toe"), [])
    tab.locator("#board .cell").first.focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowDown")
    assert "can be played" in tab.evaluate("document.activeElement.getAttribute('aria-label')")
    tab.keyboard.press("Enter")
    tab.wait_for_function("shown.turns.length && shown.turns[0].names[0] === 'x(1,1)'")
    tab.wait_for_function("shown.legal.length > 0")
    tab.locator("#filter").fill("x(2,2)")
    tab.keyboard.press("Enter")
    tab.wait_for_function("shown.turns.some(turn => turn.names[0] === 'x(2,2)') || shown.error")
    tab.keyboard.press("Tab")


def test_a_piece_is_dragged(chromium, serving):
    tab = opened(chromium, serving("breakthrough(rows=6,columns=4)", "random"), [])
    tab.wait_for_function("document.querySelectorAll('#board .cell.can').length > 0")
    start, end = tab.evaluate("(([to, from]) => [from, to])(places[shown.legal[0].action])")
    tab.locator(f"#board .cell[data-cell='{start}']").drag_to(
        tab.locator(f"#board .cell[data-cell='{end}']")
    )
    tab.wait_for_function("shown.turns.length > 0")


def test_the_page_shows_a_search_while_it_runs_and_answers_clicks(chromium, serving, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # Its process compiles nothing.
    said = []
    tab = opened(chromium, serving("hex(board_size=4)", "uct(seconds=60)", beside=True), said)
    tab.locator("#board .cell.can").first.click()
    for simulations in (1, 2, 3):  # It goes on.
        tab.wait_for_function(
            "least => shown.thinking === 1 && shown.thought?.simulations > least",
            arg=0 if simulations == 1 else tab.evaluate("shown.thought.simulations"),
            timeout=60_000,
        )
    assert tab.locator("#board .heat[style*='opacity: 0.']").count() > 0
    tab.locator("[data-do=undo]").click()
    tab.wait_for_function("shown.turns.length === 0 && shown.thinking === null", timeout=5_000)
    assert said == []


def test_a_review_is_stepped_through(open_file):
    review = review_game("tic_tac_toe", [0, 3, 2, 8, 4], "auto(simulations=2000)")
    tab = open_file(review_page(review))
    stones = tab.locator("#board .stone")
    assert stones.count() == 2  # It opens on the first mistake.
    assert "is a blunder" in tab.locator("#said").inner_text()
    assert tab.locator("#board .ring").count() == 1
    tab.locator("#on").click()
    assert stones.count() == 3
    tab.keyboard.press("ArrowLeft")
    tab.locator("#turns li").last.click()
    assert stones.count() == 5


def test_a_server_that_has_ended_is_told_of(chromium, serving):
    server = serving("tic_tac_toe")
    tab = opened(chromium, server, [])
    server.close()
    tab.wait_for_function("document.getElementById('error').textContent.includes('not answer')")


def test_an_agent_that_is_killed_is_told_of_and_asked_again(chromium, serving, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # Its process compiles nothing.
    server = serving("tic_tac_toe", "uct(seconds=30)", beside=True)
    tab = opened(chromium, server, [])
    tab.locator("#board .cell.can").first.click()
    tab.wait_for_function("shown.thought !== null", timeout=60_000)
    os.kill(server.live._runners[False, 1].process_id, signal.SIGKILL)
    tab.locator("#error", has_text="killed (SIGKILL)").wait_for()
    tab.locator("#error button").click()
    tab.wait_for_function("shown.thinking === 1 && !shown.error")
