"""Information sets of OpenSpiel's games, and OpenSpiel's best responses to a profile on them."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pyspiel
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import exploitability

from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.information_sets import ProfileValues
from rave_agents.game.plain_text import shortened
from rave_openspiel.player_views import offers
from rave_openspiel.states import OpenSpielState
from rave_openspiel.turn_based import in_turns, one_round

MOST_HISTORIES = 1_000_000
"""Histories of a game up to which OpenSpiel's best response, which keeps all, is computed."""

Remake = Callable[[], pyspiel.Game]


class InformationSet(NamedTuple):
    """An information set at which its player has more than one action."""

    key: str
    """The player's information state."""
    player: int
    """The player who moves."""
    actions: tuple[int, ...]
    """The legal actions."""
    history: tuple[int, ...]
    """The actions and chance outcomes that lead to its first position."""


class OpenSpielSets:
    """The information sets of a game; see ``rave_agents.frameworks.information_sets``.

    Args:
        game: the game, in a form that can be pickled; its attribute ``game`` is the pyspiel.Game.
        sets: the sets with a choice, in the order of a depth-first walk.
        forced: the only legal action of every other set, by the player's information state.
        by_state: True if C++ cannot look a policy up by the text of an information state.
    """

    def __init__(
        self, game: Any, sets: Sequence[InformationSet], forced: Mapping[str, int], by_state: bool
    ) -> None:
        self._game, self._sets, self._forced, self._by_state = game, sets, forced, by_state
        self.players: Sequence[int] = [each.player for each in sets]
        """See ``InformationSets``."""
        self.actions: Sequence[Sequence[int]] = [each.actions for each in sets]
        """See ``InformationSets``."""
        self._responders: list[pyspiel.TabularBestResponse] = []

    def __reduce__(self) -> Any:
        return type(self), (self._game, self._sets, self._forced, self._by_state)

    def position(self, index: int, *, in_turn: bool) -> OpenSpielState:
        """See ``InformationSets``."""
        history = self._sets[index].history
        if not in_turn:
            return OpenSpielState(one_round(self._game.game, history))
        state = self._turns.new_initial_state()
        for action in history:
            state.apply_action(action)
        return OpenSpielState(state)

    def name(self, index: int) -> str:
        """See ``InformationSets``."""
        return self._sets[index].key

    @functools.cached_property
    def _turns(self) -> pyspiel.Game:
        return in_turns(self._game.game)

    def measure(self, policy: Sequence[Mapping[int, float]]) -> ProfileValues:
        """See ``InformationSets``."""
        table = {key: [(action, 1.0)] for key, action in self._forced.items()}
        if self._by_state:
            return self._measure_by_state(policy)
        for each, probabilities in zip(self._sets, policy, strict=True):
            table[each.key] = list(probabilities.items())
        root, players = self._turns.new_initial_state(), range(self._turns.num_players())
        values = pyspiel.expected_returns(root, pyspiel.TabularPolicy(table), -1, True)
        if self._responders:  # Each has the tree of the game, whose making takes half the time.
            for responder in self._responders:
                responder.set_policy(table)
        else:
            self._responders = [
                pyspiel.TabularBestResponse(self._turns, player, table) for player in players
            ]
        responses = [responder.value_from_state(root) for responder in self._responders]
        return ProfileValues(tuple(values), tuple(responses))

    def _measure_by_state(self, policy: Sequence[Mapping[int, float]]) -> ProfileValues:
        """The values by OpenSpiel's algorithms in Python, which ask for a player's policy."""
        pairs = zip(self._sets, policy, strict=True)
        profile = _Profile(self._turns, {(each.player, each.key): p for each, p in pairs})
        found = [
            exploitability.best_response(self._turns, profile, player)
            for player in range(self._turns.num_players())
        ]
        values = tuple(map(float, found[0]["on_policy_values"]))
        return ProfileValues(values, tuple(float(each["best_response_value"]) for each in found))


class _Profile(policies.Policy):  # type: ignore[misc]
    """The policies of all players, by player and information state."""

    def __init__(
        self, game: pyspiel.Game, table: Mapping[tuple[int, str], Mapping[int, float]]
    ) -> None:
        super().__init__(game, list(range(game.num_players())))
        self._table = table

    def action_probabilities(self, state: pyspiel.State, player_id: Any = None) -> dict[int, float]:
        """Return the probability of every legal action."""
        legal = state.legal_actions()
        if len(legal) == 1:
            return {legal[0]: 1.0}
        player = state.current_player()
        return dict(self._table[player, state.information_state_string(player)])


