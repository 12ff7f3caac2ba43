import math
import random

import pytest
from helpers.games import written_game
from helpers.lines_of_play import after

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.agents.named_agents import make_agent
from rave_agents.frameworks.adapters import load_game
from rave_agents.games import NoGoState
from rave_agents.searcher import timed_search
from rave_agents.searcher.clock import LEAST_SECONDS, Allotment, Clock
from rave_agents.searcher.time_control import (
    Phase,
    Schedule,
    TimeControl,
    TimePolicy,
)
from rave_agents.searcher.timed_search import expected_moves
from rave_agents.searcher.watch import EarlyStop, RootStatistics


class SimulatedSearch:
    """Spends simulated time: simulations come at a noisy speed, with pauses nobody foresees."""

    def __init__(self, draw, longest_pause):
        self.draw = draw
        self.longest_pause = longest_pause

    def move(self, allotment):
        """The seconds that a move takes."""
        draw, visits = self.draw, [0.0] * 3
        values = [draw.random() for _ in range(3)]
        speed = draw.uniform(500, 5000)
        seconds, deadline = 0.0, allotment.seconds
        while True:
            part = min(allotment.seconds / 4, deadline - seconds)
            seconds += part
            count = part * speed * draw.uniform(0.5, 1.5)
            visits[draw.choice([0, 0, 1, 2])] += count
            statistics = RootStatistics(visits, values)
            if deadline - seconds <= 1e-12:
                more = allotment.extension_seconds(statistics)
                if more <= 0:
                    break
                deadline = seconds + more
            left = sum(visits) / seconds * (deadline - seconds)
            if allotment.should_stop(statistics, seconds, left):
                break
        return seconds + draw.uniform(0, self.longest_pause)


LAG = 0.05
CONTROLS = [
    "60",
    "20+0.5",
    "30+1x5",
    "30+3x5",
    "10+1x60/10",
    "0+1x2",
    "2 a move",
    "4 to 4, 8.3 to 26, 4",
    "60, schedule=basic, c=10",
    "60, schedule=max_ply, c=8, max_ply=20",
]
GAMES = 1000


def play(text, draw, early_stop):
    """A simulated game; returns whether it was lost on time, and the part of the time used."""
    clock = Clock.parse(f"{text}, lag={LAG}, early_stop={early_stop}")
    search = SimulatedSearch(draw, LAG)
    length = draw.randint(30, 60)
    used = granted = 0.0
    for number in range(length):
        left = max(1.0, (length - number) * draw.uniform(0.8, 1.25))
        seconds = search.move(clock.allot(moves_left=left, ply=2 * number))
        used += seconds
        if clock.control.period and seconds > clock.main_left:
            granted += clock.control.period / clock.control.period_moves
        if not clock.charge(seconds):
            return True, 0.0
    control = clock.control
    if control.phases:
        numbers = range(1, length + 1)
        granted = sum(next(p.seconds for p in control.phases if n <= p.last_move) for n in numbers)
    else:
        granted += control.main + control.increment * length
    return False, used / granted


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("text", CONTROLS)
def test_no_game_is_lost_on_time_and_the_time_is_used(text):
    # With ten time controls these are ten thousand games.
    draw = random.Random(text)
    played = [play(text, draw, early_stop=False) for _ in range(GAMES)]
    assert sum(lost for lost, _ in played) == 0
    assert sum(part for _, part in played) / GAMES >= 0.9


@pytest.mark.full(but=4)
@pytest.mark.parametrize("text", CONTROLS)
def test_no_game_is_lost_on_time_with_early_stops(text):
    draw = random.Random(text)
    assert not any(play(text, draw, early_stop=True)[0] for _ in range(100))


def test_saved_time_is_there_for_later_moves():
    clock = Clock.parse("2 a move")
    planned = clock.allot().seconds
    clock.charge(0.5)
    assert planned == 2.0
    assert clock.allot().seconds == pytest.approx(2.0 + 1.5 / 4)
    clock.charge(5.0)
    assert clock.allot().seconds == pytest.approx(2.0 + 1.5 - 3.0)


def test_saved_main_time_is_there_for_later_moves():
    slow, quick = Clock.parse("60"), Clock.parse("60")
    slow.charge(6.0)
    quick.charge(1.0)
    assert quick.allot(moves_left=20).seconds > slow.allot(moves_left=20).seconds


