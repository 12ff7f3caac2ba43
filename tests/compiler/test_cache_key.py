"""The key of machine code changes with all that compiled code sees, and with nothing else."""

import subprocess
import sys
import types
from typing import NamedTuple

import numpy as np
import pytest

from rave_agents.compiler import cache_key, layout, linking
from rave_agents.compiler.cache_key import CacheKey
from rave_agents.compiler.dispatch import OpenFunction, implements, kernel
from rave_agents.compiler.entry import Entry
from rave_agents.compiler.entry_code import key_of_entry
from rave_agents.compiler.toolchain import MAKERS
from rave_agents.games import GAMES, TERMINAL, Rules, rules_class
from rave_agents.games.kit import expanding, playing
from rave_agents.games.kit.machine import key_of_rules, loaded
from rave_agents.parts import beta, score
from rave_agents.solver import table
from rave_agents.solver.table import Sweep, count_work, make_table

EDITS = {
    "a constant": "def f(): return {n}",
    "a number": "N = {n}\ndef f(): return N",
    "a number in an inner function": "N = {n}\ndef f(): return (lambda: N)()",
    "a number that becomes true": "N = 1 if {n} == 3 else True\ndef f(): return str(N)",
    "a zero that becomes negative": "N = 0.0 if {n} == 3 else -0.0\ndef f(): return str(N)",
    "a set": "N = frozenset(({n}, 7, 'a', 'b'))\ndef f(): return sum(N - {{'a', 'b'}})",
    "a default": "def f(n={n}): return n",
    "a default by keyword": "def f(*, n={n}): return n",
    "a helper": "def g(): return {n}\ndef f(): return g()",
    "a helper's default": "def g(n=(1, ({n},))): return n[1][0]\ndef f(): return g()",
    "a helper's helper": "def h(): return {n}\ndef g(): return h()\ndef f(): return g()",
    "a helper of the kernel": "@kernel\ndef g(): return {n}\ndef f(): return g()",
    "a cell": "def outer(n):\n def f(): return n\n return f\nf = outer({n})",
    "a decorator": "def by(n):\n return lambda g: lambda: g() + n\n@by({n})\ndef f(): return 1",
    "a cached function":
        "import functools\n@functools.cache\ndef g(): return {n}\ndef f(): return g()",
    "what hides a function of Python":
        "if {n} == 5:\n def abs(x): return 5\ndef f(): return abs(-3)",
    "a number in a module": "import settings\ndef f(): return settings.N",
    "a module in a variable": "import settings\ndef f():\n s = settings\n return s.N",
    "a literal name in a module": "import settings\ndef f(): return getattr(settings, 'N')",
    "a helper in a third module": "import settings\ndef f(): return settings.inner.of()",
    "a module that makes its names": "import settings\ndef f(): return settings.lazy.N",
    "an enum": "import enum\nclass E(enum.Enum):\n A = {n}\ndef f(): return E.A.value",
    "an enum's item": "import enum\nclass E(enum.Enum):\n A = {n}\ndef f(): return E['A'].value",
    "an enum's member":
        "import enum\nclass E(enum.Enum):\n A = {n}\nN = E.A\ndef f(): return N.value",
    "a class inherited from": "class B:\n N = {n}\nclass S(B): pass\ndef f(): return S.N",
    "a method": "class S:\n def of(self): return {n}\ndef f(): return S.of(None)",
    "a static method": "class S:\n @staticmethod\n def of(): return {n}\ndef f(): return S.of()",
    "a property": "class S:\n @property\n def N(self): return {n}\ndef f(): return S.N.fget(None)",
    "a named tuple":
        "from typing import NamedTuple\nclass P(NamedTuple):\n a: int\nN = P({n})\n"
        "def f(): return N.a",
    "a named tuple's default":
        "from typing import NamedTuple\nclass P(NamedTuple):\n a: int = {n}\ndef f(): return P().a",
    "a named tuple's order":
        "from collections import namedtuple\nP = namedtuple('P', 'a b' if {n} == 3 else 'b a')\n"
        "N = P(3, 5)\ndef f(): return N.a",
    "a type of NumPy":
        "import numpy\nN = numpy.float64 if {n} == 3 else numpy.int64\ndef f(): return N(0.5)",
    "an array": "import numpy\nN = numpy.array([0, {n}])\ndef f(): return N[1]",
    "an array's shape":
        "import numpy\nN = numpy.zeros((15 // {n}, {n}))\ndef f(): return N.shape",
    "the fields of records":
        "import numpy\nN = numpy.array([(3, 5)], [('a', 'i8'), ('b', 'i8')] if {n} == 3 else "
        "[('b', 'i8'), ('a', 'i8')])\ndef f(): return N[0]['a']",
    "a record": "import numpy\nN = numpy.zeros(1, [('a', 'i8')])[0]\nN['a'] = {n}\n"
        "def f(): return N['a']",
}  # fmt: skip
"""Scripts whose function ``f`` gives one result for 3, another for 5."""


