"""How the rules of games are compiled: apart from the search, and only where one is played.

As in ``rave_agents.compiler.lowering`` the cache's folder is named after the source that goes into
the machine code: that of the games, and that of the random streams which they draw from.
"""

import ctypes
import hashlib
import pathlib
import platform
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core import types
from numba.extending import intrinsic

from rave_agents.compiler.folders import choose_cache_directory
from rave_agents.compiler.progress import kept
from rave_agents.simulate import random_stream

_P = ParamSpec("_P")
_R = TypeVar("_R")

_OPTIONS = {"nogil": True, "_nrt": False, "error_model": "numpy"}


def _source_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {platform.python_version()}".encode())
    own = sorted(pathlib.Path(__file__).parent.glob("*.py"))
    for path in (*own, pathlib.Path(random_stream.__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


CACHE_DIRECTORY = choose_cache_directory(f"games-{_source_hash()}")
"""Where the compiled rules are kept."""


def rule(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile a function of a game's rules, for other rules and for Python; the result is kept."""
    return kept(CACHE_DIRECTORY, lambda cache: numba.njit(**_OPTIONS, cache=cache)(function))


def compiled_callback(function: Callable[[int], int]) -> Any:
    """Compile ``int32 function(int64)`` into a C function; the result has its ``address``."""
    signature = types.int32(types.int64)
    return kept(
        CACHE_DIRECTORY,
        lambda cache: numba.cfunc(signature, cache=cache, error_model="numpy")(function),
    )


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)
"""The type of such a function that calls Python."""


@intrinsic
def pointer_to(typing_context: Any, address: Any) -> Any:
    """The address as a pointer, for ``numba.carray``; in compiled code only."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), codegen
