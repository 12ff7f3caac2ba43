"""Tactical positions: how often agents find the only winning move, or the only one that draws.

python examples/tactics.py test [AGENTS ...] [--simulations 1000] [--seeds 5] [--jobs 2]
python examples/tactics.py make [--per-game 15] [--jobs 2]

``make`` plays games and keeps positions by these rules, which ask no agent:

* The games are played by ``uct(simulations=200)`` after four random moves; those of Lines of Action
  by ``random``, since they are long.
* Of every legal move it is proven whether it wins, by a search without playouts, and exactly one
  does. In Connect Four it may also be that none wins and exactly one draws.
* There are at least three legal moves, two of which leave the opponent no win with their next move.
* No move wins at once. * In Lines of Action, where other positions can seldom be proven, the
opponent threatens to win: after most moves they have a win with their next one. * A game gives one
position at most, the earliest of those that can be proven when one goes back from its end.

Other versions of the package or of OpenSpiel play other games: ``tactical_positions.json`` is what
one run gave.

``plies`` is the length of the proven win, with an opponent who resists as long as possible; of a
draw that of the longest among the lost moves.
"""

import contextlib
import itertools
import json
import math
import pathlib
from collections.abc import Callable, Generator, Iterable, Sequence
from statistics import fmean, stdev
from typing import Annotated, Any

import numpy as np
import pyspiel
import typer
from loky import get_reusable_executor
from rich import box
from rich.console import Console
from rich.table import Table

from rave_agents.agents.named_agents import AgentSpec, make_agent
from rave_agents.arena.statistics import score_interval
from rave_agents.frameworks.adapters import load_game

POSITIONS = pathlib.Path(__file__).with_name("tactical_positions.json")
GAMES = ("connect_four", "breakthrough(rows=6,columns=4)", "hex(board_size=6)", "lines_of_action")
AGENTS = ("uct", "uct_solver", "pn_mcts", "mcts")

PLAYERS = {"lines_of_action": "random"}
ONLY_THREATENED = ("lines_of_action",)
USUAL_PLAYER = "uct(simulations=200)"
RANDOM_MOVES = 4
LEAST_MOVES, LEAST_SAFE_MOVES = 3, 2
MOST_NODES = 50_000
"""Largest number of positions to visit for a proof of one position's moves."""
GIVE_UP = 2
"""Number of positions in a row that cannot be proven at which the way back through a game ends."""

Position = dict[str, Any]
app = typer.Typer(add_completion=False)


class UnprovenError(Exception):
    """A proof would take too many positions."""


class Prover:
    """Proves forced wins by depth-first proof-number search (Nagai 2002), without playouts.

    Args:
        path_matters: whether what follows a position depends on the moves before it.
        most_nodes: the largest number of positions to visit.
    """

    def __init__(self, *, path_matters: bool, most_nodes: int = MOST_NODES) -> None:
        self.nodes_left = most_nodes
        self._path_matters = path_matters
        self._numbers: dict[Any, tuple[float, float]] = {}
        self._children: dict[Any, list[tuple[int, Any]]] = {}

    def wins(self, state: pyspiel.State, player: int) -> bool:
        """True if a player can force a win.

        Raises:
            UnprovenError: if it takes too many positions to tell.
        """
        key = self._look(state, player)
        if self._numbers[key][0] > 0 < self._numbers[key][1]:
            self._search(state, key, player, math.inf, math.inf)
        return self._numbers[key][0] == 0

    def plies(self, state: pyspiel.State, player: int) -> int:
        """The most plies to the end of a win that was proven."""
        if state.is_terminal():
            return 0
        below = self._children[self._key(state, player)]
        proven = [action for action, key in below if self._numbers[key][0] == 0]
        choice = min if state.current_player() == player else max
        return 1 + choice(self.plies(state.child(action), player) for action in proven)

    def _key(self, state: pyspiel.State, player: int) -> Any:
        place = tuple(state.history()) if self._path_matters else str(state)
        return place, state.current_player(), player

    def _look(self, state: pyspiel.State, player: int) -> Any:
        """The key of a position, whose proof and disproof number are known from then on."""
        key = self._key(state, player)
        if key not in self._numbers:
            self.nodes_left -= 1
            if self.nodes_left < 0:
                raise UnprovenError
            numbers = 1.0, 1.0
            if state.is_terminal():
                numbers = (0.0, math.inf) if state.returns()[player] > 0 else (math.inf, 0.0)
            self._numbers[key] = numbers
        return key

    def _search(
        self, state: pyspiel.State, key: Any, player: int, most_proof: float, most_disproof: float
    ) -> None:
        """Look below a position until one of its numbers reaches its limit."""
        if key not in self._children:
            moves = state.legal_actions()
            self._children[key] = [(a, self._look(state.child(a), player)) for a in moves]
        own = state.current_player() == player
        limits = (most_proof, most_disproof) if own else (most_disproof, most_proof)
        while True:
            # The first number is that of the goal of the player to move: one child is enough.
            rows = [(*self._numbers[child], action) for action, child in self._children[key]]
            rows = sorted(rows if own else [(second, first, a) for first, second, a in rows])
            least, total = rows[0][0], sum(second for _, second, _ in rows)
            self._numbers[key] = (least, total) if own else (total, least)
            if least >= limits[0] or total >= limits[1]:
                return
            _, second, action = rows[0]
            next_best = rows[1][0] if len(rows) > 1 else math.inf
            below = min(limits[0], 1 + next_best * 1.25), limits[1] - total + second
            child = state.child(action)
            proof, disproof = below if own else below[::-1]
            self._search(child, self._key(child, player), player, proof, disproof)


