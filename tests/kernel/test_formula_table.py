"""The table of formulas names functions that exist and state what they compute."""

import importlib
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "theory" / "formulas.md"
FUNCTIONS = re.findall(r"`([\w.]+)\.(\w+)`", PAGE.read_text(encoding="utf-8"))


def test_the_table_is_found():
    assert len(FUNCTIONS) >= 20


@pytest.mark.parametrize(("module", "name"), FUNCTIONS, ids=map(".".join, FUNCTIONS))
def test_a_formula_of_the_table_is_a_function_that_says_what_it_computes(module, name):
    room = "rave_agents" if module.startswith("arena.") else "rave_agents.kernel"
    function = getattr(importlib.import_module(f"{room}.{module}"), name)
    assert callable(function)
    assert len(function.__doc__) > 20


@pytest.mark.parametrize("module", ["rules", "amaf.schedules", "amaf.weightings", "proofs.bonuses"])
def test_every_formula_of_a_file_of_formulas_is_in_the_table(module):
    source = importlib.import_module(f"rave_agents.kernel.{module}")
    named = {name for file, name in FUNCTIONS if file == module}
    stated = {
        name
        for name, value in vars(source).items()
        if getattr(value, "__module__", "") == source.__name__
        and not name.startswith("_")
        and re.match(r"``.*(sqrt|/|ñ).*``", getattr(value, "__doc__", None) or "")
        and not isinstance(value, type)
    }
    assert stated <= named | {"beta"}
