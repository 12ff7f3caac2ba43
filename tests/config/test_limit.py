"""Limit: what ends a search."""

import math

import numpy as np
import pytest

from rave_agents import Limit


def test_a_limit_is_needed():
    with pytest.raises(ValueError, match="needs simulations, seconds or both"):
        Limit()


@pytest.mark.full(but=4)
@pytest.mark.parametrize(
    ("name", "values", "error", "message"),
    [
        ("simulations", [0, -1, 2**31], ValueError, "must be an integer from 1"),
        ("simulations", [1.0, "1", True], TypeError, "must be an integer"),
        ("seconds", [0, -1, math.inf, math.nan], ValueError, "must be a finite number above 0"),
        ("seconds", ["1", True, [1]], TypeError, "must be a finite number"),
    ],
)
def test_what_is_no_limit_is_refused(name, values, error, message):
    for value in values:
        with pytest.raises(error, match=f"{name} {message}"):
            Limit(**{name: value})


def test_plain_numbers_are_kept():
    limit = Limit(simulations=np.int64(5), seconds=np.float32(0.5))
    assert limit == Limit(simulations=5, seconds=0.5)
    assert type(limit.simulations) is int
    assert type(limit.seconds) is float
    assert Limit(simulations=2**31 - 1).seconds is None
    assert Limit(seconds=1).simulations is None
    with pytest.raises(TypeError):
        Limit(5)
