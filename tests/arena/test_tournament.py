import json

import numpy as np
import pytest

from rave_agents import from_step
from rave_agents.arena import (
    play_match,
    play_tournament,
    rate,
)
from rave_agents.arena.tournament import read_tournament
from rave_agents.errors import UnknownNameError

AGENTS = {
    "random": "random",
    "uct": "uct(simulations=20)",
    "first": from_step(lambda s: s.legal_actions()[0]),
}
GAMES = ["tic_tac_toe", "connect_four"]


def tournament(**changes):
    options = {"games_per_pairing": 4, "seed": 2, **changes}
    return play_tournament(options.pop("games", GAMES), options.pop("agents", AGENTS), **options)


def played(result):
    return [
        (match.game, match.agents, [(r.number, r.actions, r.returns) for r in match.records])
        for match in result.matches
    ]


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A tournament that ran through, and its file."""
    path = tmp_path_factory.mktemp("tournament") / "straight.jsonl"
    return tournament(output=path), path


@pytest.mark.slow
def test_a_round_robin_pairs_everybody_on_every_game(straight):
    pairs = [("random", "uct"), ("random", "first"), ("uct", "first")]
    assert [(m.game, m.agents) for m in straight[0].matches] == [
        (game, pair) for game in GAMES for pair in pairs
    ]
    assert all(len(match.records) == 4 for match in straight[0].matches)


def test_pairings_share_openings_and_exchange_seats(straight):
    for game in GAMES:
        matches = [match for match in straight[0].matches if match.game == game]
        assert len({tuple(r.opening for r in match.records) for match in matches}) == 1
        assert all([r.first_seat for r in match.records] == [0, 1, 0, 1] for match in matches)


def test_a_pairing_is_the_match_of_its_agents(straight):
    alone = play_match("connect_four", "random", "uct(simulations=20)", games=4, seed=2)
    assert played(straight[0])[3][2] == [(r.number, r.actions, r.returns) for r in alone.records]


def test_a_gauntlet_pairs_the_challenger_with_all_others():
    result = tournament(games="tic_tac_toe", gauntlet="first", games_per_pairing=1)
    assert [match.agents for match in result.matches] == [("first", "random"), ("first", "uct")]


def test_ratings_are_of_all_games_or_of_one(straight):
    result = straight[0]
    assert result.ratings().order[0] == "uct"
    of_one = rate(result.outcomes("tic_tac_toe"), list(AGENTS))
    assert result.ratings("tic_tac_toe").values == of_one.values
    assert len(result.outcomes()) == 2 * len(result.outcomes("tic_tac_toe")) == result.finished
    assert sum(row.score.games for row in result.standings()) == 2 * result.finished
    assert sum(row.score.games for row in result.standings("tic_tac_toe")) == result.finished


def test_the_cross_table_adds_up_to_one(straight):
    table = np.array(straight[0].cross_table())
    assert np.isnan(np.diag(table)).all()
    assert table[0, 1] + table[1, 0] == pytest.approx(1)


def test_an_anchor_is_rated_zero():
    result = tournament(games="tic_tac_toe", anchor="random")
    assert result.ratings()["random"] == 0


def test_agents_that_beat_each_other_in_a_circle_have_an_alpha_rank():
    pytest.importorskip("networkx", reason="alpha-rank needs it")
    agents = {"rock": _always(0), "paper": _always(1), "scissors": _always(2)}
    result = tournament(games="matrix_rps", agents=agents, games_per_pairing=2)
    assert not result.is_transitive()
    assert result.alpha_rank() == pytest.approx(dict.fromkeys(agents, 1 / 3), abs=1e-6)
    assert result.ratings().values == pytest.approx((0, 0, 0), abs=1e-6)


def _always(action):
    return from_step(lambda state: action)


def test_a_transitive_order_is_told(straight):
    assert straight[0].is_transitive()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"games": []}, "at least one game"),
        ({"games": ["hex", "hex"]}, "twice"),
        ({"agents": ["random"]}, "at least two"),
        ({"agents": ["random", "random"]}, "Two agents are named 'random'"),
        ({"agents": {"a": "random", "b": 3}}, "An agent is a spec"),
        ({"gauntlet": "rand"}, "Did you mean 'random'"),
        ({"gauntlet": list(AGENTS)}, "none is left to play against"),
        ({"anchor": "nobody"}, "Unknown anchor 'nobody'"),
        ({"games_per_pairing": 0}, "games_per_pairing must be an integer from 1"),
        ({"executor": 3}, "executor must be"),
        ({"agents": ["random", "rav"]}, "Did you mean 'rave'"),
    ],
)
def test_bad_arguments_are_refused(changes, message):
    with pytest.raises((ValueError, TypeError, UnknownNameError), match=message):
        tournament(**changes)


def test_a_file_gives_the_arguments(tmp_path):
    path = tmp_path / "tournament.toml"
    path.write_text(
        'games = ["tic_tac_toe"]\nsimulations = 5\n'
        '[agents]\nnew = "rave(c=0.2)"\nown = "json:dumps"\n'
    )
    settings = read_tournament(path)
    assert settings["games"] == ["tic_tac_toe"]
    assert str(settings["agents"]["new"]) == "rave(c=0.2)"
    assert settings["agents"]["own"].own.function is json.dumps


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("games = [", "is not TOML"),
        (f"games = {'[' * 10**4}{']' * 10**4}", "is not TOML"),
        ('games = ["hex"]', "lacks agents"),
        ("games = []\nagents = []\nsimulation = 3", "Did you mean 'simulations'"),
        ('games = []\n[agents]\na = "no_such:x"', "There is no module 'no_such'"),
        ('games = []\n[agents]\na = {pyton = "x:y"}', "must be a spec or"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, text, message):
    path = tmp_path / "tournament.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_tournament(path)


def test_the_dictionary_is_strict_json(straight):
    values = json.loads(json.dumps(straight[0].to_dict(), allow_nan=False))
    assert {row["agent"] for row in values["standings"]} == set(AGENTS)
