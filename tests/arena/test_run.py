"""Runs and their journals: every kind of run plays, records, resumes, grows and fails alike."""

import dataclasses
import json
import os
import pickle
import random as plain_random

import pytest

from rave_agents.arena import (
    RunError,
    merge_journals,
    play_match,
    play_tournament,
    run,
    run_scaling,
    run_sweep,
)
from rave_agents.arena.report_data import load_report
from rave_agents.records.journal import differences

FAST = {"simulations": 2, "seed": 3}


def match(games=4, output=None, agents=("uct", "random"), **options):
    return play_match("tic_tac_toe", *agents, games=games, output=output, **{**FAST, **options})


def sweep(games=4, output=None, agents=("uct", "random"), c=(0.1, 1), on="tic_tac_toe", **options):
    vary = {"c": list(c)} if agents[0] == "uct" else {"simulations": [1, 2]}
    return run_sweep(on, *agents, vary, games=games, output=output, **{**FAST, **options})


def tournament(games=4, output=None, agents=("uct", "random"), on="tic_tac_toe", **options):
    options = {**FAST, **options}
    named = {"first": agents[0], **{str(agent): agent for agent in agents[1:]}}
    return play_tournament(on, named, games_per_pairing=games, output=output, **options)


def scaling(games=4, output=None, agents=("uct", "random"), limits=(1, 2), **options):
    options = {"seed": 3, **options}
    return run_scaling(
        "tic_tac_toe", *agents, simulations=limits, games=games, output=output, **options
    )


KINDS = [match, sweep, tournament, scaling]
every_kind = pytest.mark.parametrize("play", KINDS, ids=lambda play: play.__name__)


