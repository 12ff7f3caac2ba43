"""A consistent history that is found from a player's knowledge alone: where a walk starts.

A walk that started at the true history would depend on what the player cannot see. So a history is
drawn forward from the start of the game until the player would notice a difference at some moment,
and then repaired by local search: a random step gets another action, exchanged with the step that
has it, and the history is replayed and drawn on from there. A repaired history replaces the old one
unless it fits fewer moments, or as many and at the first moment that does not fit the player's view
differs more. If that leads nowhere, the last moments are forgotten.

The search reads the player's moments, never the true history. So its result, found or not, is a
function of the game, the player's knowledge and the seed. ``first_history.h`` does the same for C++
games, about ten times as fast.
"""

import itertools
import time
from bisect import bisect
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyspiel
from numpy.typing import NDArray

from rave_agents.game.endless import LONGEST_GAME
from rave_agents.simulate.random_stream import StreamUnit, make_stream
from rave_openspiel.history_chain import Budget
from rave_openspiel.knowledge import Knowledge, Line, Moment
from rave_openspiel.native_histories import NativeKnowledge, NativeSearch
from rave_openspiel.player_views import viewer
from rave_openspiel.positions import position_key
from rave_openspiel.uniform_moves import Unit

MOST_ACTIONS = 1_000_000
"""Actions played before the search gives up, without those for moments."""

MORE_ACTIONS = 10_000
"""Further actions for each moment. So a search that goes on during a game takes little time for
each decision, and one that has failed gets a chance at the next."""

PATIENCE = 2000
"""Repairs without progress before the last moment is forgotten, then the last two, four, ..."""

EXCHANGES = 0.85
"""Share of the repairs that give one step another action; the others redraw several steps."""

LONGEST_REDRAW = 5
"""Most consecutive steps that such a repair redraws."""

AIMED = 0.7
"""Share of the repairs at steps that a player saw whose action or view does not fit."""

AT_THE_LAST_MOVER = 0.6
"""Share of those at what the last mover saw, where that was a player; the others are at what the
searching player saw."""

SWAPS_OUTCOMES = 0.8
"""Share of the exchanges of an outcome that give its old one to a step that has the new one."""

SWAPS_MOVES = 0.5
"""The same for a player's action."""

BLAME = 0.8
"""Factor of a step's weight after a repair there that made the history worse."""

LEAST_WEIGHT = 0.05

CANDIDATES = 64
"""Most other actions tried for a player's last step before a moment."""

OUTCOMES = 8
"""Most other outcomes tried for the last step of chance."""

COMPARED = 16
"""Those of them whose views are compared with the player's."""

OTHER_MOVER = 1000.0
"""Distance of a position where another player moves."""

NO_VIEW = 1e6
"""Distance of the end of the game, which shows too much to be compared."""

MOST_KEPT = 8
"""Searches that are kept to go on, at most."""

MOST_REMEMBERED = 20_000
"""Texts whose differences are remembered at once, at most."""

CLASSES = 1021
"""Number of classes of letters and pairs, by which texts are compared; a prime."""


def first_history(knowledge: Knowledge, budget: Budget, seed: int = 0) -> Line | None:
    """Return a consistent history; None if none was found.

    A search goes on where the last one for the same player, game and seed ended, if that player
    knows what they knew then, and more: so a whole game takes little longer than its last position.
    The result is that of a new search, unless the time of the new search were not enough.

    Args:
        knowledge: what the player knows; its true history is not read.
        budget: its time ends the search; its actions do not, since ``MOST_ACTIONS`` and
            ``MORE_ACTIONS`` bound them.
        seed: gives the random choices.
    """
    # An unknown start equals no other.
    start = position_key(knowledge.start)
    key = start, knowledge.player, type(knowledge), seed, MOST_ACTIONS, MORE_ACTIONS
    # Taken out while it goes on, so that no two threads use the same one.
    search = None if start is None else _taken_out(key, knowledge.moments)
    if search is None:
        search = new_search(knowledge, seed, MOST_ACTIONS, MORE_ACTIONS)
    line = search.found(knowledge, budget.ends)
    if start is not None:
        _kept.insert(0, _Kept(key, knowledge.moments, search))
        del _kept[MOST_KEPT:]
    return line


