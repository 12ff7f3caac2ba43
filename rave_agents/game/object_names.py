"""User objects named by place: ``module:Name`` or ``path/to/file.py:Name``.

Resolving a name runs the module's code, so names from result files must never come here.
"""

import difflib
import importlib
import importlib.util
import operator
import os
import re
import sys
import types
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from rave_agents.errors import UnknownNameError

_PLACE = re.compile(r"\s*(?:(?P<file>.+?\.py)|(?P<module>[^():/\\]*?))\s*:(?P<rest>.*)", re.DOTALL)
_CALL = re.compile(r"\s*[A-Za-z_][\w.]*\(")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class ObjectName(NamedTuple):
    """The name of an object in a module or a file."""

    place: str
    """The module, or the path of a Python file."""
    name: str
    """The object's name there; dots lead into classes."""

    @property
    def is_file(self) -> bool:
        """True if the place is the path of a file."""
        return self.place.endswith(".py")

    def absolute(self) -> "ObjectName":
        """The same object, independent of the current folder."""
        return self._replace(place=str(Path(self.place).resolve())) if self.is_file else self

    def __str__(self) -> str:
        return f"{self.place}:{self.name}"


def split_place(text: str) -> tuple[str, str] | None:
    """Split a text into a module or a file and what follows the colon; None if it names neither.

    A colon inside of parentheses belongs to parameters.
    """
    match = None if _CALL.match(text) else _PLACE.fullmatch(text)
    if match is None:
        return None
    return (match["file"] or match["module"]).strip(), match["rest"].strip()


def parse_object_name(text: str, example: str = "my_module:MyClass") -> ObjectName:
    """Parse ``module:Name`` or ``path/to/file.py:Name``.

    Args:
        text: what was given.
        example: a correct one, for messages.

    Raises:
        UnknownNameError: if the text does not have that form.
    """
    found = split_place(text)
    place, name = found or ("", "")
    whole = bool(place) and (place.endswith(".py") or _DOTTED.fullmatch(place) is not None)
    if not whole or _DOTTED.fullmatch(name) is None:
        folder = place.rpartition(".py")[0] or place
        raise UnknownNameError(
            f"{text!r} is not of the form module:Name or path/to/file.py:Name, such as {example} "
            f"or ./{example.partition(':')[0] or folder}.py:{example.partition(':')[2]}."
        )
    return ObjectName(place, name)


def find_object(name: ObjectName) -> Any:
    """Import the module, or run the file, and return the object of this name in it.

    Raises:
        UnknownNameError: if there is no such module, file or name; the message offers the nearest.
            If the module raises, its message has the error.
    """
    module = _module_of_file(name.place) if name.is_file else _imported(name.place)
    found: Any = module
    for word in name.name.split("."):
        try:
            found = operator.attrgetter(word)(found)
        except AttributeError:
            raise UnknownNameError(_missing_name(name, found, word)) from None
    return found


def files_run() -> tuple[str, ...]:
    """Files that this process ran as modules that no import could find."""
    return tuple(_files.values())


def run_files(paths: Iterable[str]) -> None:
    """Run files that another process ran, if they exist, before unpickling objects of theirs."""
    for path in paths:
        if Path(path).is_file():
            _module_of_file(path)


_files: dict[str, str] = {}
"""The files that were run, by the names of their modules."""


def module_of(thing: Any) -> str:
    """The name of the module that defines a class or a function; empty if it has none."""
    return getattr(thing, "__module__", None) or ""


def name_of(thing: Any) -> str:
    """The name of a class or a function; for another object, of its class."""
    return str(getattr(thing, "__name__", type(thing).__name__))


def file_of(module: str) -> str | None:
    """The file of an imported module; None without one."""
    found = sys.modules.get(module)
    return None if found is None else vars(found).get("__file__")


def place_of(thing: Any) -> str:
    """The module that a class or a function can be imported from, or its file; else empty."""
    module = module_of(thing)
    return _files.get(module, module)


def _imported(module: str) -> types.ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # The module exists, but one that it imports does not.
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise _import_failed(f"The module {module}", error) from error
        near = _suggestion(module, (path.stem for path in Path.cwd().glob("*.py")))
        raise UnknownNameError(
            f"There is no module {error.name!r}{f' for {module}' if error.name != module else ''}."
            f"{near} A file is written with its path: ./{module.rpartition('.')[2]}.py:Name."
        ) from error
    except (Exception, SystemExit) as error:
        raise _import_failed(f"The module {module}", error) from error


def _module_of_file(path: str) -> types.ModuleType:
    """The module of a file, as an import would give it once its folder is on the path.

    The folder is added to the path, so that the file can import its neighbours.
    """
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        near = _suggestion(file.name, (other.name for other in file.parent.glob("*.py")))
        raise UnknownNameError(f"There is no file {path!r}.{near}")
    root, name = file.parent, "" if file.stem == "__init__" else file.stem
    # A file in a package is imported by its full name, or its relative imports fail.
    while (root / "__init__.py").is_file():
        root, name = root.parent, f"{root.name}.{name}".rstrip(".")
    if str(root) not in sys.path:
        sys.path.append(str(root))
    for module in list(sys.modules.values()):
        if _is_of(getattr(module, "__file__", None), file):
            return module
    # Another module may have this name already; the hash of the path is the same in each process.
    own = f"{file.stem}_{zlib.crc32(str(file).encode()):08x}"
    try:
        if _is_importable(name, file):
            return importlib.import_module(name)
        return _run_as(own, file)
    except (Exception, SystemExit) as error:
        raise _import_failed(f"The file {path!r}", error) from error


def _is_importable(name: str, file: Path) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return False
    return spec is not None and _is_of(spec.origin, file)


def _is_of(origin: object, file: Path) -> bool:
    """True if a module's origin is this file; names are compared first, which is fast."""
    same_name = isinstance(origin, str) and os.path.basename(origin) == file.name
    return same_name and Path(str(origin)).resolve() == file


def _run_as(name: str, file: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Before it runs: dataclasses and pickle look their module up.
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    _files[name] = str(file)
    return module


def _import_failed(what: str, error: BaseException) -> UnknownNameError:
    return UnknownNameError(f"{what} cannot be imported: {type(error).__name__}: {error}")


def _missing_name(name: ObjectName, where: Any, word: str) -> str:
    public = [each for each in vars(where) if not each.startswith("_")]
    module = vars(where).get("__name__")
    own = [each for each in public if module_of(vars(where)[each]) == module]
    near = _suggestion(word, public)
    if not near and own:
        near = f" It defines {', '.join(own[:8])}{', ...' if len(own) > 8 else ''}."
    what = "The file" if name.is_file else "The module"
    return f"{what} {name.place!r} has no name {name.name!r}.{near}"


def _suggestion(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
