"""What results tell of worlds, from samples that are made by hand."""

import random

import pytest

from rave_agents.results.world_statistics import effective_size, world_statistics
from rave_agents.simulate.world_record import EACH_SIMULATION, RecordedWorlds, WorldSample


def sample(pieces, cycle=1, **changes):
    fields = {
        "method": "walk",
        "drawn": len(pieces),
        "keys": tuple(hash(str(piece)) for piece in pieces),
        "pieces": pieces,
        "cycle": cycle,
        "settled": True,
        "seconds": 0.0,
    }
    return WorldSample(**{**fields, **changes})


def chain(stay, length=384, seed=1):
    """Worlds with one hidden action of ten, kept with this probability, else drawn anew."""
    draw = random.Random(seed)
    value, found = 0, []
    for _ in range(length):
        if draw.random() >= stay:
            value = draw.randrange(10)
        found.append([[value]])
    return found


def test_independent_draws_count_nearly_all():
    assert effective_size(sample(chain(0.0))) == pytest.approx(384, rel=0.35)


def test_a_chain_that_stays_counts_by_its_autocorrelation_time():
    """The correlation at lag k is 0.8^k, so that the time is (1 + 0.8) / (1 - 0.8) = 9."""
    sizes = [effective_size(sample(chain(0.8, seed=seed))) for seed in range(10)]
    assert sum(sizes) / len(sizes) == pytest.approx(384 / 9, rel=0.35)


def test_one_world_over_and_over_counts_once():
    assert effective_size(sample([[[3]]] * 50)) == 1.0


def test_lines_that_never_change_count_once_each():
    lines = chain(0.0, length=8) * 20
    assert effective_size(sample(lines, cycle=8)) == pytest.approx(8)


def test_the_share_of_the_first_and_the_distinct_ones():
    found = world_statistics([sample([[[1]], [[2]], [[1]], [[1]], [[3]]])])
    assert (found.distinct, found.share_of_first, found.drawn) == (3, 0.5, 5)


def test_threads_are_put_together():
    both = [sample([[[1]], [[2]]]), sample([[[2]], [[3]]], settled=False)]
    found = world_statistics(both)
    assert (found.distinct, found.drawn, found.settled) == (3, 4, False)


def test_nothing_drawn_tells_nothing():
    assert world_statistics([sample([])]) is None


class World:
    """A world that can be cloned."""

    def __init__(self, number):
        self.number = number

    def clone(self):
        return World(self.number)


def test_after_the_deadline_the_first_worlds_serve_again():
    numbers = iter(range(100))
    worlds = RecordedWorlds(
        lambda: World(next(numbers)), method="walk", key=lambda world: world.number
    )
    worlds.begin(100, float("1e9"))
    worlds(), worlds()
    worlds.begin(100, 0.0)
    assert {worlds().number for _ in range(10)} == {0, 1}
    assert worlds.sample().drawn == 2


def test_a_first_world_is_drawn_even_after_the_deadline():
    worlds = RecordedWorlds(lambda: World(7), method="walk", key=lambda world: world.number)
    worlds.begin(100, 0.0)
    assert [worlds().number for _ in range(3)] == [7, 7, 7]
    assert worlds.sample().drawn == 1


def test_a_source_learns_what_simulations_cost_and_repeats_do_not_count():
    allowed = []

    class Source:
        repeated = False

        def allow(self, actions):
            allowed.append(actions)
            self.repeated = len(allowed) == 2

        def __call__(self):
            return World(len(allowed))

    worlds = RecordedWorlds(Source(), method="walk", key=lambda world: world.number)
    worlds()
    assert allowed == []  # Without a count of moves, worlds are not limited.
    worlds = RecordedWorlds(Source(), method="walk", key=lambda world: world.number)
    worlds.moves_played = lambda: 30
    for _ in range(3):
        worlds()
    assert allowed == [0, EACH_SIMULATION + 30, EACH_SIMULATION + 30]
    assert worlds.sample().drawn == 2
