"""Journals of version 2, whose headers list no tables, are read, merged and continued."""

import json
import pathlib
import shutil

import pytest

from rave_agents.arena import (
    find_best,
    merge_journals,
    play_match,
    play_tournament,
    run_scaling,
    run_sweep,
)
from rave_agents.arena.report_data import load_report

FOLDER = pathlib.Path(__file__).parent / "journals_of_version_2"
FAST = {"simulations": 2, "seed": 3}


def episodes(path):
    rave_pettingzoo = pytest.importorskip("rave_pettingzoo")
    policies = {"one": "random", "two": "random"}
    return rave_pettingzoo.tournament(
        "classic/tictactoe_v3", policies, episodes=3, seed=1, output=path
    )


LARGER = {
    "match": lambda path: play_match(
        "tic_tac_toe", "uct", "random", games=3, sprt="0,500", output=path, **FAST
    ),
    "sweep": lambda path: run_sweep(
        ["tic_tac_toe", "nim"], "uct", "random", {"c": [0, 0.5, 1]}, games=2, output=path, **FAST
    ),
    "tournament": lambda path: play_tournament(
        ["tic_tac_toe"], {"a": "uct", "b": "random", "c": "random"}, games_per_pairing=2,
        anchor="b", output=path, **FAST,
    ),
    "scaling": lambda path: run_scaling(
        "tic_tac_toe", "uct", ["random"], simulations=[2, 3, 4], games=2, output=path, seed=3
    ),
    "race": lambda path: find_best(
        "tic_tac_toe", ["uct", "random"], seconds=0.01, output=path, **FAST
    ),
    "episodes": episodes,
}  # fmt: skip
"""Calls whose runs have grown out of those of the files."""


@pytest.fixture(params=LARGER)
def kind(request):
    return request.param


@pytest.mark.full(but=6)
def test_a_run_grows_in_its_old_journal(kind, tmp_path):
    path = tmp_path / "games.jsonl"
    shutil.copy(FOLDER / f"{kind}.jsonl", path)
    _, *before = path.read_text().splitlines()
    result = LARGER[kind](path)
    header, *after = path.read_text().splitlines()
    assert after[: len(before)] == before
    assert len(after) == result.finished > len(before)
    assert json.loads(header)["version"] == 3
    if kind != "race":
        assert result.complete


@pytest.mark.full(but=6)
def test_an_old_journal_is_reported_as_its_run_is(kind, tmp_path):
    if kind == "episodes":
        with pytest.raises(ValueError, match="it is the output of a PettingZoo tournament"):
            load_report(FOLDER / "episodes.jsonl")
        return
    old = load_report(FOLDER / f"{kind}.jsonl").result
    path = tmp_path / "games.jsonl"
    LARGER[kind](path)
    new = load_report(path).result
    assert set(old.agents) <= set(new.agents)
    assert set(old.games) == set(new.games)
    for match in old.matches:
        grown = next(m for m in new.matches if (m.game, m.agents) == (match.game, match.agents))
        assert [r.opening for r in match.records] == [r.opening for r in grown.records][:2]


@pytest.mark.full(but=6)
def test_an_old_journal_merges_with_a_new_one(kind, tmp_path):
    new, merged = tmp_path / "new.jsonl", tmp_path / "merged.jsonl"
    LARGER[kind](new)
    games = len(new.read_text().splitlines()) - 1
    assert merge_journals(merged, [FOLDER / f"{kind}.jsonl", new]) == games
    assert json.loads(merged.read_text().splitlines()[0])["version"] == 3


def test_another_version_is_refused(tmp_path):
    path = tmp_path / "games.jsonl"
    text = (FOLDER / "match.jsonl").read_text()
    path.write_text(text.replace('"version": 2', '"version": 4'))
    with pytest.raises(ValueError, match="has version 4"):
        LARGER["match"](path)
    with pytest.raises(ValueError, match="version must be an integer from 2 to 3"):
        load_report(path)
