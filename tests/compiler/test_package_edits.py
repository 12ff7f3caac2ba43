"""What an edit of the package recompiles: the users of a compiled body, and nothing else."""

import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import rave_agents
from rave_agents.compiler.toolchain import MAKERS

PACKAGE = pathlib.Path(rave_agents.__file__).parent
FILES = [path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.rglob("*.py"))]

KEYS = """
import collections, json, sys
import numpy as np
from rave_agents.compiler.entry_code import key_of_entry
from rave_agents.compiler.entry import Entry

keys = collections.defaultdict(set)

def bound(entry, record, before=None):
    key = key_of_entry(entry.function, record)
    assert not (key.unknown or key.own_functions), key.reasons()
    keys[f"{entry.function.__module__}.{entry.function.__name__}"].add(key.digest())
    return lambda number: entry.function(record, number)

Entry.bound, Entry.placed = bound, lambda entry, record: None
np.seterr(all="ignore")

from helpers.games import random_game
from helpers.observed import observed_game
from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher
from rave_agents.analysis.expected_value import solve_expected
from rave_agents.analysis.solve import solve_position
from rave_agents.games import rules_class
from rave_agents.games.kit import expanding, machine, playing

for preset in ("rave", "uct_solver", "rave_pn", "auto"):
    Searcher(SearchConfig.preset(preset), seed=1).search(random_game(1), Limit(simulations=5))

def even(batch):
    return np.zeros(batch.legal_actions_mask.shape), np.zeros((len(batch.observations), 2))

searcher = Searcher(SearchConfig.preset("gumbel"), seed=1, evaluator=BatchEvaluator(even))
searcher.search(observed_game(1), Limit(simulations=5))
solve_position(rules_class("tic_tac_toe")(), moves="0 1 2 3 4", max_memory_mb=1)
solve_expected(rules_class("pig")(winscore=2))
for name in ("connect_four", "go", "hex", "backgammon"):
    for kit in (playing, expanding):
        rules = rules_class(name)()
        keys[f"{name} {kit.__name__}"].add(machine.key_of_rules(rules, kit).digest())
print(json.dumps({name: sorted(found) for name, found in keys.items()}))
"""


def is_compiled(file):
    """True if compiled code is in a file, or made by it."""
    module = file.removesuffix(".py").replace("/", ".")
    text = (PACKAGE / file).read_text(encoding="utf-8")
    decorators = r"^@(entry\(|kernel$|summing_kernel$|open_function$|implements\()"
    in_game = file.startswith("games/") and not file.startswith("games/kit/")
    has_rules = in_game or file in {"games/kit/base_rules.py", "games/kit/rules.py"}
    return has_rules or module in MAKERS or re.search(decorators, text, re.MULTILINE) is not None