def wins_within(state: pyspiel.State, player: int, plies: int) -> bool:
    """True if a player can force a win within this number of plies."""
    if state.is_terminal():
        return bool(state.returns()[player] > 0)
    if plies == 0:
        return False
    below = (wins_within(state.child(a), player, plies - 1) for a in state.legal_actions())
    return any(below) if state.current_player() == player else all(below)


def tactical_position(state: pyspiel.State) -> Position | None:
    """Return a position's task and its answer; None if the position is not tactical.

    Raises:
        UnprovenError: if that cannot be told.
    """
    game, mover, opponent = state.get_game(), state.current_player(), 1 - state.current_player()
    children = {action: state.child(action) for action in state.legal_actions()}
    if len(children) < LEAST_MOVES or wins_within(state, mover, 1):
        return None
    name = game.get_type().short_name
    safe = sum(not wins_within(child, opponent, 1) for child in children.values())
    if safe < LEAST_SAFE_MOVES or (name in ONLY_THREATENED and 2 * safe > len(children)):
        return None
    prover = Prover(path_matters=name == "lines_of_action")
    good: list[int] = []
    for action, child in children.items():
        good += [action] if prover.wins(child, mover) else []
        if len(good) > 1:
            return None
    achieves, plies = "win", 0
    if good:
        plies = 1 + prover.plies(children[good[0]], mover)
    elif name == "connect_four":
        bad = [action for action, child in children.items() if prover.wins(child, opponent)]
        achieves, good = "draw", [action for action in children if action not in bad]
        plies = max((1 + prover.plies(children[action], opponent) for action in bad), default=0)
    if len(good) != 1:
        return None
    return {
        "moves": state.history(),
        "best": good[0],
        "best_name": state.action_to_string(mover, good[0]),
        "achieves": achieves,
        "plies": plies,
    }


def play_game(name: str, seed: int) -> list[int]:
    """The moves of a game of modest players."""
    random = np.random.default_rng([GAMES.index(name), seed])
    game, spec = load_game(name), PLAYERS.get(name, USUAL_PLAYER)
    seeds = random.integers(2**32, size=2).tolist()
    players = [make_agent(spec, game, seat, seed=seeds[seat]) for seat in range(2)]
    state = game.new_initial_state()
    moves: list[int] = []
    while not state.is_terminal():
        if len(moves) < RANDOM_MOVES:
            action = int(random.choice(state.legal_actions()))
        else:
            action = players[state.current_player()].step(state)
        moves.append(action)
        state.apply_action(action)
    return moves


def position_of_game(name: str, seed: int) -> Position | None:
    """The earliest tactical position of a game, going back from its end; None if it has none."""
    moves = play_game(name, seed)
    found, unproven = None, 0
    for length in range(len(moves) - 1, 0, -1):
        state = pyspiel.load_game(name).new_initial_state()
        for action in moves[:length]:
            state.apply_action(action)
        try:
            found, unproven = tactical_position(state) or found, 0
        except UnprovenError:
            unproven += 1
            if unproven == GIVE_UP:
                break
    return found and {"game": name, **found}


def is_solved(position: Position, agent: str, simulations: int, seed: int) -> bool:
    """True if an agent plays the best move."""
    game = load_game(position["game"])
    state = game.new_initial_state()
    for action in position["moves"]:
        state.apply_action(action)
    spec = AgentSpec.parse(agent).with_defaults({"simulations": simulations, "seed": seed})
    return make_agent(spec, game, state.current_player()).step(state) == position["best"]


