"""Solving a position: a search for a proof of its outcome, and the solution it found."""

import dataclasses
import math
import os
from typing import TYPE_CHECKING, Any, Literal

from rave_agents.analysis.position_analysis import decision_after
from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.arguments import answers_unknown_arguments
from rave_agents.game.game_state import GameState, draws_chance, hides_information
from rave_agents.game.notation import position_text
from rave_agents.kernel.tree import ROOT
from rave_agents.parts import (
    UCB1,
    CheckRefutations,
    DrawLayer,
    MinimumMSE,
    NodeAmaf,
    ProofNumbers,
    Proofs,
    RankBonus,
    SearchingPlayer,
    SkipSolved,
)
from rave_agents.results.numbers import counted, whole
from rave_agents.results.progress import Progress, shown
from rave_agents.results.result import Result
from rave_agents.results.search_result import SearchResult
from rave_agents.results.tables import Column, Table
from rave_agents.results.view import View
from rave_agents.searcher.searcher import Searcher

if TYPE_CHECKING:
    from rave_agents.plots.figures import Picture

SOLVING = SearchConfig(
    rule=UCB1(c=0.0),
    first_play_urgency=0.5,
    amaf=NodeAmaf(schedule=MinimumMSE(bias=0.3)),
    proofs=Proofs(
        numbers=ProofNumbers(
            goal=SearchingPlayer(),
            bonus=RankBonus(DrawLayer()),
            constant=0.0,
            visits=math.inf,
            weight=0.2,
        ),
        skipping=SkipSolved(visits=0),
        checks=CheckRefutations(),
    ),
    expand_visits=1,
    search_forced_moves=True,
)
"""The search that needed the fewest simulations of those that were measured on small games.

An edge's score is one fifth the rank of its proof number and four fifths its value, blended with
the AMAF value for the first few visits: proof numbers alone have too many ties, and values alone
lead into lines that are already settled. The search skips solved edges and has no exploration term.
"""

NO_LIMIT = 2**31 - 1
"""Simulations of a search without a limit."""

ROWS_OVER_TIME = 12
"""Rows of the table of a search for a proof, at most."""

LEAST_IDLE = 10_000
"""Simulations without a new node after which the search may end."""

End = Literal["solved", "simulations", "seconds", "memory", "exhausted", "interrupted"]
"""Reason that a search for a proof ended: the position is solved, a limit was reached, the user
interrupted it, or it found nothing new (``"exhausted"``)."""


ENDS = {
    "simulations": "not solved: the simulations are used up",
    "seconds": "not solved: the time is used up",
    "memory": "not solved: the memory is full, and without more nothing can be proven",
    "exhausted": "not solved: the tree no longer grows, and so nothing more is proven",
    "interrupted": "not solved: interrupted",
}
"""Messages for a search that ended without a proof, by the reason."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Solution(Result):
    """A position and the pessimistic and optimistic bound that the search proved.

    The rows of ``to_csv`` and ``to_frame`` are the root's actions, as those of ``result``.
    """

    game: str
    """The game's name as the caller gave it."""
    seed: int
    """The seed of every random choice."""
    moves: tuple[int, ...]
    """The actions that led to the position, chance outcomes included."""
    state: GameState
    """The position."""
    end: End
    """The reason that the search ended."""
    bounds: tuple[float, float]
    """The pessimistic and the optimistic bound on the return of the player to move under best play
    of all players; infinite where the game states no bounds."""
    result: SearchResult
    """The search's result; its principal variation is the proven line if the position is solved."""

    def summary(self) -> str:
        """The game and the outcome."""
        moves = f" after {counted(len(self.moves), 'move')}" if self.moves else ""
        return f"{self.game}{moves}: {self._outcome}"

    @property
    def _outcome(self) -> str:
        if self.result.outcome is None:
            return ENDS[self.end]
        player = self.result.player
        if self.result.proven is None:
            return f"player {player} can expect {self.result.outcome[player]:.4f}"
        return f"{self.result.proven} for player {player}"

    def tables(self) -> list[Table]:
        """The proof, or how far it came, and its effort."""
        result = self.result
        facts = {"outcome": self._outcome}
        if result.outcome is None:
            low, high = self.bounds
            facts[f"returns of player {result.player}"] = f"from {low:g} to {high:g}"
        else:
            facts["returns"] = ", ".join(f"{value:g}" for value in result.outcome)
        line = "expected line" if result.outcome is None else "proven line"
        facts[line] = " ".join(result.principal_variation_names)
        full = ", full" if result.memory_full else ""
        facts |= {
            "proof number": whole(result.proof_number),
            "disproof number": whole(result.disproof_number),
            "simulations": whole(result.simulations),
            "nodes": whole(result.nodes),
            "seconds": f"{result.seconds:.2f}",
            "memory": f"{result.memory_bytes / 2**20:.1f} MB{full}",
        }
        return [Table([Column("", [*facts], text=True), Column("", [*facts.values()], text=True)])]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each action of the root, see ``SearchResult.columns``."""
        return self.result.columns()

    def plot(self, *quantities: str, board: bool | None = None) -> "Picture":
        """A picture of the root, see ``SearchResult.plot``."""
        return self.result.plot(*quantities, board=board)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, the search result's included."""
        return {
            "game": self.game,
            "seed": self.seed,
            "moves": list(self.moves),
            "position": position_text(self.state),
            "end": self.end,
            "bounds": list(self.bounds),
            **self.result.to_dict(),
        }


class _NothingMoreError(Exception):
    """Ends a search that cannot prove anything more."""


