"""External-sampling Monte-Carlo CFR as its papers write it: recursive, on pyspiel's states.

It draws from the same stream as ``rave_agents.equilibrium``, in the same order, so that both must
have equal regrets after each iteration.
"""

import numpy as np
from open_spiel.python import policy
from rave_openspiel.states import OpenSpielState

from rave_agents.simulate.random_stream import random_unit


class TextbookMCCFR:
    """Regrets and cumulative strategies by information state.

    Args:
        game: a ``pyspiel.Game`` in which one player moves at a time.
        stream: the random stream.
        regret_power, average_power, floor: see ``rave_agents.config.regrets.MCCFR``.
    """

    def __init__(self, game, stream, regret_power=0.0, average_power=0.0, floor=False):
        self.game, self.stream = game, stream
        self.regret_power, self.average_power, self.floor = regret_power, average_power, floor
        self.regrets = {}
        self.strategies = {}
        self.iteration = 0
        self.factor = 1.0
        """The importance weight of the traversal."""

    def iterate(self):
        """Traverse the game once for each player."""
        self.iteration += 1
        for player in range(self.game.num_players()):
            self.traverse(self.game.new_initial_state(), player)

    def current_strategy(self, key, count):
        """Regret matching."""
        positive = np.maximum(self.regrets.setdefault(key, np.zeros(count)), 0.0)
        self.strategies.setdefault(key, np.zeros(count))
        total = sum(positive)
        return positive / total if total > 0 else np.full(count, 1.0 / count)

    def drawn(self, weights):
        """The place of one of the weights, which sum to 1."""
        unit = random_unit(self.stream)
        for place, weight in enumerate(weights):
            unit -= weight
            if unit < 0:
                return place
        return len(weights) - 1

    def traverse(self, state, player):
        """The sampled value of a state for the player whose regrets are updated."""
        if state.is_terminal():
            return state.returns()[player]
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            return self.traverse(state.child(outcomes[self.drawn(chances)]), player)
        mover, legal = state.current_player(), state.legal_actions()
        key = mover, state.information_state_string()
        strategy = self.current_strategy(key, len(legal))
        if mover != player:
            if mover == (player + 1) % self.game.num_players():
                weight = self.factor * self.iteration**self.average_power
                self.strategies[key] += weight * strategy
            return self.traverse(state.child(legal[self.drawn(strategy)]), player)
        values = np.array([self.traverse(state.child(action), player) for action in legal])
        value = sum(strategy * values)
        self.regrets[key] += self.factor * self.iteration**self.regret_power * (values - value)
        if self.floor:
            self.regrets[key] = np.maximum(self.regrets[key], 0.0)
        return value


class TextbookTargeted(TextbookMCCFR):
    """The same with directed traversals, see ``rave_agents.equilibrium.targeting``."""

    targeting = 0.5
    player = None

    def aim(self, history, player):
        """Direct traversals to the information set of the player who moves after a history."""
        self.player, self.keys, self.actions = player, [], []
        self.marked, self.weights = set(), []
        state = self.game.new_initial_state()
        for action in [*history, None]:
            if state.current_player() == player:
                self.keys.append(self.key_of(state))
                self.actions.append(action)
            if action is not None:
                state.apply_action(action)

    def key_of(self, state):
        """The key of the player who moves, whose information set is now known."""
        key = state.current_player(), state.information_state_string()
        self.current_strategy(key, len(state.legal_actions()))
        return key

    def iterate(self):
        """Traverse the game once for each player, from the start or from where a path arrives."""
        self.iteration += 1
        for player in range(self.game.num_players()):
            self.factor = 1.0
            state = self.game.new_initial_state()
            if self.player is not None and random_unit(self.stream) < self.targeting:
                paths = (self.draw_path(state.clone()) for _ in range(64))
                state = next((path for path in paths if path is not None), state)
            self.traverse(state, player)

    def draw_path(self, state):
        """A state of the information set; None, with a mark, if the path contradicts it."""
        weight, passed = 1.0, 0
        while not state.is_terminal():
            if state.current_player() == self.player:
                if self.key_of(state) != self.keys[passed]:
                    break
                if passed == len(self.keys) - 1:
                    self.weights.append(weight)
                    self.factor = weight / np.mean(self.weights)
                    return state
                state.apply_action(self.actions[passed])
                passed += 1
                continue
            shares = {
                action: chance
                for action, chance in self.shares(state)
                if (*state.history(), action) not in self.marked
            }
            if not shares:
                break
            mass = sum(shares.values())
            weight *= mass
            unit = random_unit(self.stream) * mass
            for drawn, chance in shares.items():  # noqa: B007
                unit -= chance
                if unit < 0:
                    break
            state.apply_action(drawn)
        self.marked.add(tuple(state.history()))
        return None

    def shares(self, state):
        """Chance's probabilities, or those of the average strategy with a tenth of even play."""
        if state.is_chance_node():
            return state.chance_outcomes()
        sums = self.strategies[self.key_of(state)]
        even = np.full(len(sums), 1.0 / len(sums))
        average = sums / sums.sum() if sums.sum() > 0 else even
        return zip(state.legal_actions(), 0.1 * even + 0.9 * average, strict=True)


class TextbookCFRPlus:
    """CFR+ over the whole tree, recursive: the players take turns, averages weigh t squared."""

    def __init__(self, game):
        self.game = game
        self.regrets, self.strategies = {}, {}
        self.iteration = 0

    def iterate(self):
        """Update the regrets of each player in turn."""
        self.iteration += 1
        for player in range(self.game.num_players()):
            gained = {}
            self.traverse(self.game.new_initial_state(), player, 1.0, 1.0, gained)
            for key, regrets in gained.items():
                self.regrets[key] = np.maximum(self.regrets[key] + regrets, 0.0)

    def current_strategy(self, key, count):
        """Regret matching."""
        regrets = self.regrets.setdefault(key, np.zeros(count))
        total = regrets.sum()
        return regrets / total if total > 0 else np.full(count, 1.0 / count)

    def traverse(self, state, player, own, others, gained):
        """The expected return of the player whose regrets are updated."""
        if state.is_terminal():
            return state.returns()[player]
        if state.is_chance_node():
            return sum(
                chance * self.traverse(state.child(outcome), player, own, others * chance, gained)
                for outcome, chance in state.chance_outcomes()
            )
        mover, legal = state.current_player(), state.legal_actions()
        key = mover, state.information_state_string()
        strategy = self.current_strategy(key, len(legal))
        if mover != player:
            return sum(
                share * self.traverse(state.child(action), player, own, others * share, gained)
                for action, share in zip(legal, strategy, strict=True)
            )
        sums = self.strategies.setdefault(key, np.zeros(len(legal)))
        sums += self.iteration**2 * own * strategy
        values = np.array(
            [
                self.traverse(state.child(action), player, own * share, others, gained)
                for action, share in zip(legal, strategy, strict=True)
            ]
        )
        value = sum(strategy * values)
        gained[key] = gained.get(key, 0.0) + others * (values - value)
        return value


def table_of(search, game):
    """The average strategies as a table of OpenSpiel's."""
    table = policy.TabularPolicy(game)
    for state in table.states:
        found = search.strategy_at(OpenSpielState(state), state.current_player())
        row = table.policy_for_key(state.information_state_string())
        row[:] = 0.0
        row[list(found.actions)] = found.probabilities
    return table