def new_search(
    knowledge: Knowledge, seed: int, most_actions: int, more_actions: int
) -> "Search | NativeSearch":
    """A search for a history, by the library if it holds the player's knowledge."""
    stream = make_stream(np.random.SeedSequence(seed))
    if not isinstance(knowledge, NativeKnowledge):
        return Search(knowledge, StreamUnit(stream), most_actions, more_actions)
    # As ``RepairSettings`` in ``first_history.h`` has them.
    settings = (
        *(most_actions, more_actions, PATIENCE, EXCHANGES, LONGEST_REDRAW, AIMED),
        *(AT_THE_LAST_MOVER, SWAPS_OUTCOMES, SWAPS_MOVES, BLAME, LEAST_WEIGHT, CANDIDATES),
        *(OUTCOMES, COMPARED, OTHER_MOVER, NO_VIEW),
    )
    return NativeSearch(knowledge, settings, stream)


class _Kept:
    """A search that can go on.

    Args:
        key: the game and all that the search depends on but the moments.
        moments: what it has fitted, or tried to fit.
        search: the search.
    """

    def __init__(
        self, key: Hashable, moments: list[Moment], search: "Search | NativeSearch"
    ) -> None:
        self.key, self.moments, self.search = key, moments, search


_kept: list[_Kept] = []
"""The last searches, the newest first."""


def _taken_out(key: Hashable, moments: Sequence[Moment]) -> "Search | NativeSearch | None":
    """Remove and return a search for the first of these moments; None if there is none."""
    for kept in list(_kept):
        *before, last = kept.moments
        now = moments[: len(kept.moments)]
        # The action at the last moment was not known then.
        same = kept.key == key and len(now) > len(before) and now[: len(before)] == before
        if same and now[-1]._replace(action=None) == last:
            try:
                _kept.remove(kept)
            except ValueError:  # Another thread has just taken it.
                continue
            return kept.search
    return None


class _Attempt(NamedTuple):
    """A history up to the first moment that does not fit."""

    line: Line
    fitted: int
    """Number of moments that fit."""
    distance: float
    """How much the player's view differs at the next one."""

    @property
    def score(self) -> tuple[int, float]:
        return self.fitted, -self.distance


class _Replay:
    """A replay of a line from a step, with planned actions.

    Args:
        line: the line.
        first: the step.
        plan: actions by step; other steps keep theirs where they are legal and fit, or draw one.
        blamed: the step whose weight depends on how the replay ends, if any.
        repairs: False if the result replaces the line, however the replay ends.
    """

    def __init__(
        self,
        line: Line,
        first: int,
        plan: Mapping[int, int],
        *,
        blamed: int | None = None,
        repairs: bool = True,
    ) -> None:
        self.line, self.plan, self.blamed, self.repairs = line, plan, blamed, repairs
        self.new: Line = line.cut(first)
        self.end: int = first + LONGEST_GAME


