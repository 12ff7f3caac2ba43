"""Moves and proofs of presets in random game trees, beside the exact values of every action.

``python -m helpers.oracle 10000 uct "rave(late_c=0.5)"`` in this folder prints what presets, all
that search such trees if none is named, play and prove in so many trees.
"""

import functools
import sys
import time

from helpers.random_trees import CHANCE, KINDS, action_values, random_tree, regret, tree_state

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.agents.named_agents import AgentSpec

SINGLE, DOUBLE = 1e-6, 1e-9
"""Exactness of outcomes; a tree has the probabilities of chance in single precision."""

MIXED = ("regret_matching", "exp3")
"""Presets for games in which players move at the same time."""


class Sample:
    """What a preset has played and proven in some trees.

    Regrets are shares of the range of utilities; those of plain UCT say where a tree is hard for
    statistics alone.
    """

    def __init__(self, preset, seeds, simulations=5000):
        self.regrets, self.worse_than_uct, self.proven, self.wrong = [], [], 0, []
        for seed in seeds:
            kind, nodes, values = tree(seed)
            near = SINGLE if any(node.mover == CHANCE for node in nodes) else DOUBLE
            rows, cost = played(preset, seed, simulations)
            self.regrets.append(cost)
            if cost > 0.25 and played("uct", seed, simulations)[1] <= 0.05:
                self.worse_than_uct.append((kind, seed))
            for row in rows:
                if row.outcome is not None:
                    self.proven += 1
                    low, high = values[row.action]
                    if not low - near <= row.outcome <= high + near:
                        self.wrong.append((kind, seed, row.action))

    @property
    def costly(self):
        """How many moves cost more than a twentieth of the range."""
        return sum(cost > 0.05 for cost in self.regrets)


@functools.lru_cache(2000)
def tree(seed):
    kind = list(KINDS)[seed % len(KINDS)]
    nodes = random_tree(kind, seed)
    return kind, nodes, action_values(nodes)


@functools.cache
def _searcher(preset, kind):
    """The searcher of all trees of a kind, whose memory is used again."""
    spec = AgentSpec.parse(preset)
    return Searcher(SearchConfig.preset(spec.name).replace(**spec.parameters))


@functools.lru_cache(2000)
def played(preset, seed, simulations):
    """The statistics of the root's actions, and the regret of the move."""
    kind, nodes, values = tree(seed)
    state = tree_state(kind, nodes)
    searcher = _searcher(preset, kind)
    searcher.reset()
    searcher.reseed(seed)
    result = searcher.search(state, Limit(simulations=simulations))
    width = state.max_utility() - state.min_utility()
    return result.actions, regret(values, result.action, width)


def main(count, *presets):
    print("preset               > 0.05   > 0.25, uct right   greatest   proven   wrong   seconds")
    for preset in presets or [name for name in SearchConfig.preset_names() if name not in MIXED]:
        started = time.process_time()
        sample = Sample(preset, range(int(count)))
        print(
            f"{preset:20} {sample.costly:6} {len(sample.worse_than_uct):19} "
            f"{max(sample.regrets):10.3f} {sample.proven:8} {len(sample.wrong):7} "
            f"{time.process_time() - started:9.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
