"""Every block of code of the documentation runs, or is a command that exists."""

import re
import tomllib

import pytest
import test_rooms
import typer
from helpers import pages
from helpers.outputs import outputs

from rave_agents import AgentSpec, agent_types
from rave_agents.cli import app
from rave_agents.game.object_names import split_place

LANGUAGES = {"python", "bash", "text", "toml"}
"""Code that runs, commands, and what is only shown."""
WITH_PYTHON = [page for page in pages.PAGES if pages.script(page)]
TUTORIALS = [page for page in pages.PAGES if page.parent.name == "tutorials"]
COMMANDS = [(page, words) for page in pages.PAGES for words in pages.commands(page)]
RUN = [
    words
    for page, words in COMMANDS
    if page in TUTORIALS
    and words[0] == "rave-agents"
    and "gnugo" not in " ".join(words)
    and "--web" not in words
]
"""What is run, and not only parsed; with GNU Go, ``tests/engines`` plays, and a page
waits for people."""
ADAPTERS = pages.ROOT / "adapters"
PROGRAM = typer.main.get_command(app)


@pytest.mark.parametrize("page", pages.PAGES, ids=pages.name)
def test_every_block_says_what_it_is(page):
    found = pages.blocks(page)
    assert {block.language for block in found} <= LANGUAGES
    assert page.read_text(encoding="utf-8").count("```") == 2 * len(found)


@pytest.mark.compiled
@pytest.mark.full(but=["tutorials/openspiel.md", "tutorials/your_own_game.md"])
@pytest.mark.parametrize("page", WITH_PYTHON, ids=pages.name)
def test_the_code_of_a_page_runs_from_top_to_bottom_and_prints_what_it_shows(page, tmp_path):
    for package in re.findall(r"<!-- needs: (\w+) -->", page.read_text(encoding="utf-8")):
        pytest.importorskip(package, reason=f"the page needs {package}")
    printed, finished = outputs.outputs_of(page, tmp_path, tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert any(printed)
    shown = outputs.shown_outputs(page)
    if "<!-- outputs vary -->" in page.read_text(encoding="utf-8"):
        assert len(shown) == len([text for text in printed if text])
    elif shown or page in TUTORIALS:
        assert [outputs.without_times(text) for text in shown] == [
            outputs.without_times(text) for text in printed if text
        ]


@pytest.mark.parametrize(
    ("page", "words"), COMMANDS, ids=lambda value: None if isinstance(value, list) else value.stem
)
def test_a_command_exists_and_takes_what_it_is_given(page, words):
    known = {"rave-agents": takes, "python": is_a_script, "pip": installs_extras}
    assert words[0] in known, f"{pages.name(page)}: {words}"
    known[words[0]](words)


def takes(words):
    """A command of ours parses, and the agents that it names are there."""
    command = PROGRAM.commands[words[1]]
    context = command.make_context(words[1], list(words[2:]))
    for argument in ("first", "second", "agent", "opponent"):
        text = context.params.get(argument)
        if isinstance(text, str) and "my_" not in text and split_place(text) is None:
            assert AgentSpec.parse(text).name in agent_types()


def is_a_script(words):
    """A script of the examples, which ``test_readme.py`` runs, or a module of ours."""
    if words[1] != "-m":
        assert (pages.ROOT / words[1]).is_file()


def installs_extras(words):
    """The extras that are installed are those of the project."""
    metadata = (pages.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for extra in re.search(r"\.\[([\w,]+)\]", " ".join(words))[1].split(","):
        assert re.search(rf"^{extra} = \[", metadata, re.MULTILINE), extra


@pytest.mark.full
@pytest.mark.parametrize("words", RUN, ids=lambda words: f"{words[1]}-{RUN.index(words)}")
def test_a_command_of_the_tutorials_runs_in_short(words, tmp_path):
    for page in TUTORIALS:
        pages.write_files(page, tmp_path)
    finished = pages.run(tmp_path, "-m", "rave_agents", *pages.in_short(words)[1:])
    assert finished.returncode == 0, finished.stderr


def test_the_map_names_every_room_and_files_that_exist():
    text = (pages.DOCS / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.\w+)?|\w+\.(?:py|cpp))`", text))
    places = (pages.ROOT, pages.ROOT / "rave_agents", pages.ROOT / "rave_agents" / "kernel")
    files = {
        path.name
        for room in ("rave_agents", "adapters")
        for path in (pages.ROOT / room).rglob("*.*")
    }
    assert {path.partition("/")[0].removesuffix(".py") for path in named} >= {
        room.partition(".")[0] for room in test_rooms.ROOMS
    }
    assert not [
        path
        for path in named
        if path not in files and not any((place / path).exists() for place in places)
    ]


@pytest.mark.parametrize("place", ["README.md", "docs/tutorials/index.md", "docs/results.md"])
def test_the_table_of_agents_for_games_is_that_of_its_data(place):
    data = tomllib.loads((pages.DOCS / "which_agent.toml").read_text(encoding="utf-8"))
    text = (pages.ROOT / place).read_text(encoding="utf-8")
    for row in data["row"]:
        assert f"| {row['games']} | `{row['agent']}` | {row['why']} |" in text


def test_every_module_of_the_reference_is_there():
    """Without one of them the documentation cannot be built."""
    for page in sorted((pages.DOCS / "reference").glob("*.md")):
        for name in re.findall(r"^::: ([\w.]+)$", page.read_text(encoding="utf-8"), re.M):
            places = [folder / name.replace(".", "/") for folder in (pages.ROOT, ADAPTERS)]
            found = [path.with_suffix(".py").is_file() or path.is_dir() for path in places]
            assert any(found), f"{page.name}: {name}"


def test_a_link_to_a_module_finds_it_in_the_reference():
    """Without one of them the documentation cannot be built."""
    reference = {
        name
        for page in (pages.DOCS / "reference").glob("*.md")
        for name in re.findall(r"^::: ([\w.]+)$", page.read_text(encoding="utf-8"), re.M)
    }
    for page in pages.PAGES:
        for name in re.findall(r"\]\[(rave_[\w.]+)\]", page.read_text(encoding="utf-8")):
            is_module = (pages.ROOT / name.replace(".", "/")).with_suffix(".py").is_file()
            assert not is_module or name in reference, f"{page.name}: {name}"
