"""Races: who is the best of several agents, in a given time."""

import json
import pathlib
import re
import time

import pytest
from typer.testing import CliRunner

from rave_agents import from_step
from rave_agents.arena import RunError, find_best, play_match
from rave_agents.arena.candidates import AT_ONCE, IN_TURN, default_agents
from rave_agents.cli import app
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.frameworks.own_games import as_game


class Duel:
    """Each player chooses 0 or 1 once; who chose more wins, and else nobody."""

    players = 2

    def __init__(self):
        self.chosen = []

    def clone(self):
        copy = type(self)()
        copy.chosen = list(self.chosen)
        return copy

    def num_players(self):
        return self.players

    def num_distinct_actions(self):
        return 2

    def min_utility(self):
        return -1.0

    def max_utility(self):
        return 1.0

    def is_terminal(self):
        return len(self.chosen) == self.players

    def is_chance_node(self):
        return False

    def chance_outcomes(self):
        return []

    def current_player(self):
        return -4 if self.is_terminal() else len(self.chosen)

    def legal_actions(self, player=None):
        return [] if self.is_terminal() else [0, 1]

    def apply_action(self, action):
        self.chosen.append(int(action))

    def returns(self):
        if not self.is_terminal():
            return [0.0] * self.players
        mean = sum(self.chosen) / self.players
        return [float(mine - mean) for mine in self.chosen]


class Trio(Duel):
    """The same for three players."""

    players = 3


class Lonely(Duel):
    """One player, who gets what it chooses."""

    players = 1

    def returns(self):
        return [float(sum(self.chosen))]


@from_step
def high(state):
    return 1


@from_step
def low(state):
    return 0


class Coin:
    """A policy that is random, seeded by the race."""

    def seed(self, seed):
        self.state = seed

    def step(self, state):
        return (self.state >> 3) % 2


def race(game=Duel, agents=None, **options):
    agents = {"low": low, "high": high} if agents is None else agents
    return find_best(game, agents, **{"seconds": 20, "opening_plies": 0, **options})


@pytest.mark.parametrize("game", [Duel, Trio])
def test_the_better_agent_wins_in_any_number_of_seats(game):
    result = race(game)
    assert result.best == result.leader == "high"
    assert result.dropped == {"low": "high"}
    assert result.finished == 16
    assert all(record.score == 0.0 for match in result.matches for record in match.records)


def test_agents_that_have_not_met_the_leader_are_told():
    result = race(agents=dict.fromkeys(("one", "two", "three"), slow), seconds=0.001)
    assert result.finished == 2
    assert "; one has not met 1 of them yet, 2 games in" in result.sentence


def test_seats_rotate_among_three():
    records = race(Trio).matches[0].records
    assert [record.first_seats for record in records[:6]] == [
        (0,), (1, 2), (1,), (0, 2), (2,), (0, 1),
    ]  # fmt: skip
    assert [record.actions for record in records[:3]] == [(0, 1, 1), (1, 0, 0), (1, 0, 1)]


def test_one_player_alone_is_compared_by_returns():
    result = race(Lonely)
    assert result.best == "high"
    assert "high returns 1 more than low in the mean" in result.sentence
    assert [record.actions for record in result.matches[0].records[:4]] == [(0,), (1,), (0,), (1,)]


def test_the_sentence_has_the_interval_the_games_and_the_time():
    told = re.fullmatch(
        r"high is the best of 2 agents in \S*Duel: high scores 1\.000 against low \(95 % interval "
        r"(0\.\d+) to 1\.000\), 16 games in (\d\.\d) s\.",
        race().sentence,
    )
    assert told is not None
    assert float(told[1]) > 0.5


def test_equal_agents_are_told_to_be_level():
    result = race(agents={"one": high, "two": high, "three": high})
    assert result.best is None
    assert result.is_level
    assert not result.dropped
    assert result.sentence.startswith("one, two and three are equally strong in ")
    assert "is proven to be within 0.05 of 1/2" in result.sentence


def test_agents_that_time_does_not_tell_apart_are_told_so():
    result = race(agents={"one": Coin(), "two": Coin()}, seconds=0.001)
    assert result.best is None
    assert result.sentence.startswith("No difference between one and two was found in ")
    assert result.finished % 2 == 0


