"""Nothing in the package runs what it reads from a file."""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[1]
UNPICKLING = {
    "rave_agents/arena/worker.py",  # what the process that started this one sends
    "rave_agents/config/shipped_parts.py",  # likewise
    "rave_agents/sessions/agent_worker.py",  # likewise
    "rave_agents/sessions/agent_runner.py",  # what the process that it started sends
    "rave_agents/compiler/machine_code.py",  # an exception in the memory of this process
}


@pytest.mark.full
def test_nothing_unpickles_files():
    found = set()
    for folder in ("rave_agents", "adapters"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and _runs_what_it_reads(node):
                    found.add(path.relative_to(ROOT).as_posix())
    assert found <= UNPICKLING


def _runs_what_it_reads(call):
    name = ast.unparse(call.func)
    if name in ("np.load", "numpy.load"):
        return not any(
            keyword.arg == "allow_pickle" and ast.unparse(keyword.value) == "False"
            for keyword in call.keywords
        )
    loads = re.fullmatch(r"(cloud|_)?pickle\.loads?|marshal\.loads?|joblib\.load|torch\.load", name)
    return loads is not None or name in ("eval", "exec")
