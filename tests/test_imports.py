"""Imports: no circle between files or folders anywhere, and few inside functions, with reasons."""

import functools
import pathlib
import re
import subprocess
import sys

import pytest
import rave_gymnasium
import rave_openspiel
import rave_pettingzoo
from helpers.imports import circles, folded, graph_of, in_functions, modules_of, parsed

import rave_agents

HOUSE = pathlib.Path(rave_agents.__file__).parent
ADAPTERS = HOUSE.parent / "adapters"

MODULES = modules_of(HOUSE, *(path.parent for path in ADAPTERS.glob("*/__init__.py")))


@functools.cache
def graph():
    return graph_of(MODULES)


MOST_IN_FUNCTIONS = 30

REASON = re.compile(r"# noqa: (F401, )?PLC0415  \((optional|slow): [A-Za-z].*\)$")
"""A package that not everybody has, or one that takes long to import."""


@pytest.mark.full
def test_no_files_import_each_other_in_a_circle():
    assert circles(graph()) == []


@pytest.mark.full
def test_no_folders_import_each_other_in_a_circle():
    """Inside each folder, its files and the folders in it: ``kernel/amaf`` is one of ``kernel``."""
    folders = {path.parent for path in MODULES.values()} | {ADAPTERS, HOUSE.parent}
    found = {folder.name: circles(folded(graph(), MODULES, folder)) for folder in folders}
    assert {name: those for name, those in found.items() if those} == {}


@pytest.mark.slow
def test_few_imports_stand_in_functions_and_each_says_why():
    found = [
        (name, line)
        for name, path in MODULES.items()
        for line in in_functions(parsed(path), path.read_text(encoding="utf-8"))
    ]
    assert len(found) <= MOST_IN_FUNCTIONS, found
    assert [(name, line) for name, line in found if not REASON.search(line)] == []


SLOW = {"llvmlite", "loky", "matplotlib", "numba", "pandas", "rich", "scipy", "torch"}
FRAMEWORKS = {"gymnasium", "open_spiel", "pettingzoo", "pyspiel"}
PARTS_OF_SCIPY = {"scipy.optimize", "scipy.sparse", "scipy.stats"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("modules", "slow"),
    [
        ("rave_agents, rave_agents.parts", SLOW | FRAMEWORKS),
        ("rave_agents.cli", SLOW - {"rich", "scipy"} | FRAMEWORKS | PARTS_OF_SCIPY),
        (
            "rave_openspiel, rave_pettingzoo, rave_gymnasium",
            SLOW - {"llvmlite", "rich", "scipy"} | PARTS_OF_SCIPY,
        ),
    ],
)
def test_what_is_slow_to_import_waits_until_it_is_needed(modules, slow):
    program = f"import sys, {modules}; print(*sorted({slow!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    "package", [rave_agents, rave_openspiel, rave_pettingzoo, rave_gymnasium], ids=str
)
def test_dir_lists_what_a_package_offers_and_nothing_else(package):
    public = [name for name in dir(package) if not name.startswith("__")]
    assert public == sorted(package.__all__)
    assert all(hasattr(package, name) for name in public)
