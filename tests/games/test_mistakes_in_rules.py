"""Mistakes in a user's rules: what is told of them, and where."""

import inspect
import linecache

import numpy as np
import pytest
from helpers import mistaken_rules
from helpers.mistaken_rules import Heap, Raises

from rave_agents import Limit, Searcher
from rave_agents.errors import ConformanceError, GameError
from rave_agents.games.hex import Hex
from rave_agents.games.kit import machine
from rave_agents.games.kit.trial import try_out
from rave_agents.testing import check_rules

pytestmark = pytest.mark.compiled

FOUND_BY_PYTHON = {
    "WritesAField": "Unknown field of the record 'heep'. Did you mean 'heap'?",
    "ReadsAField": "Unknown field of the record 'heep'. Did you mean 'heap'?",
    "LacksAnAttribute": "has no attribute 'least'",
    "LacksAName": "name 'least' is not defined",
    "LacksANameInAHelper": "name 'least' is not defined",
    "GivesTooManyArguments": "taken() takes 2 positional arguments but 3 were given",
    "ReturnsNothing": "legal_actions() returned None",
    "ReturnsNothingAtTimes": "player() returned None",
    "Prints": "Compiled code cannot call print",
    "PrintsInAHelper": "Compiled code cannot call print",
    "BeginsWrong": "Unknown field of the record 'heep'. Did you mean 'heap'?",
    "TakesTooLittle": "play takes 3 arguments, (self, state, action): 2 here",
    "WritesBeyondItsRecord": "is out of bounds for axis 0 with size 9",
    "AsksPython": "Compiled code cannot call objmode",
}
FOUND_BY_NUMBA = {
    "WritesAField": "Unknown field of the record 'heep'. Did you mean 'heap'?",
    "ReadsAFieldSeldom": "Unknown field of the record 'heep'. Did you mean 'heap'?",
    "MakesAList": "Compiled code makes no lists",
    "MakesADictionary": "Compiled code makes no lists, dictionaries",
    "LacksAnAttribute": "LacksAnAttribute has no attribute 'least'",
    "LacksANameInAHelper": "name 'least' is not defined",
    "GivesTooManyArguments": "taken(): too many positional arguments",
    "HasAList": "Compiled code knows no list of Python's. Make it a tuple or a NumPy array",
    "CallsAFunctionWithoutAMark": "Mark the function with kernel of rave_agents.parts",
    "ReturnsNothing": "returns None, where a number is needed",
    "ReturnsNothingAtTimes": "returns None, where a number is needed",
}


def place_of_the_mistake(name):
    """File, line and source of the mistake in a class of ``mistaken_rules``."""
    kind = getattr(mistaken_rules, name)
    lines, first = inspect.getsourcelines(kind)
    if name == "PrintsInAHelper":
        lines, first = inspect.getsourcelines(mistaken_rules.shown)
    (place,) = (place for place, line in enumerate(lines) if line.endswith("mistake\n"))
    return f'File "{inspect.getsourcefile(kind)}", line {first + place}', lines[place].strip()


def check_message(name, error, reason):
    place, source = place_of_the_mistake(name)
    told = str(error)
    assert reason in told
    assert place in told
    assert source in told
    assert len(told.splitlines()) <= 10


@pytest.mark.parametrize(("name", "reason"), FOUND_BY_PYTHON.items())
def test_the_first_position_tells_a_mistake_with_its_line(name, reason, monkeypatch, capfd):
    monkeypatch.setattr(machine, "_load", lambda *given: pytest.fail("Numba is asked."))
    with pytest.raises(GameError) as caught:
        getattr(mistaken_rules, name)().new_initial_state()
    check_message(name, caught.value, reason)
    assert capfd.readouterr() == ("", "")


@pytest.mark.full(but=["ReadsAFieldSeldom"])
@pytest.mark.parametrize(("name", "reason"), FOUND_BY_NUMBA.items())
def test_what_only_numba_finds_is_told_with_its_line(name, reason, monkeypatch):
    monkeypatch.setattr(machine, "try_out", lambda *given, **options: None)
    with pytest.raises(GameError) as caught:
        getattr(mistaken_rules, name)().new_initial_state()
    check_message(name, caught.value, reason)


def test_check_rules_tells_a_mistake_with_its_line():
    with pytest.raises(ConformanceError) as caught:
        check_rules(mistaken_rules.WritesAField())
    check_message("WritesAField", caught.value, "Unknown field of the record 'heep'")


def test_rules_of_a_notebooks_cell_have_their_line():
    source = "class Wrong(Heap):\n    def player(self, state):\n        return state.moover\n"
    linecache.cache["<cell 3>"] = len(source), None, source.splitlines(keepends=True), "<cell 3>"
    cell = {"Heap": Heap, "__name__": "__main__"}
    exec(compile(source, "<cell 3>", "exec"), cell)
    with pytest.raises(GameError, match=r'File "<cell 3>", line 3, in Wrong.player\n.*moover'):
        cell["Wrong"]().new_initial_state()


@pytest.mark.full
def test_what_a_compiled_rule_raises_is_told():
    with pytest.raises(GameError, match=r"heap.* raised ValueError: too low") as caught:
        Searcher(seed=1).search(Raises().new_initial_state(), Limit(simulations=100))
    assert str(caught.value.__cause__) == "too low"


class MixesTypes(Heap):
    def play(self, state, action):
        state.heap -= (np.uint64(5) >> np.int64(action + 5)) + action + 1


class Divides(Heap):
    def play(self, state, action):
        state.heap -= action + 1 + 0 * (1 // (3 - int(state.heap) % 3 - 1))


class NeverEndsInPython(Heap):
    def playout(self, state, players, actions, end, stream):
        while True:
            pass


@pytest.mark.parametrize("rules", [MixesTypes, Divides, NeverEndsInPython, Heap])
def test_a_trial_leaves_to_numba_what_python_alone_cannot_do(rules):
    try_out(rules(), machine.key_of_rules(rules()).own_functions, uses_numba=False)


def test_the_packages_own_games_have_no_trial():
    assert machine.key_of_rules(Hex()).own_functions == []
