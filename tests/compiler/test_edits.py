"""Code that is edited in a running process, or between two, runs as it is in the interpreter."""

import types
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.processes import run_compiling

from rave_agents.compiler import progress
from rave_agents.compiler.dispatch import OpenFunction, kernel
from rave_agents.compiler.edits import code_generation
from rave_agents.compiler.entry import Entry, entry
from rave_agents.parts import beta, implements

pytestmark = pytest.mark.compiled


class Part(NamedTuple):
    a: int = 2
    b: int = 7


class Record(NamedTuple):
    part: Any


@entry("a test")
def run_beta(record: Any, number: int) -> int:
    return int(beta(record.part, number, 1.0))


CELLS = {
    "a helper": ("@kernel\ndef g(n): return n * {n}", "g(n)"),
    "a helper's helper":
        ("@kernel\ndef h(n): return n * {n}\n@kernel\ndef g(n): return h(n)", "g(n)"),
    "a closure":
        ("def outer(by):\n @kernel\n def g(n): return n * by\n return g\ng = outer({n})", "g(n)"),
    "an enum": ("class E(enum.Enum):\n A = {n}", "n * E.A.value"),
    "a named tuple's fields": (
        "P = collections.namedtuple('P', 'a b' if {n} == 3 else 'b a')\nN = P(3, 5)", "n * N.a"
    ),
    "an array that is not contiguous": ("N = np.array([1, 0, {n}, 0])[::2]", "n * N[1]"),
    "a module's helper":
        ("m = types.ModuleType('m')\nm.g = kernel(lambda n: n * {n})", "m.g(n)"),
    "a part that is a constant": (
        "class Q(NamedTuple):\n a: int\nN = Q(1)\n"
        "@implements(beta, Q)\ndef q(schedule, n, n_amaf): return n * {n}", "beta(N, n, n_amaf)"
    ),
    "a body of a part that is a constant": (
        "N = Part(1)\n@implements(beta, Part)\ndef q(schedule, n, n_amaf): return n * {n}",
        "beta(N, n, n_amaf)"
    ),
    "a function of Numba's": ("@numba.njit\ndef g(n): return n * {n}", "g(n)"),
    "what stands for a function": (
        "def g(n): return n * {n}\n@numba.extending.overload(g)\ndef ov(n):\n"
        " return lambda n: n * {n}", "g(n)"
    ),
    "the order of sums": (
        "from rave_agents.compiler.dispatch import summing_kernel\n"
        "@(kernel if {n} == 3 else summing_kernel)\ndef g(n): return n * {n}", "g(n)"
    ),
}  # fmt: skip
"""Cells that define a helper, and what a formula makes of it."""

FORMULA = """
import collections, enum, types
import numba
import numpy as np
from typing import NamedTuple

@numba.njit
def numbas(n): return n * by

class Own(NamedTuple):
    a: int = 1

@implements(beta, Own)
def formula(schedule, n, n_amaf): return RETURNED
"""


@pytest.fixture(autouse=True)
def _forget_parts():
    """Forget the parts of a test, whose modules no other process can import."""
    kept = [(opened, dict(opened.implementations)) for opened in OpenFunction.everyone]
    yield
    for opened, implementations in kept:
        opened.implementations.clear()
        opened.implementations.update(implementations)
    OpenFunction.generation += 1


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def compiled_and_interpreted(record, run=run_beta):
    """What a search that begins now would compute, and what the interpreter does."""
    code_generation()
    return run.bound(record)(7), run.function(record, 7)


@pytest.mark.compiled
@pytest.mark.usefixtures("cache")
@pytest.mark.full(but=["a helper", "an enum"])
@pytest.mark.parametrize(("cell", "returned"), CELLS.values(), ids=CELLS)
def test_an_edited_cell_of_a_helper_is_compiled_into_the_next_search(cell, returned):
    notebook = {"__name__": "notebook", "kernel": kernel, "implements": implements, "beta": beta}
    notebook["Part"] = Part
    exec(FORMULA.replace("RETURNED", returned), notebook)
    record, told = Record(notebook["Own"]()), []
    for n in (3, 3, 5, 3):
        exec(cell.format(n=n), notebook)
        told.append(compiled_and_interpreted(record))
        told.append(compiled_and_interpreted(record, Entry(run_beta.function, "a test")))
    assert all(one == other for one, other in told), told
    assert len(set(told)) == 2


