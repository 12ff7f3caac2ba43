"""Docstrings begin with a noun or a verb, so that they say at once what a thing is or does."""

import ast
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1]
FILES = [
    path for top in ("rave_agents", "adapters", "examples") for path in (HOUSE / top).rglob("*.py")
]
ASKS = ("What", "Whether", "How", "Who", "Whose", "Whom", "Which", "Where", "When", "Why")
TRAILS = ("That", "As", "If", "So", "Of", "By", "With", "Over", "Those", "From", "Not")


def docstrings(tree):
    """Docstrings of modules, classes and functions, and strings below fields and constants."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            text = getattr(getattr(statement, "value", None), "value", None)
            if isinstance(statement, ast.Expr) and isinstance(text, str):
                yield statement.lineno, text


def badly_begun(text):
    return [
        (line, docstring.strip().partition("\n")[0])
        for line, docstring in docstrings(ast.parse(text))
        if docstring.split(None, 1)[0].rstrip(",.:") in ASKS + TRAILS
    ]


def test_docstrings_of_every_kind_are_looked_at():
    text = '"""What."""\nclass A:\n    """How it is."""\n    b: int\n    """Whether so."""\n'
    text += 'C = 1\n"""Of it."""\ndef f():\n    """Who."""\n    self.x = 1\n    """As y."""\n'
    assert [line for line, _ in badly_begun(text)] == [1, 7, 3, 5, 9, 11]
    assert not badly_begun('"""Whatever A is."""\nclass A:\n    """True if so."""\n')


@pytest.mark.parametrize("folder", sorted({str(path.parent.relative_to(HOUSE)) for path in FILES}))
def test_docstrings_begin_with_a_noun_or_a_verb(folder):
    found = [
        (path.name, *place)
        for path in sorted((HOUSE / folder).glob("*.py"))
        for place in badly_begun(path.read_text(encoding="utf-8"))
    ]
    assert not found
