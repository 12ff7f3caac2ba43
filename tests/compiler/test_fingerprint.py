"""All that compiled code has as a constant is in its fingerprint, and is watched."""

import dis
import functools
import inspect
import sys
import types
from typing import NamedTuple

import numpy as np
import pytest

from rave_agents.compiler import layout
from rave_agents.compiler.changes import Watched, code_generation, watch
from rave_agents.compiler.dispatch import OpenFunction, implements, kernel
from rave_agents.compiler.fingerprint import Fingerprint, code_as_text
from rave_agents.compiler.looked_up import looked_up
from rave_agents.compiler.sources import sources_name
from rave_agents.games import TERMINAL, Rules
from rave_agents.games.hex import Hex
from rave_agents.games.kit.machine import sources_of_rules
from rave_agents.parts import beta, score

EDITS = {
    "an operator": "def f(): return 3 if '{n}' == '3' else 2 + 3",
    "a number": "N = {n}\ndef f(): return N",
    "a number in an inner function": "N = {n}\ndef f(): return (lambda: N)()",
    "a number that becomes real": "N = 3 if {n} == 3 else 3.0\ndef f(): return str(N)",
    "a number that becomes true": "N = 1 if {n} == 3 else True\ndef f(): return str(N)",
    "a zero that becomes negative": "N = 0.0 if {n} == 3 else -0.0\ndef f(): return str(N)",
    "a text": "N = 'n{n}'\ndef f(): return N",
    "bytes": "N = b'n{n}'\ndef f(): return N",
    "a range": "N = range({n})\ndef f(): return len(N)",
    "a slice": "N = slice({n})\ndef f(): return (1, 2, 3, 4, 5)[N]",
    "a set": "N = frozenset(({n}, 7, 'a', 'b'))\ndef f(): return sum(N - {{'a', 'b'}})",
    "a number of a class of its own": "class I(int): pass\nN = I({n})\ndef f(): return N + 0",
    "a default": "def f(n={n}): return n",
    "a default by keyword": "def f(*, n={n}): return n",
    "a default of a helper": "def g(n={n}): return n\ndef f(): return g()",
    "a keyword default of a helper": "def g(*, n={n}): return n\ndef f(): return g()",
    "a default that is a tuple": "def f(n=(1, ({n},))): return n[1][0]",
    "a helper": "def g(): return {n}\ndef f(): return g()",
    "a helper's helper": "def h(): return {n}\ndef g(): return h()\ndef f(): return g()",
    "a lambda": "g = lambda: {n}\ndef f(): return g()",
    "a helper of the kernel": "@kernel\ndef g(): return {n}\ndef f(): return g()",
    "a cell": "def outer(n):\n def f(): return n\n return f\nf = outer({n})",
    "a cell of a cell":
        "def outer(n):\n def g(): return n\n def f(): return g()\n return f\nf = outer({n})",
    "a decorator": "def by(n):\n return lambda g: lambda: g() + n\n@by({n})\ndef f(): return 1",
    "a partial": "import functools\ndef g(n): return n\nf = functools.partial(g, {n})",
    "a partial by keyword":
        "import functools\ndef g(n=1): return n\nf = functools.partial(g, n={n})",
    "what hides a function of Python":
        "if {n} == 5:\n def abs(x): return 5\ndef f(): return abs(-3)",
    "an exception that is caught":
        "def f():\n try: return [1, 2, 3][4 - {n}]\n except IndexError: return {n}",
    "a number in a module": "import settings\ndef f(): return settings.N",
    "a number taken from a module": "from settings import N\ndef f(): return N",
    "a module of another name": "import settings as s\ndef f(): return s.N",
    "a module in a variable": "import settings\ndef f():\n s = settings\n return s.N",
    "a literal name in a module": "import settings\ndef f(): return getattr(settings, 'N')",
    "a function in a module": "import settings\ndef f(): return settings.of()",
    "a module in a module": "import settings\ndef f(): return settings.inner.settings.inner.N",
    "a helper in a third module": "import settings\ndef f(): return settings.inner.of()",
    "a module that makes its names": "import settings\ndef f(): return settings.lazy.N",
    "an enum": "import enum\nclass E(enum.Enum):\n A = {n}\ndef f(): return E.A.value",
    "an enum of numbers": "import enum\nclass E(enum.IntEnum):\n A = {n}\ndef f(): return E.A + 0",
    "an enum of flags": "import enum\nclass E(enum.Flag):\n A = {n}\ndef f(): return E.A.value",
    "flags of numbers": "import enum\nclass E(enum.IntFlag):\n A = {n}\ndef f(): return E.A + 0",
    "an enum's item": "import enum\nclass E(enum.Enum):\n A = {n}\ndef f(): return E['A'].value",
    "an enum's member":
        "import enum\nclass E(enum.Enum):\n A = {n}\nN = E.A\ndef f(): return N.value",
    "an enum of another base":
        "import enum\nclass E(enum.IntEnum if {n} == 3 else enum.Enum):\n A = 1\n"
        "def f(): return 3 if E.A == 1 else 5",
    "a class": "class S:\n N = {n}\ndef f(): return S.N",
    "a class inherited from": "class B:\n N = {n}\nclass S(B): pass\ndef f(): return S.N",
    "a class in a class": "class S:\n class T:\n  N = {n}\ndef f(): return S.T.N",
    "a method": "class S:\n def of(self): return {n}\ndef f(): return S.of(None)",
    "a static method": "class S:\n @staticmethod\n def of(): return {n}\ndef f(): return S.of()",
    "a class method": "class S:\n @classmethod\n def of(cls): return {n}\ndef f(): return S.of()",
    "a property": "class S:\n @property\n def N(self): return {n}\ndef f(): return S.N.fget(None)",
    "a tuple": "N = (1, ({n}, 2))\ndef f(): return N[1][0]",
    "a named tuple":
        "from typing import NamedTuple\nclass P(NamedTuple):\n a: int\nN = P({n})\n"
        "def f(): return N.a",
    "a named tuple's default":
        "from typing import NamedTuple\nclass P(NamedTuple):\n a: int = {n}\ndef f(): return P().a",
    "a named tuple's order":
        "from collections import namedtuple\nP = namedtuple('P', 'a b' if {n} == 3 else 'b a')\n"
        "N = P(3, 5)\ndef f(): return N.a",
    "a number of NumPy": "import numpy\nN = numpy.uint64({n})\ndef f(): return N",
    "a date": "import numpy\nN = numpy.datetime64({n}, 's')\ndef f(): return N",
    "a type of NumPy":
        "import numpy\nN = numpy.float64 if {n} == 3 else numpy.int64\ndef f(): return N(0.5)",
    "a dtype":
        "import numpy\nN = numpy.dtype('f{{}}'.format(4 if {n} == 3 else 8))\n"
        "def f(): return N.itemsize",
    "an array": "import numpy\nN = numpy.array([0, {n}])\ndef f(): return N[1]",
    "an array's type":
        "import numpy\nN = numpy.zeros(2, 'i{{}}'.format(4 if {n} == 3 else 8))\n"
        "def f(): return N.itemsize",
    "an array's shape":
        "import numpy\nN = numpy.zeros((15 // {n}, {n}))\ndef f(): return N.shape",
    "a tuple of arrays": "import numpy\nN = (numpy.array([{n}]),)\ndef f(): return N[0][0]",
    "an array of records":
        "import numpy\nN = numpy.array([(1, {n})], [('a', 'i8'), ('b', 'i8')])\n"
        "def f(): return N[0]['b']",
    "the fields of records":
        "import numpy\nN = numpy.array([(3, 5)], [('a', 'i8'), ('b', 'i8')] if {n} == 3 else "
        "[('b', 'i8'), ('a', 'i8')])\ndef f(): return N[0]['a']",
    "a record":
        "import numpy\nN = numpy.zeros(1, [('a', 'i8')])[0]\nN['a'] = {n}\n"
        "def f(): return N['a']",
    "a record's alignment":
        "import numpy\nN = numpy.dtype([('a', 'i1'), ('b', 'i8')], align={n} == 3)\n"
        "def f(): return N.itemsize",
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


def fingerprint(function):
    found = Fingerprint()
    found.add(function)
    return found


@pytest.mark.parametrize("script", EDITS.values(), ids=EDITS)
def test_an_edit_changes_the_fingerprint(script, module):
    results, texts = [], []
    for n in (3, 5, 3):
        module(n)
        written = run(script, n)
        found = fingerprint(written["f"])
        assert not found.unknown
        results.append(repr(written["f"]()))
        texts.append("\0".join(found.text))
    assert results[0] == results[2] != results[1]
    assert texts[0] == texts[2] != texts[1]


@pytest.mark.parametrize("script", EDITS.values(), ids=EDITS)
def test_what_a_function_sees_of_a_cell_that_is_run_again_is_watched(script, module):
    """A function that is kept sees what the interpreter sees: the new helpers of its module."""
    module(3)
    written = run(script, 3)
    function = written["f"]
    watched = fingerprint(function).watched
    before = repr(function())
    assert watched.is_unchanged()
    module(5)
    run(script, 5, written)
    if repr(function()) != before:
        assert not watched.is_unchanged()


SAME = {
    "a comment": "N = {n}\ndef f():\n # {of}\n return N",
    "a line above": "N = {n}\n# {of}\n{line}def f(): return N",
    "the text that describes it": "N = {n}\ndef f():\n '{of}'\n return N",
    "another function": "N = {n}\ndef g(): return {of}\ndef f(): return N",
    "another number": "N, M = {n}, {of}\ndef f(): return N",
    "a number of an attribute's name": "real = {of}\ndef f(): return (3).real",
    "another name of a module": "import settings\nsettings.M = {of}\ndef f(): return settings.N",
    "another name of a class": "class S:\n N, M = {n}, {of}\ndef f(): return S.N",
    "an annotation": "N = {n}\ndef f(x: {of} = 3) -> {of}: return N",
    "the way to a number": "N = {n} + {of} - {of}\ndef f(): return N",
    "an equal array": "import numpy\nx = {of}\nN = numpy.array([{n}])\ndef f(): return N[0]",
}


@pytest.mark.parametrize("script", SAME.values(), ids=SAME)
def test_an_edit_elsewhere_leaves_the_fingerprint_as_it_is(script, module):
    module(3)
    texts = set()
    for of in (7, 8):
        line = "" if of == 7 else "\n\n"
        written = {"__name__": "script"}
        exec(script.format(n=3, of=of, line=line), written)
        texts.add(code_as_text(written["f"]))
    assert len(texts) == 1


def by_numba(script):
    """A script with functions that the user has given to Numba."""
    return f"import numba\nfrom numba.extending import *\n{script}"


NUMBAS = {
    "a function": "@numba.njit\ndef g(): return {n}\ndef f(): return g()",
    "an option": "@numba.njit(fastmath={n} == 3)\ndef g(): return 1\ndef f(): return g()",
    "a helper of a function":
        "def h(): return {n}\n@numba.njit\ndef g(): return h()\ndef f(): return g()",
    "what stands for a function":
        "def g(): pass\n@overload(g)\ndef ov():\n return lambda: {n}\ndef f(): return g()",
    "a function for both": "@register_jitable\ndef g(): return {n}\ndef f(): return g()",
    "what is made by hand":
        "@intrinsic\ndef g(context):\n return {n}\ndef f(): return g()",
}  # fmt: skip


@pytest.mark.parametrize("script", NUMBAS.values(), ids=NUMBAS)
def test_an_edit_of_what_numba_was_given_changes_the_fingerprint(script):
    texts = [code_as_text(run(by_numba(script), n)["f"]) for n in (3, 5, 3)]
    assert texts[0] == texts[2] != texts[1]


UNKNOWN = {
    "an object": "N = object()\ndef f(): return N",
    "a C function": "import ctypes\nN = ctypes.CDLL(None).abs\ndef f(): return N",
    "an array of objects": "import numpy\nN = numpy.array([object()])\ndef f(): return N",
    "a kind of array": "import numpy\nN = numpy.ma.masked_array([1])\ndef f(): return N",
    "in a tuple": "N = (1, (object(),))\ndef f(): return N",
    "in a module": "import settings\nsettings.N = object()\ndef f(): return settings.N",
    "in a default": "def f(n=object()): return n",
    "a bound method": "N = [].append\ndef f(): return N",
}


@pytest.mark.parametrize("script", UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_told_exactly_is_noted(script, module):
    module(3)
    assert len(fingerprint(run(script, 3)["f"]).unknown) == 1


LIBRARY = {
    "math": "import math\ndef f(): return math.sqrt(math.pi)",
    "from math": "from math import sqrt, pi\ndef f(): return sqrt(pi)",
    "numpy": "import numpy as np\ndef f(): return np.sqrt(np.sum(np.zeros(3, np.int8)))",
    "from numpy": "from numpy import sqrt, sum, int8\ndef f(): return sqrt(sum((int8(3), 1)))",
    "numba": "import numba\nI = numba.int64\ndef f(): return numba.prange(I(3))",
    "built in": "def f(): return max(abs(-1), len((1, 2)), int(2.5), range(3), True)",
}


@pytest.mark.parametrize("script", LIBRARY.values(), ids=LIBRARY)
def test_what_nobody_edits_is_told_by_its_name(script):
    found = fingerprint(run(script, 3)["f"])
    assert not found.unknown
    assert len("".join(found.text)) < 1500


def test_a_module_of_ones_own_may_be_called_like_one_of_pythons(monkeypatch, tmp_path):
    from rave_agents.compiler import fingerprint as module

    (tmp_path / "queue.py").write_text("N = 3")
    own = types.ModuleType("queue")
    own.__file__ = str(tmp_path / "queue.py")
    monkeypatch.setitem(sys.modules, "queue", own)
    module._is_librarys.cache_clear()
    texts = []
    for own.N in (3, 5):
        texts.append(code_as_text(run("import queue\ndef f(): return queue.N", 3)["f"]))
    module._is_librarys.cache_clear()
    assert texts[0] != texts[1]


def test_functions_that_call_each_other_have_a_fingerprint():
    script = "def f(n={n}): return g(n)\ndef g(n): return f(n) if n else 0"
    assert code_as_text(run(script, 0)["f"]) == code_as_text(run(script, 0)["f"])
    assert code_as_text(run(script, 0)["f"]) != code_as_text(run(script, 1)["f"])
    looped = {"__name__": "script"}
    exec("loop = [1]\nloop.append(loop)\ndef f(): return loop", looped)
    assert code_as_text(looped["f"]) == code_as_text(looped["f"])


@pytest.mark.parametrize("name", ["dis", "inspect", "functools", "dataclasses", "argparse"])
def test_globals_are_those_that_python_itself_finds_in_the_bytecode(name):
    module = __import__(name)
    functions = [one for one in vars(module).values() if inspect.isfunction(one)]

    def found(code):
        names = {one.argval for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}
        inner = [one for one in code.co_consts if isinstance(one, types.CodeType)]
        return names.union(*map(found, inner))

    assert len(functions) > 2
    for function in functions:
        assert looked_up(function.__code__).globals == found(function.__code__), function


# In place.


def patched(edit):
    """Whether a change of a function in place, as a reload makes them, is seen."""
    written = run("class S:\n N = 3\ndef g(n=3, *, m=1): return n + S.N\ndef f(): return g()", 3)
    watched = fingerprint(written["f"]).watched
    assert watched.is_unchanged()
    edit(written)
    return not watched.is_unchanged()


IN_PLACE = {
    "code": lambda written: setattr(written["g"], "__code__", (lambda n, *, m: 1).__code__),
    "defaults": lambda written: setattr(written["g"], "__defaults__", (4,)),
    "defaults by keyword": lambda written: setattr(written["g"], "__kwdefaults__", {"m": 2}),
    "a class's attribute": lambda written: setattr(written["S"], "N", 4),
    "a name that is gone": lambda written: written.pop("g"),
}


@pytest.mark.parametrize("edit", IN_PLACE.values(), ids=IN_PLACE)
def test_a_change_in_place_is_seen(edit):
    assert patched(edit)


def test_what_says_nothing_new_is_no_change():
    assert not patched(lambda written: setattr(written["S"], "N", int("3")))
    assert not patched(lambda written: written.update(other=5))


def test_arrays_are_watched_for_what_they_have():
    written = run("import numpy\nN = numpy.arange({n})\ndef f(): return N[0]", 3)
    watched = fingerprint(written["f"]).watched
    assert watched.is_unchanged()
    written["N"][1] = 7
    assert not watched.is_unchanged()


def test_cells_are_watched():
    written = run("def outer(n):\n def f(): return n\n def put(m):\n  nonlocal n\n  n = m\n"
                  " return f, put\nf, put = outer({n})", 3)  # fmt: skip
    watched = fingerprint(written["f"]).watched
    assert watched.is_unchanged()
    written["put"](4)
    assert not watched.is_unchanged()


def test_a_change_of_what_is_watched_begins_a_generation():
    written = run("N = {n}\ndef f(): return N", 3)
    before = code_generation()
    watch(fingerprint(written["f"]).watched)
    assert code_generation() == before
    written["N"] = 4
    assert code_generation() == before + 1
    assert code_generation() == before + 1


def test_the_packages_own_code_costs_no_watching():
    assert sources_of_rules(Hex()).watched == Watched({}, {}, {}, {})


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


def part_name(**changes):
    script = {"__name__": "script"}
    exec(PARTS.format(**AS_WRITTEN | changes), script)
    return sources_name([script["Part"]])


@pytest.mark.parametrize("change", [{"number": 2.0}, {"b": "another"}, {"fields": "y"}])
def test_a_part_is_known_by_its_fields_and_by_the_bodies_of_parts_that_are_constants(change):
    assert part_name() == part_name() != part_name(**change)


def test_a_default_of_a_part_is_no_constant():
    assert part_name() == part_name(default=2.0)


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
    script |= {"kernel": kernel, "functools": functools}
    exec(RULES.format(**told | changes), script)
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
    return sources_of_rules(rules_script(**changes)["Own"]()).digest()


@pytest.mark.parametrize("change", [*({name: 2} for name in CHANGED), {"type": "np.int32"}])
def test_rules_are_known_by_all_that_compiled_code_has_of_them(change):
    assert digest_of_rules() == digest_of_rules() != digest_of_rules(**change)


@pytest.mark.parametrize("change", [{"string": 2}, {"unused": 2}, {"doc": "other"}])
def test_rules_are_not_known_by_what_is_not_compiled(change):
    assert digest_of_rules() == digest_of_rules(**change)


RULES_IN_PLACE = {
    "a helper's cell": lambda script: script.update(helper=kernel(lambda x: 2)),
    "a method": lambda script: setattr(script["Base"], "gain", lambda self: 2),
    "a constant": lambda script: setattr(script["Own"], "constant", 2),
    "a constant that is inherited": lambda script: setattr(script["Base"], "inherited", 2),
    "a constant that hides another": lambda script: setattr(script["Own"], "inherited", 2),
    "an attribute": lambda script: setattr(script["own"], "made", 2),
}


@pytest.mark.parametrize("edit", RULES_IN_PLACE.values(), ids=RULES_IN_PLACE)
def test_rules_are_watched(edit):
    script = rules_script()
    script["own"] = script["Own"]()
    watched = sources_of_rules(script["own"]).watched
    assert watched.is_unchanged()
    edit(script)
    assert not watched.is_unchanged()


def test_what_rules_look_up_and_cannot_be_told_is_noted():
    own = rules_script()["Own"]()
    own.elsewhere = object()
    assert not sources_of_rules(own).unknown
    own.made = object()
    assert sources_of_rules(own).unknown == {"made": "builtins.object"}
