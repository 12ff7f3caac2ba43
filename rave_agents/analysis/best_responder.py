"""A best responder that learns by search: each episode is a game against a fixed policy.

Against a fixed policy the responder's own information sets are a tree of a Markov decision
process: what it sees next depends on its action alone. It is searched as in Timbers et al.,
"Approximate Exploitability" (IJCAI 2022), without their network: UCB1 selects, and the other
players' actions are drawn from the policy, so episodes have the hidden states' true probabilities,
and no determinization is needed. Values are backed up by the best action, not as means of all
visits (MaxUCT, Keller & Helmert, ICAPS 2013): exploration further down does not count against an
action.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from rave_agents.frameworks.adapters import Game, seeded_start
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.endless import until_over
from rave_agents.game.game_state import (
    GameState,
    drawn_outcome,
    hides_information,
    is_simultaneous,
    joint_action,
    legal_actions_of,
    moving_players,
)

EXPLORATION = 0.5
"""Exploration constant of UCB1, for returns scaled to [0, 1]."""

LEAST_VISITS = 3
"""Mean visits per action from which the responder trusts its own statistics."""

View = tuple[int, Hashable]
"""A player, and what they know where they move."""

Policy = Callable[[GameState, View], dict[int, float]]
"""The probability of each action of a player's at a state: ``policy(state, view)``."""


def view_of(state: GameState, player: int, path: Sequence[int]) -> View:
    """What a player knows at a state; in games without hidden information, the moves so far."""
    view = StateAbilities(state).view
    if view is None or not hides_information(state):
        return player, tuple(path)
    return player, view(player)


class _Node:
    """What is known of one of the responder's information sets."""

    def __init__(self, actions: Sequence[int], value: float) -> None:
        self.actions = list(actions)
        self.value = value
        """The responder's expected return from here, as it would play now."""
        self.visits = [0] * len(self.actions)
        self.values = [0.0] * len(self.actions)
        """The expected return of each action."""
        self.returns = [0.0] * len(self.actions)
        """The sum of the returns of games that ended after each action."""
        self.after: list[Counter[_Node]] = [Counter() for _ in self.actions]
        """For each action, how often each information set followed."""

    def update(self, place: int, later: "_Node | None", gained: float) -> None:
        """Count a game in which an action led to another set, or to the end of the game."""
        self.visits[place] += 1
        if later is None:
            self.returns[place] += gained
        else:
            self.after[place][later] += 1
        total = self.returns[place]
        total += sum(count * node.value for node, count in self.after[place].items())
        self.values[place] = total / self.visits[place]
        tried = zip(self.values, self.visits, strict=True)
        self.value = max(value for value, visits in tried if visits)

    @property
    def most_visited(self) -> int:
        """The most visited action."""
        return self.actions[self.visits.index(max(self.visits))]


class BestResponder:
    """Learns a response of one player to the others' policies.

    Where it knows too little, it plays the policy itself: so it can hardly be worse than that.

    Args:
        game: the game.
        player: the responder's seat.
        policy: the policy of all players.
        seed: of everything random here.
    """

    def __init__(self, game: Game, player: int, policy: Policy, seed: int) -> None:
        self._game, self._player, self._policy = game, player, policy
        self._random = random.Random(seed)
        self._nodes: dict[View, _Node] = {}
        self._low, self._high = math.inf, -math.inf

    def learn(self, episodes: int) -> None:
        """Play this many games to learn from; each adds at most one information set."""
        for _ in range(episodes):
            self._learn_from_one()

    def _learn_from_one(self) -> None:
        visited: list[tuple[_Node, int]] = []
        new: View | None = None

        def explore(state: GameState, view: View) -> int:
            nonlocal new
            if new is not None:
                return self._drawn(state, view)
            node = self._nodes.get(view)
            if node is None:
                new = view
                legal[:] = legal_actions_of(state, self._player)
                return self._drawn(state, view)
            place = self._selected(node)
            visited.append((node, place))
            return node.actions[place]

        legal: list[int] = []
        gained = self._play(explore)[self._player]
        self._low, self._high = min(self._low, gained), max(self._high, gained)
        later = None
        if new is not None:  # The first value of a set is that of the policy itself there.
            later = self._nodes[new] = _Node(legal, gained)
        for node, place in reversed(visited):
            node.update(place, later, gained)
            later = node

    def respond(self) -> float:
        """Play a game with what it has learned; returns its return."""

        def best(state: GameState, view: View) -> int:
            node = self._nodes.get(view)
            if node is None or sum(node.visits) < LEAST_VISITS * len(node.actions):
                return self._drawn(state, view)
            return node.most_visited

        return self._play(best)[self._player]

    def follow(self) -> float:
        """Play a game by the policy itself; returns the player's return."""
        return self._play(self._drawn)[self._player]

    def _selected(self, node: _Node) -> int:
        """The index of the action with the highest UCB1 score, an untried one first."""
        untried = [place for place, visits in enumerate(node.visits) if visits == 0]
        if untried:
            return self._random.choice(untried)
        width = max(self._high - self._low, 1e-12)
        log = math.log(sum(node.visits))
        scores = [
            (value - self._low) / width + EXPLORATION * math.sqrt(log / visits)
            for value, visits in zip(node.values, node.visits, strict=True)
        ]
        return scores.index(max(scores))

    def _drawn(self, state: GameState, view: View) -> int:
        """An action drawn from the policy."""
        found = self._policy(state, view)
        return self._random.choices(list(found), list(found.values()))[0]

    def _play(self, choose: Callable[[GameState, View], int]) -> Sequence[float]:
        """Play a game, in which ``choose`` plays for the responder; returns the returns."""
        state = seeded_start(self._game, lambda: self._random.getrandbits(31))
        path: list[int] = []
        for _ in until_over(state):
            if state.is_chance_node():
                actions = [drawn_outcome(state, self._random)]
                state.apply_action(actions[0])
            else:
                together = is_simultaneous(state)
                movers = moving_players(state) if together else [int(state.current_player())]
                actions = []
                for mover in movers:
                    legal = legal_actions_of(state, mover)
                    if len(legal) == 1:  # Nobody searches for a forced move.
                        actions.append(int(legal[0]))
                        continue
                    view = view_of(state, mover, path)
                    answer = choose if mover == self._player else self._drawn
                    actions.append(answer(state, view))
                if together:
                    joint = joint_action(movers, actions, state.num_players())
                    StateAbilities(state).apply_actions(joint)  # type: ignore[misc]
                else:
                    state.apply_action(actions[0])
            path += actions
        return list(state.returns())