def test_the_leader_is_told_from_several_others():
    agents = {"low": low, "coin": Coin(), "high": high, "top": high}
    result = race(agents=agents)
    assert set(result.left) == {"high", "top"}
    assert set(result.dropped) == {"low", "coin"}
    rows = {row.agent: row for row in result.rows}
    assert rows["low"].outcome == "dropped"
    assert rows["low"].interval[1] < 0.5
    assert {rows["high"].outcome, rows["top"].outcome} == {"leads", "level"}


@from_step
def slow(state):
    time.sleep(0.1)
    return 1


@pytest.mark.full
def test_the_time_is_kept_but_for_a_pair_of_games():
    started = time.monotonic()
    result = race(agents={"one": slow, "two": slow}, seconds=0.5)
    assert 0.4 <= time.monotonic() - started < 0.5 + 0.4 + 2
    assert result.finished in (2, 4)


def actions_of(result):
    return [[record.actions for record in match.records] for match in result.matches]


def test_a_race_goes_on_from_its_file(tmp_path):
    path = tmp_path / "race.jsonl"
    agents = {"one": Coin(), "two": high, "three": Coin()}
    whole = race(agents=agents, output=path)
    assert whole.best == "two"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:12]) + lines[12][:20])
    again = race(agents=agents, output=path)
    assert again.rows[0].agent == "two"
    assert path.read_text().splitlines()[:12] == [line.rstrip("\n") for line in lines[:12]]
    assert actions_of(again) == actions_of(race(agents=agents))
    size = path.stat().st_size
    assert again.earlier == 11
    told = race(agents=agents, output=path).sentence
    assert told.startswith("two is the best of 3 agents")
    games = whole.finished
    assert re.search(rf"{games} games in \d\.\d s, {games} of them before\.$", told)
    assert path.stat().st_size == size


def test_a_file_may_get_further_agents(tmp_path):
    path = tmp_path / "race.jsonl"
    race(output=path)
    result = race(agents={"low": low, "high": high, "more": low}, output=path)
    assert result.best == "high"
    with pytest.raises(ValueError, match="seed is 0 there and 1 here"):
        race(output=path, seed=1)


def test_what_was_finished_is_kept_if_an_agent_fails(tmp_path):
    path = tmp_path / "race.jsonl"
    asked = []

    @from_step
    def failing(state):
        asked.append(state)
        if len(asked) > 5:
            raise KeyError("on purpose")
        return 0

    with pytest.raises(RunError, match="failing against high: Game 6, seat 1, agent failing"):
        race(agents={"failing": failing, "high": high}, output=path)
    asked.clear()
    with pytest.raises(RunError) as caught:
        race(agents={"failing": failing, "high": high})
    assert caught.value.result.finished == 5
    assert len(path.read_text().splitlines()) == 6


def test_an_interruption_leaves_the_standing():
    asked = []

    @from_step
    def interrupting(state):
        asked.append(state)
        if len(asked) > 6:
            raise KeyboardInterrupt
        return 0

    result = race(agents={"interrupting": interrupting, "high": high})
    assert result.interrupted
    assert result.finished == 6
    assert "high" in result.sentence


@pytest.mark.full
def test_processes_play_the_same_race():
    options = {"agents": ["uct(simulations=30)", "random", "rave(simulations=3)"], "seconds": 60}
    alone, several = race("tic_tac_toe", **options), race("tic_tac_toe", jobs=2, **options)
    assert alone.best == several.best == "uct(simulations=30)"
    for one, two in zip(alone.matches, several.matches, strict=True):
        shared = min(one.finished, two.finished)
        moves = [[record.actions for record in match.records[:shared]] for match in (one, two)]
        assert moves[0] == moves[1]


def test_pairs_are_those_of_a_match():
    """With the same seed the same games as ``play_match``."""
    agents = ["uct(simulations=15)", "random"]
    mine = race("tic_tac_toe", agents, seed=3, opening_plies=None).matches[0]
    match = play_match("tic_tac_toe", *agents, games=mine.finished, seed=3)
    assert [r.actions for r in mine.records] == [r.actions for r in match.records]


@pytest.mark.full
def test_an_agent_of_ones_own_and_values_of_a_parameter_race():
    result = race(
        "tic_tac_toe", ["uct", high_first], vary={"c": [0.1, 1.0]}, simulations=4, seconds=1
    )
    assert result.agents == ("uct(c=0.1)", "uct(c=1.0)", "high_first")
    assert result.specs[0] == "uct(simulations=4,c=0.1)"
    assert "at 4 simulations a move" in result.sentence


@from_step
def high_first(state):
    return max(state.legal_actions())