@pytest.mark.compiled
@pytest.mark.usefixtures("cache")
@pytest.mark.full
def test_what_is_changed_in_place_is_compiled_into_the_next_search():
    notebook = {"__name__": "notebook", "kernel": kernel, "implements": implements, "beta": beta}
    exec(FORMULA.replace("RETURNED", "n * N[0] + m.N + g(n)"), notebook)
    notebook["N"], notebook["m"] = np.array([3, 5]), types.ModuleType("m")
    notebook["m"].N = 1
    exec("def plain(n, by=2): return n * by\ng = kernel(plain)", notebook)
    record, results = Record(notebook["Own"]()), []
    for edit in (
        lambda: None,
        lambda: notebook["N"].__setitem__(0, 4),
        lambda: setattr(notebook["m"], "N", 2),
        lambda: setattr(notebook["plain"], "__defaults__", (3,)),
        lambda: setattr(notebook["plain"], "__code__", (lambda n, by: n - by).__code__),
    ):
        edit()
        result, interpreted = compiled_and_interpreted(record)
        assert result == interpreted
        results.append(result)
    assert len(set(results)) == len(results)


@pytest.mark.compiled
@pytest.mark.usefixtures("cache")
@pytest.mark.full
def test_a_function_of_numbas_that_looks_up_an_edited_constant_is_compiled_anew():
    """Numba itself goes on with the old one."""
    notebook = {"__name__": "notebook", "kernel": kernel, "implements": implements, "beta": beta}
    exec(FORMULA.replace("RETURNED", "numbas(n)"), notebook)
    record, results = Record(notebook["Own"]()), []
    for notebook["by"] in (3, 5, 3):
        assert notebook["numbas"](7) in {21, 35}
        code_generation()
        results.append(run_beta.bound(record)(7))
    assert results == [21, 35, 21]


@pytest.mark.compiled
def test_what_no_file_has_is_compiled_once_in_a_process_and_that_is_said_once(
    cache, caplog, monkeypatch
):
    monkeypatch.setattr(progress, "_logged", set())
    notebook = {"__name__": "notebook", "implements": implements, "beta": beta}
    told = []
    for returned in ("n", "n + 1", "n"):
        exec(FORMULA.replace("RETURNED", returned), notebook)
        told.append(compiled_and_interpreted(Record(notebook["Own"]())))
    assert told == [(7, 7), (8, 8), (7, 7)]
    assert not [path for path in cache.rglob("*") if path.is_file()]
    assert caplog.text.count("compiling a test") == 2
    assert caplog.text.count("it is not kept on disk: formula: defined in no file") == 1


def run(program, script=None, **environment):
    """Run a program, as a script in a file if that is given."""
    if script is None:
        return run_compiling("-c", program, **environment)
    script.write_text(program)
    return run_compiling(script, **environment)


FORMULA_OF_A_SCRIPT = """
import enum
from typing import NamedTuple
from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import implements, kernel, score
from helpers.games import random_game

class Sign(enum.Enum):
    S = SIGN

@kernel
def tried(n, weight=WEIGHT):
    return weight * n

class Fixed(NamedTuple):
    c: float = 0.1

@implements(score, Fixed)
def fixed(rule, amaf, node, edge):
    return Sign.S.value * tried(edge.n)

result = Searcher(SearchConfig(rule=Fixed()), seed=1).search(random_game(1), Limit(simulations=60))
visits = sorted(row.visits for row in result.actions)
print("evenly" if visits[-1] - visits[0] <= 1 else "one")
"""


