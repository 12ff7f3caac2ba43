"""A page for each of the thirty games: its board, parameters, strength and speed, from the data."""

import html
import importlib.util
import os
import pathlib
import random
import sys
import tomllib
from types import ModuleType
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"  # A picture is not worth compiling rules.
os.environ["RAVE_AGENTS_GAMES"] = "openspiel"

import pyspiel
import rave_openspiel  # noqa: F401  (registers games of ours)
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from rave_openspiel.compiled_games import rules_of

from rave_agents.arena import THIRTY_GAMES
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.levels import LEAST_ELO, LEVELS, ladder_of
from rave_agents.evaluators.linear_value import MINIMAX, LinearValue
from rave_agents.evaluators.shipped import file_name, value_for
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import GameState
from rave_agents.game.notation import position_text
from rave_agents.games import GAMES
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.plots.board import find_board
from rave_agents.plots.board_svg import STYLE, board_svg

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = "games"
SHARE = 0.3
"""Part of a random game that is played before its picture."""

UNKNOWN = "No value is shipped: `auto` learns one from its own playouts where that helps."

BY_MINIMAX = " and [minimax backups](../theory/selection.md#averages-or-minimax)"

TITLES = {
    "connect_four": "Connect Four",
    "dots_and_boxes": "Dots and Boxes",
    "einstein_wurfelt_nicht": "EinStein würfelt nicht!",
    "lines_of_action": "Lines of Action",
    "mnk": "m,n,k-game",
    "nogo": "NoGo",
    "tic_tac_toe": "Tic-tac-toe",
    "ultimate_tic_tac_toe": "Ultimate Tic-tac-toe",
    "cursor_go": "Cursor Go",
}
"""Names that are not the short name with a capital letter."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, and one that lists them."""
    data = _published()
    names: dict[str, list[str]] = {}
    for game in THIRTY_GAMES:
        names.setdefault(game.partition("(")[0], []).append(game)
    for name, games in names.items():
        page = _page(name, games, data)
        files.append(File.generated(config, f"{FOLDER}/{name}.md", content=page))
    files.append(File.generated(config, f"{FOLDER}/index.md", content=_index(names)))
    return files


def _published() -> dict[str, Any]:
    """The tables of ``docs/results``."""
    place = ROOT / "docs" / "results" / "tables.py"
    spec = importlib.util.spec_from_file_location("published_tables", place)
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.tables()  # type: ignore[no-any-return]


def _title(name: str) -> str:
    return TITLES.get(name, name.replace("_", " ").capitalize())


def _index(names: dict[str, list[str]]) -> str:
    cards = [
        f'<a class="game" href="{name}.html">{_picture(games[0])}<span>{_title(name)}</span></a>'
        for name, games in names.items()
    ]
    return "\n".join(
        [
            "# Games",
            "",
            f"<style>{STYLE}</style>",
            "",
            "The games used for all comparisons, each with its strength and speed. Agents also "
            "play all other games of OpenSpiel, PettingZoo and Gymnasium, and your own.",
            "",
            '<div class="games">',
            *cards,
            "</div>",
            "",
        ]
    )


def _page(name: str, games: list[str], data: dict[str, Any]) -> str:
    game = games[-1]
    agent, why = _recommended(_title(name))
    parts = [
        f"# {_title(name)}",
        "",
        f"<style>{STYLE}</style>",
        "",
        f'<div class="game-board">{_picture(game)}</div>',
        "",
        f"**Agent**: `{agent}`: {why}.",
        "",
        "## In a minute",
        "",
        "```text",
        f'rave-agents play "{game}" {agent} --web',
        f'rave-agents match "{game}" {agent} mcts --seconds 0.1 --games 20',
        f'rave-agents search "{game}" {agent} --seconds 1',
        "```",
        "",
        "## Parameters",
        "",
        _parameters(name),
        "",
        "## Strength and speed",
        "",
    ]
    for kind in ("equal_time", "equal_simulations", "speed"):
        rows = [row for row in data[kind].rows if row[0] in games]
        if rows:
            parts += [f"{_CAPTIONS[kind]}:", "", _markdown(data[kind].columns, rows), ""]
    parts += ["Commands, machine and commits: [results](../results.md).", ""]
    parts += ["## Levels and learned values", "", _levels(games), ""]
    return "\n".join(parts)


