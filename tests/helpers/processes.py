"""Programs that tests start."""

import os
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
