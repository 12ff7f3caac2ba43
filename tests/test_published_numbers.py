"""README and results say no number that no file of data holds; tables are those of the files."""

import importlib.util
import pathlib
import re
import sys

import pytest

from rave_agents.evaluators.move_policy import MovePolicy, load_learned
from rave_agents.evaluators.shipped import shipped_files

ROOT = pathlib.Path(__file__).parent.parent


@pytest.fixture(scope="module")
def published():
    place = ROOT / "docs" / "results" / "tables.py"
    spec = importlib.util.spec_from_file_location("published_tables", place)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def data(published):
    return published.tables()


@pytest.mark.parametrize(
    "page", ["README.md", "docs/index.md", "docs/results.md", "docs/reproduce.md"]
)
def test_every_number_of_a_page_is_in_the_data(published, data, page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert published.written(text, data) == text, "write the tables: python docs/results/tables.py"
    assert published.without_source(text, data) == []


def minutes_of(made):
    return sum(map(float, re.findall(r"--minutes ([\d.]+)", made)))


def test_the_pages_say_what_is_shipped_and_how_long_it_learned(data):
    made = {path.stem: load_learned(path) for path in shipped_files()}
    policies = {name: each.made for name, each in made.items() if isinstance(each, MovePolicy)}
    values = {name: each.made for name, each in made.items() if name not in policies}
    minutes = {name: minutes_of(each) for name, each in values.items()}
    (by_games,) = [name for name, each in minutes.items() if not each]
    (games,) = re.findall(r"--learn-games (\d+)", values[by_games])
    ((policy, its),) = policies.items()
    assert (by_games.split("-")[0], policy.split("-")[:2]) == ("connect_four", ["go", "9"])
    least, most = min(filter(None, minutes.values())), max(minutes.values())
    told = (
        f"The package ships values for {len(values)} games, each learned by self-play in {least:g} "
        f"to {most:g} minutes of CPU time (for Connect Four: {int(games):,} games), and a policy "
        f"for Go 9×9 ({minutes_of(its):g} minutes)."
    )
    assert data["shipped_values"].figures["shipped"] == told
    for page in ("README.md", "docs/index.md", "docs/results.md"):
        assert told in " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("It scores 0.777 against `mcts`.", ["line 1: 0.777"]),
        ("first\nA gain of 7,654 simulations.", ["line 2: 7,654"]),
        ("In 40 games, `c=0.777`, [link](0.777).", []),
    ],
)
def test_a_number_that_nobody_measured_is_refused(published, data, text, refused):
    assert published.without_source(text, data) == refused
