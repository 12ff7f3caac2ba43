"""Matches: two agents, one game, many openings, each played from both seats.

A match comes out the same however many processes share its games, see ``play``.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from rave_agents.agents.named_agents import (
    DEFAULT_SIMULATIONS,
    LIMITS,
    AgentSpec,
    agent_type,
    limit_and_clock,
    make_agent,
)
from rave_agents.arena.play import Fixture, GameRecord, Table, draw_opening
from rave_agents.arena.referee import checked_referee
from rave_agents.arena.runner import FailedGameError, Failure, Played, WorkerFailedError, play_games
from rave_agents.arena.sgf import SgfFolder
from rave_agents.arena.statistics import MatchScore, finite, mean_interval
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game, load_game
from rave_agents.frameworks.agent import Effort
from rave_agents.game.arguments import checked_seed
from rave_agents.game.game_state import has_simultaneous_moves
from rave_agents.searcher.clock import Clock

MOST_GAMES, MOST_JOBS = 1_000_000, 1_000
"""Games of a match and processes that play them: more are a slip, and openings take memory."""

OPENING_PLIES = 2
"""Random moves at the start of games of turns, for a match that is not told otherwise."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class MatchResult:
    """The finished games of a match and their score, from the first agent's view."""

    game: str
    """The game as it was asked for."""
    agents: tuple[str, str]
    """The specs of the first and the second agent, with their limits."""
    seed: int
    """What everything random was derived from."""
    planned: int
    """How many games the match was to have."""
    records: tuple[GameRecord, ...]
    """The finished games, by number."""

    @functools.cached_property
    def score(self) -> MatchScore:
        """Wins, draws and losses of the first agent."""
        wins = sum(record.margin > 0 for record in self.records)
        losses = sum(record.margin < 0 for record in self.records)
        return MatchScore(wins, len(self.records) - wins - losses, losses)

    @functools.cached_property
    def margin(self) -> float:
        """Mean return a game of the first agent less the second's; not a number without games."""
        margins = [record.margin for record in self.records]
        return math.fsum(margins) / len(margins) if margins else math.nan

    @functools.cached_property
    def margin_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the expected margin; infinite for less than two games."""
        return mean_interval([record.margin for record in self.records])

    @property
    def is_won_by_margins(self) -> bool:
        """Whether games were won by different margins, so that the score does not tell all."""
        return len({abs(record.margin) for record in self.records} - {0.0}) > 1

    @property
    def complete(self) -> bool:
        """Whether all planned games are finished."""
        return len(self.records) == self.planned

    @functools.cached_property
    def efforts(self) -> tuple[Effort, Effort]:
        """What the first and the second agent spent in all finished games."""
        return self._effort(0), self._effort(1)

    def _effort(self, index: int) -> Effort:
        efforts = [record.efforts[index] for record in self.records]
        return Effort(*map(sum, zip(*efforts, strict=True))) if efforts else Effort()

    @property
    def seconds_per_move(self) -> tuple[float | None, float | None]:
        """Mean seconds that each agent thought about a move; None without moves."""
        first, second = (_ratio(effort.seconds, effort.moves) for effort in self.efforts)
        return first, second

    @property
    def simulations_per_second(self) -> tuple[float | None, float | None]:
        """Simulations that each agent ran in a second of thinking; None without moves."""
        first, second = (_ratio(effort.simulations, effort.seconds) for effort in self.efforts)
        return first, second

    @property
    def endings(self) -> dict[int, str]:
        """Why games ended otherwise than by their rules, by the games' numbers from 1."""
        return {record.number + 1: record.ending for record in self.records if record.ending}

    @property
    def faults(self) -> tuple[int, int]:
        """How many games the first and the second agent lost by failing or breaking the rules.

        They count as lost, and say little of how well the agent plays.
        """
        lost = [record.margin < 0 for record in self.records if record.fault]
        return sum(lost), len(lost) - sum(lost)

    def plus(self, *records: GameRecord) -> Self:
        """The result with more finished games."""
        ordered = sorted((*self.records, *records), key=lambda record: record.number)
        return dataclasses.replace(self, records=tuple(ordered))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON: what is infinite or unknown is None."""
        return {
            "game": self.game,
            "agents": list(self.agents),
            **self.score.to_dict(),
            "margin": finite(self.margin),
            "margin_ci95": [finite(end) for end in self.margin_interval],
            "seconds_per_move": list(self.seconds_per_move),
            "simulations_per_second": list(self.simulations_per_second),
            "seed": self.seed,
            "endings": [
                {"game": record.number + 1, "why": record.ending, "fault": record.fault}
                for record in self.records
                if record.ending
            ],
        }


class MatchError(FailedGameError):
    """A game of a match failed; the message names the game, the seat and the agent."""

    def __init__(self, message: str, result: MatchResult) -> None:
        super().__init__(message)
        self.result = result
        """The games that were finished before."""


Progress = Callable[[MatchResult], None]


def play_match(
    game: Game | str,
    first: AgentSpec | str,
    second: AgentSpec | str,
    *,
    games: int = 100,
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
    seed: int = 0,
    opening_plies: int | None = None,
    jobs: int = 1,
    sgf: str | Path | None = None,
    referee: AgentSpec | str | None = None,
    forfeit: bool = False,
    progress: Progress | None = None,
) -> MatchResult:
    """Play a match between two agents.

    Ctrl-C ends it early: the result then holds the games that were finished, and is not
    ``complete``.

    Args:
        game: a game for two players or its name, such as ``"hex(board_size=9)"``.
        first: the spec of the first agent, such as ``"rave(simulations=500)"``.
        second: the spec of the second agent.
        games: how many games, at least 1. Of an odd number the last opening is played once.
        simulations: a move, for an agent whose spec has no limit; 1,000 if ``seconds`` is not given
            either.
        seconds: a move, for an agent whose spec has no limit.
        clock: the time that each side has for a game, such as ``"60+1"``, in place of ``seconds``;
            who oversteps it loses, whatever limit its spec has.
        seed: an integer of at least 0 that decides everything random.
        opening_plies: random moves that each opening starts with; None for 2, and for none where
            players may move at the same time: what they would waste blindly could decide the game.
            Chance outcomes between them are
            drawn by their probabilities and not counted.
        jobs: processes that play at the same time.
        sgf: a folder that gets every finished game as an SGF file.
        referee: the spec of a GTP program, such as ``gtp(command="gnugo --mode gtp")``, that checks
            every move and, at a game's end, has the last word on its result.
        forfeit: whether a GTP program that cannot be started, fails before its first move of a
            game, repeats its input or floods its output loses that game; otherwise it ends the
            match with an error. One that fails later in a game loses that game in any case.
        progress: called before the first and after every game with the result so far.

    Raises:
        UnknownNameError: for a game, an agent or a parameter that does not exist.
        UnsupportedGameError: if the game is not for two players or an agent cannot play it.
        TypeError, ValueError: for a value that is not allowed, or if no opening can be found.
        MatchError: if an agent fails or plays an illegal action; it keeps the finished games.
    """
    checked_count("jobs", jobs, 1, MOST_JOBS)
    seed = checked_match_seed(seed)
    loaded = load_match_game(game)
    first, second = (limited_spec(spec, simulations, seconds, clock) for spec in (first, second))
    specs = first, second
    table = dataclasses.replace(checked_table(loaded, *specs), forfeit=forfeit)
    if clock is not None:
        table = dataclasses.replace(table, clock=str(Clock.parse(clock)))
    if referee is not None:
        spec = AgentSpec.parse(referee) if isinstance(referee, str) else referee
        table = dataclasses.replace(table, referee=checked_referee(spec, loaded))
    fixtures = draw_fixtures(loaded, games, opening_plies, seed)
    result = MatchResult(
        game=game if isinstance(game, str) else game.name,
        agents=(str(specs[0]), str(specs[1])),
        seed=seed,
        planned=games,
        records=(),
    )
    folder = None if sgf is None else SgfFolder(sgf, loaded, result.agents)
    return _collect(play_games([table], fixtures, jobs=jobs), result, progress, folder)


def load_match_game(game: Game | str) -> Game:
    """The game, loaded by its name if need be.

    Raises:
        UnknownNameError: for a name that does not exist.
        UnsupportedGameError: if it is not for two players.
    """
    loaded = load_game(game) if isinstance(game, str) else game
    if loaded.num_players != 2:
        raise UnsupportedGameError(
            f"A match needs a game for two players; {loaded.name} has {loaded.num_players}."
        )
    return loaded


def checked_table(game: Game, first: AgentSpec, second: AgentSpec) -> Table:
    """The two agents at a table, after each of them was made for either seat.

    Raises:
        UnknownNameError: for an agent or a parameter that does not exist.
        UnsupportedGameError: if an agent cannot play the game.
        TypeError, ValueError: for a value that is not allowed.
    """
    for spec in (first, second):
        for seat in (0, 1):
            make_agent(spec, game, seat)
    return Table(game, (first, second))


def usual_opening_plies(game: Game, opening_plies: int | None) -> int:
    """How many random moves games start with: so many as are given, or what is usual."""
    if opening_plies is not None:
        return opening_plies
    return 0 if has_simultaneous_moves(game.new_initial_state()) else OPENING_PLIES


def draw_fixtures(game: Game, games: int, opening_plies: int | None, seed: int) -> list[Fixture]:
    """The games of a match, from 0, in pairs that share an opening.

    Raises:
        TypeError, ValueError: for a value that is not allowed, or if no opening can be found.
    """
    checked_count("games", games, 1, MOST_GAMES)
    opening_plies = usual_opening_plies(game, opening_plies)
    checked_count("opening_plies", opening_plies, 0)
    openings = [draw_opening(game, opening_plies, seed, pair) for pair in range((games + 1) // 2)]
    return [Fixture(number, seed, openings[number // 2]) for number in range(games)]


def limited_spec(
    spec: AgentSpec | str,
    simulations: int | None = None,
    seconds: float | None = None,
    clock: str | None = None,
) -> AgentSpec:
    """Put these limits into a spec, if it has none of its own and its agent takes them.

    Args:
        spec: an agent's spec.
        simulations: a move; 1,000 if neither ``seconds`` nor ``clock`` is given either.
        seconds: a move.
        clock: see ``rave_agents.searcher.clock.Clock.parse``.

    Raises:
        UnknownNameError: for an agent that does not exist.
        TypeError, ValueError: for a limit that is not allowed, or if the agent takes limits but
            none of those given: it would think with its own default, unnoticed.
    """
    parsed = AgentSpec.parse(spec) if isinstance(spec, str) else spec
    limit, parsed_clock = limit_and_clock(simulations, seconds, clock)
    limits = {
        "simulations": None if limit is None else limit.simulations,
        "seconds": None if limit is None else limit.seconds,
        "clock": None if parsed_clock is None else str(parsed_clock),
    }
    given = {name: value for name, value in limits.items() if value is not None}
    known = agent_type(parsed.name).parameters.keys()
    takes = {"simulations", "seconds"} & known
    if takes and not LIMITS & known & (given.keys() | parsed.parameters.keys()):
        own = min(takes)
        example = DEFAULT_SIMULATIONS if own == "simulations" else 1.0
        raise ValueError(
            f"{parsed.name} takes no {' or '.join(given)}; give it a limit of its own, such as "
            f"{parsed.name}({own}={example})."
        )
    return parsed.with_defaults(given)


def _collect(
    played: Played,
    result: MatchResult,
    progress: Progress | None,
    folder: SgfFolder | None = None,
) -> MatchResult:
    try:
        if progress is not None:
            progress(result)
        for _, outcome in played:
            if isinstance(outcome, Failure):
                outcome.raise_as(MatchError(outcome.message, result))
            result = result.plus(outcome)
            if folder is not None:
                folder.save(outcome)
            if progress is not None:
                progress(result)
    except WorkerFailedError as error:
        raise MatchError(str(error), result) from error
    except KeyboardInterrupt:
        pass
    finally:
        played.close()
    return result


def checked_count(name: str, value: int, least: int, most: float = math.inf) -> None:
    """Raise TypeError or ValueError unless the value is an integer of these bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}.")
    if value > most:
        raise ValueError(f"{name} must be at most {most:,}, got {value}.")


def checked_match_seed(seed: int) -> int:
    """Return the seed, or raise TypeError or ValueError: None is no seed here."""
    checked = checked_seed(seed)
    if checked is None:
        raise TypeError("A match needs a seed, an integer of at least 0.")
    return checked


def _ratio(total: float, count: float) -> float | None:
    return total / count if count > 0 else None