@pytest.mark.full
def test_an_edited_default_and_an_edited_enum_are_compiled_anew(tmp_path):
    told = []
    for weight, sign in (("-1.0", "1"), ("1.0", "1"), ("-1.0", "-1"), ("-1.0", "1")):
        program = FORMULA_OF_A_SCRIPT.replace("WEIGHT", weight).replace("SIGN", sign)
        done = run(program, tmp_path / "script.py", NUMBA_CACHE_DIR=str(tmp_path))
        told.append((done.stdout.strip(), "compiling the search" in done.stderr))
    assert told == [("evenly", True), ("one", True), ("one", True), ("evenly", False)]


RULES = """
import enum
import numpy as np
from rave_agents import Limit, Searcher
from rave_agents.games import TERMINAL, Rules
from rave_agents.parts import kernel

class Prize(enum.IntEnum):
    FIRST = {enum}

KIND = np.{kind}
{array}

@kernel
def bonus(x, by={default}):
    return x * by

class Pick(Rules):
    name = "pick"
    num_players, num_distinct_actions, utility_sum = 1, 2, None
    min_utility, max_utility = -1000.0, 1000.0
    fields = {{"taken": np.int64}}
    def begin(self, state): state.taken = -1
    def player(self, state): return 0 if state.taken < 0 else TERMINAL
    def legal_actions(self, state, actions):
        actions[0] = 0
        actions[1] = 1
        return 2
    def play(self, state, action): state.taken = action
    def returns(self, state, returns):
        returns[0] = bonus(1.0) if state.taken == 0 else 10.0 * KIND(0.5) + Prize.FIRST.value
        returns[0] += ARRAY[100]

def told():
    searcher = Searcher(seed=1)
    result = searcher.search(Pick().new_initial_state(), Limit(simulations=50))
    assert result.provider == "compiled rules"
    return [round(row.value) for row in sorted(result.actions, key=lambda row: row.action)]

print(told())
"""
AS_WRITTEN = {"enum": 1, "kind": "float64", "default": 3.0, "array": "ARRAY = np.zeros(200)"}


@pytest.mark.full
def test_edited_rules_are_compiled_anew(tmp_path):
    told, script = {}, tmp_path / "script.py"
    for edits in ({}, {"default": 300.0}, {"enum": 100}, {"kind": "int64"}):
        done = run(RULES.format(**AS_WRITTEN | edits), script, NUMBA_CACHE_DIR=str(tmp_path))
        told[str(edits)] = done.stdout.strip()
    assert list(told.values()) == ["[3, 6]", "[300, 6]", "[3, 105]", "[3, 1]"]
    again = run(RULES.format(**AS_WRITTEN), script, NUMBA_CACHE_DIR=str(tmp_path))
    assert (again.stdout, again.stderr) == ("[3, 6]\n", "")


