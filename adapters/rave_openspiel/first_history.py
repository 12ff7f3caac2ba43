"""A consistent history that is found from a player's knowledge alone: where a walk starts.

A walk that started at the true history would depend on what the player cannot see. So a history is
drawn forward from the start of the game until the player would notice a difference at some moment,
and then repaired by local search: a random step gets another action, exchanged with the step that
has it, and the history is replayed and drawn on from there. A repaired history replaces the old one
unless it fits fewer moments, or as many and at the first moment that does not fit the player's view
differs more. If that leads nowhere, the last moments are forgotten.

The search reads the player's moments, never the true history. So its result, found or not, is a
function of the game, the player's knowledge and the seed.
"""

import itertools
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyspiel
from numpy.typing import NDArray

from rave_agents.game.endless import LONGEST_GAME
from rave_openspiel.history_chain import Budget
from rave_openspiel.knowledge import Knowledge, Line
from rave_openspiel.player_views import viewer

MOST_ACTIONS = 300_000
"""Actions played before the search gives up."""

PATIENCE = 2000
"""Repairs without progress before the last moment is forgotten, then the last two, four, ..."""

EXCHANGES = 0.85
"""Share of the repairs that give one step another action; the others redraw several steps."""

LONGEST_REDRAW = 5
"""Most consecutive steps that such a repair redraws."""

AIMED = 0.7
"""Share of the repairs at steps that a player saw whose action or view does not fit."""

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

MOST_REMEMBERED = 20_000
"""Texts whose differences are remembered at once, at most."""

CLASSES = 1021
"""Number of classes of letters and pairs, by which texts are compared; a prime."""


def first_history(knowledge: Knowledge, seed: int, budget: Budget) -> Line | None:
    """Return a consistent history; None if none was found.

    Args:
        knowledge: what the player knows; its true history is not read.
        seed: gives the random choices.
        budget: its time ends the search; its actions do not, since ``MOST_ACTIONS`` bounds them.
    """
    line = _Search(knowledge, seed).run(budget.ends)
    if line is None:
        return None
    weights = [
        knowledge.log_probability(state, action)
        for state, action in zip(line.states[:-1], line.actions, strict=True)
    ]
    line.weights = [weight for weight in weights if weight is not None]
    return line if len(line.weights) == len(weights) else None  # Not with an impossible outcome.


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


