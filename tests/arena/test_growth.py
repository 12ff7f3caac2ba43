"""Runs that grow: a file goes on with more of what it was begun with."""

import json

import pytest

from rave_agents.arena import (
    merge_journals,
    play_match,
    play_tournament,
    run_scaling,
    run_sweep,
)
from rave_agents.arena.report_data import load_report
from rave_agents.records.journal import differences

FAST = {"simulations": 10, "seed": 3}


def match(games, output=None, **changes):
    options = {**FAST, "output": output, **changes}
    return play_match("tic_tac_toe", "uct", "rave", games=games, **options)


def sweep(games, output=None, c=(0.1, 1), **changes):
    vary = {"c": list(c)}
    return run_sweep("tic_tac_toe", "uct", "rave", vary, games=games, output=output, **FAST)


def tournament(games, output=None, agents=("uct", "rave"), on=("tic_tac_toe",)):
    return play_tournament(list(on), list(agents), games_per_pairing=games, output=output, **FAST)


def scaling(games, output=None, limits=(5, 10)):
    return run_scaling(
        "tic_tac_toe", "uct", "rave", simulations=list(limits), games=games, output=output, seed=3
    )


def games_of(path):
    """The lines of a file without the seconds, which no two runs share."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines[1:]:
        for effort in line["efforts"]:
            del effort["seconds"]
    return lines


@pytest.mark.full(but=2)
@pytest.mark.parametrize("run", [match, sweep, tournament, scaling], ids=lambda run: run.__name__)
@pytest.mark.parametrize("begun", [2, 3])
def test_a_run_that_has_grown_is_the_run_of_so_many_games(run, begun, tmp_path):
    grown, whole = tmp_path / "grown.jsonl", tmp_path / "whole.jsonl"
    run(begun, grown)
    before = games_of(grown)
    result = run(5, grown)
    assert games_of(grown)[1 : len(before)] == before[1:]
    assert result.complete
    run(5, whole)
    assert games_of(grown) == games_of(whole)


def test_games_that_a_file_has_are_not_played_again(tmp_path):
    path = tmp_path / "games.jsonl"
    match(4, path)
    counts = []
    match(6, path, progress=lambda so_far: counts.append(so_far.finished))
    assert counts == [4, 5, 6]


@pytest.mark.slow
def test_a_sweep_grows_by_values(tmp_path):
    path = tmp_path / "games.jsonl"
    sweep(2, path, c=(0.1, 1))
    grown = sweep(4, path, c=(0.1, 0.5, 1))
    assert grown.to_dict() == sweep(4, c=(0.1, 0.5, 1)).to_dict()


def test_a_tournament_grows_by_agents_and_games(tmp_path):
    path = tmp_path / "games.jsonl"
    tournament(1, path)
    larger = {"agents": ("uct", "random", "rave"), "on": ("tic_tac_toe", "hex(board_size=3)")}
    assert tournament(2, path, **larger).to_dict() == tournament(2, **larger).to_dict()


def test_a_file_does_not_shrink_and_is_left_alone(tmp_path):
    path = tmp_path / "games.jsonl"
    match(4, path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"games is 4 there and 2 here \(a file can grow"):
        match(2, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "changes",
    [
        {"agents": {"a": "uct", "b": "random"}},
        {"agents": {"b": "rave", "a": "uct"}},
        {"games_per_pairing": 3},
        {"seed": 1},
    ],
)
def test_other_agents_are_no_growth(changes):
    header = {"agents": {"a": "uct", "b": "rave"}, "games_per_pairing": 4, "seed": 0}
    assert len(differences(header, {**header, **changes})) == 1
    assert differences(header, {**header, "agents": {"c": "x", **header["agents"]}}) == []


def test_agents_of_a_match_in_another_order_are_no_growth(tmp_path):
    path = tmp_path / "games.jsonl"
    match(2, path)
    with pytest.raises(ValueError, match="agents is"):
        play_match("tic_tac_toe", "rave", "uct", games=2, output=path, **FAST)


def test_files_of_before_and_after_the_growth_are_merged(tmp_path):
    small, large, merged = (tmp_path / name for name in ("small", "large", "merged"))
    match(2, small)
    match(6, large, shard="2/2")
    assert merge_journals(merged, [small, large]) == 4
    assert json.loads(merged.read_text().splitlines()[0])["games"] == 6
    assert match(6, merged).to_dict()["wins"] == match(6).to_dict()["wins"]


def test_a_grown_file_is_reported_as_a_whole(tmp_path):
    path = tmp_path / "games.jsonl"
    match(2, path)
    match(4, path)
    assert load_report(path).result.finished == 4
