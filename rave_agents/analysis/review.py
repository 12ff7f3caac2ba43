"""Review of a game: the value that each move lost by an agent's search, with reasons.

The value of a move is that of the position after it, from a separate search; proven values are
exact. The reasons are replies, proofs, and AMAF values if they are trusted. A reply refutes a move
only if it wins and no other searched reply does.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rave_agents.agents.named_agents import make_agent
from rave_agents.agents.state_agents import StateAgent
from rave_agents.analysis.review_result import INACCURACY, Review, ReviewedMove
from rave_agents.arena.arguments import limited_agent
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import (
    GameState,
    hides_information,
    is_simultaneous,
)
from rave_agents.game.notation import action_name
from rave_agents.game.validation import validated
from rave_agents.records.reader import Ply, plies
from rave_agents.results.action_statistics import ActionStatistics
from rave_agents.results.numbers import fixed
from rave_agents.results.root import principal_variation
from rave_agents.results.search_result import SearchResult
from rave_agents.tree.search_tree import SearchTree

REVIEW_SECONDS = 1.0
"""Default seconds per position."""

_WON, _EVEN = 0.7, 0.5
"""A reply wins above the first value and does not below the second, scaled to [0, 1]."""

_OTHERS = 10
"""Maximum number of other replies searched before one is called a refutation."""

_OFTEN = 2
"""A threat is a reply that answers at least so many losing moves."""

_SHARE = 0.2
"""And at least this share of them."""

_TRUSTED = 0.5
"""Minimum trust in AMAF values to mention them."""


@validated
def review_game(
    game: Any,
    actions: Sequence[int],
    agent: Any = "auto",
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    start: GameState | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Review:
    """Review a game.

    Args:
        game: the game or its name, see ``as_game``.
        actions: the actions and chance outcomes from its start, see ``read_game``.
        agent: the agent, which must search.
        simulations: simulations per position, for a spec without a limit.
        seconds: seconds per position, likewise; 1 if neither is given.
        seed: the seed of everything random.
        start: the initial position of a dealt game; None for the game's own.
        progress: called with the numbers of searched and of all positions.

    Raises:
        UnsupportedGameError: if the agent cannot play the game, or does not search.
        ValueError: for an action that is not legal.
    """
    loaded = as_game(game)
    if simulations is None and seconds is None:
        seconds = REVIEW_SECONDS
    who = limited_agent(agent, simulations, seconds)
    start = loaded.new_initial_state() if start is None else start
    return _Reviewer(loaded, who, seed).review(start, tuple(actions), progress)


@dataclasses.dataclass(frozen=True)
class _Seen:
    """The search of one position."""

    result: SearchResult
    replies: dict[int, int]
    """The expected reply to each action."""

    @property
    def value(self) -> float | None:
        return self.result.value_for(self.result.player)


def _row(result: SearchResult, action: int) -> ActionStatistics:
    return next(row for row in result.actions if row.action == action)


class _Reviewer:
    """Searches the positions of one game."""

    def __init__(self, game: Game, who: Any, seed: int) -> None:
        self._game, self._who, self._seed = game, who, seed
        self._agents: dict[int, StateAgent] = {}
        state = game.new_initial_state()
        self._low, self._high = float(state.min_utility()), float(state.max_utility())
        # With hidden information the next player knows other things: values do not compare.
        self._open = not hides_information(state)

    def _scaled(self, value: float) -> float:
        """A utility scaled to [0, 1]; unscaled if the limits are unknown."""
        width = self._high - self._low
        return (value - self._low) / width if 0 < width < float("inf") else value

    def _search(self, state: GameState) -> _Seen:
        seat = int(state.current_player())
        if seat not in self._agents:
            made = make_agent(self._who, self._game, seat, seed=self._seed)
            if not isinstance(made, StateAgent):
                raise UnsupportedGameError(
                    f"{self._who} does not search, so it cannot review a game."
                )
            self._agents[seat] = made
        agent = self._agents[seat]
        agent.restart()  # A tree kept from another position would favour some moves.
        agent.step(state.clone())
        result, tree = agent.last_result, agent.searcher.rooted_tree()
        assert result is not None
        return _Seen(result, {} if tree is None else _replies(tree, result))

    def review(
        self,
        start: GameState,
        actions: tuple[int, ...],
        progress: Callable[[int, int], object] | None,
    ) -> Review:
        played = list(plies(start, actions))
        states = [ply.state for ply in played]
        seen: list[_Seen | None] = []
        interrupted = False
        try:
            for number, state in enumerate(states):
                seen.append(self._search(state) if _is_decision(state) else None)
                if progress is not None:
                    progress(number + 1, len(states))
        except KeyboardInterrupt:
            interrupted = True
        seen += [None] * (len(states) - len(seen))
        moves = []
        for number, ply in enumerate(played[:-1]):
            moves.append(self._reviewed(number, states, seen, ply))
        end = states[-1]
        return Review(
            game=self._game.name.removesuffix("()"),
            agent=str(self._who),
            moves=tuple(moves),
            states=tuple(states),
            played=tuple(ply.actions[0] if len(ply.actions) == 1 else None for ply in played[:-1]),
            values=tuple(map(self._value_for_first, states, seen)),
            returns=tuple(map(float, end.returns())) if end.is_terminal() else None,
            interrupted=interrupted,
        )

    def _value_for_first(self, state: GameState, seen: _Seen | None) -> float | None:
        if state.is_terminal():
            return float(state.returns()[0])
        return None if seen is None else seen.result.value_for(0)

    def _reviewed(
        self,
        number: int,
        states: Sequence[GameState],
        seen: Sequence[_Seen | None],
        ply: Ply,
    ) -> ReviewedMove:
        state, before = ply.state, seen[number]
        name = " ".join(ply.names)
        player = int(state.current_player())
        if before is None:
            return ReviewedMove(number=number + 1, player=player, name=name)
        action = ply.actions[0]
        value, after, exact = self._values(before, states[number + 1], seen[number + 1], action)
        lost = self._lost(value, after)
        # The best move loses nothing by definition.
        if action == before.result.action and not exact:
            lost = 0.0  # Any difference is noise between two searches.
        elif lost >= INACCURACY and not exact:
            # Compare equally deep searches: search the position after the best move, too.
            value = self._value_after(state, before)
            lost = self._lost(value, after)
        best = before.result.action_name(before.result.action)
        answer = seen[number + 1]
        move = ReviewedMove(
            number=number + 1,
            player=player,
            name=name,
            value=value,
            value_after=after,
            exact=exact,
            best=best,
            best_action=before.result.action,
            line=before.result.principal_variation_names,
            reply="" if answer is None else answer.result.action_name(answer.result.action),
            lost=lost,
        )
        if not move.word:
            return move
        refuted = answer is not None and self._is_refuted(states[number + 1], answer, player)
        move = dataclasses.replace(move, refuted=refuted)
        return dataclasses.replace(move, sentences=tuple(self._sentences(move, before)))

    def _lost(self, value: float | None, after: float | None) -> float:
        """The value lost, as a share of the range of utilities."""
        if value is None or after is None:
            return 0.0
        return max(0.0, self._scaled(value) - self._scaled(after))

    def _value_after(self, state: GameState, before: _Seen) -> float | None:
        result = before.result
        after = state.clone()
        after.apply_action(result.action)
        if after.is_terminal():
            return float(after.returns()[result.player])
        if not self._open or not _is_decision(after):
            return before.value
        found = self._search(after).result.value_for(result.player)
        return before.value if found is None else found

    def _values(
        self, before: _Seen, state: GameState, answer: _Seen | None, action: int
    ) -> tuple[float | None, float | None, bool]:
        """The mover's value before and after a move, and whether both are proven."""
        player, result = before.result.player, before.result
        proven = result.outcome is not None
        row = _row(result, action)
        if state.is_terminal():
            return before.value, float(state.returns()[player]), proven
        if row.outcome is not None:
            return before.value, row.outcome, proven
        if self._open and answer is not None:
            sure = answer.result.outcome is not None
            return before.value, answer.result.value_for(player), proven and sure
        # Chance or hidden information follows the move: compare both moves in one search.
        # A rarely visited move's mean is that of its first playouts, far below its value.
        enough = row.visits >= max(10, result.simulations // 100)
        return before.value, row.value if enough else None, False

    def _is_refuted(self, state: GameState, answer: _Seen, loser: int) -> bool:
        result = answer.result
        if result.player == loser or len(result.actions) < 2 or not self._open:
            return False
        if not self._wins(answer.result.value_for(result.player), _WON):
            return False
        # Proven replies cost nothing; only then search the others, the most visited first.
        others = [row for row in result.ranked_actions if row.action != result.action]
        known = [row for row in others if row.outcome is not None]
        if any(self._wins(row.outcome, _EVEN) for row in known):
            return False
        unknown = [row for row in others if row.outcome is None]
        unknown.sort(key=lambda row: (row.visits, row.amaf_value or 0.0), reverse=True)
        return not any(self._still_wins(state, row, result.player) for row in unknown[:_OTHERS])

    def _still_wins(self, state: GameState, row: ActionStatistics, player: int) -> bool:
        after = state.clone()
        after.apply_action(row.action)
        if after.is_terminal():
            return self._wins(float(after.returns()[player]), _EVEN)
        if not _is_decision(after):
            return self._wins(row.value, _EVEN)
        return self._wins(self._search(after).result.value_for(player), _EVEN)

    def _wins(self, value: float | None, least: float) -> bool:
        return value is not None and self._scaled(value) > least

    def _sentences(self, move: ReviewedMove, before: _Seen) -> Iterator[str]:
        result = before.result
        exact = " That is proven." if move.exact else ""
        now, best = fixed(move.value_after, 2), fixed(move.value, 2)
        article = "an" if move.word[0] in "aeiou" else "a"
        yield (
            f"{move.number}. {move.name} by seat {move.player} is {article} {move.word}: its value "
            f"is {now}, and {move.best} had {best}.{exact}"
        )
        if move.refuted:
            yield f"It is refuted by {move.reply}: without that reply it would not lose."
        elif move.reply:
            yield f"The reply to expect is {move.reply}."
        yield from self._of_the_best(move, before)
        if result.proven is not None and not move.exact:
            yield f"Before it, a {result.proven} was proven."
        if len(move.line) > 1:
            yield f"Expected was {' '.join(move.line[:8])}."

    def _of_the_best(self, move: ReviewedMove, before: _Seen) -> Iterator[str]:
        """Reasons for the best move: the threats it answers, and its AMAF value."""
        result = before.result
        best = _row(result, result.action)
        # In a lost position every reply wins: these are no threats.
        if self._wins(before.value, _EVEN - 0.05):
            threats = self._threats(before)
            named = {self._reply_name(result, move, reply): n for reply, move, n in threats}
            taken = named.pop(move.best, 0)
            if named:
                kind = "the threat" if len(named) == 1 else "both threats"
                meet = "meets" if len(named) == 1 else "meet"
                yield (
                    f"{move.best} answers {kind} {' and '.join(named)}, which {meet} "
                    f"{sum(named.values())} of the other {len(result.actions) - 1} moves."
                )
            elif taken:
                yield f"{move.best} is the other side's best move, too: it meets {taken} moves."
        if best.amaf_value is not None and (result.amaf_trust or 0.0) >= _TRUSTED:
            others = [row.amaf_value for row in result.actions if row.amaf_visits >= 10]
            if others and best.amaf_value >= max(value for value in others if value is not None):
                yield (
                    f"Whenever {move.best} is played in a simulation, it helps the most (AMAF "
                    f"{fixed(best.amaf_value, 2)}, trusted {result.amaf_trust:.2f})."
                )

    def _threats(self, before: _Seen) -> list[tuple[int, int, int]]:
        """At most two replies that beat several moves, as (reply, such a move, number of these)."""
        result = before.result
        least = max(2, result.simulations // 1000)
        beaten: dict[int, list[int]] = {}
        for row in result.actions:
            sure = row.outcome is not None or row.visits >= least
            value = row.outcome if row.outcome is not None else row.value
            loses = value is not None and self._scaled(value) < _EVEN
            if row.action != result.action and sure and loses and row.action in before.replies:
                beaten.setdefault(before.replies[row.action], []).append(row.action)
        counted = sorted(beaten.items(), key=lambda pair: -len(pair[1]))
        least = max(_OFTEN, int(_SHARE * sum(map(len, beaten.values()))))
        # The reply to the best move itself is no threat that this move answers.
        own = before.replies.get(result.action)
        return [
            (reply, moves[0], len(moves))
            for reply, moves in counted[:2]
            if len(moves) >= least and reply != own
        ]

    def _reply_name(self, result: SearchResult, action: int, reply: int) -> str:
        after = result.state.clone()
        after.apply_action(action)
        return action_name(after, reply)


def _replies(tree: SearchTree, result: SearchResult) -> dict[int, int]:
    """The reply that a search expects to each action that it has tried."""
    tried = [row.action for row in result.actions if row.visits > 0]
    lines = {action: principal_variation(tree, action) for action in tried}
    return {action: int(line[1]) for action, line in lines.items() if len(line) > 1}


def _is_decision(state: GameState) -> bool:
    return not (state.is_terminal() or state.is_chance_node() or is_simultaneous(state))