def test_the_phases_of_the_document():
    clock = Clock.parse("4 to 4, 8.3 to 26, 4")
    planned = []
    for _ in range(40):
        planned.append(clock.allot().seconds)
        clock.charge(planned[-1])
    assert planned == pytest.approx([4.0] * 4 + [8.3] * 22 + [4.0] * 14)


@pytest.mark.parametrize(
    ("text", "ply", "moves_left", "expected"),
    [
        ("80, schedule=basic, c=40, lag=0", 30, 7, 80 / 40),
        ("80, schedule=max_ply, c=40, max_ply=80, lag=0", 30, 7, 80 / (40 + 50)),
        ("80, schedule=max_ply, c=40, max_ply=80, lag=0", 100, 7, 80 / 40),
        ("80, lag=0", 30, 7, 80 / 7),
        ("80, lag=0", 30, 1, 80 / 4),
        ("80, lag=0.1", 30, 7, (80 - 0.8) / 7),
        ("80+2, lag=0", 30, 7, (80 + 6 * 2) / 7),
        ("1+30, lag=0", 0, 10, 1.0),  # no more than there is
        ("1+0.1, lag=0.05", 0, 24, (1 - 0.05 * 25 + 0.1 * 23) / 24),  # increments pay for their lag
        ("1, lag=0.05", 0, 24, LEAST_SECONDS),
        ("0+1x30/10, lag=0.5", 0, 10, 3 - 0.5),
    ],
)
def test_schedules_by_hand(text, ply, moves_left, expected):
    allotment = Clock.parse(text).allot(moves_left=moves_left, ply=ply)
    assert allotment.seconds == pytest.approx(expected)


def test_increments_are_added_after_the_move():
    clock = Clock.parse("10+2")
    assert clock.charge(4.0)
    assert clock.main_left == 8.0


def test_main_time_that_is_overstepped_loses():
    clock = Clock.parse("10+2")
    assert not clock.charge(10.5)
    assert clock.flagged


def test_main_time_runs_on_into_the_first_period():
    clock = Clock.parse("10+2x5")
    assert clock.charge(14.0)
    assert (clock.in_byo_yomi, clock.period_left, clock.periods_left) == (True, 5.0, 2)


def test_a_period_that_is_overstepped_is_lost_and_the_last_one_loses():
    clock = Clock.parse("0+2x5")
    assert clock.charge(5.0)
    assert clock.periods_left == 2
    assert clock.charge(7.0)
    assert clock.periods_left == 1
    assert not clock.charge(5.1)


def test_a_canadian_period_is_shared_by_its_moves():
    clock = Clock.parse("0+1x30/3")
    for seconds in (10.0, 5.0):
        assert clock.charge(seconds)
    assert clock.time_left() == (15.0, 1)
    assert clock.charge(15.0)
    assert clock.time_left() == (30.0, 3)


def test_a_controller_may_set_what_is_left():
    clock = Clock.parse("60+1x30/10")
    clock.set_left(12.5)
    assert clock.time_left() == (12.5, 0)
    clock.set_left(20.0, 4)
    assert clock.time_left() == (20.0, 4)


def test_restart_gives_all_time_back():
    clock = Clock.parse("5")
    clock.charge(6.0)
    clock.restart()
    assert (clock.main_left, clock.flagged, clock.moves) == (5.0, False, 0)


@pytest.mark.parametrize(
    "text",
    [
        "60",
        "60+1",
        "60+3x10",
        "60+1x300/25",
        "2 a move",
        "4 to 4, 8.3 to 26, 4 a move",
        "60+1, schedule=max_ply, c=20.0, early_stop=False",
    ],
)
def test_clocks_are_written_as_they_are_read(text):
    assert str(Clock.parse(text)) == text
    assert str(eval(repr(Clock.parse(text)))) == text


