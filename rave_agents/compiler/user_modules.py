"""The text of the user's own modules, by which machine code of the user's functions is kept."""

import functools
import os
import sys
import sysconfig
import types
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from rave_agents.compiler.code_objects import codes_in


class UserModules:
    """The modules of some functions, and those of the user's that these import.

    Installed packages, this package and its adapters are not the user's.
    """

    def __init__(self) -> None:
        self.texts: dict[str, bytes] = {}
        """Texts by the files that have them."""

    def add(self, function: types.FunctionType) -> bool:
        """Add a function's module. Returns whether its file has the function's code.

        No file has a notebook's cell, and one that has been edited since its import has other code.
        """
        file = function.__code__.co_filename
        self._add_file(file)
        self._follow(function.__globals__)
        try:
            return function.__code__ in _codes_of(file, os.stat(file).st_mtime_ns)
        except (OSError, SyntaxError, ValueError):
            return False

    def _follow(self, names: Mapping[str, Any]) -> None:
        """Add the modules that values come from, and go on from there."""
        for value in list(names.values()):
            named = "__name__" if isinstance(value, types.ModuleType) else "__module__"
            module = sys.modules.get(str(getattr(value, named, None)))
            file = getattr(module, "__file__", None)
            if module is None or file is None or _is_installed(file, module.__name__):
                continue
            if self._add_file(file):
                self._follow(vars(module))

    def _add_file(self, file: str) -> bool:
        """Add the text of a file. Returns whether it is new."""
        if file in self.texts:
            return False
        try:
            with open(file, "rb") as opened:
                self.texts[file] = opened.read()
        except OSError:
            self.texts[file] = b""
        return True


@functools.lru_cache(maxsize=256)
def _codes_of(file: str, changed: int) -> frozenset[types.CodeType]:
    """The code objects that Python makes of a file, which was changed at that time."""
    with open(file, "rb") as opened:
        whole = compile(opened.read(), file, "exec", dont_inherit=True)
    return frozenset(codes_in(whole))


@functools.lru_cache(maxsize=4096)
def _is_installed(file: str, module: str) -> bool:
    paths = sysconfig.get_paths()
    folders = (paths[each] + os.sep for each in ("purelib", "platlib", "stdlib", "platstdlib"))
    return file.startswith(tuple(folders)) or module.partition(".")[0] in _our_packages()


@functools.cache
def _our_packages() -> frozenset[str]:
    """This package and those of the adapters."""
    found = [__name__, *(one.module for one in entry_points(group="rave_agents.adapters"))]
    return frozenset(name.partition(".")[0] for name in found)
