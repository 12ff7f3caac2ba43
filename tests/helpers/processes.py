"""Programs that tests start."""

import os
import pathlib
import subprocess
import sys


def run_python(*arguments, cwd=None, timeout=300, check=False, **environment):
    """Run Python with these arguments, in this process's environment and these variables."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, **environment},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=check,
    )


def run_compiling(*arguments, **environment):
    """Run Python, which finds ``helpers``, without this process's settings of the compiler."""
    own = {"NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT", "RAVE_AGENTS_GAMES"}
    tests = str(pathlib.Path(__file__).parents[1])
    paths = [environment.pop("PYTHONPATH", ""), tests, os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={
            **{name: value for name, value in os.environ.items() if name not in own},
            **environment,
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done
