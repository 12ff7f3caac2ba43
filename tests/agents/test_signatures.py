"""Signatures and docstrings of agents, for ``help``, IPython and static checkers."""

import importlib
import inspect
import json
import pydoc
import subprocess
import sys
from pathlib import Path

import pyspiel
import pytest
import rave_gymnasium
import rave_openspiel
import rave_pettingzoo

from rave_agents import Limit, SearchConfig
from rave_agents.agents.searching_agent import SearchingAgent

write_parameters = importlib.import_module("helpers.write_parameters")

PLACES = (rave_openspiel, rave_pettingzoo, rave_gymnasium)

AGENTS = [
    kind
    for place in PLACES
    for kind in (getattr(place, name) for name in place.__all__)
    if inspect.isclass(kind) and issubclass(kind, SearchingAgent) and "MCTSBot" not in str(kind)
]


def named(kind):
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


@pytest.mark.parametrize("kind", AGENTS, ids=named)
def test_a_signature_has_every_field_of_the_search_with_the_presets_default(kind):
    parameters = inspect.signature(kind).parameters
    preset = SearchConfig.preset(kind.preset)
    for name, value in preset.to_dict().items():
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default == value
    assert not any(each.kind is each.VAR_KEYWORD for each in parameters.values())


@pytest.mark.parametrize("kind", AGENTS, ids=named)
def test_a_search_takes_every_parameter_of_the_signature_at_its_default(kind):
    """So that nothing is offered that would be refused."""
    own = inspect.signature(kind.__init__).parameters
    preset = SearchConfig.preset(kind.preset)
    for name, each in inspect.signature(kind).parameters.items():
        if name not in own:
            preset.replace(**{name: each.default})


def test_fields_of_parts_are_in_the_signature():
    parameters = inspect.signature(rave_openspiel.RaveBot).parameters
    assert parameters["schedule"].default == "minimum_mse"
    assert parameters["bias"].annotation is float
    assert "schedule" not in inspect.signature(rave_openspiel.UCTBot).parameters


@pytest.mark.parametrize("kind", AGENTS, ids=named)
def test_help_has_the_signature_and_the_parameters_that_matter(kind):
    text = pydoc.plain(pydoc.render_doc(kind))
    assert f"{kind.__name__}(\n" in text
    if "preset" in vars(kind):
        assert "seconds: wall-clock seconds for each move" in text
        assert f"inspect.signature({kind.__name__})" in text
    assert "threads: int = 1" in text


def test_a_class_of_ones_own_shows_its_own_constructor():
    class Mine(rave_openspiel.RaveBot):
        def __init__(self, game, pace=1.0):
            super().__init__(game, simulations=10)

    class Another(rave_openspiel.RaveBot):
        preset = "grave"

    assert list(inspect.signature(Mine).parameters) == ["game", "pace"]
    assert inspect.signature(Another).parameters["ref"].default == 20
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    assert Mine(state.get_game(), 2.0).step(state) in range(9)


def test_limits_and_configurations_show_their_fields():
    assert list(inspect.signature(Limit).parameters) == ["simulations", "seconds"]
    assert tuple(inspect.signature(SearchConfig).parameters) == SearchConfig.field_names()


def test_ipython_completes_parameters():
    completer = pytest.importorskip("IPython.core.completer")
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shell.user_ns["RaveBot"] = rave_openspiel.RaveBot
    with completer.provisionalcompleter():
        found = shell.Completer.completions("RaveBot(game, sche", 18)
        assert "schedule=" in [each.text for each in found]


def test_what_checkers_and_editors_see_is_up_to_date(capsys):
    """If not: python tests/helpers/write_parameters.py."""
    assert write_parameters.main(["--check"]) == 0, capsys.readouterr().out


@pytest.mark.full
@pytest.mark.needs("pyright")
def test_pyright_knows_the_parameters(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from rave_openspiel import RaveBot\n"
        "from rave_gymnasium import UCTAgent\n"
        'RaveBot("hex", simulations=5, schedule="hand_selected(k=300)", threads=2, c=0.2)\n'
        'RaveBot("hex", simulatons=5)\n'
        'RaveBot("hex", 500)\n'
        'RaveBot("hex", threads="two")\n'
        "UCTAgent(None, time_limit=5, discount=0.9)\n"
    )
    root = Path(__file__).parents[2]
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"extraPaths": [str(root), str(root / "adapters")]})
    )
    finished = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--project", tmp_path],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    found = json.loads(finished.stdout)["generalDiagnostics"]
    assert [each["range"]["start"]["line"] for each in found] == [3, 4, 5, 6], found
