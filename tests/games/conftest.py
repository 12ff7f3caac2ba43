import pytest


@pytest.fixture(autouse=True)
def compiled_games(monkeypatch):
    """Here OpenSpiel's games are searched on our rules, in the quick run, too."""
    monkeypatch.delenv("RAVE_AGENTS_GAMES", raising=False)
