"""The package is a house of rooms: a room imports only rooms below it."""

import ast
import pathlib

import pytest

import rave_agents
from rave_agents import games

HOUSE = pathlib.Path(rave_agents.__file__).parent
ADAPTERS = HOUSE.parent / "adapters"

ROOMS = (
    "errors",
    "extras",
    "files",
    "game",
    "compiler",
    "simulate",
    "environments",
    "kernel",
    "games",
    "config",
    "parts",
    "frameworks",
    "certificates",
    "plots",
    "evaluators",
    "tree",
    "results",
    "solver",
    "equilibrium",
    "searcher",
    "engines.client",
    "agents",
    "records",
    "arena",
    "learning",
    "analysis",
    "engines",
    "testing",
    "sessions",
    "web",
    "cli",
)
"""From the lowest to the highest; one with a dot is a folder with a place of its own."""

MODULES = ("errors", "extras", "files", "parts")
"""Those that are one file."""

MOST_MODULES = 6


def room_of(module):
    """The room of a module of the package."""
    words = module.split(".")[1:]
    inner = ".".join(words[:2])
    return inner if inner in ROOMS else words[0]


def rooms_imported_by(path):
    """The rooms that a file imports something of, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "rave_agents":
            yield from (alias.name for alias in node.names if alias.name in ROOMS)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rave_agents."):
            yield room_of(node.module)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (room_of(name) for name in names if name.startswith("rave_agents."))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_below_it(room):
    folder = HOUSE / room.replace(".", "/")
    files = [HOUSE / f"{room}.py"] if room in MODULES else folder.rglob("*.py")
    above = ROOMS[ROOMS.index(room) + 1 :]
    found = {
        (path.relative_to(HOUSE).as_posix(), imported)
        for path in files
        for imported in rooms_imported_by(path)
        if imported in above
    }
    assert not found


def test_every_module_lies_in_a_room():
    plain = {path.stem for path in HOUSE.glob("*.py")}
    rooms = {path.parent.name for path in HOUSE.glob("*/__init__.py")}
    assert plain == {"__init__", "__main__", *MODULES}
    assert len(plain) <= MOST_MODULES
    assert rooms == {room for room in ROOMS if "." not in room} - set(MODULES)


def test_adapters_are_imported_by_nobody_below_and_not_by_each_other():
    for path in HOUSE.rglob("*.py"):
        assert "import rave_" not in path.read_text(encoding="utf-8").replace(
            "import rave_agents", ""
        )
    for path in ADAPTERS.rglob("*.py"):
        own = path.relative_to(ADAPTERS).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = getattr(node, "module", None) or ""
            if isinstance(node, ast.ImportFrom) and module.startswith("rave_"):
                assert module.split(".")[0] in {"rave_agents", own} or (
                    own == "rave_pettingzoo" and module.startswith("rave_openspiel")
                )


GAMES = HOUSE / "games"


def games_imported_by(path):
    """Names of the modules beside the kit that a file imports something of."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        module = getattr(node, "module", None) or ""
        if isinstance(node, ast.ImportFrom) and module.startswith("rave_agents.games"):
            found = [module.removeprefix("rave_agents.games").partition(".")[2]]
            found = [alias.name for alias in node.names] if found == [""] else found
            yield from (name.partition(".")[0] for name in found)


@pytest.mark.full
def test_a_game_is_imported_by_nobody_else():
    """So a new one is a file, and a line in ``GAMES``."""
    files = [*HOUSE.rglob("*.py"), *ADAPTERS.rglob("*.py")]
    found = {
        (path.name, name)
        for path in files
        if path != GAMES / "__init__.py"  # It gives NoGo's GameState its public name.
        for name in games_imported_by(path)
        if name in games.GAMES
    }
    assert not found


def test_the_kit_imports_no_game():
    """Machine code is known by all files of the kit, and by what a game's methods look up."""
    names = {name for path in (GAMES / "kit").rglob("*.py") for name in games_imported_by(path)}
    assert names == {"kit"}