@pytest.fixture
def module(monkeypatch):
    """A module that scripts import, with a third one in it: ``edit(n)`` executes it again."""
    modules = [types.ModuleType(name) for name in ("settings", "inner", "lazy")]
    settings, inner, lazy = modules
    settings.inner, settings.lazy, inner.settings = inner, lazy, settings
    monkeypatch.setitem(sys.modules, "settings", settings)

    def edit(n):
        for one in (settings, inner):
            exec(f"N = {n}\ndef of(): return N + 0", vars(one))
        exec(f"def __getattr__(name): return {n}", vars(lazy))

    return edit


def run(script, n, written=None):
    """What a script writes into a module."""
    written = {"__name__": "script", "kernel": kernel} if written is None else written
    exec(script.format(n=n), written)
    return written


def key_of(function, *, only_users=False):
    key = CacheKey(only_users=only_users)
    key.add(function)
    key.add_bodies()
    return key


@pytest.mark.parametrize("script", EDITS.values(), ids=EDITS)
def test_an_edit_changes_the_key(script, module):
    results, digests = [], []
    for n in (3, 5, 3):
        module(n)
        written = run(script, n)
        results.append(repr(written["f"]()))
        digests.append(key_of(written["f"]).digest())
    assert results[0] == results[2] != results[1]
    assert digests[0] == digests[2] != digests[1]


@pytest.mark.parametrize("script", EDITS.values(), ids=EDITS)
def test_an_edit_under_a_function_that_stays_changes_its_key(script, module):
    """A function that is kept sees what the interpreter sees: the new helpers of its module."""
    module(3)
    written = run(script, 3)
    function = written["f"]
    before, kept = repr(function()), key_of(function, only_users=True)
    assert kept.identity() == key_of(function, only_users=True).identity()
    module(5)
    run(script, 5, written)
    is_same = kept.identity() == key_of(function, only_users=True).identity()
    assert is_same == (repr(function()) == before)


SAME = {
    "a comment": "N = {n}\ndef f():\n # {of}\n return N",
    "a line above": "N = {n}\n# {of}\n{line}def f(): return N",
    "the text that describes it": "N = {n}\ndef f():\n '{of}'\n return N",
    "another function": "N = {n}\ndef g(): return {of}\ndef f(): return N",
    "a number of an attribute's name": "real = {of}\ndef f(): return (3).real",
    "another name of a module": "import settings\nsettings.M = {of}\ndef f(): return settings.N",
    "another name of a class": "class S:\n N, M = {n}, {of}\ndef f(): return S.N",
    "an annotation": "N = {n}\ndef f(x: {of} = 3) -> {of}: return N",
    "the way to a number": "N = {n} + {of} - {of}\ndef f(): return N",
    "a function of one's own that is never called": "def f(): return {n}\ndef g(): return {of}",
}


@pytest.mark.parametrize("script", SAME.values(), ids=SAME)
def test_an_edit_elsewhere_leaves_the_key_as_it_is(script, module):
    module(3)
    digests = set()
    for of in (7, 8):
        written = {"__name__": "script"}
        exec(script.format(n=3, of=of, line="" if of == 7 else "\n\n"), written)
        digests.add(key_of(written["f"]).digest())
    assert len(digests) == 1


