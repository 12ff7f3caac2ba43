"""Numba's settings, read as Numba reads them, but without loading Numba if all are defaults.

They come from environment variables, from a file ``.numba_config.yaml`` and from programs that set
``numba.config``. Most influence the machine code.
"""

import contextlib
import functools
import importlib.util
import os
import pathlib
import sys
import types
import warnings
from typing import Any

_FILE = pathlib.Path(".numba_config.yaml")

_ANY_CODE = (
    "NUMBA_CACHE_",
    "NUMBA_COLOR_SCHEME",
    "NUMBA_CUDA_",
    "NUMBA_DEBUG_CACHE",
    "NUMBA_DEFAULT_NUM_THREADS",
    "NUMBA_DISABLE_CUDA",
    "NUMBA_DISABLE_JIT",
    "NUMBA_DISABLE_PERFORMANCE_WARNINGS",
    "NUMBA_FULL_TRACEBACKS",
    "NUMBA_NUM_THREADS",
    "NUMBA_SHOW_HELP",
    "NUMBA_THREADING_LAYER",
)
"""Prefixes of variables that do not influence machine code; all others are assumed to."""


def codegen_settings() -> str:
    """All settings that influence machine code and are not defaults, as text."""
    loaded = sys.modules.get("numba.core.config")
    if loaded is None and not (_FILE.is_file() or any(map(_decides, os.environ))):
        return ""
    usual, read = _readings()
    if loaded is not None:
        with contextlib.suppress(RuntimeError):  # There may be threads already, see below.
            loaded.reload_config()  # As Numba does before it compiles.
        read = vars(loaded)
    changed = {
        name: repr(read.get(name))
        for name, value in usual.items()
        if _decides(_variable(name)) and repr(read.get(name)) != repr(value)
    }
    if "VS_PROFILER" in os.environ:
        changed["VS_PROFILER"] = ""
    return " ".join(f"{name}={value}" for name, value in sorted(changed.items()))


def jit_is_disabled() -> bool:
    """True if ``NUMBA_DISABLE_JIT`` switches compilation off."""
    loaded = sys.modules.get("numba.core.config")
    if loaded is not None:
        return bool(loaded.DISABLE_JIT)
    value = os.environ.get("NUMBA_DISABLE_JIT")
    if value is None and _FILE.is_file():
        return bool(_readings()[1]["DISABLE_JIT"])
    try:
        return bool(int(value or "0"))
    except ValueError:
        warning = (
            "NUMBA_DISABLE_JIT must be a whole number, 1 or 0: got %r, which Numba reads as 0."
        )
        warnings.warn(warning % value, RuntimeWarning, stacklevel=2)
        return False


def _variable(setting: str) -> str:
    return setting if setting.startswith("NUMBA_") else f"NUMBA_{setting}"


def _decides(variable: str) -> bool:
    """True if an environment variable may influence machine code."""
    return variable.startswith("NUMBA_") and not variable.startswith(_ANY_CODE)


@functools.cache
def _config_of_our_own() -> types.ModuleType:
    """A copy of Numba's configuration module, loaded without Numba."""
    numba = importlib.util.find_spec("numba")
    assert numba is not None
    assert numba.origin is not None
    path = pathlib.Path(numba.origin).parent / "core" / "config.py"
    spec = importlib.util.spec_from_file_location("rave_agents_numba_config", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _readings() -> tuple[dict[str, Any], dict[str, Any]]:
    """The default settings, and those that Numba reads in this environment."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Numba itself warns.
        module = _config_of_our_own()
        for read in (lambda: module._env_reloader.process_environ({}), module._env_reloader.reset):
            vars(module).pop(
                "NUMBA_NUM_THREADS", None
            )  # Its setter refuses a change once threads run.
            read()
            found.append({name: value for name, value in vars(module).items() if name.isupper()})
    return found[0], found[1]