class _Search:
    """A local search for a consistent history."""

    def __init__(self, knowledge: Knowledge, seed: int) -> None:
        self._knowledge = knowledge
        self._draw = random.Random(seed)
        self._look = viewer(knowledge.start.get_game())
        self._actions_left = MOST_ACTIONS
        self._targets: dict[int, NDArray[np.int64]] = {}
        # Most texts come again: in Go Fish comparing them took half of the time.
        self._differences: dict[tuple[int, str], float] = {}
        self._weights: defaultdict[int, float] = defaultdict(lambda: 1.0)
        self._witnesses: dict[int, frozenset[int]] = {}

    def run(self, ends: float) -> Line | None:
        """Repair a history until it fits all moments, or actions or time run out."""
        if time.perf_counter() >= ends:
            return None
        best = self._replayed(Line(self._knowledge.start), 0, {})
        stale, forgotten = 0, 1
        while best.fitted < len(self._knowledge.moments):
            if self._actions_left <= 0 or time.perf_counter() >= ends:
                return None
            new = self._repaired(best)
            if new.fitted > best.fitted:
                forgotten = 1
                self._weights.clear()
            stale = 0 if new.score > best.score else stale + 1
            # Equal ones too: what must change together may look no better until all has changed.
            if new.score >= best.score:
                best = new
            elif stale >= PATIENCE:
                best = self._cut_back(best.line, forgotten)
                stale, forgotten = 0, 2 * forgotten
                self._weights.clear()
        return best.line

    def _cut_back(self, line: Line, count: int) -> _Attempt:
        """Forget the last moments that fit, and draw on from there."""
        places = [step for step, moment in enumerate(line.moments) if moment is not None]
        first = places[-1 - count] if count < len(places) else 0
        return self._replayed(line.cut(first), first, {})

    def _repaired(self, best: _Attempt) -> _Attempt:
        """Change the action at a random step, or redraw several, and replay."""
        draw, line = self._draw, best.line
        sites = self._sites(line)
        if not sites:
            return self._replayed(line, 0, {})
        weights = list(itertools.accumulate(self._weights[step] for step in sites))
        step = draw.choices(sites, cum_weights=weights)[0]
        if draw.random() >= EXCHANGES:
            # No action has this number, so that each of these steps draws one.
            redrawn = range(step, step + draw.randint(1, LONGEST_REDRAW))
            return self._replayed(line, step, dict.fromkeys(redrawn, pyspiel.INVALID_ACTION))
        plan = self._exchange(line, step)
        new = self._replayed(line, min(plan), plan)
        worse = new.score < best.score
        self._weights[step] = max(LEAST_WEIGHT, BLAME * self._weights[step]) if worse else 1.0
        return new

    def _sites(self, line: Line) -> list[int]:
        """Steps for a repair: of the others, and mostly those which matter at the failing moment.

        There the player's own view differs, or another player cannot act as they did. Either may
        come from what that player saw, such as the cards that they were dealt.
        """
        player, draw = self._knowledge.player, self._draw
        sites = [step for step, mover in enumerate(line.movers) if mover != player]
        if draw.random() >= AIMED:
            return sites
        last = line.movers[-1]
        wanted = last if last >= 0 and draw.random() < 0.6 else player
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
        draw, actions, mover = self._draw, line.actions, line.movers[step]
        same = [other for other, each in enumerate(line.movers) if each == mover]
        # Legal actions include what is dealt later, but not what was dealt before.
        options = {*line.states[step].legal_actions(), *(actions[each] for each in same)}
        options.discard(actions[step])
        if not options:
            return {step: actions[step]}
        action = draw.choice(sorted(options))
        holders = [other for other in same if actions[other] == action]
        plan = {step: action}
        if holders and draw.random() < (0.8 if mover < 0 else 0.5):
            plan[draw.choice(holders)] = actions[step]
        return plan

    def _replayed(self, line: Line, first: int, plan: Mapping[int, int]) -> _Attempt:
        """Replay a line from a step, with planned actions, up to a moment that does not fit.

        Steps keep their actions where they are legal and fit; others draw new ones.
        """
        new, moments = line.cut(first), self._knowledge.moments
        if first == 0 and self._knowledge.is_moment(new.states[0].current_player()):
            new.moments[0] = 0  # It fits: all histories begin there.
        fitted = 1 + max((moment for moment in new.moments if moment is not None), default=-1)
        for step in range(first, first + LONGEST_GAME):
            state = new.states[-1]
            if fitted == len(moments) or state.is_terminal():
                break
            candidates: Iterator[int] | Sequence[int]
            if state.current_player() == self._knowledge.player:
                action = moments[fitted - 1].action
                assert action is not None  # Only at the last moment.
                candidates = [action]
            else:
                kept = step < len(line) and line.movers[step] == state.current_player()
                usual = line.actions[step] if kept else pyspiel.INVALID_ACTION
                candidates = self._candidates(state, plan.get(step, usual))
            distance = self._add(new, candidates, fitted)
            if distance is not None:
                return _Attempt(new, fitted, distance)
            fitted += new.moments[-1] is not None
        return _Attempt(new, fitted, NO_VIEW)

    def _candidates(self, state: pyspiel.State, wanted: int) -> Iterator[int]:
        """The wanted action if it is legal, then others in random order."""
        legal = state.legal_actions()
        if wanted in legal:
            yield wanted
            legal.remove(wanted)
        self._draw.shuffle(legal)
        yield from legal[: OUTCOMES if state.is_chance_node() else CANDIDATES]

    def _add(
        self, line: Line, candidates: Iterator[int] | Sequence[int], moment: int
    ) -> float | None:
        """Append the first action after which the player's view is right, or the nearest.

        Returns:
            None for the right view, or if the next state is no moment; else the distance.
        """
        nearest: tuple[float, int] | None = None
        for tried, action in enumerate(candidates):
            self._actions_left -= 1
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