_CAPTIONS = {
    "equal_time": "`auto` against OpenSpiel's `mcts` at 0.1 s a move",
    "equal_simulations": "`auto` at 300 simulations a move, and its trust",
    "speed": "Simulations a second of `mcts`, and multiples of it for the others",
}


def _recommended(title: str) -> tuple[str, str]:
    """The agent for a game, and why, from the table of recommendations."""
    rows = tomllib.loads((ROOT / "docs" / "which_agent.toml").read_text(encoding="utf-8"))["row"]
    named = [row for row in rows if title in row["games"].replace(" and ", ", ").split(", ")]
    row = named[0] if named else rows[0]
    return row["agent"], row["why"]


def _parameters(name: str) -> str:
    kind = {each.short_name: each for each in pyspiel.registered_games()}[name]
    rows = [[f"`{key}`", f"`{value}`"] for key, value in kind.parameter_specification.items()]
    rules = "rules compiled from Python" if name in GAMES else "OpenSpiel's own states"
    provider = f"Searches run on {rules}."
    if not rows:
        return f"None. {provider}"
    return f"{_markdown(['parameter', 'default'], rows)}\n\n{provider}"


def _levels(games: list[str]) -> str:
    """The levels of a game, and the learned values that are shipped for it."""
    rules = {game: _rules(game) for game in games}
    values = {game: value_for(one) for game, one in rules.items() if one is not None}
    learned = [
        f"`auto` plays `{game}` with a learned value{BY_MINIMAX * (value.backup == MINIMAX)}, "
        f"{_source(value, rules[game])}: {value.made}."
        for game, value in values.items()
        if value is not None
    ]
    game = games[-1]
    ladder = ladder_of(rules[game])
    rows = [
        [str(number), f"{level.simulations:,}", f"{level.temperature:g}", f"{level.random_moves:g}"]
        for number, level in enumerate(ladder.levels, 1)
    ]
    measured = "not measured"
    if ladder.distance is not None:
        measured = f"measured, {ladder.distance:.0f} Elo points apart"
        if ladder.distance < LEAST_ELO:
            measured += ": random and best play are too close for ten levels of 100"
    return "\n".join(
        [
            *(learned or [UNKNOWN]),
            "",
            f"`auto(level=1)` to `auto(level={LEVELS})` ({measured}):",
            "",
            _markdown(["level", "simulations a move", "temperature", "random moves"], rows),
            "",
            "[Levels](../tutorials/levels.md) explains how they are made.",
        ]
    )


def _source(value: LinearValue, rules: BaseRules) -> str:
    """The file of a value, or the game of another size that it was learned on."""
    return f"that of `{value.learned_on}`" if value.learned_on else f"`{file_name(rules)}`"


def _rules(game: str) -> BaseRules | None:
    """The compiled rules of a game; None if it has none."""
    loaded = pyspiel.load_game(game)
    common = getattr(loaded.new_initial_state(), "common_state", None)
    found = getattr(common, "rules", None)
    return rules_of(loaded) if found is None else found


def _markdown(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _picture(game: str) -> str:
    """The board some random moves after the start; what the game prints where it has none."""
    state = _midgame(game)
    try:
        board = find_board(state)
    except UnsupportedGameError:
        text = html.escape(position_text(state).strip()).replace("\n", "<br>")
        return f'<code class="board-text">{text}</code>'
    moves_pieces = any(place.source is not None for place in board.places.values())
    name = game.partition("(")[0]
    svg = board_svg(board, name=name, chequered=moves_pieces, label=f"A position of {_title(name)}")
    return svg.replace("\n", "")


def _midgame(game: str) -> GameState:
    loaded = as_game(game)
    whole = _random_moves(loaded.new_initial_state())
    state = loaded.new_initial_state()
    for action in whole[: int(SHARE * len(whole))]:
        state.apply_action(action)
    return state


def _random_moves(state: GameState) -> list[int]:
    draw = random.Random(3)
    moves: list[int] = []
    while not state.is_terminal() and len(moves) < 150:
        chance = state.is_chance_node()
        actions = [a for a, _ in state.chance_outcomes()] if chance else state.legal_actions()
        moves.append(int(draw.choice(list(actions))))
        state.apply_action(moves[-1])
    return moves
