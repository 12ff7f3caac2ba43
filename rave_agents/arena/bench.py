"""Simulations per second compared with a baseline, by default OpenSpiel's C++ MCTSBot.

Times of different machines and runs are not comparable, ratios within one run are. So in every
round each agent in turn searches the same position with the same number of simulations and a fresh
tree, and a ratio is that of the two medians over the rounds. Much slower peers of other programs
use as many simulations as fit into a round.

It is a run, too: a table for each game, whose "games" are rounds; and, at equal time, a table for
each game and agent with its match against the baseline. Tables of times per move come last.
"""

import functools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, as_agent, make_agent
from rave_agents.arena.arguments import (
    game_name,
    limited_agent,
    load_match_game,
    make_tables,
)
from rave_agents.arena.measurements import Measurements, MoveTable, SpeedTable
from rave_agents.arena.play import counts_simulations
from rave_agents.arena.result import RunResult, TablesRun
from rave_agents.arena.run import GameCount, Pairing, Plan, RunOptions
from rave_agents.arena.speeds import Speeds
from rave_agents.arena.worker import AnyTable, Failure, Key
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import has_simultaneous_moves
from rave_agents.game.validation import Count, Natural, Positive, validated
from rave_agents.results.progress import Progress

DEFAULT_AGENTS = ("uct", "rave")
"""The agents to measure."""

BASELINE = "mcts"
"""The baseline agent."""

PEERS = ("mcts_py",)
"""Agents of other programs, also measured in the games they can play."""

ROUND_SECONDS = 0.2
"""Target duration of a round of the slowest agent, in seconds."""

EQUAL_TIME_GAMES = 20
"""Number of games of a match at equal time."""

THIRTY_GAMES = (
    "tic_tac_toe",
    "nim",
    "pig",
    "connect_four",
    "mnk(m=6,n=6,k=4)",
    "breakthrough",
    "hex(board_size=7)",
    "y(board_size=7)",
    "havannah(board_size=5)",
    "nogo(board_size=7)",
    "othello",
    "mancala",
    "clobber",
    "pentago",
    "dots_and_boxes(num_rows=4,num_cols=4)",
    "einstein_wurfelt_nicht",
    "hex(board_size=9)",
    "go(board_size=7)",
    "ultimate_tic_tac_toe",
    "oware",
    "cursor_go(board_size=5)",
    "twixt(board_size=8)",
    "quoridor(board_size=5)",
    "lines_of_action",
    "checkers",
    "gomoku(size=9)",
    "go(board_size=9)",
    "antichess",
    "amazons",
    "backgammon",
)
"""The games used to compare agents in speed and strength, of OpenSpiel, and NoGo; the shortest
first."""


@validated
def run_bench(
    games: Sequence[Any] = THIRTY_GAMES,
    agents: Sequence[str] = DEFAULT_AGENTS,
    *,
    baseline: str = BASELINE,
    rounds: Count = 5,
    seed: Natural = 0,
    round_seconds: Positive = ROUND_SECONDS,
    equal_time: Positive | None = None,
    equal_time_games: GameCount = EQUAL_TIME_GAMES,
    peers: bool = True,
    move_times: bool = True,
    progress: Progress[RunResult] = None,
) -> RunResult:
    """Measure simulations per second from the first position of each game.

    Chance outcomes before the first decision are drawn. Creating agents, compiling and loading code
    are not measured. An agent that proves the game early is measured by the simulations it ran, and
    a fast one searches repeatedly until half of the round's time is used. Ctrl-C ends the run,
    keeping finished rounds.

    Args:
        games: games or their names, see ``as_game``.
        agents: specs of agents that count simulations; limits in specs are kept.
        baseline: the spec of the baseline.
        rounds: number of measurements per agent, at least 1.
        seed: an integer of at least 0, for everything random.
        round_seconds: target seconds of a round for the slowest agent.
        equal_time: seconds per move of an additional match against the baseline, per agent and
            game. None for no matches.
        equal_time_games: games of such a match, at least 1.
        peers: True to measure OpenSpiel's Python bot as well, in the games it can play.
        move_times: True to measure the time per move over whole games as well, with 10, 50 and 200
            simulations; not in games with simultaneous moves.
        progress: None for a display in a terminal or notebook, False for none, True for a display
            in any case; or a function, called with the result so far before the first and after
            every round and every game at equal time.

    Raises:
        UnknownNameError: for an unknown game, agent or parameter.
        UnsupportedGameError: if an agent cannot play a game.
        TypeError, ValueError: for an invalid value, or an agent that has no simulations.
    """
    specs = tuple(_counting_spec(spec) for spec in (baseline, *agents))
    loaded = {game_name(game, found): found for game in games for found in [as_game(game)]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Whether AMAF misleads does not matter for speed.
        for game in loaded.values():
            for spec in specs:
                make_agent(spec, game, 0)
    tables: list[AnyTable] = []
    pairings, counts = [], []
    for name, game in loaded.items():
        measured = (*specs, *(_peers_of(game, specs) if peers else ()))
        tables.append(SpeedTable(game, measured, seed, len(specs), round_seconds))
        pairings.append(Pairing(name, tuple(map(str, measured)), name))
        counts.append(rounds)
        if equal_time is None:
            continue
        for spec in specs[1:]:
            pair = limited_agent(spec, None, equal_time), limited_agent(specs[0], None, equal_time)
            (match,) = make_tables(load_match_game(game), [pair], seed=seed)
            tables.append(match)
            pairings.append(Pairing(name, (str(match.agents[0]), str(match.agents[1])), name))
            counts.append(equal_time_games)
    for name, game in loaded.items() if move_times else ():
        if has_simultaneous_moves(game.new_initial_state()):
            continue
        tables.append(MoveTable(game, specs, seed))
        pairings.append(Pairing(name, tuple(map(str, specs)), name))
        counts.append(rounds)
    plan = Plan(
        kind="speed",
        settings={"seed": seed},
        tables=tables,
        pairings=pairings,
        by=(),
        games=counts,
    )
    # Rows are found by place: each game's table of speeds is followed by those of its matches.
    show = functools.partial(Speeds, baseline=baseline, counted=len(specs) - 1)
    run = _SpeedRun(plan, RunOptions(), progress, show)
    return run.play(run.rounds)


class _SpeedRun(TablesRun):
    """A run that plays table by table, so that a game's measurements lie close together."""

    def rounds(self) -> Iterator[list[Key]]:
        for table, count in enumerate(self.plan.games):
            yield [Key(table, number) for number in range(count)]

    def fail(self, key: Key, failure: Failure) -> Any:
        """Raise the error of a failed round as it is."""
        measured = isinstance(self.plan.tables[key.table], Measurements)
        if measured and failure.cause is not None:
            raise failure.cause
        super().fail(key, failure)


def _counting_spec(spec: Any) -> AgentSpec:
    asked = as_agent(spec)
    if not asked.is_named or not counts_simulations(asked):
        raise ValueError(f"{asked.name} has no simulations that could be counted.")
    return asked


def _peers_of(game: Game, specs: Sequence[AgentSpec]) -> list[AgentSpec]:
    asked = {spec.name for spec in specs}
    found = []
    for spec in (AgentSpec(name) for name in PEERS if name not in asked):
        try:
            make_agent(spec, game, 0)
        except (UnsupportedGameError, UnknownNameError):
            continue
        found.append(spec)
    return found