class _Growth:
    """Detects a tree that no longer grows.

    Without new nodes the search proves nothing more: in a game of chance such as Pig, the tree may
    hold the whole game and leave its outcome uncertain.
    """

    def __init__(self) -> None:
        self.exhausted = False
        """True if more than half of the simulations so far came after the last new node."""
        self._nodes = self._simulations = 0

    def look(self, result: SearchResult) -> None:
        if result.nodes != self._nodes:
            self._nodes, self._simulations = result.nodes, result.simulations
        idle = result.simulations - self._simulations
        self.exhausted = idle > max(LEAST_IDLE, self._simulations)


class Moments:
    """The root's numbers over time, as seen by the player to move.

    The moments that stay lie ever further apart: each at twice the seconds of the one before.

    Args:
        simulations: the largest number of simulations; None without one.
    """

    def __init__(self, simulations: int | None = None) -> None:
        self._simulations = simulations
        self._moments: list[SearchResult] = []

    def view(self, result: SearchResult) -> View:
        """Add a moment; the view of all."""
        moments = self._moments
        if len(moments) > 1 and moments[-1].seconds < 2 * moments[-2].seconds:
            moments.pop()
        moments.append(result)
        return View(result.simulations, self._simulations, "", self.table().text)

    def table(self) -> Table:
        """A row for each of the last moments."""
        moments = self._moments[-ROWS_OVER_TIME:]
        return Table(
            [
                Column("seconds", [f"{each.seconds:.1f}" for each in moments]),
                Column("simulations", [whole(each.simulations) for each in moments]),
                Column("nodes", [whole(each.nodes) for each in moments]),
                Column("proof number", [whole(each.proof_number) for each in moments]),
                Column("disproof number", [whole(each.disproof_number) for each in moments]),
            ]
        )


@answers_unknown_arguments
def solve_position(
    game: Any,
    *,
    moves: str = "",
    position: str | os.PathLike[str] | None = None,
    simulations: int | None = None,
    seconds: float | None = None,
    max_memory_mb: float = SOLVING.max_memory_mb,
    seed: int = 0,
    progress: Progress[SearchResult] = None,
) -> Solution:
    """Search for a proof until there is one, a limit is reached, or Ctrl-C.

    Without a limit it ends when the memory is full; with one it then forgets the least visited
    leaves, but not what is proven, and goes on. It also ends when more than half of its simulations
    came after the last new node, since it then proves nothing more.

    Args:
        game: the game or its name, such as ``"tic_tac_toe"``; see ``as_game``.
        moves: the moves to play first, see ``rave_agents.game.notation.apply_moves``.
        position: the position that these begin at, see ``rave_agents.arena.positions.set_up``.
        simulations: the largest number of simulations, at least 1.
        seconds: the largest number of wall-clock seconds, above 0.
        max_memory_mb: the largest size of the tree in megabytes (2**20 bytes), above 0.
        seed: an integer of at least 0.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called about ten times a second with the result so
            far.

    Raises:
        UnknownNameError: for a game that does not exist.
        UnsupportedGameError: if the game cannot be searched.
        TypeError, ValueError: for a value that is not allowed, an illegal move, or a position where
            no player is to move.
    """
    no_limit = simulations is None and seconds is None
    limit = Limit(simulations=NO_LIMIT if no_limit else simulations, seconds=seconds)
    searcher = Searcher(SOLVING.replace(max_memory_mb=max_memory_mb), seed=seed)
    loaded = as_game(game)
    initial = loaded.new_initial_state()
    if draws_chance(initial):
        raise UnsupportedGameError(
            f"{loaded.name} cannot be solved: its environment draws chance itself, so that the "
            "outcomes of an action are unknown."
        )
    if hides_information(initial):
        raise UnsupportedGameError(
            f"{loaded.name} cannot be solved: it is a game of IMPERFECT_INFORMATION, and a proof "
            "needs PERFECT_INFORMATION."
        )
    state, played = decision_after(loaded, moves, position)

    growth = _Growth()
    interrupted = False
    with shown(progress, Moments(simulations).view) as tell:

        def watch(result: SearchResult) -> None:
            if tell is not None:
                tell(result)
            growth.look(result)
            if (no_limit and result.memory_full) or growth.exhausted:
                raise _NothingMoreError

        try:
            searcher.search(state, limit, progress=watch)
        except _NothingMoreError:
            pass
        except KeyboardInterrupt:
            if searcher.rooted_tree() is None:
                raise
            interrupted = True
    result = searcher.result()
    return Solution(
        game=game if isinstance(game, str) else loaded.name,
        seed=seed,
        moves=tuple(played),
        state=state,
        end=_end(
            result,
            limit,
            full=no_limit and result.memory_full,
            exhausted=growth.exhausted,
            interrupted=interrupted,
        ),
        bounds=_bounds(searcher, result.player),
        result=result,
    )


def _end(
    result: SearchResult, limit: Limit, *, full: bool, exhausted: bool, interrupted: bool
) -> End:
    if result.outcome is not None:
        return "solved"
    if interrupted:
        return "interrupted"
    if full:
        return "memory"
    if exhausted:
        return "exhausted"
    counted = limit.simulations is not None and result.simulations >= limit.simulations
    return "simulations" if counted else "seconds"


def _bounds(searcher: Searcher, player: int) -> tuple[float, float]:
    rooted = searcher.rooted_tree()
    if rooted is None:  # The time was over before the first simulation.
        return -float("inf"), float("inf")
    proofs = rooted.proofs
    return float(proofs.low[ROOT, player]), float(proofs.high[ROOT, player])