def test_a_number_is_a_main_time():
    assert Clock.parse(30).control == TimeControl(main=30.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Not a clock"),
        ("fast", "Not a clock: 'fast'"),
        ("60+", "Not a clock"),
        ("-5", "Not a clock"),
        ("0", "A clock needs time"),
        ("4 to 4", "Not a clock"),
        ("4 to 4, 8 to 3, 2", "increasing last moves"),
        ("0 a move", "seconds of a phase must be a finite number above 0"),
        ("60, lagg=1", "Did you mean 'lag'"),
        ("60, schedule=maxply", "Did you mean 'max_ply'"),
        ("60, lag=x", "lag must be a number, got 'x'"),
        ("60, behind_below=2", r"behind_below must be a number in \[0, 1\], got 2"),
        ("60, least_moves=0", "least_moves must be a finite number of at least 1"),
        ("60, early_stop=no", "early_stop must be True or False, got 'no'"),
        ("60, c=0", "c must be a finite number above 0"),
    ],
)
def test_what_is_no_clock_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        Clock.parse(text)


@pytest.mark.parametrize("value", [None, True, [60]])
def test_a_clock_is_a_text(value):
    with pytest.raises(TypeError, match="clock must be a text"):
        Clock.parse(value)


@pytest.mark.parametrize(
    "fields",
    [
        {"main": 60.0, "phases": (Phase(1.0, math.inf),)},
        {"main": 60.0, "increment": 1.0, "period": 5.0},
        {"main": -1.0},
        {"main": math.inf},
        {"main": 5.0, "periods": 0},
        {"phases": (Phase(1.0, 5),)},
    ],
)
def test_time_controls_that_make_no_sense_are_refused(fields):
    with pytest.raises(ValueError):  # noqa: PT011
        TimeControl(**fields)


def statistics(*visits, values=None):
    return RootStatistics(visits, values or [0.5] * len(visits))


@pytest.mark.parametrize(
    ("visits", "left", "enough"),
    [((100, 40), 59, True), ((100, 40), 60, False), ((7,), 1000, True), ((50, 50, 9), 1, False)],
)
def test_a_search_may_end_when_the_runner_up_cannot_catch_up(visits, left, enough):
    assert EarlyStop().should_stop(statistics(*visits), 1.0, left) == enough
    allotment = Allotment(1.0, 1.0, TimePolicy())
    assert allotment.should_stop(statistics(*visits), 1.0, left) == enough
    assert not Allotment(1.0, 1.0, TimePolicy(early_stop=False)).should_stop(
        statistics(*visits), 1.0, left
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.6, 0.5], 0.0),
        ([0.6, 0.7], 1.0),  # UNST: half of the two seconds
        ([0.3, 0.2], 2.0),  # BEHIND: as much again
        ([0.3, 0.35], 3.0),  # both
    ],
)
def test_a_move_may_get_more_time_once(values, expected):
    allotment = Allotment(2.0, 10.0, TimePolicy())
    assert allotment.extension_seconds(statistics(90, 10, values=values)) == pytest.approx(expected)
    assert allotment.extension_seconds(statistics(90, 10, values=values)) == 0.0


def test_the_value_of_a_few_visits_makes_nothing_unstable():
    assert not statistics(90, 5, values=[0.6, 1.0]).unstable
    assert statistics(90, 10, values=[0.6, 1.0]).unstable
    assert not statistics().unstable


def test_more_time_ends_where_the_clock_does():
    allotment = Allotment(2.0, 2.5, TimePolicy())
    assert allotment.extension_seconds(statistics(90, 10, values=[0.1, 0.2])) == pytest.approx(0.5)


def winning_moves(state):
    """The moves that end the game."""
    return [action for action in state.legal_actions() if after(state, action).is_terminal()]


def with_one_good_move():
    """A position in which one of several moves wins at once, and after the others the opponent."""
    draw = random.Random(5)
    while True:
        state = NoGoState(5)
        while not state.is_terminal():
            wins, legal = winning_moves(state), state.legal_actions()
            others = [after(state, action) for action in legal if action not in wins]
            if len(wins) == 1 and len(others) > 1 and all(map(winning_moves, others)):
                return state, wins[0]
            state.apply_action(draw.choice(legal))


@pytest.mark.compiled
def test_a_search_ends_once_the_best_move_cannot_be_caught_up_with():
    config = SearchConfig.preset("uct").replace(early_stop=True)
    game = written_game({(): (0, [0, 1]), (0,): [1.0, -1.0], (1,): [-1.0, 1.0]}, low=-1.0)
    result = Searcher(config, seed=2).search(game, Limit(simulations=100_000))
    assert result.action == 0
    assert 50_000 <= result.simulations < 90_000