NUMBAS = {
    "a function": "@numba.njit\ndef g(): return {n}\ndef f(): return g()",
    "an option": "@numba.njit(fastmath={n} == 3)\ndef g(): return 1\ndef f(): return g()",
    "a helper of a function":
        "def h(): return {n}\n@numba.njit\ndef g(): return h()\ndef f(): return g()",
    "what stands for a function":
        "def g(): pass\n@overload(g)\ndef ov():\n return lambda: {n}\ndef f(): return g()",
    "what is made by hand": "@intrinsic\ndef g(context):\n return {n}\ndef f(): return g()",
}  # fmt: skip


@pytest.mark.parametrize("script", NUMBAS.values(), ids=NUMBAS)
def test_an_edit_of_what_numba_was_given_changes_the_key(script):
    script = f"import numba\nfrom numba.extending import *\n{script}"
    digests = [key_of(run(script, n)["f"]).digest() for n in (3, 5, 3)]
    assert digests[0] == digests[2] != digests[1]


UNKNOWN = {
    "an object": "N = object()\ndef f(): return N",
    "a C function": "import ctypes\nN = ctypes.CDLL(None).abs\ndef f(): return N",
    "an array of objects": "import numpy\nN = numpy.array([object()])\ndef f(): return N",
    "in a tuple": "N = (1, (object(),))\ndef f(): return N",
    "in a module": "import settings\nsettings.N = object()\ndef f(): return settings.N",
    "in a default": "def f(n=object()): return n",
}


@pytest.mark.parametrize("script", UNKNOWN.values(), ids=UNKNOWN)
def test_a_value_of_unknown_content_is_noted_and_known_by_itself(script, module):
    module(3)
    keys = [key_of(run(script, 3)["f"], only_users=True) for _ in range(2)]
    assert [len(key.unknown) for key in keys] == [1, 1]
    assert keys[0].digest() == keys[1].digest()
    assert keys[0].identity() != keys[1].identity()


LIBRARY = {
    "math": "import math\ndef f(): return math.sqrt(math.pi)",
    "numpy": "import numpy as np\ndef f(): return np.sqrt(np.sum(np.zeros(3, np.int8)))",
    "from numpy": "from numpy import sqrt, sum, int8\ndef f(): return sqrt(sum((int8(3), 1)))",
    "numba": "import numba\nI = numba.int64\ndef f(): return numba.prange(I(3))",
    "built in": "def f(): return max(abs(-1), len((1, 2)), int(2.5), range(3), True)",
}


@pytest.mark.parametrize("script", LIBRARY.values(), ids=LIBRARY)
def test_what_nobody_edits_is_known_by_its_name(script):
    key = key_of(run(script, 3)["f"], only_users=True)
    assert not key.unknown
    assert len("".join(key.text)) < 1500


def test_a_module_of_ones_own_may_be_called_like_one_of_pythons(monkeypatch, tmp_path):
    own = types.ModuleType("queue")
    own.__file__ = str(tmp_path / "queue.py")
    monkeypatch.setitem(sys.modules, "queue", own)
    cache_key._is_librarys.cache_clear()
    digests = set()
    for own.N in (3, 5):
        digests.add(key_of(run("import queue\ndef f(): return queue.N", 3)["f"]).digest())
    cache_key._is_librarys.cache_clear()
    assert len(digests) == 2


def test_functions_that_call_each_other_have_a_key():
    script = "def f(n={n}): return g(n)\ndef g(n): return f(n) if n else 0"
    digests = [key_of(run(script, n)["f"]).digest() for n in (0, 0, 1)]
    assert digests[0] == digests[1] != digests[2]


# The user's modules.

FORMULA = "from helper import by, weight\n\ndef f(): return by() * weight\n"
FILES = {
    "formula": FORMULA,
    "helper": "import third\nweight = third.weight\ndef by(): return 2\n",
    "third": "weight = 3\n",
    "unrelated": "import formula\n",
}
SHOW = """
import sys
import formula
{then}
from rave_agents.compiler.cache_key import CacheKey
key = CacheKey()
key.add(formula.f)
print(key.digest(), *key.reasons(), sep="\\n")
"""


