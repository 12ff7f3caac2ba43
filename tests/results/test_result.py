"""SearchResult: as text, as HTML, as plain values."""

import copy
import dataclasses
import html.parser
import json
import pickle

import pyspiel
import pytest
from helpers.games import random_game, written_game
from rave_openspiel import OpenSpielState

from rave_agents import ActionStatistics, Limit, SearchConfig, Searcher, SearchResult
from rave_agents.parts import NodeAmaf

TIC_TAC_TOE = pyspiel.load_game("tic_tac_toe")


class Named:
    """A state whose actions have names that are dangerous in HTML."""

    def __init__(self, moves=()):
        self.moves = moves

    def clone(self):
        return Named(self.moves)

    def apply_action(self, action):
        self.moves = (*self.moves, action)

    def current_player(self):
        return len(self.moves) % 2

    def is_chance_node(self):
        return False

    def is_terminal(self):
        return False

    def legal_actions(self):
        return list(range(10))

    def action_to_string(self, player, action):
        return f"<{'ab'[player]}&{action * 111}>"


class Ending(Named):
    """Ends after one move, though it went on in the search."""

    def clone(self):
        return Ending(self.moves)

    def is_terminal(self):
        return bool(self.moves)


def row(action, visits, value, *, amaf=0.0, probability=0.0, **changes):
    return ActionStatistics(
        action=action,
        visits=visits,
        value=value,
        prior=0.25,
        amaf_visits=amaf,
        amaf_value=0.5 if amaf else None,
        probability=probability,
        **changes,
    )


def result(*rows, **changes):
    values = {
        "player": 0,
        "action": 7,
        "actions": rows,
        "value": 0.25,
        "principal_variation": (7, 1),
        "simulations": 120,
        "root_visits": 130,
        "seconds": 0.5,
        "nodes": 9,
        "memory_bytes": 1000,
        "memory_full": False,
        "state": Named(),
    }
    return SearchResult(**{**values, **changes})


ROWS = (row(1, 5, -0.5), row(7, 100, 0.75, probability=1.0), row(3, 0, None), row(4, 15, 0.0))


def test_text_is_an_aligned_table_best_first():
    text = str(result(*ROWS))
    assert text == (
        "player 0 plays <a&777>, value 0.750, 120 simulations in 0.500 s, expects <a&777> <b&111>\n"
        "action   visits   value  prior  probability\n"
        "<a&777>     100   0.750  0.250        1.000\n"
        "<a&444>      15   0.000  0.250        0.000\n"
        "<a&111>       5  -0.500  0.250        0.000\n"
        "<a&333>       0       -  0.250        0.000"
    )


def test_the_line_has_the_value_of_the_move_and_without_one_that_of_the_position():
    assert "plays <a&777>, value 0.750," in result(*ROWS).summary()
    assert "plays <a&333>, value 0.250," in result(*ROWS, action=3).summary()


@pytest.mark.parametrize("kind", ["value", "policy"])
def test_the_summary_says_what_was_learned_of_a_game(kind):
    used = result(*ROWS, known="hex(board_size=4)", learned=kind)
    assert f", using a {kind} learned for hex(board_size=4)" in used.summary()


def test_the_provider_of_simulations_is_told():
    told = result(*ROWS, provider="compiled rules")
    assert "120 simulations in 0.500 s (compiled rules), expects" in str(told)
    assert told.to_dict()["provider"] == "compiled rules"
    assert result(*ROWS).to_dict()["provider"] is None


def test_columns_for_amaf_where_there_is_any():
    rows = (row(7, 3, 0.5, amaf=12.0), row(1, 1, 0.5))
    lines = str(result(*rows)).splitlines()[1:]
    assert lines[0].split() == (
        ["action", "visits", "value", "AMAF", "visits", "AMAF", "value", "prior", "probability"]
    )
    assert lines[1].split() == ["<a&777>", "3", "0.500", "12", "0.500", "0.250", "0.000"]
    assert len({len(line) for line in lines}) == 1


def test_columns_for_winning_moves_where_they_are_counted():
    wins = {"winning_move_number": 39.0, "weighted_win_rate": 0.5 / 39}
    lines = result(row(7, 3, 0.5, amaf=6.0, **wins), row(1, 1, 0.5)).text(120).splitlines()[1:]
    assert "  winning move  weighted win rate  " in lines[0]
    assert lines[1].split()[3:7] == ["6", "0.500", "39.0", "0.0128"]
    assert lines[2].split()[3:7] == ["0", "-", "-", "0.0000"]
    assert len({len(line) for line in lines}) == 1
    assert "winning" not in str(result(*ROWS))


def test_the_chosen_action_is_first_whatever_its_visits():
    ranked = result(*ROWS, action=3).ranked_actions
    assert [entry.action for entry in ranked] == [3, 7, 4, 1]
    assert len(result(*ROWS).tables(rows=2)[0].rows) == 3


