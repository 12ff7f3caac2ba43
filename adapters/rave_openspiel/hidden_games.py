"""Which of OpenSpiel's games with hidden information the search plays, and where worlds come from.

``python -m rave_openspiel.hidden_games`` prints the table of docs/hidden_information.md.
"""

from typing import NamedTuple

import pyspiel

from rave_openspiel.support import hides_information, refusal
from rave_openspiel.worlds import (
    SELDOM_SETTLED,
    UNRELIABLE,
    WORLD_COSTS,
    no_worlds,
    resamples,
)


class HiddenGame(NamedTuple):
    """A game with hidden information, with its default parameters."""

    name: str
    """Its short name."""
    players: int
    """How many it has."""
    worlds: str
    """Where its worlds come from; empty if it is refused."""
    remark: str
    """Why so, or why it is refused; empty where there is nothing to say."""


def hidden_games() -> list[HiddenGame]:
    """Every registered game with hidden information that its name alone loads."""
    import open_spiel.python.games  # noqa: F401, PLC0415  (registers the Python games)

    return [
        _described(game_type)
        for game_type in sorted(pyspiel.registered_games(), key=lambda kind: kind.short_name)
        if hides_information(game_type) and game_type.default_loadable
    ]


def _described(game_type: pyspiel.GameType) -> HiddenGame:
    name = game_type.short_name
    game = pyspiel.load_game(name)
    players = int(game.num_players())
    reason = refusal(game_type) or no_worlds(game)
    if reason is not None:
        return HiddenGame(name, players, "", reason)
    remarks = []
    if name in UNRELIABLE:
        remarks.append(f"its own are not used: {UNRELIABLE[name]}")
    if name in SELDOM_SETTLED:
        remarks.append("seldom settled in the middle of a game")
    if name in WORLD_COSTS:
        remarks.append(f"a world costs {WORLD_COSTS[name]}")
    source = "its own" if resamples(game) else "replay"
    if name == "negotiation":
        source, remarks = "other utilities", ["each drawn independently"]
    return HiddenGame(name, players, source, "; ".join(remarks))


def table() -> str:
    """The games as a table in Markdown."""
    lines = ["| game | players | worlds | remark |", "|---|---|---|---|"]
    for game in hidden_games():
        worlds = game.worlds or "**refused**"
        lines.append(f"| {game.name} | {game.players} | {worlds} | {game.remark} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