class Search:
    """A local search for a consistent history.

    It can go on with more time, or when more moments are known. It never reads moments after the
    first that does not fit, so it then does what a new search would do.

    Args:
        knowledge: what the player knows.
        unit: draws random numbers.
        most_actions: the number of actions played before it gives up, without those for moments.
        more_actions: the further ones for each moment.
    """

    def __init__(
        self, knowledge: Knowledge, unit: Unit, most_actions: int, more_actions: int
    ) -> None:
        self._knowledge = knowledge
        self._unit = unit
        self._look = viewer(knowledge.start.get_game())
        self._most_actions, self._more_actions = most_actions, more_actions
        self.played: float = 0
        """The number of actions played so far."""
        self._targets: dict[int, NDArray[np.int64]] = {}
        # Most texts come again: in Go Fish comparing them took half of the time.
        self._differences: dict[tuple[int, str], float] = {}
        self._weights: defaultdict[int, float] = defaultdict(lambda: 1.0)
        self._witnesses: dict[int, frozenset[int]] = {}
        self._stale, self._forgotten = 0, 1
        self._best = _Attempt(Line(knowledge.start), 0, NO_VIEW)
        self._replay: _Replay | None = _Replay(self._best.line, 0, {}, repairs=False)

    def found(self, knowledge: Knowledge, ends: float) -> Line | None:
        """Repair a history until it fits all moments, or actions or time run out.

        Args:
            knowledge: what the player knows, and knew when the search began, or more.
            ends: the ``time.perf_counter()`` time of the end.
        """
        self._knowledge = knowledge
        most = self._most_actions + self._more_actions * len(knowledge.moments)
        while time.perf_counter() < ends:
            if self._replay is None:
                if self.played >= most:
                    break
                self._replay = self._repair(self._best.line)
            attempt = self._replayed(self._replay)
            if attempt is None:
                return self._weighted(self._replay.new)
            replay, self._replay = self._replay, None
            self._judge(replay, attempt)
        return None

    def _weighted(self, found: Line) -> Line | None:
        """A copy with its weights; None if an outcome is impossible."""
        line = found.cut(len(found))
        weights = [
            self._knowledge.log_probability(state, action)
            for state, action in zip(line.states[:-1], line.actions, strict=True)
        ]
        line.weights = [weight for weight in weights if weight is not None]
        return line if len(line.weights) == len(weights) else None

    def _judge(self, replay: _Replay, new: _Attempt) -> None:
        """Replace the best attempt, unless the new one is worse."""
        best = self._best
        if not replay.repairs:
            self._best = new
            return
        worse, blamed = new.score < best.score, replay.blamed
        if blamed is not None:
            weight = max(LEAST_WEIGHT, BLAME * self._weights[blamed]) if worse else 1.0
            self._weights[blamed] = weight
        if new.fitted > best.fitted:
            self._forgotten = 1
            self._weights.clear()
        self._stale = 0 if new.score > best.score else self._stale + 1
        # Equal ones too: what must change together may look no better until all has changed.
        if not worse:
            self._best = new
        elif self._stale >= PATIENCE:
            self._cut_back(best.line)

    def _cut_back(self, line: Line) -> None:
        """Forget the last moments that fit, and begin to draw on from there."""
        places = [step for step, moment in enumerate(line.moments) if moment is not None]
        first = places[-1 - self._forgotten] if self._forgotten < len(places) else 0
        self._replay = _Replay(line.cut(first), first, {}, repairs=False)
        self._stale, self._forgotten = 0, 2 * self._forgotten
        self._weights.clear()

    def _repair(self, line: Line) -> _Replay:
        """Begin to change the action at a random step, or to redraw several."""
        unit, sites = self._unit, self._sites(line)
        if not sites:
            return _Replay(line, 0, {})
        weights = list(itertools.accumulate(self._weights[step] for step in sites))
        step = sites[bisect(weights, unit() * weights[-1], 0, len(sites) - 1)]
        if unit() >= EXCHANGES:
            # No action has this number, so that each of these steps draws one.
            redrawn = range(step, step + 1 + self._place(LONGEST_REDRAW))
            return _Replay(line, step, dict.fromkeys(redrawn, pyspiel.INVALID_ACTION))
        plan = self._exchange(line, step)
        return _Replay(line, min(plan), plan, blamed=step)

    def _sites(self, line: Line) -> list[int]:
        """Steps for a repair: of the others, and mostly those which matter at the failing moment.

        There the player's own view differs, or another player cannot act as they did. Either may
        come from what that player saw, such as the cards that they were dealt.
        """
        player, unit = self._knowledge.player, self._unit
        sites = [step for step, mover in enumerate(line.movers) if mover != player]
        if not sites or unit() >= AIMED:
            return sites
        last = line.movers[-1]
        wanted = last if last >= 0 and unit() < AT_THE_LAST_MOVER else player
        seen = [
            step
            for step in sites
            if wanted in self._seen_by(line, step)
            and (wanted == player or player not in self._seen_by(line, step))
        ]
        return seen or sites

    def _seen_by(self, line: Line, step: int) -> frozenset[int]:
        """The players whose view the action at a step changed."""
        if step not in self._witnesses:
            before, after = line.states[step : step + 2]
            self._witnesses[step] = frozenset(
                player
                for player in range(before.num_players())
                if self._text(before, player) != self._text(after, player)
            )
        return self._witnesses[step]

    def _text(self, state: pyspiel.State, player: int) -> str:
        try:
            return self._look(state, player)
        except pyspiel.SpielError:  # Some games show nothing during the deal, or at the end.
            return ""

    def _exchange(self, line: Line, step: int) -> dict[int, int]:
        """Another action for a step, and its old one for a step that has that action."""
        actions, mover = line.actions, line.movers[step]
        same = [other for other, each in enumerate(line.movers) if each == mover]
        # Legal actions include what is dealt later, but not what was dealt before.
        options = {*line.states[step].legal_actions(), *(actions[each] for each in same)}
        options.discard(actions[step])
        if not options:
            return {step: actions[step]}
        action = sorted(options)[self._place(len(options))]
        holders = [other for other in same if actions[other] == action]
        plan = {step: action}
        if holders and self._unit() < (SWAPS_OUTCOMES if mover < 0 else SWAPS_MOVES):
            plan[holders[self._place(len(holders))]] = actions[step]
        return plan

    def _place(self, count: int) -> int:
        """A uniformly random number below ``count``."""
        return int(self._unit() * count)

    def _replayed(self, replay: _Replay) -> _Attempt | None:
        """Replay up to a moment that does not fit; None if all moments fit."""
        new, line, moments = replay.new, replay.line, self._knowledge.moments
        if len(new) == 0 and self._knowledge.is_moment(new.states[0].current_player()):
            new.moments[0] = 0  # It fits: all histories begin there.
        fitted = 1 + max((moment for moment in new.moments if moment is not None), default=-1)
        while fitted < len(moments):
            step, state = len(new), new.states[-1]
            if step >= replay.end or state.is_terminal():
                return _Attempt(new, fitted, NO_VIEW)
            candidates: Iterator[int] | Sequence[int]
            if state.current_player() == self._knowledge.player:
                action = moments[fitted - 1].action
                assert action is not None  # Only at the last moment.
                candidates = [action]
            else:
                kept = step < len(line) and line.movers[step] == state.current_player()
                usual = line.actions[step] if kept else pyspiel.INVALID_ACTION
                candidates = self._candidates(state, replay.plan.get(step, usual))
            distance = self._add(new, candidates, fitted)
            if distance is not None:
                return _Attempt(new, fitted, distance)
            fitted += new.moments[-1] is not None
        return None

    def _candidates(self, state: pyspiel.State, wanted: int) -> Iterator[int]:
        """The wanted action if it is legal, then others in random order."""
        legal = state.legal_actions()
        if wanted in legal:
            yield wanted
            legal.remove(wanted)
        most = OUTCOMES if state.is_chance_node() else CANDIDATES
        for place in range(min(most, len(legal))):  # Fisher-Yates, as far as it is needed.
            other = place + self._place(len(legal) - place)
            legal[place], legal[other] = legal[other], legal[place]
            yield legal[place]

    def _add(
        self, line: Line, candidates: Iterator[int] | Sequence[int], moment: int
    ) -> float | None:
        """Append the first action after which the player's view is right, or the nearest.

        Returns:
            None for the right view, or if the next state is no moment; else the distance.
        """
        nearest: tuple[float, int] | None = None
        for tried, action in enumerate(candidates):
            self.played += 1
            state = line.add(action, 0.0)
            if not self._knowledge.is_moment(state.current_player()) and not state.is_terminal():
                return None
            if not state.is_terminal() and self._knowledge.fits(state, moment):
                line.moments[-1] = moment
                return None
            line.drop_last()
            if tried < COMPARED:
                found = self._distance(state, moment), action
                nearest = found if nearest is None else min(nearest, found)
        assert nearest is not None
        line.add(nearest[1], 0.0)
        return nearest[0]

    def _distance(self, state: pyspiel.State, number: int) -> float:
        """How much the player's view of a state differs from that at a moment."""
        if state.is_terminal():
            return NO_VIEW
        moment = self._knowledge.moments[number]
        distance = self._difference(number, self._text(state, self._knowledge.player))
        if state.current_player() != moment.mover:
            return distance + OTHER_MOVER
        if moment.legal is not None:
            distance += len({*moment.legal} ^ {*state.legal_actions()})
        return distance

    def _difference(self, number: int, text: str) -> float:
        """How much a text differs from the player's view at a moment."""
        key = number, text
        if key not in self._differences:
            if number not in self._targets:
                self._targets[number] = _features(self._knowledge.moments[number].view)
            if len(self._differences) == MOST_REMEMBERED:
                self._differences.clear()
            counts = np.abs(_features(text) - self._targets[number])
            self._differences[key] = float(counts.sum())
        return self._differences[key]


def _features(text: str) -> NDArray[np.int64]:
    """[CLASSES] counts of the letters in each line of a text, and of neighbouring ones, hashed.

    Letters count with the first one of their line, such as the suit of cards, so that each right
    card counts whatever its neighbours; pairs count with the number of the line.
    """
    letters = np.frombuffer(text.encode(), np.uint8).astype(np.int64)
    ends = letters == ord("\n")
    begins = np.zeros(len(letters), np.int64)
    begins[1:] = np.where(ends[:-1], np.arange(1, len(letters)), 0)
    first = letters[np.maximum.accumulate(begins)] if len(letters) else letters
    pairs = 131 * letters[:-1] + 7 * letters[1:] + 1009 * np.cumsum(ends)[:-1]
    codes = np.concatenate([pairs, 257 * first + 17 * letters + 499])
    return np.bincount(codes % CLASSES, minlength=CLASSES)
