"""Which sources machine code is known by."""

import pathlib
import re
import sys
import types

import numpy as np
import pytest

import rave_agents
from rave_agents.compiler.sources import _COMPILED, code_as_text

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


SCRIPTS = {
    "a number": "N = {n}\ndef f(): return N",
    "a number of NumPy": "import numpy\nN = numpy.uint64({n})\ndef f(): return N",
    "an array": "import numpy\nN = numpy.array([0, {n}])\ndef f(): return N[1]",
    "a number in a module": "import settings\ndef f(): return settings.N",
    "a function in a module": "import settings\ndef f(): return settings.of()",
    "a module in a module": "import settings\ndef f(): return settings.inner.settings.inner.N",
    "a number in an inner function": "N = {n}\ndef f(): return (lambda: N)()",
    "a tuple of arrays": "import numpy\nN = (numpy.array([{n}]),)\ndef f(): return N[0][0]",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_code_that_looks_up_another_constant_is_other_code(script, monkeypatch):
    def text(n):
        settings = types.ModuleType("settings")
        exec(f"N = {n}\ndef of(): return {n}", vars(settings))
        settings.inner = types.ModuleType("inner")
        settings.inner.N, settings.inner.settings = n, settings
        monkeypatch.setitem(sys.modules, "settings", settings)
        written = {}
        exec(script.format(n=n), written)
        assert written["f"]() == n
        return code_as_text(written["f"])

    assert text(3) == text(3) != text(5)


def test_arrays_are_told_apart_by_their_kind_and_shape():
    def text(array):
        written = {"N": array}
        exec("def f(): return N", written)
        return code_as_text(written["f"])

    zeros = [np.zeros(4, np.int64), np.zeros((2, 2), np.int64), np.zeros(4)]
    assert len({text(array) for array in zeros}) == 3