def test_html_is_escaped_and_well_formed():
    class Parser(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.cells = [], []

        def handle_starttag(self, tag, attrs):
            self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

        def handle_data(self, data):
            if self.open[-1] == "td":
                self.cells.append(data)

    parser = Parser()
    text = result(*ROWS)._repr_html_()
    parser.feed(text)
    assert parser.open == []
    assert parser.cells[:5] == ["<a&777>", "100", "0.750", "0.250", "1.000"]
    assert len(parser.cells) == 4 * 5
    assert "<a" not in text


def test_plain_values_are_fit_for_json():
    whole = result(*ROWS)
    values = whole.to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["action_name"] == "<a&777>"
    assert values["principal_variation"] == [7, 1]
    assert values["principal_variation_names"] == ["<a&777>", "<b&111>"]
    assert [entry["name"] for entry in values["actions"]] == [
        "<a&111>", "<a&777>", "<a&333>", "<a&444>"
    ]  # fmt: skip
    left_out = {"state", "actions"}
    fields = {field.name for field in dataclasses.fields(SearchResult)} - left_out
    assert all(values[name] == _plain(getattr(whole, name)) for name in fields)


def _plain(value):
    return list(value) if isinstance(value, tuple) else value


def test_policy_and_speed():
    assert result(*ROWS).policy == [(1, 0.0), (7, 1.0), (3, 0.0), (4, 0.0)]
    assert result(*ROWS).simulations_per_second == 240.0
    assert result(*ROWS, seconds=0.0).simulations_per_second == 0.0


def test_without_names_actions_are_numbers():
    class Nameless:
        pass

    assert result(*ROWS, state=Nameless()).action_name(7) == "7"


@pytest.mark.parametrize("seed", range(3))
def test_real_results_hold_together(seed):
    searcher = Searcher(SearchConfig(amaf=NodeAmaf()), seed=seed)
    found = searcher.search(random_game(seed, chance=0.2), Limit(simulations=200))
    assert sum(entry.visits for entry in found.actions) == 199
    total = sum(entry.visits * entry.value for entry in found.actions if entry.visits)
    assert found.value == pytest.approx(total / 199)
    assert found.principal_variation[0] == found.action
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert len(str(found).splitlines()) == 2 + len(found.actions)


def test_the_principal_variation_follows_the_most_visits():
    nodes = {
        (): (0, [0, 1]),
        (0,): [0.0, 1.0],
        (1,): (1, [0, 1]),
        (1, 0): [1.0, 0.0],
        (1, 1): (0, [4]),
        (1, 1, 4): [0.6, 0.4],
    }
    found = Searcher(SearchConfig(), seed=1).search(written_game(nodes), Limit(simulations=300))
    assert found.principal_variation == (1, 1, 4)
    assert found.principal_variation_names == ("p0:1", "p1:1", "p0:4")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "least", "most", "said"),
    [
        ("hex(board_size=5)", 0.8, 1.0, "actions mean the same whenever they are played"),
        ("connect_four", 0.0, 0.2, "actions mean something else when played later"),
    ],
)
def test_a_result_tells_how_far_amaf_is_trusted(game, least, most, said):
    state = pyspiel.load_game(game).new_initial_state()
    searcher = Searcher(SearchConfig.preset("auto"), seed=1)
    result = searcher.search(state, Limit(simulations=300))
    assert least <= result.amaf_trust <= most
    assert result.to_dict()["amaf_trust"] == result.amaf_trust
    assert f"AMAF trusted {result.amaf_trust:.2f}: {said}" in str(result)


def test_trust_between_is_told_as_such():
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    result = Searcher(SearchConfig.preset("auto"), seed=1).search(state, Limit(simulations=20))
    between = dataclasses.replace(result, amaf_trust=0.5, proof_trust=1.0, value_trust=None)
    assert between.remarks == [
        "AMAF trusted 0.50: some actions mean something else when played later"
    ]


@pytest.mark.slow
def test_many_trees_tell_one_trust():
    state = pyspiel.load_game("connect_four").new_initial_state()
    config = SearchConfig.preset("auto").replace(threads=2)
    result = Searcher(config, seed=1).search(state, Limit(simulations=300))
    assert result.amaf_trust <= 0.2


@pytest.mark.parametrize("preset", ["uct", "rave", "grave"])
def test_a_search_that_learns_no_trust_tells_none(preset):
    state = pyspiel.load_game("connect_four").new_initial_state()
    result = Searcher(SearchConfig.preset(preset), seed=1).search(state, Limit(simulations=50))
    assert result.amaf_trust is None
    assert "trusted" not in str(result)


@pytest.mark.parametrize("preset", ["uct", "rave", "regret_matching", "rave_maximin"])
def test_a_forced_move_among_simultaneous_ones_is_told(preset):
    state = pyspiel.load_game("oshi_zumo(coins=5)").new_initial_state()
    state.apply_actions([5, 1])  # Player 0 has no coins left; player 1 has a choice.
    searcher = Searcher(SearchConfig.preset(preset), seed=1)
    found = searcher.search(OpenSpielState(state), Limit(simulations=20), player=0)
    assert found.principal_variation_names == ("[P0]Bid: 0",)
    assert "forced, expects [P0]Bid: 0" in str(found)
    assert "[P0]Bid: 0" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert found.plot() is not None


def test_a_line_that_another_outcome_makes_impossible_is_told_by_numbers():
    found = result(*ROWS, state=Ending(), principal_variation=(7, 3, 5))
    assert found.principal_variation_names == ("<a&777>", "3", "5")


def test_rows_have_the_names_that_tables_and_dictionaries_have():
    searched = Searcher(seed=1).search(TIC_TAC_TOE.new_initial_state(), Limit(simulations=20))
    names = [row["name"] for row in searched.to_dict()["actions"]]
    assert [row.name for row in searched.actions] == names
    assert [row.name for row in searched.ranked_actions] == searched.columns()["name"]
    assert [row.name for row in pickle.loads(pickle.dumps(searched)).actions] == names
    assert [row.name for row in copy.deepcopy(searched).actions] == names


def test_a_row_of_no_result_is_named_by_its_number():
    assert row(7, 1, 0.5).name == "7"
