"""Imports: no circle between files or folders anywhere, and few inside functions, with reasons."""

import ast
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


def written(folder, texts):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return modules_of(folder / "house")


CIRCLES = {
    "import": "import house.b",
    "from": "from house.b import y",
    "from the package": "from house import b",
    "relative": "from .b import y",
    "relative, the package": "from . import b",
    "in a function": "def f():\n    from house.b import y",
    "for type checkers": "import typing\nif typing.TYPE_CHECKING:\n    from house.b import y",
}


@pytest.mark.parametrize("text", CIRCLES.values(), ids=CIRCLES)
def test_a_circle_is_found_however_it_is_written(tmp_path, text):
    texts = {"house/__init__.py": "", "house/a.py": text, "house/b.py": "import house.c"}
    assert circles(graph_of(written(tmp_path, {**texts, "house/c.py": ""}))) == []
    modules = written(tmp_path, {**texts, "house/c.py": "from house.a import x"})
    assert circles(graph_of(modules)) == [{"house.a", "house.b", "house.c"}]


def test_a_circle_of_folders_is_found_where_files_have_none(tmp_path):
    modules = written(
        tmp_path,
        {
            "house/room/one/a.py": "import house.room.two.b",
            "house/room/two/b.py": "",
            "house/room/two/c.py": "import house.room.one.d",
            "house/room/one/d.py": "",
        },
    )
    graph = graph_of(modules)
    assert circles(graph) == []
    assert circles(folded(graph, modules, tmp_path / "house" / "room")) == [{"one", "two"}]


@pytest.mark.slow
def test_few_imports_stand_in_functions_and_each_says_why():
    found = [
        (name, line)
        for name, path in MODULES.items()
        for line in in_functions(parsed(path), path.read_text(encoding="utf-8"))
    ]
    assert len(found) <= MOST_IN_FUNCTIONS, found
    assert [(name, line) for name, line in found if not REASON.search(line)] == []


def test_an_import_in_a_function_is_found_wherever_it_stands():
    text = (
        "import os\n"
        "def f():\n"
        "    try:\n"
        "        import b  # one\n"
        "    except ImportError:\n"
        "        pass\n"
        "class A:\n"
        "    async def g(self):\n"
        "        def h():\n"
        "            from c import (  # two\n"
        "                d,\n"
        "            )\n"
    )
    assert in_functions(ast.parse(text), text) == ["import b  # one", "from c import (  # two"]


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