def enumerate_sets(game: Any, most: int) -> OpenSpielSets:
    """Enumerate the information sets of a game by walking through all of its histories.

    Args:
        game: an ``OpenSpielGame``.
        most: the greatest number of sets.

    Raises:
        UnsupportedGameError: if the game has more sets, or too many histories; if it has no
            information states; or if these forget what their player has seen or done, since best
            responses are computed from one set to the next.
    """
    name = game.name
    if not offers(game.game, "information_state_string"):
        raise UnsupportedGameError(
            f"{name} has no information states, by which OpenSpiel's best response tells a "
            "player's decisions apart."
        )
    walk = _Walk(name, most)
    start = in_turns(game.game).new_initial_state()
    # A stack, not recursion: games may be longer than Python's stack.
    open_states = [(start, (0,) * start.num_players())]
    while open_states:
        state, recalled = open_states.pop()
        open_states.extend(reversed(walk.expand(state, recalled)))
    sets = [each for each in walk.found.values() if len(each.actions) > 1]
    forced = {each.key: each.actions[0] for each in walk.found.values() if len(each.actions) == 1}
    is_shared = len({each.key for each in walk.found.values()}) < len(walk.found)
    # C++ asks the observer of a game in Python, and not the method of its states.
    own_text = type(start).information_state_string is not pyspiel.State.information_state_string
    by_state = is_shared or own_text
    return OpenSpielSets(game, sets, forced, by_state)


_Recalled = tuple[int, ...]
"""For each player, the number of the sequence of their own sets and actions so far."""


class _Walk:
    """Collects information sets, and checks that players recall what they have seen and done."""

    def __init__(self, name: str, most: int) -> None:
        self._name, self._most = name, most
        self.found: dict[tuple[int, str], InformationSet] = {}
        """The sets by player and information state."""
        self._recalled: dict[tuple[int, str], int] = {}
        self._sequences: dict[tuple[int, int, str, int], int] = {}
        self._histories = 0

    def expand(
        self, state: pyspiel.State, recalled: _Recalled
    ) -> list[tuple[pyspiel.State, _Recalled]]:
        """Note a state's set; return the states after it, with what players recall there."""
        self._histories += 1
        if self._histories > MOST_HISTORIES:
            raise UnsupportedGameError(
                f"{self._name} has more than {MOST_HISTORIES:,} histories ({len(self.found):,} "
                "information sets in those counted), too many for an exact best response."
            )
        if state.is_terminal():
            return []
        if state.is_chance_node():
            return [(state.child(action), recalled) for action, _ in state.chance_outcomes()]
        player, legal = int(state.current_player()), tuple(state.legal_actions())
        key = str(state.information_state_string(player))
        self._note(state, (player, key), legal, recalled[player])
        after = []
        for action in legal:
            sequence = (player, recalled[player], key, action)
            number = self._sequences.setdefault(sequence, len(self._sequences) + 1)
            mine = (*recalled[:player], number, *recalled[player + 1 :])
            after.append((state.child(action), mine))
        return after

    def _note(
        self, state: pyspiel.State, seen: tuple[int, str], legal: tuple[int, ...], sequence: int
    ) -> None:
        known = self.found.get(seen)
        if known is None:
            self.found[seen] = InformationSet(seen[1], seen[0], legal, tuple(state.history()))
            self._recalled[seen] = sequence
            if len(self.found) > self._most:
                raise UnsupportedGameError(
                    f"{self._name} has too many information sets to search each: the count ended "
                    f"at {len(self.found):,}, and max_sets allows {self._most:,}."
                )
        elif known.actions != legal:
            raise UnsupportedGameError(
                f"{self._name} has an information state with different legal actions, "
                f"{list(known.actions)} and {list(legal)}: {shortened(repr(seen[1]), 100)}."
            )
        elif self._recalled[seen] != sequence:
            raise UnsupportedGameError(
                f"{self._name} has imperfect recall: player {seen[0]} has "
                f"{shortened(repr(seen[1]), 100)} after different information states or actions "
                "of their own, and OpenSpiel's best response needs players who remember these."
            )