def rewritten(text, *, messages):
    """A file with other docstrings and comments, and other messages of errors if these may be."""
    tree, lines = ast.parse(text), text.splitlines()
    edits = [(0, 0, 0, 0, "# A comment.\n\n")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            edits.append((*place_of(node), f'"""Edited: {len(edits)}."""'))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            line = min(one.lineno for one in (node, *node.decorator_list)) - 1
            edits.append((line, 0, line, 0, f"{' ' * node.col_offset}# Another one.\n"))
        elif isinstance(node, ast.Raise) and messages:
            formatted = [one for one in ast.walk(node) if isinstance(one, ast.JoinedStr)]
            parts = {part for one in formatted for part in ast.walk(one)}
            for one in ast.walk(node):
                if one not in parts and isinstance(getattr(one, "value", None), str):
                    edits.append((*place_of(one), repr(one.value + "!")))
    for first, begin, last, end, new in sorted(edits, reverse=True):
        before, after = lines[first].encode()[:begin], lines[last].encode()[end:]
        lines[first : last + 1] = [(before + new.encode() + after).decode()]
    return "\n".join(lines) + "\n"


def place_of(node):
    return node.lineno - 1, node.col_offset, node.end_lineno - 1, node.end_col_offset


def keys_of(package):
    """The keys of usual entries and rules of a copy of the package."""
    tests = str(pathlib.Path(__file__).parents[1])
    paths = [str(package.parent), tests, os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-P", "-c", KEYS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def before():
    """The keys of the package itself."""
    return keys_of(PACKAGE)


@pytest.fixture
def copy(tmp_path):
    """A copy of the package."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "rave_agents", ignore=ignored)
    return tmp_path / "rave_agents"


def test_messages_docstrings_and_comments_leave_all_keys_as_they_are(copy, before):
    for file in FILES:
        path = copy / file
        text = path.read_text(encoding="utf-8")
        path.write_text(rewritten(text, messages=not is_compiled(file)), encoding="utf-8")
    assert keys_of(copy) == before


BODIES = {
    "kernel/backup.py: back_up": (r".*kernel\.loop|.*leaves", r"hex|.*solver"),
    "kernel/amaf/schedules.py: own_weight": (r".*kernel\.loop", r"hex|.*solver"),
    "simulate/random_stream.py: random_below": (r"hex.*playing|.*kernel\.loop", r".*solver"),
    "evaluators/leaves.py: read_answer": (r".*leaves", r"hex|.*solver|.*kernel\.loop"),
    "solver/table.py: quantised": (r".*solver\.search", r"hex|.*kernel\.loop"),
    "games/kit/playouts.py: draws_plainly": (r"(hex|go).*playing", r".*solver|.*kernel\.loop"),
    "games/kit/expanding.py: expand": (r"(hex|go).*expanding", r".*playing|.*kernel\.loop"),
    "games/hex.py: play": (r"hex", r"go|connect_four|.*solver|.*kernel\.loop"),
    "compiler/lowering.py: compiled_entry": (r".*", r"$"),
    "compiler/arrays.py: LANES": (r".*", r"$"),
}
"""Compiled bodies, and what makes machine code: the keys that an edit changes, and others."""


@pytest.mark.full(but=["games/hex.py: play"])
@pytest.mark.parametrize("place", BODIES)
def test_an_edit_of_a_compiled_body_changes_the_keys_of_its_users(copy, before, place):
    (file, name), (users, others) = place.split(": "), BODIES[place]
    path = copy / file
    text = path.read_text(encoding="utf-8")
    edited = re.sub(r"LANES = 8", "LANES = 4", text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            (*_, last) = node.body
            lines = text.splitlines(keepends=True)
            lines.insert(last.lineno - 1, f"{' ' * last.col_offset}edited = 12345\n")
            edited = "".join(lines)
    assert edited != text
    path.write_text(edited, encoding="utf-8")
    after = keys_of(copy)
    changed = {key for key in before if after[key] != before[key]}
    assert {key for key in before if re.match(users, key)} <= changed != set()
    assert not {key for key in changed if re.match(others, key)}


def test_all_modules_that_make_machine_code_are_in_every_key():
    """Those that use Numba or LLVM, and those of this package whose constants these take."""
    uses = r"^(import|from) (numba|llvmlite)\b"
    texts = {file: (PACKAGE / file).read_text(encoding="utf-8") for file in FILES}
    made = {file for file, text in texts.items() if re.search(uses, text, re.MULTILINE)}
    assert {file.removesuffix(".py").replace("/", ".") for file in made} <= {*MAKERS}
    imported = set()
    for maker in MAKERS:
        for node in ast.walk(ast.parse(texts[f"{maker.replace('.', '/')}.py"])):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rave_agents."):
                imported |= {f"{node.module}.{alias.name}" for alias in node.names}
    modules = {
        name
        for name in imported
        if PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py").exists()
    }
    used = {name if name in modules else name.rpartition(".")[0] for name in imported}
    others = {name.removeprefix("rave_agents.") for name in used} - {*MAKERS}
    assert others == DECIDE_NOTHING


DECIDE_NOTHING = {
    "compiler.dispatch",  # What it chooses is in the key.
    "compiler.folders",
    "compiler.mistakes",
    "compiler.progress",
    "compiler.settings",  # Its result is in the key.
    "files",
    "game.arguments",
    "games.kit.base_rules",  # Methods that rules inherit are in the key.
    "games.kit.playouts",  # Its functions are in the key.
}
