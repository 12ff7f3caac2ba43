"""Which of the package's own files machine code is known by."""

import ast
import pathlib
import re
import shutil

import numpy as np

import rave_agents
from rave_agents.compiler import sources
from rave_agents.compiler.entry_code import place_on_disk
from rave_agents.compiler.fingerprint import is_covered
from rave_agents.compiler.layout import kind_of
from rave_agents.compiler.sources import compiled_files, own_sources
from rave_agents.games.kit import machine
from rave_agents.solver import table
from rave_agents.solver.table import Sweep, count_work, make_table

PACKAGE = pathlib.Path(rave_agents.__file__).parent
OTHERS = {"rave_agents.errors", "rave_agents.files"}
"""Exceptions, which compiled code has by name, and how files are written."""


def module_of(path):
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


def test_code_that_is_kept_on_disk_is_known_by_every_file_that_is_compiled():
    known = set(compiled_files(PACKAGE))
    compiled = {
        path
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^@(entry\(|kernel$)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    # Games have a cache apart, and the solver is known by its functions and all that they call.
    rooms = PACKAGE / "games", PACKAGE / "solver"
    apart = {path for path in compiled if any(room in path.parents for room in rooms)}
    assert compiled - apart <= known
    assert all(is_covered(module_of(path)) for path in known)


def test_it_is_known_by_all_that_these_files_import_too():
    imported = set()
    for path in compiled_files(PACKAGE):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rave_agents."):
                imported.add(node.module)
    assert {name for name in imported - OTHERS if not is_covered(f"{name}.")} == set()


def test_a_function_outside_these_files_is_known_by_all_that_it_calls(monkeypatch):
    record = Sweep(make_table(1), np.zeros(64, np.int64))
    kind = kind_of(record)
    before = place_on_disk(count_work.function, record, kind)
    assert place_on_disk(count_work.function, record, kind) == before
    monkeypatch.setattr(table, "SLOTS", 8)
    assert place_on_disk(count_work.function, record, kind) != before


def digest(monkeypatch, package, edits):
    """The name of the sources of a copy of the package in which files have been edited."""
    for name, text in edits.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(sources, "__file__", str(package / "compiler" / "sources.py"))
    own_sources.cache_clear()
    try:
        return own_sources()
    finally:
        monkeypatch.undo()
        own_sources.cache_clear()


def test_it_is_known_by_files_in_folders_of_the_kernel_and_by_where_they_lie(monkeypatch, tmp_path):
    package = tmp_path / "rave_agents"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    names = [digest(monkeypatch, package, {})]
    assert names == [digest(monkeypatch, package, {})] == [own_sources()]
    for name in ("kernel/rules/ucb.py", "kernel/a/b/c.py", "evaluators/of/one.py"):
        for text in ("x = 1", "x = 2"):
            names.append(digest(monkeypatch, package, {name: text}))
    (package / "kernel/a/b/c.py").rename(package / "kernel/a/c.py")
    names.append(digest(monkeypatch, package, {}))
    assert len(set(names)) == len(names)
    kept = names[-1]
    assert digest(monkeypatch, package, {"cli/other.py": "x = 1"}) == kept


def test_rules_are_known_by_every_file_of_the_kit_and_by_the_kernel(monkeypatch, tmp_path):
    kit = PACKAGE / "games" / "kit"
    copy = tmp_path / "kit"
    shutil.copytree(kit, copy)
    monkeypatch.setattr(machine, "__file__", str(copy / "machine.py"))
    digest_of_kit = machine._kit_sources.__wrapped__
    names = [digest_of_kit()]
    assert names == [machine._kit_sources()]
    assert names[0] != own_sources()[:16]
    for path in sorted(copy.rglob("*.py")):
        path.write_text(path.read_text(encoding="utf-8") + "\nx = 1", encoding="utf-8")
        names.append(digest_of_kit())
    assert len(set(names)) == len(names) > len(list(kit.glob("*.py")))
