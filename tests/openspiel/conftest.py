import pytest
from rave_openspiel import compiled_games, native

OF_ONE_PROVIDER = (
    "test_native",
    "test_expander",
    "test_registry",
    "test_sanitizers",
    "test_bare_playouts",
    "test_worlds",
    "test_hidden_games",
    "test_leaks",
    "test_own_worlds_agree_with_the_posterior",
    "test_what_is_not_trusted_is_found_out",
)
"""Modules and tests that are about the bridge, or call no search."""


def pytest_generate_tests(metafunc):
    names = metafunc.module.__name__.rpartition(".")[2], metafunc.function.__name__
    if not any(name in OF_ONE_PROVIDER for name in names):
        usual = "python" if native.bridge() is None else "bridge"
        marks = {name: () if name == usual else pytest.mark.full for name in ("bridge", "python")}
        providers = [pytest.param(name, marks=mark) for name, mark in marks.items()]
        metafunc.parametrize("provider", providers, indirect=True)


@pytest.fixture(autouse=True)
def provider(request, monkeypatch):
    """Runs a test with one provider of simulations of OpenSpiel's C++ states, or as it is.

    Whether there is a bridge is asked anew: no test finds what another one has set.
    """
    name = getattr(request, "param", None)
    if name is not None:
        monkeypatch.setenv(compiled_games.SWITCH, "openspiel")
    if name == "python":
        monkeypatch.setenv(native.SWITCH, "0")
    native.bridge.cache_clear()
    if name == "bridge" and native.bridge() is None:
        pytest.skip(native.diagnosis())
    yield name
    monkeypatch.undo()
    native.bridge.cache_clear()