@pytest.mark.compiled
@pytest.mark.full
def test_a_simulation_budget_is_stopped_early_with_the_same_move():
    state, win = with_one_good_move()
    config = SearchConfig.preset("uct").replace(early_stop=True)
    result = Searcher(config, seed=2).search(state, Limit(simulations=400_000))
    assert result.action == win
    assert 200_000 <= result.simulations < 360_000


def test_a_watch_gives_more_time():
    class Once:
        given = False

        def should_stop(self, statistics, seconds, simulations_left):
            return False

        def extension_seconds(self, statistics):
            assert sum(statistics.visits) > 0
            given, self.given = self.given, True
            return 0.0 if given else 0.1

    watch, searcher = Once(), Searcher(seed=1)
    searcher.search(NoGoState(3), Limit(simulations=5))  # so that less is left to be loaded
    result = searcher.search(NoGoState(3), Limit(seconds=0.1), watch=watch)
    assert watch.given
    assert result.seconds >= 0.2
    assert result.simulations == result.root_visits


class Looker:
    """Writes down when it was asked, and gives more time whenever it is asked for some."""

    def __init__(self):
        self.asked = []

    def should_stop(self, statistics, seconds, simulations_left):
        self.asked.append((seconds, simulations_left))
        return False

    def extension_seconds(self, statistics):
        return 0.01


@pytest.mark.full
def test_a_speed_is_not_believed_at_once():
    looker = Looker()
    limit = Limit(seconds=0.5, simulations=20_000)
    Searcher(seed=1).search(NoGoState(5), limit, watch=looker)
    assert all(seconds >= 0.05 for seconds, _ in looker.asked)
    assert all(left <= 20_000 for _, left in looker.asked)


@pytest.mark.slow
def test_no_time_is_added_once_the_simulations_are_run():
    result = Searcher(seed=1).search(
        NoGoState(3), Limit(seconds=5.0, simulations=300), watch=Looker()
    )
    assert result.simulations == 300


@pytest.mark.compiled
@pytest.mark.full
def test_threads_stop_early_together():
    state, win = with_one_good_move()
    config = SearchConfig.preset("uct").replace(early_stop=True, threads=2)
    result = Searcher(config, seed=2).search(state, Limit(simulations=4_000_000))
    assert result.action == win
    assert 1_800_000 <= result.simulations < 3_900_000


def test_a_search_on_a_clock_charges_it():
    clock = Clock.parse("1, lag=0.01")
    result = Searcher(seed=1).search(NoGoState(5), clock=clock)
    assert clock.moves == 1
    assert 1.0 - clock.main_left >= result.seconds > 0


@pytest.mark.full
def test_moves_left_are_those_of_random_games(monkeypatch):
    monkeypatch.setattr(timed_search, "_SECONDS", 30.0)
    assert 25 < expected_moves(NoGoState(9)) < 40
    assert expected_moves(NoGoState(2)) <= 2


def test_agents_take_a_clock():
    game = load_game("nogo(board_size=4)")
    agent = make_agent("rave(clock=0.5+0.01,seed=1)", game, 0)
    state = game.new_initial_state()
    assert agent.step(state) in state.legal_actions()
    assert agent.clock.main_left < 0.51
    agent.restart()
    assert agent.clock.main_left == 0.5


def test_an_agent_has_one_kind_of_time():
    game = load_game("nogo(board_size=4)")
    with pytest.raises(ValueError, match="not both"):
        make_agent("rave(clock=60,seconds=1)", game, 0)


def test_schedules_are_named():
    assert [str(schedule) for schedule in Schedule] == ["moves_left", "basic", "max_ply"]


def test_a_forced_move_takes_no_time_of_a_clock():
    nodes = {(): (0, [7]), (7,): (1, [0, 1]), (7, 0): [1.0, -1.0], (7, 1): [-1.0, 1.0]}
    searcher = Searcher(SearchConfig(search_forced_moves=True), seed=1)
    clock = Clock.parse("60")
    result = searcher.search(written_game(nodes), clock=clock)
    assert (result.action, result.simulations) == (7, 0)
    assert clock.main_left > 59.9