@pytest.mark.full
@pytest.mark.parametrize("array", ["np.arange(400)[::2]", "np.ones(200_000)"])
def test_code_that_has_an_array_by_its_address_is_not_kept(tmp_path, array):
    program = RULES.format(**AS_WRITTEN | {"array": f"ARRAY = {array}"})
    first, second = (run(program, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.stdout == second.stdout != "[3, 6]\n"
    assert "it is not kept on disk: it has a large array" in second.stderr


NOTEBOOK = """
@kernel
def bonus(x):
    return x * 30.0

print(told())
Pick.player = lambda self, state: TERMINAL if state.taken >= 0 else 0
Pick.returns = lambda self, state, returns: None
print(told())
"""


@pytest.mark.full
def test_an_edited_cell_of_a_helper_of_rules_is_compiled_into_the_next_search(tmp_path):
    program = RULES.format(**AS_WRITTEN) + NOTEBOOK
    assert run(program, NUMBA_CACHE_DIR=str(tmp_path)).stdout == "[3, 6]\n[30, 6]\n[0, 0]\n"


HELPER = """
from rave_agents.parts import kernel
WEIGHT = {weight}
@kernel
def tried(n): return {literal} * WEIGHT * n
"""

USER = """
import pathlib
import helper_of_mine
{use}
from typing import NamedTuple
from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import implements, score
from helpers.games import random_game

class Fixed(NamedTuple):
    c: float = 0.1

@implements(score, Fixed)
def fixed(rule, amaf, node, edge): return {call}(edge.n)

searcher = Searcher(SearchConfig(rule=Fixed()), seed=1)

def told():
    result = searcher.search(random_game(1), Limit(simulations=60))
    visits = sorted(row.visits for row in result.actions)
    return "evenly" if visits[-1] - visits[0] <= 1 else "one"

print(told())
"""
WRITE = "written = pathlib.Path(helper_of_mine.__file__).write_text({edited!r})"

SHELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "autoreload")
shell.run_line_magic("autoreload", "2{option}")
for cell in ("pass", {cell!r}, {write!r}, "print(told())"):
    assert shell.run_cell(cell).success
"""

USES = {
    "as a module": ("import helper_of_mine as h", "h.tried"),
    "its function": ("from helper_of_mine import tried", "tried"),
}


@pytest.mark.full
@pytest.mark.parametrize("how", ["importlib", "autoreload", "autoreload --full"])
@pytest.mark.parametrize(("use", "call"), USES.values(), ids=USES)
def test_a_helpers_module_that_is_reloaded_is_compiled_into_the_next_search(
    tmp_path, use, call, how
):
    (tmp_path / "helper_of_mine.py").write_text(HELPER.format(weight=-1.0, literal=1.0))
    # A name that was imported has the old function after a reload, which has the new constants.
    after = {"weight": 1.0, "literal": 1.0} if how == "importlib" else {"weight": -1.0}
    edited = HELPER.format(**{"literal": -1.0} | after)
    cell, write = USER.format(use=use, call=call), WRITE.format(edited=edited)
    if how == "importlib":
        reload = "import importlib\nimportlib.reload(helper_of_mine)"
        program = f"{cell}\n{write}\n{reload}\nprint(told())"
    else:
        pytest.importorskip("IPython")
        program = SHELL.format(cell=cell, write=write, option=how.removeprefix("autoreload"))
    environment = {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = run(program, NUMBA_CACHE_DIR=str(tmp_path / "cache"), **environment)
    assert done.stdout.split() == ["evenly", "one"], done.stderr


SETTINGS = """
import numpy as np
from rave_agents.simulate.random_stream import fill_words, make_stream
stream, words = make_stream(np.random.SeedSequence(1)), np.empty(1, np.int64)
fill_words(stream, words)
"""


@pytest.mark.full
def test_code_of_other_settings_is_not_used(tmp_path):
    settings = [{}, {"NUMBA_OPT": "0"}, {"NUMBA_ENABLE_AVX": "0"}, {"NUMBA_CPU_NAME": "generic"}]
    settings += [{"NUMBA_BOUNDSCHECK": "1"}, {"NUMBA_DEBUGINFO": "1"}]
    compiled = [
        "compiling" in run(SETTINGS, NUMBA_CACHE_DIR=str(tmp_path), **setting).stderr
        for setting in (*settings, *settings)
    ]
    assert compiled == [True] * len(settings) + [False] * len(settings)


SEARCH = """
from rave_agents import Limit, SearchConfig, Searcher
from helpers.games import random_game
searcher = Searcher(SearchConfig.preset("uct"), seed=1)
print(searcher.search(random_game(1), Limit(simulations=300)).to_dict()["actions"])
"""


@pytest.mark.full
@pytest.mark.parametrize(
    "setting", ["NUMBA_DEBUGINFO", "NUMBA_BOUNDSCHECK", "NUMBA_DEVELOPER_MODE"]
)
def test_a_search_is_the_same_under_settings_that_help_to_find_mistakes(tmp_path, setting):
    usual = run(SEARCH, NUMBA_DISABLE_JIT="1").stdout
    assert run(SEARCH, NUMBA_CACHE_DIR=str(tmp_path), **{setting: "1"}).stdout == usual
