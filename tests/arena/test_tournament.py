import dataclasses
import json
import math
import random as plain_random

import numpy as np
import pytest

from rave_agents import from_maker, from_step
from rave_agents.agents.state_agents import RandomAgent
from rave_agents.arena import (
    RunError,
    merge_journals,
    play_match,
    play_tournament,
    rate,
    run,
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


class OwnAgent:
    """An agent that counts its games, in a copy of its own for each."""

    def __init__(self):
        self.games = 0
        self.random = plain_random.Random()

    def seed(self, seed):
        self.random.seed(seed)

    def restart(self):
        self.games += 1
        assert self.games == 1

    def step(self, state):
        return self.random.choice(list(state.legal_actions()))


@from_maker
def make_own(game, player, seed):
    return RandomAgent(player, seed=seed)


@pytest.mark.full
@pytest.mark.parametrize("agent", [OwnAgent(), make_own, AGENTS["first"]])
def test_agents_of_ones_own_play_alike_in_several_processes(agent):
    agents = {"own": agent, "random": "random"}
    alone, several = (tournament(games="connect_four", agents=agents, jobs=jobs) for jobs in (1, 2))
    assert played(alone) == played(several)
    assert len({r.actions for m in alone.matches for r in m.records}) > 2


@pytest.mark.full
def test_programs_take_part():
    import sys

    program = f'gtp(command="{sys.executable} -m rave_agents gtp --game tic_tac_toe random")'
    agents = {"program": program, "random": "random"}
    result = tournament(games="tic_tac_toe", agents=agents, games_per_pairing=2)
    assert result.complete


@pytest.mark.slow
def test_threads_play_the_same_games(straight, threads):
    assert played(tournament(executor=threads)) == played(straight[0])


@pytest.mark.full
def test_a_cluster_plays_the_same_games(straight, dask_workers):
    assert str(tournament(executor=dask_workers)) == str(straight[0])


@pytest.mark.full
def test_processes_play_the_same_games(straight):
    assert str(tournament(jobs=2)) == str(straight[0])


@pytest.mark.slow
def test_shards_have_all_games_once_and_merge_to_the_whole(straight, tmp_path):
    files = [tmp_path / f"{part}.jsonl" for part in (1, 2, 3)]
    counts = [
        tournament(output=file, shard=f"{part}/3").finished for part, file in enumerate(files, 1)
    ]
    assert sum(counts) == straight[0].finished
    assert min(counts) > 0
    merged = tmp_path / "merged.jsonl"
    assert merge_journals(merged, [files[2], files[0], files[1]]) == straight[0].finished
    before = merged.read_bytes()
    assert str(tournament(output=merged)) == str(straight[0])
    assert merged.read_bytes() == before


@pytest.mark.slow
def test_a_tournament_goes_on_from_some_shards(straight, tmp_path):
    files = [tmp_path / f"{part}.jsonl" for part in (2, 3)]
    for part, file in zip((2, 3), files, strict=True):
        tournament(output=file, shard=f"{part}/3")
    merged = tmp_path / "merged.jsonl"
    merge_journals(merged, [*files, files[0]])
    seen = []
    result = tournament(output=merged, progress=lambda so_far: seen.append(so_far.finished))
    assert 0 < seen[0] < straight[0].finished
    assert str(result) == str(straight[0])


def test_a_shard_has_whole_pairs(tmp_path):
    result = tournament(output=tmp_path / "shard.jsonl", shard="1/3")
    for match in result.matches:
        numbers = {record.number for record in match.records}
        assert all(number ^ 1 in numbers for number in numbers)


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b"])
def test_a_shard_is_checked(shard, tmp_path):
    with pytest.raises(ValueError, match="such as 3/40"):
        tournament(shard=shard, output=tmp_path / "x.jsonl")


def test_a_shard_needs_a_file():
    with pytest.raises(ValueError, match="A shard needs output"):
        tournament(shard="1/3")


@pytest.mark.slow
def test_shards_of_other_settings_are_not_merged(straight, tmp_path):
    other = tmp_path / "other.jsonl"
    tournament(output=other, seed=3)
    with pytest.raises(ValueError, match="seed is 3 there and 2 here"):
        merge_journals(tmp_path / "merged.jsonl", [straight[1], other])
    assert not (tmp_path / "merged.jsonl").exists()


def test_merging_does_not_overwrite(straight):
    with pytest.raises(FileExistsError):
        merge_journals(straight[1], [straight[1]])


def test_a_journal_of_another_version_is_refused(straight, tmp_path):
    lines = straight[1].read_text().splitlines(keepends=True)
    old = tmp_path / "old.jsonl"
    header = {**json.loads(lines[0]), "rave-agents": "0.0.1"}
    old.write_text(json.dumps(header) + "\n" + "".join(lines[1:]))
    with pytest.raises(ValueError, match=r"rave-agents is \"0\.0\.1\" there"):
        tournament(output=old)


def test_a_journal_of_a_match_is_refused(tmp_path):
    path = tmp_path / "match.jsonl"
    play_match("tic_tac_toe", "random", "random", games=2, output=path)
    with pytest.raises(ValueError, match="not the output of a tournament, but of a match"):
        tournament(output=path)


@pytest.mark.slow
def test_a_file_cut_anywhere_loses_at_most_the_game_that_was_being_written(
    straight, tmp_path, monkeypatch
):
    def nothing_played(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "play_games", nothing_played)
    content = straight[1].read_bytes()
    header_end = content.index(b"\n") + 1
    cuts = plain_random.Random(0).sample(range(header_end, len(content) + 1), 200)
    for cut in cuts:
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(content[:cut])
        whole = content[header_end:cut].count(b"\n")
        seen = []
        again = tournament(
            output=path, progress=lambda so_far, seen=seen: seen.append(so_far.finished)
        )
        assert seen == [whole]
        assert again.interrupted
        assert path.read_bytes() == content[: content.rindex(b"\n", 0, cut) + 1]


@pytest.mark.parametrize("cut", [0.3, 0.7])
def test_a_cut_file_goes_on_to_the_same_table(straight, tmp_path, cut):
    content = straight[1].read_bytes()
    path = tmp_path / "cut.jsonl"
    path.write_bytes(content[: int(cut * len(content))])
    assert str(tournament(output=path)) == str(straight[0])


@pytest.mark.slow
def test_every_game_is_on_disk_before_it_is_told(tmp_path):
    path = tmp_path / "games.jsonl"
    kept = []

    def progress(result):
        kept.append((result.finished, path.read_text().count("\n") - 1))

    tournament(output=path, progress=progress)
    assert all(told == on_disk for told, on_disk in kept)
    assert len(kept) == 25


def test_a_failing_agent_is_named_and_the_games_are_kept():
    agents = {"bad": lambda observation: 1 // 0, "random": "random"}
    with pytest.raises(RunError, match="tic_tac_toe, bad against random: Game 1, seat 0"):
        tournament(games="tic_tac_toe", agents=agents)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"games": []}, "at least one game"),
        ({"games": ["hex", "hex"]}, "twice"),
        ({"agents": ["random"]}, "at least two"),
        ({"agents": ["random", "random"]}, "Two agents are named 'random'"),
        ({"agents": {"a": "random", "b": 3}}, "An agent is a spec"),
        ({"gauntlet": "rand"}, "Did you mean 'random'"),
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


def test_a_tournament_without_finished_games_is_strict_json_too(straight):
    nothing = dataclasses.replace(straight[0], records=((),) * len(straight[0].records))
    json.dumps(nothing.to_dict(), allow_nan=False)
    assert str(nothing)
    assert all(math.isnan(v) or v == 0 for v in nothing.ratings().values)
