"""Messages about compilation: one for each thing, which says how far it is."""

import collections
import io

import pytest
from rich.console import Console

from rave_agents.compiler import progress, spinner


@pytest.fixture(autouse=True)
def _nothing_announced(monkeypatch):
    monkeypatch.setattr(progress, "_announced", collections.Counter())
    monkeypatch.setattr(progress, "_logged", set())


def test_a_log_has_one_record_for_each_thing_compiled_and_none_repeats(caplog):
    for what in ("the search", "the rules of hex", "the search"):
        with progress.announced(what) as reasons:
            reasons.append("no folder")
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "rave_agents: compiling the search ...",
        "rave_agents: the search: it is not kept on disk: no folder.",
        "rave_agents: compiling the rules of hex ...",
        "rave_agents: compiling the search, variant 2 ...",
    ]


def test_a_line_on_a_terminal_counts_functions(caplog, monkeypatch):
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=100)
    monkeypatch.setattr(spinner, "stderr_console", lambda: console)
    monkeypatch.setattr(
        progress.sys, "stderr", type("Terminal", (), {"isatty": lambda self: True})()
    )
    with progress.announced("the search"):
        progress.count_function()
        progress.count_function()
    assert "compiling the search: 2 functions" in written.getvalue()
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