def lines_of(path):
    """The lines of a journal without the seconds, which no two runs share."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines[1:]:
        for effort in line["efforts"]:
            del effort["seconds"]
    return lines


def played(result):
    """The games of a result."""
    records = result.records if hasattr(result, "show") else [result.records]
    return [[(each.number, each.actions, each.returns) for each in games] for games in records]


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """Runs that were played without a break, and their journals, by kind."""
    found = {}

    def of(play):
        if play not in found:
            path = tmp_path_factory.mktemp("straight") / f"{play.__name__}.jsonl"
            found[play] = play(output=path), path
        return found[play]

    return of


# What a journal holds


@pytest.mark.full(but=4)
@every_kind
def test_games_are_played_round_robin_and_recorded_before_they_are_reported(play, tmp_path):
    path = tmp_path / "games.jsonl"
    kept = []

    def progress(result):
        kept.append((result.finished, path.read_text().count("\n") - 1))

    result = play(output=path, progress=progress)
    assert result.complete
    assert kept == [(count, count) for count in range(result.finished + 1)]
    header, *lines = lines_of(path)
    assert [line["number"] for line in lines] == sorted(line["number"] for line in lines)
    assert len(header["tables"]) == len(lines) // 4
    assert all(set(header["by"]) <= set(line) for line in lines)


@pytest.mark.full(but=4)
@every_kind
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_cut_journal_continues_to_the_same_games(play, share, straight, tmp_path):
    result, whole = straight(play)
    content = whole.read_bytes()
    header = content.index(b"\n") + 1
    path = tmp_path / "cut.jsonl"
    path.write_bytes(content[: header + int(share * (len(content) - header))])
    counts = []
    again = play(output=path, progress=lambda so_far: counts.append(so_far.finished))
    assert played(again) == played(result)
    assert lines_of(path) == lines_of(whole)
    assert counts == list(range(counts[0], result.finished + 1))
    assert 0 < counts[0] < result.finished


@pytest.mark.slow
def test_a_journal_cut_anywhere_loses_at_most_the_game_being_written(
    straight, tmp_path, monkeypatch
):
    def nothing_played(*arguments, **options):
        raise KeyboardInterrupt

    content = straight(tournament)[1].read_bytes()  # Played before nothing can be.
    monkeypatch.setattr(run, "play_games", nothing_played)
    header_end = content.index(b"\n") + 1
    cuts = plain_random.Random(0).sample(range(header_end, len(content) + 1), 100)
    for cut in cuts:
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(content[:cut])
        again = tournament(output=path)
        assert again.finished == content[header_end:cut].count(b"\n")
        assert again.interrupted
        assert path.read_bytes() == content[: content.rindex(b"\n", 0, cut) + 1]


def test_a_torn_header_is_written_again(straight, tmp_path):
    path = tmp_path / "torn.jsonl"
    path.write_text(straight(sweep)[1].read_text()[:40])
    sweep(output=path)
    assert lines_of(path) == lines_of(straight(sweep)[1])


def test_the_first_of_two_equal_games_counts(straight, tmp_path):
    result, path = straight(sweep)
    doubled = tmp_path / "doubled.jsonl"
    last = json.loads(path.read_text().splitlines()[-1])
    last["returns"] = [-value for value in last["returns"]]
    doubled.write_text(path.read_text() + json.dumps(last) + "\n")
    assert sweep(output=doubled).to_dict() == result.to_dict()


# Growth


@pytest.mark.full(but=4)
@every_kind
@pytest.mark.parametrize("begun", [2, 3])
def test_a_run_that_has_grown_is_the_run_of_so_many_games(play, begun, straight, tmp_path):
    path = tmp_path / "grown.jsonl"
    play(begun, path)
    before = lines_of(path)
    assert play(4, path).complete
    grown = lines_of(path)
    assert grown[1 : len(before)] == before[1:]
    assert grown == lines_of(straight(play)[1])


LARGER = {
    "values": (sweep, {"c": (0.1, 0.5, 1)}),
    "games of a sweep": (sweep, {"on": "tic_tac_toe,hex(board_size=3)"}),
    "agents": (tournament, {"agents": ("uct", "rave", "random")}),
    "games of a tournament": (tournament, {"on": ["hex(board_size=3)", "tic_tac_toe"]}),
    "limits": (scaling, {"limits": (1, 2, 3)}),
    "opponents": (scaling, {"agents": ("uct", ["random", "uct(simulations=1)"])}),
}


@pytest.mark.full(but=6)
@pytest.mark.parametrize("larger", LARGER)
def test_a_run_grows_by_more_than_games(larger, straight, tmp_path):
    play, more = LARGER[larger]
    path = tmp_path / "games.jsonl"
    path.write_text(straight(play)[1].read_text())
    grown = play(output=path, **more)
    assert played(grown) == played(play(**more))
    assert load_report(path).result.finished == grown.finished


@pytest.mark.parametrize(
    ("play", "changes", "message"),
    [
        (sweep, {"seed": 5}, "another sweep: seed is 3 there and 5 here"),
        (sweep, {"games": 2}, r"games is 4 there and 2 here \(a file can grow, not shrink\)"),
        (sweep, {"c": (0.1,)}, r'vary is {"c": .* there .*not shrink'),
        (sweep, {"seed": 5, "games": 2}, "games is 4 .*; seed is 3"),
        (match, {"agents": ("random", "uct")}, "agents is"),
        (tournament, {"agents": ("rave", "random")}, "agents is"),
        (tournament, {"clock": "60"}, "clock is"),
    ],
)
def test_the_journal_of_another_run_is_refused_and_left_alone(play, changes, message, straight):
    path = straight(play)[1]
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        play(output=path, **changes)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "changes",
    [
        {"agents": {"a": "uct", "b": "random"}},
        {"agents": {"b": "rave", "a": "uct"}},
        {"games_per_pairing": 3},
        {"vary": {"c": [1], "k": [2]}},
    ],
)
def test_other_agents_or_parameters_are_no_growth(changes):
    header = {"agents": {"a": "uct", "b": "rave"}, "games_per_pairing": 4, "vary": {"c": [1]}}
    assert len(differences(header, {**header, **changes})) == 1
    assert differences(header, {**header, "agents": {"c": "x", **header["agents"]}}) == []


# Files that are no journal of the run


@pytest.mark.parametrize("content", ["notes", "notes\n", "[]\n", '{"a": 1}\n', '{"a": 1}\nb'])
def test_another_file_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "notes"
    path.write_text(content)
    with pytest.raises(ValueError, match="not the output of a sweep"):
        sweep(output=path)
    assert path.read_text() == content


def test_the_journal_of_another_kind_or_version_is_refused(straight, tmp_path):
    with pytest.raises(ValueError, match="not the output of a tournament, but of a match"):
        tournament(output=straight(match)[1])
    with pytest.raises(ValueError, match="/dev/zero is not a regular file"):
        sweep(output="/dev/zero")
    path = tmp_path / "old.jsonl"
    header, *lines = straight(match)[1].read_text().splitlines(keepends=True)
    path.write_text(header.replace('"rave-agents": "0.1.0"', '"rave-agents": "0.0.1"') + lines[0])
    with pytest.raises(ValueError, match=r"rave-agents is \"0\.0\.1\" there"):
        match(output=path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number": 4}, r"Line 3 of .*broken\.jsonl is not a game of this sweep: number"),
        ({"number": None}, "Line 3 of .* is not a game"),
        ({"parameters": {}}, "there is no"),
        ({"returns": [1.0]}, "Line 3 of .* is not a game"),
        ({"returns": [1.5, -1.0]}, r"Line 3 of .* are from -1 to 1\."),
        ({"returns": [float("nan"), 1.0]}, "line 3 is not a JSON object, for NaN is no finite"),
    ],
)
def test_a_line_that_is_no_game_of_the_run_is_named(straight, tmp_path, change, message):
    broken = tmp_path / "broken.jsonl"
    lines = straight(sweep)[1].read_text().splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), **change})
    broken.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=message):
        sweep(output=broken)


def test_two_runs_do_not_write_one_journal(tmp_path):
    path = tmp_path / "games.jsonl"
    refused = []

    def again(result):
        if result.finished == 2:
            with pytest.raises(ValueError, match=rf"process {os.getpid()} on") as caught:
                match(output=path)
            refused.append(caught.value)

    assert match(output=path, progress=again).complete
    assert len(refused) == 1
    assert len(lines_of(path)) == 5


# Shards and merged journals


@pytest.mark.slow
def test_shards_have_all_games_once_and_merge_to_the_whole(straight, tmp_path):
    whole, _ = straight(tournament)
    files = [tmp_path / f"{part}.jsonl" for part in (1, 2)]
    results = [tournament(4, file, shard=f"{n}/2") for n, file in enumerate(files, 1)]
    assert sum(result.finished for result in results) == whole.finished
    for result in results:
        for records in result.records:
            numbers = {record.number for record in records}
            assert numbers
            assert all(number ^ 1 in numbers for number in numbers)  # whole pairs
    merged = tmp_path / "merged.jsonl"
    assert merge_journals(merged, [files[1], files[0], files[0]]) == whole.finished
    before = merged.read_bytes()
    assert str(tournament(4, merged)) == str(whole)
    assert merged.read_bytes() == before


def test_a_run_continues_from_some_of_its_shards(straight, tmp_path):
    part, merged = tmp_path / "part.jsonl", tmp_path / "merged.jsonl"
    match(4, part, shard="2/2")
    merge_journals(merged, [part])
    seen = []
    result = match(4, merged, progress=lambda so_far: seen.append(so_far.finished))
    assert seen == [2, 3, 4]
    assert played(result) == played(straight(match)[0])


def test_journals_of_before_and_after_the_growth_are_merged(tmp_path):
    small, large, merged = (tmp_path / name for name in ("small", "large", "merged"))
    match(2, small)
    match(6, large, shard="2/3")
    assert merge_journals(merged, [small, large]) == 4
    assert lines_of(merged)[0]["games"] == 6
    assert played(match(6, merged)) == played(match(6))


def test_what_cannot_be_merged_is_refused(straight, tmp_path):
    path, other = straight(match)[1], tmp_path / "other.jsonl"
    match(output=other, seed=4)
    with pytest.raises(ValueError, match="seed is 4 there and 3 here"):
        merge_journals(tmp_path / "merged.jsonl", [path, other])
    assert not (tmp_path / "merged.jsonl").exists()
    with pytest.raises(FileExistsError):
        merge_journals(path, [path])
    with pytest.raises(ValueError, match="no files"):
        merge_journals(other.with_name("new"), [])


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b"])
def test_a_shard_is_checked(shard, tmp_path):
    with pytest.raises(ValueError, match="such as 3/40"):
        match(shard=shard, output=tmp_path / "x.jsonl")
    with pytest.raises(ValueError, match="A shard needs output"):
        match(shard="1/3")


# Ends before the end


@pytest.mark.full(but=4)
@every_kind
def test_ctrl_c_keeps_the_finished_games(play):
    def stop(result):
        if result.finished == 3:
            raise KeyboardInterrupt

    result = play(progress=stop)
    assert (result.finished, result.complete, result.interrupted) == (3, False, True)


FAILED = {
    "match": "^Game 1, seat 1, agent fails: ZeroDivisionError",
    "sweep": "^c=0.1: Game 1, seat 1",
    "tournament": "^tic_tac_toe, first against .*fails.*: Game 1, seat 1",
    "scaling": r"^uct\(simulations=1\): Game 1, seat 1",
}


@pytest.mark.full(but=4)
@every_kind
def test_a_failing_agent_is_named_and_the_games_are_kept(play, tmp_path):
    def fails(observation, mask):
        raise ZeroDivisionError("by a test")

    path = tmp_path / "games.jsonl"
    with pytest.raises(RunError, match=FAILED[play.__name__]) as caught:
        play(agents=("uct", fails), output=path)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.result.finished == len(lines_of(path)) - 1 == 0


@pytest.mark.full(but=4)
@every_kind
def test_threads_play_the_same_games(play, straight, threads):
    assert played(play(executor=threads)) == played(straight(play)[0])


@pytest.mark.full
@every_kind
@pytest.mark.parametrize("engine", ["jobs", "cluster"])
def test_processes_play_the_same_games(play, engine, straight, request):
    options = {"jobs": 2}
    if engine == "cluster":
        options = {"executor": request.getfixturevalue("dask_workers")}
    assert played(play(**options)) == played(straight(play)[0])


@every_kind
def test_results_are_strict_json_and_picklable_also_without_games(play, straight):
    result, _ = straight(play)
    nothing = ((),) * len(result.records) if hasattr(result, "show") else ()
    for each in (result, dataclasses.replace(result, records=nothing)):
        json.dumps(each.to_dict(), allow_nan=False)
        assert str(each)
    assert played(pickle.loads(pickle.dumps(result))) == played(result)


@pytest.mark.parametrize("name", ["games", "jobs", "opening_plies", "seed"])
def test_numbers_are_checked(name):
    for play in KINDS:
        with pytest.raises(ValueError, match="games" if name == "games" else name):
            play(**{name: -1})


def test_a_result_has_the_attributes_of_its_view(straight):
    result, _ = straight(tournament)
    assert {"ratings", "records"} <= set(dir(result))
    assert result.ratings().order[0] in result.agents
    with pytest.raises(AttributeError, match="'Standings' object has no attribute 'rating'"):
        _ = result.rating

    def broken(run):
        raise AttributeError("no view")

    with pytest.raises(AttributeError):
        _ = dataclasses.replace(result, show=broken).agents