@pytest.mark.parametrize(
    ("game", "names", "left_out"),
    [
        ("tic_tac_toe", IN_TURN, set()),
        ("kuhn_poker", ("auto", "uct", "rave", "grave"), {"uct_solver", "pn_mcts", "rave_pn"}),
        (
            "goofspiel(imp_info=False,num_cards=3)",
            ("auto", "uct", "rave", "grave", *AT_ONCE),
            {"uct_solver", "pn_mcts", "rave_pn"},
        ),
        ("gymnasium:FrozenLake-v1", ("auto", "uct", "rave", "grave"), {"uct_solver"}),
        (Lonely, IN_TURN, set()),
    ],
)
def test_one_agent_of_each_kind_races_by_default(game, names, left_out):
    found, refused = default_agents(as_game(game))
    assert tuple(found) == names
    assert left_out <= set(refused)
    assert all(reason for reason in refused.values())


def test_games_begin_with_as_many_random_moves_as_they_have_room_for():
    played = [race(game, opening_plies=None).matches[0].records[0] for game in (Duel, Trio, Lonely)]
    assert [len(record.opening) for record in played] == [1, 2, 0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"agents": ["uct"]}, ValueError, "at least two agents, got 1"),
        ({"agents": ["uct", "uct"]}, ValueError, "named 'uct'"),
        ({"agents": ["uct", "utc"]}, UnknownNameError, "Did you mean 'uct'"),
        ({"seconds": 0}, ValueError, "seconds must be"),
        ({"seconds": "long"}, TypeError, "seconds must be"),
        ({"simulations": 0}, ValueError, "simulations"),
        ({"move_seconds": -1, "agents": ["uct", "rave"]}, ValueError, "seconds"),
        ({"seed": None}, TypeError, "seed must be an integer of at least 0, got None"),
        ({"jobs": 0}, ValueError, "jobs must be an integer from 1"),
        ({"vary": {"c": [1]}}, ValueError, "No agent of the race takes 'c'"),
        ({"agents": ["uct", "random"], "vary": {"c": []}}, ValueError, "needs a list of values"),
        ({"game": "kuhn_poker", "agents": ["uct_solver", "uct"]}, UnsupportedGameError, "hidden"),
        ({"game": "kuhn_pokers"}, UnknownNameError, "Did you mean"),
    ],
)
def test_what_cannot_race_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        race(**options)


def test_plain_values_are_strict_json():
    values = json.loads(json.dumps(race().to_dict(), allow_nan=False))
    assert values["best"] == "high"
    assert [row["outcome"] for row in values["agents"]] == ["best", "dropped"]
    assert values["agents"][1]["ci95"][1] < 0.5


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_command_ends_with_the_sentence_for_a_game_and_an_agent_of_files():
    helpers = pathlib.Path(__file__).parents[1] / "helpers"
    game = f"{helpers}/own_games/subtraction.py:Subtraction"
    agents = f"uct(simulations=200) mine={helpers}/own_agents/bots.py:first"
    done = run("best", game, "--agents", agents, "--seconds", 20)
    assert done.exit_code == 0, done.output
    lines = done.stdout.rstrip().splitlines()
    assert re.fullmatch(r"uct\(simulations=200\) is the best of 2 agents in .*\.", lines[-1])
    assert "dropped" in done.stdout
    assert done.stderr == ""


def test_the_command_tells_who_was_left_out():
    done = run("best", "kuhn_poker", "--seconds", "0.1", "--simulations", "2")
    assert done.exit_code == 0, done.output
    assert "Left out: uct_solver, pn_mcts, rave_pn. With hidden information" in done.stdout


@pytest.mark.full
def test_the_command_prints_one_object_and_goes_on_from_its_file(tmp_path):
    path = tmp_path / "race.jsonl"
    arguments = ["best", "tic_tac_toe", "--agents", "random uct", "--vary", "c=0.5,1"]
    arguments += ["--simulations", "20", "--seconds", "1", "--output", path, "--json"]
    values = json.loads(run(*arguments).stdout)
    assert {row["agent"] for row in values["agents"]} == {"random", "uct(c=0.5)", "uct(c=1)"}
    assert values["finished"] == len(path.read_text().splitlines()) - 1


def test_the_command_refuses_in_one_line():
    done = run("best", "tic_tac_toe", "--agents", "uct")
    assert done.exit_code == 2
    assert done.stderr == "Error: A race needs at least two agents, got 1.\n"
