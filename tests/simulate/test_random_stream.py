"""The random streams against an independent implementation."""

import numba
import numpy as np
import pytest
import scipy
from helpers.textbook import Xoshiro

from rave_agents.simulate import random_stream
from rave_agents.simulate.random_stream import fill_words, make_stream, random_below, random_unit


def test_known_answers():
    """The state 1, 2, 3, 4 of xoshiro128++; the first words follow by hand from its definition."""
    words = np.empty(3, np.int64)
    stream = np.array([1, 2, 3, 4], np.int64)
    fill_words(stream, words)
    assert words[0] == ((1 + 4) << 7) + 1 == 641
    # Then the state is (1^4^2, 2^3^1, 3^1^(2<<9), rotl(4^2, 11)) = (7, 0, 1026, 12288).
    assert words[1] == ((7 + 12288) << 7) + 7
    textbook = Xoshiro([1, 2, 3, 4])
    assert words.tolist() == [textbook.word() for _ in range(3)]


@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_equal_to_the_textbook(seed):
    words = np.empty(5000, np.int64)
    stream = make_stream(np.random.SeedSequence(seed))
    textbook = Xoshiro(stream)
    fill_words(stream, words)
    assert words.tolist() == [textbook.word() for _ in range(5000)]
    assert stream.tolist() == textbook.s


@numba.njit
def drawn_below(stream, bound):
    return random_below(stream, bound)


@numba.njit
def drawn_unit(stream):
    return random_unit(stream)


def test_draws_in_the_kernel_equal_the_textbook():
    stream = make_stream(np.random.SeedSequence(5))
    textbook = Xoshiro(stream)
    for bound in (1, 2, 7, 1000, 2**31 - 1):
        assert drawn_below(stream, bound) == textbook.randrange(bound)
        assert drawn_unit(stream) == textbook.random()


@pytest.mark.parametrize("bound", [2, 3, 10, 361])
def test_small_numbers_are_uniform(bound):
    stream = make_stream(np.random.SeedSequence(bound))
    words = np.empty(200 * bound, np.int64)
    fill_words(stream, words)
    counts = np.bincount((words * bound) >> 32, minlength=bound)
    assert len(counts) == bound
    assert scipy.stats.chisquare(counts).pvalue > 0.001


def test_streams_of_different_seeds_differ():
    streams = {tuple(make_stream(np.random.SeedSequence(seed))) for seed in range(100)}
    assert len(streams) == 100
    assert random_stream.make_stream(np.random.SeedSequence(0)).max() < 2**32
