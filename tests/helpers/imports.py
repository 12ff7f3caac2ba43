"""Imports between the files of a tree of packages, wherever they stand in a file."""

import ast
import functools
from collections.abc import Iterator

Graph = dict[str, set[str]]


def parsed(path):
    """The syntax tree of a file."""
    return _parsed(path.read_text(encoding="utf-8"))


@functools.cache
def _parsed(text):
    return ast.parse(text)


def modules_of(*tops):
    """The modules of packages, given as folders: their dotted names, and their files."""
    found = {}
    for top in tops:
        for path in top.rglob("*.py"):
            words = path.relative_to(top.parent).with_suffix("").parts
            found[".".join(words[:-1] if words[-1] == "__init__" else words)] = path
    return found


def _statements(node, inside=False) -> Iterator[tuple[ast.stmt, bool]]:
    """The statements in a node, however deep, and whether each stands in a function."""
    inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        below = getattr(node, field, ())
        for one in below if isinstance(below, list) else ():  # A lambda's body is an expression.
            if isinstance(one, ast.stmt):
                yield one, inside
            yield from _statements(one, inside)


def _imported(tree, name, is_package, modules) -> Iterator[str]:
    for node, _ in _statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            words = name.split(".")
            base = words[: len(words) - node.level + is_package] if node.level else []
            module = ".".join([*base, node.module] if node.module else base)
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield inner if inner in modules else module


def graph_of(modules) -> Graph:
    """For each module those that it imports: in functions and for type checkers, too.

    A package that a dotted name leads through is not an import of it.
    """
    graph = {}
    for name, path in modules.items():
        tree = parsed(path)
        is_package = path.name == "__init__.py"
        graph[name] = {
            one for one in _imported(tree, name, is_package, modules) if one in modules
        } - {name}
    return graph


def folded(graph, modules, folder) -> Graph:
    """The imports inside a folder between its files and the folders that lie in it."""
    places = {
        name: path.relative_to(folder).parts[0]
        for name, path in modules.items()
        if path.is_relative_to(folder)
    }
    found: Graph = {place: set() for place in places.values()}
    for name, place in places.items():
        found[place] |= {places[one] for one in graph[name] if one in places} - {place}
    return found


def circles(graph) -> list[set[str]]:
    """The circles: strongly connected components of more than one (Tarjan 1972)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: list[str] = []
    found = []

    def visit(one):
        numbers[one] = lowest[one] = len(numbers)
        waiting.append(one)
        for other in sorted(graph[one]):
            if other not in numbers:
                visit(other)
            if other in waiting:
                lowest[one] = min(lowest[one], lowest[other])
        if lowest[one] == numbers[one]:
            place = waiting.index(one)
            if len(waiting) > place + 1:
                found.append(set(waiting[place:]))
            del waiting[place:]

    for one in sorted(graph):
        if one not in numbers:
            visit(one)
    return found


def in_functions(tree, text) -> list[str]:
    """The lines with imports that are made when a function is called."""
    places = {
        node.lineno
        for node, inside in _statements(tree)
        if inside and isinstance(node, ast.Import | ast.ImportFrom)
    }
    lines = text.splitlines()
    return [lines[place - 1].strip() for place in sorted(places)]
