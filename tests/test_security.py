"""SECURITY.md promises nothing that no test holds it to."""

import ast
import fnmatch
import pathlib
import re
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")

HELD = {
    "Files of results": {
        "arena/test_files_of_others.py": [
            "test_an_agent_in_a_file_is_a_name",
            "test_a_game_in_a_file_is_made_only_if_it_is_plain",
            "test_files_of_all_kinds_run_nothing",
            "test_what_lies_beside_a_file_is_not_imported_in_its_reading",
            "test_a_game_that_takes_all_memory_or_crashes_is_told_of",
            "test_an_action_that_is_not_legal_is_never_handed_to_the_game",
            "test_resuming_asks_the_agents_of_the_call_and_compares_texts",
        ],
        "arena/test_damaged_files.py": [
            "test_damaged_files_are_read_or_refused_by_file_line_and_field"
        ],
        "web/test_report.py": ["test_no_agent_is_asked_by_itself", "test_the_command_asks"],
    },
    "Certificates": {
        "certificates/test_certificates.py": [
            "test_games_that_prove_nothing_are_refused",
            "test_headers_that_are_none_are_refused",
            "test_a_line_without_end_is_refused",
        ],
        "certificates/test_certificates_of_others.py": [
            "test_a_game_that_takes_too_much_is_refused",
            "test_millions_of_equal_lines_in_a_small_file_are_refused_in_time",
        ],
    },
    "Learned files": {"test_security.py": ["test_nothing_unpickles_files"]},
    "Names": {
        "arena/test_files_of_others.py": [
            "test_names_are_text_on_the_page_and_in_its_pictures",
            "test_names_are_text_in_a_table_for_spreadsheets",
            "test_names_do_not_act_on_a_terminal",
        ]
    },
    "Folders": {
        "compiler/test_folders.py": [
            "test_a_folder_that_others_own_or_can_write_is_not_used",
            "test_machine_code_that_others_could_have_written_is_not_loaded",
            "test_a_library_that_another_user_has_put_into_the_cache_is_not_loaded",
        ]
    },
    "Files beside yours": {
        "arena/test_lock.py": [
            "test_a_file_of_something_else_is_left_alone",
            "test_a_link_is_not_followed",
        ],
        "test_files.py": ["test_every_writer_leaves_the_old_file_when_it_is_cut_off"],
    },
    "The network": {
        "arena/test_engines.py": ["test_a_local_cluster_listens_to_this_machine_alone"],
        "web/test_report.py": ["test_the_page_loads_nothing_from_elsewhere"],
    },
}
"""For each promise the tests that hold the package to it."""


def test_each_promise_has_its_tests():
    promises = TEXT.partition("## Not trusted")[2].partition("## Reporting")[0]
    assert re.findall(r"^- \*\*(.+?)\*\*", promises, re.MULTILINE) == list(HELD)


@pytest.mark.parametrize("promise", HELD)
def test_the_tests_of_a_promise_are_there(promise):
    for name, tests in HELD[promise].items():
        tree = ast.parse((ROOT / "tests" / name).read_text(encoding="utf-8"))
        assert set(tests) <= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_bounds_that_it_names_are_those_of_the_code():
    from rave_agents.frameworks.plain_games import MEMORY, SECONDS

    assert f"time ({SECONDS} s)" in TEXT
    assert f"memory ({MEMORY // 2**30} GiB)" in TEXT


def test_it_is_in_the_source_distribution_and_in_the_documentation():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert any(fnmatch.fnmatch("SECURITY.md", pattern) for pattern in included)
    assert "SECURITY.md" in (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


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