@pytest.fixture
def shown(tmp_path):
    """The key of the formula in a fresh process, and why no other process can know it."""

    def show(then="", **edited):
        for name, text in (FILES | edited).items():
            (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        program = SHOW.format(then=then)
        command = [sys.executable, "-B", "-c", program]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        digest, *reasons = done.stdout.splitlines()
        return digest, reasons

    return show


def test_the_texts_of_files_with_the_users_functions_and_what_they_import_are_in_the_key(shown):
    first, reasons = shown()
    assert reasons == []
    assert shown() == (first, [])
    for name, text in (
        ("formula", f"{FORMULA}# another comment\n"),
        ("helper", f"{FILES['helper']}# another comment\n"),
        ("third", "weight = 4\n"),
    ):
        digest, reasons = shown(**{name: text})
        assert (digest != first, reasons) == (True, [])
    assert shown(unrelated="print(5)") == (first, [])


def test_what_differs_from_its_file_is_for_one_process(shown, tmp_path):
    edited = "import pathlib; pathlib.Path(formula.__file__).write_text('\\n\\n' + {!r})"
    file = tmp_path / "formula.py"
    assert shown(then=edited.format(FORMULA))[1] == [f"f: edited since {file} was imported"]
    assert shown(then="exec('def f(): return 1', vars(formula))")[1] == ["f: defined in no file"]


def test_a_number_that_the_text_does_not_determine_is_in_the_key(shown):
    assert shown(then="formula.weight = 4")[0] != shown()[0]


# Parts.

PARTS = """
from typing import NamedTuple
from rave_agents.parts import implements, score, beta, kernel

class Inner(NamedTuple):
    {fields}: float = 1.0

class Part(NamedTuple):
    a: float = 1.0
    {b}: float = {default}
    c: float = 1.0

INNER = Inner()

@implements(beta, Inner)
def inner(schedule, n, n_amaf): return {number}

@implements(score, Part)
def body(rule, amaf, node, edge): return beta(INNER, rule.a, rule.c)
"""
AS_WRITTEN = {"fields": "x", "b": "b", "default": 1.0, "number": 1.0}


def part_key(**changes):
    script = {"__name__": "script"}
    exec(PARTS.format(**AS_WRITTEN | changes), script)
    key = CacheKey([script["Part"]])
    key.add(score)
    key.add_bodies()
    return key.digest()


@pytest.mark.parametrize("change", [{"number": 2.0}, {"b": "another"}, {"fields": "y"}])
def test_a_part_is_known_by_its_fields_and_by_the_bodies_of_parts_that_are_constants(change):
    assert part_key() == part_key() != part_key(**change)


def test_a_default_of_a_part_is_no_constant():
    assert part_key() == part_key(default=2.0)


def test_records_are_known_by_the_exact_types_of_their_arrays():
    class Part(NamedTuple):
        rows: object

    kinds = ([("a", "i8"), ("b", "f8")], [("b", "f8"), ("a", "i8")])
    texts = {layout.kind_as_text(layout.kind_of(Part(np.zeros(2, kind)))) for kind in kinds}
    assert len(texts) == 2


def test_the_first_body_of_a_class_is_used_by_the_next_search():
    class Late(NamedTuple):
        c: float = 1.0

    before = OpenFunction.generation

    @implements(beta, Late)
    def late(schedule, n, n_amaf):
        return 0.5

    assert OpenFunction.generation > before
    assert score.body_for(Late) is score.default


# Rules.


def rules_script(**changes):
    told = {
        "constant": 1, "helper": 1, "default": 1, "setup": 1, "property": 1, "inherited": 1,
        "method": 1, "type": "np.int64", "string": 1, "unused": 1, "parameter": 1, "doc": "text",
    }  # fmt: skip
    script = {"__name__": "script", "Rules": Rules, "TERMINAL": TERMINAL, "np": np}
    script |= {"kernel": kernel}
    exec("import functools\n" + RULES.format(**told | changes), script)
    return script


RULES = '''
@kernel
def helper(x, by={default}): return x * by * {helper}

class Base(Rules):
    inherited = {inherited}
    def gain(self): return {method}

class Own(Base):
    """{doc}"""
    name = "own"
    num_players, num_distinct_actions, utility_sum = 1, 2, None
    fields = {{"taken": {type}}}
    size: int = {parameter}
    constant = {constant}
    unused = {unused}
    def setup(self): self.made = {setup}
    @property
    def asked(self): return self.constant * {property}
    @functools.cached_property
    def remembered(self): return 1
    def begin(self, state): state.taken = -1
    def player(self, state): return 0 if state.taken < 0 else TERMINAL
    def legal_actions(self, state, actions):
        """{doc}"""
        actions[0] = self.constant + self.made + self.asked + self.inherited + self.remembered
        return 1
    def play(self, state, action): state.taken = helper(action)
    def returns(self, state, returns): returns[0] = self.gain()
    def action_to_string(self, player, action): return "{string}"
'''
CHANGED = [
    "constant", "helper", "default", "setup", "property", "inherited", "method", "parameter"
]  # fmt: skip


def digest_of_rules(**changes):
    return key_of_rules(rules_script(**changes)["Own"]()).digest()


@pytest.mark.parametrize("change", [*({name: 2} for name in CHANGED), {"type": "np.int32"}])
def test_rules_are_known_by_all_that_compiled_code_has_of_them(change):
    assert digest_of_rules() == digest_of_rules() != digest_of_rules(**change)


@pytest.mark.parametrize("change", [{"string": 2}, {"unused": 2}, {"doc": "other"}])
def test_rules_are_not_known_by_what_is_not_compiled(change):
    assert digest_of_rules() == digest_of_rules(**change)


def test_an_attribute_of_rules_of_unknown_content_is_noted():
    own = rules_script()["Own"]()
    own.elsewhere = own.made = object()
    assert any(
        reason.startswith("made: of unknown content") for reason in key_of_rules(own).reasons()
    )


# The package's own code.


@pytest.mark.parametrize("kit", [playing, expanding])
def test_all_games_of_the_package_are_known_exactly(kit):
    keys = [key_of_rules(rules_class(name)(), kit) for name in GAMES]
    assert not any(key.unknown or key.own_functions for key in keys)
    assert len({key.digest() for key in keys}) == len(keys)


def test_a_constant_of_the_solver_is_in_its_key(monkeypatch):
    record = Sweep(make_table(1), np.zeros(64, np.int64))
    before = key_of_entry(count_work.function, record).digest()
    assert key_of_entry(count_work.function, record).digest() == before
    monkeypatch.setattr(table, "SLOTS", 8)
    assert key_of_entry(count_work.function, record).digest() != before


@pytest.fixture
def compiled_functions(monkeypatch, tmp_path):
    """The functions of this package that Numba compiles, with an empty cache."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(OpenFunction, "generation", OpenFunction.generation + 1)
    found, compile_extra = [], linking.LinkedCompiler.compile_extra

    def note(self, function):
        found.append(function)
        return compile_extra(self, function)

    monkeypatch.setattr(linking.LinkedCompiler, "compile_extra", note)
    makers = {f"rave_agents.{name}" for name in MAKERS}
    return lambda: {one.__code__ for one in found if one.__module__ not in makers}


def codes_in(key):
    return {one.__code__ for _, one in key._seen.values() if isinstance(one, types.FunctionType)}


@pytest.mark.compiled
@pytest.mark.full
def test_every_function_that_numba_compiles_for_rules_is_in_their_key(compiled_functions):
    rules = rules_class("tic_tac_toe")()
    loaded(rules)
    assert len(compiled_functions()) > 20
    assert compiled_functions() <= codes_in(key_of_rules(rules))


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize("preset", ["rave", "rave_pn"])
def test_every_function_that_numba_compiles_for_a_search_is_in_its_key(
    compiled_functions, preset, monkeypatch
):
    from helpers.games import random_game

    from rave_agents import Limit, SearchConfig, Searcher

    keys, bound = [], Entry.bound

    def note(entry, record):
        keys.append(key_of_entry(entry.function, record))
        return bound(entry, record)

    monkeypatch.setattr(Entry, "bound", note)
    Searcher(SearchConfig.preset(preset), seed=1).search(random_game(1), Limit(simulations=20))
    assert len(compiled_functions()) > 50
    assert compiled_functions() <= set().union(*map(codes_in, keys))
