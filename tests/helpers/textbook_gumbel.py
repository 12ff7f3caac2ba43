"""Gumbel AlphaZero as it is written down: slow, and of no use but to compare with.

Danihelka, Guez, Schrittwieser & Silver 2022, "Policy improvement by planning with Gumbel".
"""

import math

import numpy as np

from rave_agents.simulate.random_stream import make_stream, random_below, random_unit


class PlainNode:
    def __init__(self, state, prior, returns):
        self.player = state.current_player()
        self.prior = prior
        self.returns = returns  # Of all players, in utilities: what the node was judged.
        self.visits = dict.fromkeys(prior, 0)
        self.sums = dict.fromkeys(prior, 0.0)
        self.children = {}


class PlainGumbel:
    """One search of a state. ``judge(state)`` gives priors by action and all players' returns."""

    def __init__(self, state, judge, *, seed, simulations, considered=16, c_visit=50, c_scale=1):
        self.state, self.judge = state, judge
        self.low, self.width = state.min_utility(), state.max_utility() - state.min_utility()
        self.c_visit, self.c_scale = c_visit, c_scale
        stream_seed, noise_seed, _ = np.random.SeedSequence(seed).spawn(3)
        self.stream = make_stream(stream_seed)
        noise = np.random.default_rng(noise_seed).gumbel(size=state.num_distinct_actions())
        self.root = self.node(state)
        actions = list(self.root.prior)
        self.noise = {action: noise[action] for action in actions}
        top = sorted(actions, key=lambda a: self.noise[a] + math.log(self.root.prior[a]))[::-1]
        left = top[:considered]
        budget, phases = simulations - 1, max(1, math.ceil(math.log2(len(left))))
        self.survivors = left if len(left) > 1 else actions
        while budget > 0:
            share = max(1, (simulations - 1) // (phases * len(left)))
            for _ in range(share):
                for action in self.ranked(left):
                    if budget > 0:
                        self.simulate(action)
                        budget -= 1
            self.survivors = left
            left = self.ranked(left)[: max(2, len(left) // 2)]
        self.action = self.ranked(self.survivors)[0]

    def ranked(self, actions):
        return sorted(actions, key=self.score)[::-1]

    def node(self, state):
        if state.is_terminal():
            return PlainNode(state, {}, state.returns())
        if state.is_chance_node():
            return PlainNode(state, dict(state.chance_outcomes()), None)
        prior, returns = self.judge(state)
        return PlainNode(state, {a: prior[a] for a in state.legal_actions()}, returns)

    def scaled(self, utility):
        return (utility - self.low) / self.width

    def completed(self, node):
        """q of every action, that of actions without visits by v_mix."""
        visited = [a for a in node.prior if node.visits[a] > 0]
        q = {a: node.sums[a] / node.visits[a] for a in visited}
        mixed = self.scaled(node.returns[node.player])
        if visited:
            total = sum(node.visits.values())
            mean = sum(node.prior[a] * q[a] for a in visited) / sum(node.prior[a] for a in visited)
            mixed = (mixed + total * mean) / (1 + total)
        return {a: q.get(a, mixed) for a in node.prior}

    def sigma(self, node):
        factor = (self.c_visit + max(node.visits.values())) * self.c_scale
        return {a: factor * q for a, q in self.completed(node).items()}

    def score(self, action):
        sigma = self.sigma(self.root)[action]
        return self.noise[action] + math.log(self.root.prior[action]) + sigma

    def improved(self, node):
        sigma = self.sigma(node)
        logits = {a: math.log(node.prior[a]) + sigma[a] for a in node.prior}
        most = max(logits.values())
        weights = {a: math.exp(logit - most) for a, logit in logits.items()}
        return {a: weight / sum(weights.values()) for a, weight in weights.items()}

    def choose(self, node):
        if node.player == -1:
            rest = random_unit(self.stream)
            *others, last = node.prior
            for outcome in others:
                rest -= node.prior[outcome]
                if rest < 0:
                    return outcome
            return last
        improved, total = self.improved(node), sum(node.visits.values())
        scores = {a: improved[a] - node.visits[a] / (1 + total) for a in node.prior}
        best, most, ties = None, -math.inf, 0
        for action, score in scores.items():
            if score > most:
                best, most, ties = action, score, 1
            elif score == most:
                ties += 1
                if random_below(self.stream, ties) == 0:
                    best = action
        return best

    def simulate(self, first):
        state, node, path, action = self.state.clone(), self.root, [], first
        while True:
            path.append((node, action))
            state.apply_action(action)
            fresh = action not in node.children
            if fresh:
                node.children[action] = self.node(state)
            node = node.children[action]
            if fresh and node.player == -1:  # It is noted, and the simulation begins anew.
                self.simulate(first)
                return
            if node.returns is not None and (fresh or state.is_terminal()):
                break
            action = self.choose(node)
        mover = 0
        for above, taken in path:
            mover = above.player if above.player >= 0 else mover
            above.visits[taken] += 1
            above.sums[taken] += self.scaled(node.returns[mover])
