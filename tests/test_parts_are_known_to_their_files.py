"""A part is known only to its own file: nobody outside the kernel asks of which class a part is."""

import ast
import itertools

import pytest
from test_rooms import ADAPTERS, HOUSE

KERNEL = HOUSE / "kernel"

MOST_TESTS = 5
"""Tests of a part's class outside the kernel, each with its reason in a comment beside it."""

GIVEN_CLASSES = {"Takes", "implements", "runs_as", "allocated", "cast", "PositionValue"}
"""Functions that take classes, and ask nothing of a part by them."""


def classes_in(path):
    """The classes of records that a file of the kernel defines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and any("Tuple" in ast.unparse(b) for b in node.bases):
            yield node.name


def kernels_names(tree, classes):
    """The names under which a file knows classes of the kernel, or modules and lists of them."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rave_agents"):
            for alias in node.names:
                of_kernel = node.module.startswith(("rave_agents.kernel", "rave_agents.parts"))
                if alias.name in classes and of_kernel:
                    names[alias.asname or alias.name] = alias.name
    for node in ast.walk(tree):  # KINDS = (UCB1, PUCT), or another name of a class.
        if isinstance(node, ast.Assign) and told(node.value, names, classes):
            names |= {t.id: t.id for t in node.targets if isinstance(t, ast.Name)}
    return names


def told(node, names, classes):
    """Whether an expression names a class of the kernel, rather than a part of it."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Attribute):
        return node.attr in classes and node.attr[:1].isupper() and "parts" in ast.unparse(node)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(told(item, names, classes) for item in node.elts)
    if isinstance(node, ast.BinOp):
        return told(node.left, names, classes) or told(node.right, names, classes)
    return False


def lines_that_ask(text, classes):
    """The lines of a file's text in which it asks of which class of the kernel something is."""
    tree = ast.parse(text)
    names = kernels_names(tree, classes)
    lines = set()
    for node in ast.walk(tree):
        asked = []
        if isinstance(node, ast.Call):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            function = node.func.id if isinstance(node.func, ast.Name) else function
            if function not in GIVEN_CLASSES:  # isinstance, issubclass, and what hides them.
                asked = [*node.args, *(word.value for word in node.keywords)]
        elif isinstance(node, ast.Compare):  # type(x) is UCB1, type(x) in (UCB1, PUCT)
            asked = [node.left, *node.comparators]
            words = ast.unparse(node) if "__name__" in ast.unparse(node) else ""
            if any(f"'{name}'" in words for name in classes):  # type(x).__name__ == "UCB1"
                lines.add(node.lineno)
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        elif isinstance(node, ast.MatchValue):
            asked = [node.value]
        elif isinstance(node, ast.Dict):  # {UCB1: ...}[type(x)]
            asked = [key for key in node.keys if key is not None]
        if any(told(expression, names, classes) for expression in asked):
            lines.add(node.lineno)
    return sorted(lines)


@pytest.fixture(scope="module")
def classes():
    """The classes of parts, and of what they run as."""
    return set(itertools.chain.from_iterable(map(classes_in, KERNEL.rglob("*.py"))))


@pytest.mark.full
def test_few_ask_of_which_class_a_part_is_and_say_why(classes):
    found = []
    for path in sorted([*HOUSE.rglob("*.py"), *ADAPTERS.rglob("*.py")]):
        if KERNEL in path.parents or path == HOUSE / "parts.py":
            continue
        text = path.read_text(encoding="utf-8")
        if "kernel" not in text and "parts" not in text:
            continue
        lines = text.splitlines()
        for number in lines_that_ask(text, classes):
            found.append(f"{path.relative_to(HOUSE.parent)}:{number} {lines[number - 1].strip()}")
            assert "#" in "".join(lines[max(0, number - 4) : number]), found[-1]
    assert len(found) <= MOST_TESTS, "\n".join(found)
