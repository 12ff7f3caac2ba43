"""A digest of a game's rules, so that no table is used with other rules than its own.

Rules are the text of the modules that define the game and of the user's modules that these import,
the versions of libraries among them, and the content of a game given as an object. The package's
own games also count by their text. Files read or modules imported at run time are not covered.
"""

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import pickle
import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping
from typing import Any

from rave_agents.environments.spaces import EnvAbilities
from rave_agents.frameworks.adapters import Game, GameAbilities, adapters
from rave_agents.game.game_state import compiled_form
from rave_agents.game.object_names import module_of

OWN_GAMES = "rave_agents.games"
"""The package's module whose text counts, instead of its version."""

WITHOUT_RULES = {"numpy", "numba", "llvmlite"}
"""Libraries whose versions change no rules."""

BINDINGS = ("pybind11_builtins", "_cython_")
"""Prefixes of modules that hold the common classes of compiled libraries."""

MOST_OBJECTS = 10_000
"""Maximum number of a state's objects whose classes are examined."""


def rules_digest(game: Game) -> str:
    """The digest of a game's rules.

    Raises:
        ValueError: if it cannot be determined; the message says why.
    """
    state, source = game.new_initial_state(), GameAbilities(game).source
    made_of = [game, state, compiled_form(state)]
    content = b""
    if source is not None:
        made_of += [source.value, dict(source.parameters)]
        # A name determines its object; an environment's name has its parameters.
        if source.place is None and EnvAbilities(source.value).reset is None:
            content = _content(source, game.name)
    digest = hashlib.sha256(content)
    # Sorted, and each hashed first: the order of sets must not matter, nor where a text ends.
    for text in sorted(_texts(game.name, _modules_of(made_of))):
        digest.update(hashlib.sha256(text).digest())
    return digest.hexdigest()[:32]


def _content(source: Any, name: str) -> bytes:
    try:
        return pickle.dumps((source.value, dict(source.parameters)), protocol=4)
    except Exception as error:
        raise _undetermined(name, f"it cannot be pickled ({error})") from error


def _undetermined(name: str, reason: str) -> ValueError:
    return ValueError(
        f"No table can be kept for {name}, since its rules cannot be identified: {reason}. "
        "Define the game in a file, and give its name, such as './nim.py:Nim(sticks=7)'."
    )


def _modules_of(objects: list[Any]) -> set[str]:
    found, waiting, seen = set[str](), list(objects), dict[int, Any]()
    while waiting and len(seen) < MOST_OBJECTS:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one  # Kept alive, so that no other object gets its id.
        if isinstance(one, types.ModuleType):
            found.add(one.__name__)
        elif isinstance(one, type):
            found.update(kind.__module__ for kind in one.__mro__)
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list | tuple | set | frozenset):
            waiting += one
        else:
            waiting.append(type(one))
            waiting += _attributes(one)
            if isinstance(own := module_of(one), str) and own:
                found.add(own)
    return found


def _attributes(one: Any) -> Iterator[Any]:
    held = getattr(one, "__dict__", None)
    yield from held.values() if isinstance(held, dict) else ()
    for kind in type(one).__mro__:
        names = vars(kind).get("__slots__", ())
        for name in [names] if isinstance(names, str) else names:
            yield getattr(one, name, None)
    if callable(one):
        yield from (getattr(one, name, None) for name in ("func", "__func__", "__self__"))


def _texts(game: str, modules: set[str]) -> Iterator[bytes]:
    """A text for each of some modules and of the user's that they import."""
    seen, waiting, versions = set[str](), sorted(modules), set[bytes]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        file = _file_of(name)
        if _is_library(name, file):
            versions.add(_version(name.partition(".")[0]))
        elif file is None and hasattr(sys.modules.get(name), "__path__"):
            continue  # A folder without __init__.py.
        elif file is None:
            raise _undetermined(game, f"the module {name} has no file")
        else:
            try:
                with open(file, "rb") as opened:
                    text = opened.read()
                waiting += _imports(name, text) if file.endswith(".py") else []
            except (OSError, SyntaxError, ValueError) as error:
                raise _undetermined(game, f"{file} cannot be read ({error})") from error
            yield text
    yield from versions


def _file_of(name: str) -> str | None:
    """The file of a module; None if it has none, or there is no such module."""
    module = sys.modules.get(name)
    if module is None:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, AttributeError, ValueError):
            return None
        return spec.origin if spec is not None and spec.has_location else None
    return vars(module).get("__file__")


def _is_library(name: str, file: str | None) -> bool:
    """True for a module that only changes with its version."""
    top = name.partition(".")[0]
    if top in _own_packages() or top in WITHOUT_RULES or name.startswith(BINDINGS):
        return not f"{name}.".startswith(f"{OWN_GAMES}.")
    if file is None:
        return top in sys.builtin_module_names
    folders = ("purelib", "platlib", "stdlib", "platstdlib")
    return any(file.startswith(sysconfig.get_paths()[each]) for each in folders)


def _own_packages() -> set[str]:
    found = [__name__, *(type(adapter).__module__ for adapter in adapters().values())]
    return {name.partition(".")[0] for name in found}


@functools.cache
def _version(top: str) -> bytes:
    """The distributions of a library with their versions; empty for Python's own."""
    if top in sys.stdlib_module_names or top in WITHOUT_RULES:
        return b""
    if top == __name__.partition(".")[0]:
        return f"{top} {sys.modules[top].__version__}".encode()
    distributions = sorted(_distributions().get(top, []))
    return repr([(one, importlib.metadata.version(one)) for one in distributions]).encode()


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()


def _imports(name: str, text: bytes) -> Iterator[str]:
    is_package = hasattr(sys.modules.get(name), "__path__")
    package = name if is_package else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(text)):
        found = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = importlib.util.resolve_name("." * node.level + base, package)
            found = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        for each in found:
            # ``import a.b`` also runs ``a``; ``from a import b`` may mean a module or a name.
            words = each.split(".")
            parents = [".".join(words[: end + 1]) for end in range(len(words))]
            yield from (one for one in parents if one in sys.modules or _file_of(one))


__all__ = ["rules_digest"]
