"""Each paper that code or a page cites by author and year stands on the page of references."""

import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1]
PAGE = HOUSE / "docs" / "theory" / "references.md"
READ = sorted(
    [
        *(path for room in ("rave_agents", "adapters") for path in (HOUSE / room).rglob("*.py")),
        *(HOUSE / "examples").glob("*.py"),
        *(HOUSE / "docs").rglob("*.md"),
    ]
)
NAME = r"(?:van den )?[A-Z][\w-]+(?: [A-Z][a-z]+)?"
SEVERAL = re.compile(
    rf"\b({NAME}) et al\.,? \(?(\d{{4}})\b|\b({NAME})(?:, {NAME})*,? & {NAME},? \(?(\d{{4}})\b"
)
ALONE = re.compile(r"[(;] ?([A-Z][\w-]+),? ((?:19|20)\d\d)\b")


def first_authors_and_years(text):
    text = " ".join(text.split())
    found = [match.groups() for match in SEVERAL.finditer(text)]
    several = {(one or other, year or later) for one, year, other, later in found}
    return several | set(ALONE.findall(text))


def listed():
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()[6:]]
    return [(cited.removeprefix("| "), place.removesuffix(" |")) for cited, _, place in rows]


def test_a_citation_is_found_in_text():
    text = "as in (Allis 1994; Hart & Mas-Colell 2000), Perez Liebana et al. (2015), in Hex 11"
    assert first_authors_and_years(text) == {
        ("Allis", "1994"),
        ("Hart", "2000"),
        ("Perez Liebana", "2015"),
    }


@pytest.mark.parametrize("folder", ["rave_agents", "adapters", "examples", "docs"])
def test_every_paper_that_is_cited_is_listed(folder):
    known = {(re.split(r",| &| et al| \d", row)[0], row[-4:]) for row, _ in listed()}
    missing = {
        (str(path.relative_to(HOUSE)), *cited)
        for path in READ
        if path.relative_to(HOUSE).parts[0] == folder
        for cited in first_authors_and_years(path.read_text(encoding="utf-8"))
        if cited not in known
    }
    assert not missing


def test_every_entry_leads_to_the_paper():
    linked = re.compile(r"\[(doi:10\.\S+|arXiv:\d{4}\.\d{4,5}|[\w.-]+)\]\((https://\S+)\)")
    for _, place in listed():
        match = linked.fullmatch(place)
        assert place == "no DOI" or match
        if match and match[1].startswith("doi:"):
            assert match[2] == "https://doi.org/" + match[1].removeprefix("doi:")
        if match and match[1].startswith("arXiv:"):
            assert match[2] == "https://arxiv.org/abs/" + match[1].removeprefix("arXiv:")
