"""Lists OpenSpiel's games with hidden information, with the source of worlds for each.

python docs/results/hidden_games.py    prints the table of docs/hidden_information.md
"""

from typing import NamedTuple

import pyspiel
from rave_openspiel.support import hides_information, refusal, registered_games
from rave_openspiel.worlds import (
    REPLAYED_PHASES,
    SELDOM_SETTLED,
    STARTS_AT_THE_TRUTH,
    UNRELIABLE,
    no_worlds,
    resamples,
)

WORLD_COSTS = {
    "battleship": "0.01 s",
    "bridge": "0.15 s, since the game solves each deal",
    "crazy_eights": "0.01 s",
    "dou_dizhu": "0.01 s",
    "python_block_dominoes": "0.04 s",
    "python_liars_poker": "more than 0.1 s",
    "python_team_dominoes": "more than 0.1 s",
    "spades": "0.015 s",
}
"""The cost of a world, about, in the middle of a game where it is more than the simulation's:
measured on one core, and much less in others (0.1 ms in ``oh_hell``)."""


class HiddenGame(NamedTuple):
    """A game with hidden information, with its default parameters."""

    name: str
    """Its short name."""
    players: int
    """Its number of players."""
    worlds: str
    """The source of its worlds; empty if the search cannot play it."""
    remark: str
    """The reason, or a remark; may be empty."""


def hidden_games() -> list[HiddenGame]:
    """List every registered game with hidden information that loads without parameters."""
    return [
        _described(game_type)
        for game_type in sorted(registered_games(), key=lambda kind: kind.short_name)
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
    if name in STARTS_AT_THE_TRUTH:
        remarks.append("often walks from the true history there")
    if name in WORLD_COSTS:
        remarks.append(f"a world costs {WORLD_COSTS[name]}")
    if name in REPLAYED_PHASES:
        remarks.append(f"replay in the phase {REPLAYED_PHASES[name]}, where its own is the truth")
    source = "its own" if resamples(game) else "dealt" if name == "hanabi" else "replay"
    return HiddenGame(name, players, source, "; ".join(remarks))


def table() -> str:
    """Return the games as a Markdown table."""
    lines = ["| game | players | worlds | remark |", "|---|---|---|---|"]
    for game in hidden_games():
        worlds = game.worlds or "**refused**"
        lines.append(f"| {game.name} | {game.players} | {worlds} | {game.remark} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
