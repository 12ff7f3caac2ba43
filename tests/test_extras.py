"""Hints to install what is missing name packages that an index has."""

import pathlib
import re

import pytest

import rave_agents
from rave_agents.extras import install_command, missing

ROOT = pathlib.Path(rave_agents.__file__).parents[1]


@pytest.mark.parametrize(
    ("extra", "package"),
    [
        ("openspiel", "open[-_]spiel"),
        ("pettingzoo", "pettingzoo"),
        ("gymnasium", "gymnasium"),
        ("plot", "matplotlib"),
        ("dask", "distributed"),
        ("alpharank", "networkx"),
        ("sgf", "sgfmill"),
    ],
)
def test_a_command_installs_what_an_extra_needs(extra, package):
    command = install_command(extra)
    assert command.startswith("pip install '")
    assert re.search(rf"'{package}[>\[]", command)
    assert "rave-agents" not in command
    assert missing("It needs", extra, package).endswith(command)


def test_what_is_no_extra_has_no_command():
    assert install_command("shimmy") is None
    assert missing("It needs", "no_extra", "numpy").endswith("not installed: pip install numpy")


def test_no_message_names_this_package_to_pip():
    """It is on no index."""
    for folder in ("rave_agents", "adapters"):
        for path in (ROOT / folder).rglob("*.py"):
            assert not re.search(r"pip install\W*rave-agents", path.read_text()), path
