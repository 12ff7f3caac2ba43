"""Which sources machine code is known by."""

import pathlib
import re

import rave_agents
from rave_agents.compiler.sources import _COMPILED

PACKAGE = pathlib.Path(rave_agents.__file__).parent


def test_code_that_is_kept_on_disk_is_known_by_every_file_that_is_compiled():
    known = {path for pattern in _COMPILED for path in PACKAGE.glob(pattern)}
    compiled = {
        path
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^@(entry\(|kernel$)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    rules = {path for path in compiled if path.parent.name == "games"}  # These have a cache apart.
    assert compiled - rules <= known
