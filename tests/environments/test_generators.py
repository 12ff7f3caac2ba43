"""Random number generators: where they are found, and what is drawn instead."""

import functools
import random
import types

import numpy as np
import pytest
from gymnasium import spaces
from helpers import dice

from rave_agents.environments import generators
from rave_agents.environments.copying import CopyRules, copied, equal
from rave_agents.environments.dice import Dice, seeded
from rave_agents.environments.generators import (
    Generators,
    find_generators,
    fixed,
    reseed,
    restore,
    saved,
    state_bytes,
)


class Slotted:
    __slots__ = ("__hidden", "plain")

    def __init__(self):
        self.plain = random.Random(1)
        self.__hidden = np.random.default_rng(1)


def names(thing):
    return {found.name for found in find_generators(thing).inside}


@pytest.mark.parametrize(
    "generator",
    [
        np.random.default_rng(1),
        np.random.Generator(np.random.MT19937(1)),
        np.random.Philox(1),
        np.random.RandomState(1),
        random.Random(1),
        dice.Loaded(1),
    ],
)
def test_generators_are_reseeded_saved_and_restored(generator):
    reseed(generator, 5)
    first = saved(generator)
    reseed(generator, 6)
    assert not equal(saved(generator), first)
    restore(generator, first)
    assert equal(saved(generator), first)
    reseed(generator, 5)
    assert equal(saved(generator), first)
    assert not fixed(find_generators({"it": generator}).inside)


@pytest.mark.parametrize(
    ("thing", "found"),
    [
        (Slotted(), {"plain (random.Random)", "__hidden (numpy.random.Generator)"}),
        ([{"a": (random.Random(1),)}], {"[0]['a'][0] (random.Random)"}),
        (types.SimpleNamespace(draw=random.Random(1).random), {"draw.__self__ (random.Random)"}),
        (np.array([random.Random(1), None], object), {"[0] (random.Random)"}),
        (iter([random.Random(1)]), {".…[0] (random.Random)"}),
        (functools.partial(random.Random(1).randrange, 2), {"func.__self__ (random.Random)"}),
        (spaces.Discrete(2, seed=1), {"_np_random (numpy.random.Generator)"}),
        (types.SimpleNamespace(here=random), set()),
        (types.SimpleNamespace(rng=random.SystemRandom()), {"rng (random.SystemRandom)"}),
    ],
)
def test_generators_are_found_wherever_they_are(thing, found):
    assert names(thing) == found


def test_generators_with_one_source_are_one():
    source = np.random.PCG64(1)
    first, second = np.random.Generator(source), np.random.Generator(source)
    assert len(find_generators([first, second, source]).inside) == 1


def test_what_refers_to_itself_is_gone_through_once():
    ring = {"rng": random.Random(1)}
    ring["ring"] = ring
    assert names(ring) == {"['rng'] (random.Random)"}


def test_generators_outside_are_those_that_functions_name():
    outside = {found.name for found in find_generators(dice.gym_coin(dice.Module)()).outside}
    assert any("module_random" in name for name in outside)
    assert any("module_generator" in name for name in outside)
    assert {"the module random", "the module numpy.random"} <= outside


def test_a_closure_is_outside():
    rng = random.Random(3)

    class Closed:
        def roll(self):
            return rng.random()

    found = find_generators(Closed()).outside
    assert any(one.generator is rng for one in found)


def test_seeded_tells_what_was_drawn_from_and_puts_back_what_is_outside():
    own = random.Random(1)
    generators = Generators(find_generators([own]).inside, find_generators([]).outside)
    before = random.getstate()
    with seeded(generators, 3) as drawn:
        first = own.random(), random.random()
    assert random.getstate() == before
    assert drawn == ["[0] (random.Random)", "the module random"]
    with seeded(generators, 3):
        assert (own.random(), random.random()) == first


def test_dice_go_on_from_one_simulation_to_the_next_and_hang_on_their_entropy_alone():
    def drawn(entropy, live):
        random.seed(live)
        own = random.Random(live)
        outside = tuple(
            one for one in find_generators([]).outside if one.name == "the module random"
        )
        thrown = Dice(Generators(find_generators([own]).inside, outside), entropy)
        seen = []
        for _ in range(3):
            before = random.getstate()
            with thrown:
                seen.append((own.random(), random.random()))
            assert random.getstate() == before
        assert thrown.used() == ["[0] (random.Random)", "the module random"]
        return seen

    first = drawn([1, 2], live=1)
    assert len(set(first)) == 3
    assert drawn([1, 2], live=7) == first
    assert drawn([1, 3], live=1) != first


def test_a_generator_of_ones_own_class_is_copied_with_all_that_it_has():
    generator = dice.Loaded(3)
    generator.random()
    twin = copied(generator, CopyRules())
    assert [twin.random() for _ in range(3)] == [generator.random() for _ in range(3)]


@pytest.mark.needs("torch")
def test_equal_states_of_pytorchs_generators_are_equal_wherever_they_are_kept():
    import torch

    generator = torch.Generator().manual_seed(1)
    before = state_bytes(generator)
    kept = [generator.get_state() for _ in range(3)]
    assert state_bytes(generator) == before
    torch.randint(2, (1,), generator=generator)
    assert state_bytes(generator) != before
    assert len(kept) == 3


class Asserting:
    """Pytest rewrites the assertion: the method calls functions of pytest's, and so on."""

    def step(self, action):
        assert action >= 0, "an action of no environment"


def test_an_assertion_in_a_test_module_does_not_lead_through_pytest():
    walk = generators._Walk((), False)
    walk.go(Asserting())
    assert len(walk._seen) < 100
