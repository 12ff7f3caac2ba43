"""One agent is recommended for a game: the same in the README, the tutorials' index and results."""

import pathlib
import re
import tomllib

import pytest

from rave_agents import make_agent
from rave_agents.agents.named_agents import DEFAULT_AGENT, agent_type
from rave_agents.config.search_config import SearchConfig

ROOT = pathlib.Path(__file__).parent.parent
ROWS = tomllib.loads((ROOT / "docs" / "which_agent.toml").read_text(encoding="utf-8"))["row"]
LINES = [f"| {row['games']} | `{row['agent']}` | {row['why']} |" for row in ROWS]
PLACES = ["README.md", "docs/tutorials/index.md", "docs/results.md"]
TEXTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "rave_agents").rglob("*.py")),
    *sorted((ROOT / "adapters").rglob("*.py")),
]
RECOMMENDS = re.compile(
    r"\b(use|play|take|prefer|try|choose|recommend\w*|(better|best|right) agent)\b", re.IGNORECASE
)
AGENTS = "|".join(SearchConfig.preset_names())


def sections(text):
    """The tables under titles that ask which agent to take."""
    found = re.split(r"^(?:## )?(Which agent for which game)\??$", text, flags=re.MULTILINE)
    tables = []
    for body in found[2::2]:
        lines = body.partition("\n## ")[0].splitlines()
        tables.append([line for line in lines if line.startswith("| ")])
    return tables


@pytest.mark.parametrize("place", PLACES)
def test_the_table_is_the_same_in_all_places(place):
    (table,) = sections((ROOT / place).read_text(encoding="utf-8"))
    assert table == ["| game | agent | why |", *LINES]


def test_no_other_place_has_such_a_table():
    having = [str(p.relative_to(ROOT)) for p in TEXTS if sections(p.read_text(encoding="utf-8"))]
    assert sorted(having) == sorted(PLACES)


def test_the_first_row_is_for_all_games_and_names_the_default_agent():
    assert ROWS[0]["agent"] == DEFAULT_AGENT
    assert "any game" in ROWS[0]["games"]
    assert "for any game" in agent_type(DEFAULT_AGENT).summary


def test_no_game_has_two_recommendations():
    games = [game for row in ROWS for game in re.split(r", | and ", row["games"])]
    assert len(games) == len(set(games))


@pytest.mark.parametrize(
    ("row", "game"),
    [(1, "hex"), (2, "breakthrough"), (3, "connect_four"), (4, "go_fish"), (5, "goofspiel")],
)
def test_an_agent_plays_the_games_that_it_is_recommended_for(row, game):
    make_agent(ROWS[row]["agent"], game, 0)


def games_of(row):
    """The names of a row's games as sentences have them."""
    return [re.sub(r"^other games with ", "", game) for game in re.split(r", | and ", row["games"])]


AGENT_OF = {game: row["agent"] for row in ROWS[1:] for game in games_of(row)}


def other_recommendations(text):
    """The sentences that tell to take another agent for a game than the table does."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for sentence in re.split(r"(?<=[.:;])\s+|\n\||\n\n", text):
        agents = set(re.findall(rf"`({AGENTS})(?:\([^`]*\))?`", sentence))
        games = [game for game in AGENT_OF if re.search(rf"\b{game}\b", sentence)]
        wrong = agents - {AGENT_OF[game] for game in games} - {DEFAULT_AGENT}
        if games and wrong and RECOMMENDS.search(sentence):
            yield " ".join(sentence.split())


def test_recommendations_in_sentences_are_found():
    """As they stood beside the table once."""
    told = "RAVE does not help in poker,\nwhere `uct` is the better agent."
    taken = "In Connect Four, use `uct` or\n`uct_solver`."
    text = f"{told} It helps. {taken} In Hex play `auto`; for simultaneous moves `regret_matching`."
    assert list(other_recommendations(text)) == [" ".join(each.split()) for each in (told, taken)]


@pytest.mark.full
def test_no_sentence_recommends_another_agent():
    found = {
        str(path.relative_to(ROOT)): list(other_recommendations(path.read_text(encoding="utf-8")))
        for path in TEXTS
    }
    assert {path: sentences for path, sentences in found.items() if sentences} == {}
