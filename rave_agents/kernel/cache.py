"""Where compiled code is kept between processes."""

import os
import pathlib
import sys
import tempfile


def _user_cache_directory() -> pathlib.Path:
    if os.environ.get("XDG_CACHE_HOME"):
        return pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "rave_agents"
    if sys.platform == "darwin":
        return pathlib.Path.home() / "Library" / "Caches" / "rave_agents"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", str(pathlib.Path.home()))
        return pathlib.Path(local) / "rave_agents" / "Cache"
    return pathlib.Path.home() / ".cache" / "rave_agents"


def choose_cache_directory(name: str) -> pathlib.Path:
    """Where compiled code is kept, under this name.

    ``NUMBA_CACHE_DIR``, or the user's cache, or a new temporary folder if that is read-only.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return pathlib.Path(os.environ["NUMBA_CACHE_DIR"]) / f"rave_agents-{name}"
    try:
        directory = _user_cache_directory() / name
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except (OSError, RuntimeError):
        # Not a name that somebody else could have prepared: what lies there is executed.
        return pathlib.Path(tempfile.mkdtemp(prefix="rave_agents-"))