def in_processes(
    jobs: int, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
) -> Generator[Any, None, None]:
    """Yield the results of all tasks, in their order; close it to drop those that are left."""
    if jobs == 1:
        yield from itertools.starmap(function, tasks)
        return
    yield from get_reusable_executor(max_workers=jobs).map(function, *zip(*tasks, strict=True))


@app.callback(invoke_without_command=True)
def _program(context: typer.Context) -> None:
    """Tactical positions: make them, or test agents on them."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def make(
    per_game: Annotated[int, typer.Option(help="Positions of each game.")] = 15,
    most_games: Annotated[int, typer.Option(help="Games played of each at most.")] = 2000,
    output: Annotated[pathlib.Path, typer.Option(help="The file to write.")] = POSITIONS,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
) -> None:
    """Play games and write their tactical positions to a file."""
    positions: list[Position] = []
    for name in GAMES:
        kept: list[Position] = []
        tasks = ((name, seed) for seed in range(most_games))
        with contextlib.closing(in_processes(jobs, position_of_game, tasks)) as found:
            for played, position in enumerate(found, start=1):
                if position is not None:
                    kept.append(position)
                    print(f"{name}: {len(kept)} positions of {played} games", flush=True)
                if len(kept) == per_game:
                    break
        positions += kept
    lines = ",\n".join(json.dumps(position) for position in positions)
    output.write_text(f"[\n{lines}\n]\n")


@app.command("test")
def measure(
    agents: Annotated[list[str] | None, typer.Argument(help="Their specs.")] = None,
    simulations: Annotated[int, typer.Option(help="Simulations where a spec has none.")] = 1000,
    seeds: Annotated[int, typer.Option(help="Attempts at each position.")] = 5,
    per_game: Annotated[int, typer.Option(help="Positions of each game at most.")] = 1000,
    positions: Annotated[pathlib.Path, typer.Option(help="The file to read.")] = POSITIONS,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the share of positions that agents solve at equal simulations."""
    chosen: list[Position] = []
    for position in json.loads(positions.read_text()):
        if sum(other["game"] == position["game"] for other in chosen) < per_game:
            chosen.append(position)
    names = agents or list(AGENTS)
    tasks = itertools.product(chosen, names, [simulations], range(seeds))
    solved = list(in_processes(jobs, is_solved, tasks))
    shares = np.array(solved, float).reshape(len(chosen), len(names), seeds).mean(axis=2)
    games = list(dict.fromkeys(position["game"] for position in chosen))
    rows = {"all": np.ones(len(chosen), bool)}
    rows |= {name: np.array([p["game"] == name for p in chosen]) for name in games}
    results = {
        name: {row: share_of(shares[where, index]) for row, where in rows.items()}
        for index, name in enumerate(names)
    }
    best = int(shares.mean(axis=0).argmax())
    for index, name in enumerate(names):
        results[name]["behind"] = difference_of(shares[:, best] - shares[:, index])
    if as_json:
        effort = {"simulations": simulations, "seeds": seeds, "positions": len(chosen)}
        print(json.dumps({**effort, "agents": results}))
        return
    print_table(results, [*games, "all"], len(chosen), simulations, seeds)


def share_of(shares: Sequence[float]) -> dict[str, Any]:
    """Mean share and its 95 % interval, for which attempts at one position count as one."""
    mean = float(np.mean(shares))
    return {"solved": mean, "ci95": list(score_interval(mean, len(shares)))}


def difference_of(differences: Sequence[float]) -> dict[str, Any]:
    """Mean difference on the same positions and its 95 % interval."""
    mean, width = fmean(differences), 0.0
    if len(differences) > 1:
        width = 1.96 * stdev(differences) / math.sqrt(len(differences))
    return {"mean": mean, "ci95": [mean - width, mean + width]}


def print_table(
    results: dict[str, Any], columns: Iterable[str], positions: int, simulations: int, seeds: int
) -> None:
    """Print a table of the solved shares."""
    title = f"{positions} positions, {simulations} simulations, {seeds} attempts each"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("agent", no_wrap=True)
    for column in columns:
        label = column.partition("(")[0].replace("_", " ")
        table.add_column(label, justify="right", min_width=4, overflow="fold")
    table.add_column("95 % interval", justify="right", no_wrap=True)
    table.add_column("behind", justify="right", no_wrap=True)
    for name, result in results.items():
        low, high = result["all"]["ci95"]
        mean, ends = result["behind"]["mean"], result["behind"]["ci95"]
        last = f"{mean:.2f} ± {ends[1] - mean:.2f}" if mean else "-"
        shares = [f"{result[column]['solved']:.2f}" for column in columns]
        table.add_row(name, *shares, f"{low:.2f} to {high:.2f}", last)
    Console().print(table)


if __name__ == "__main__":
    app()
