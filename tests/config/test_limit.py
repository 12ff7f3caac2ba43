"""Limit: what ends a search."""

import math

import numpy as np
import pytest

from rave_agents import Limit


def test_a_limit_is_needed():
    with pytest.raises(ValueError, match="needs simulations, seconds or both"):
        Limit()


@pytest.mark.parametrize("value", [0, -1, 2**31])
def test_simulations_out_of_range(value):
    with pytest.raises(ValueError, match=f"simulations must be an integer from 1.*{value}"):
        Limit(simulations=value)


@pytest.mark.parametrize("value", [1.0, "1", True])
def test_simulations_of_a_wrong_type(value):
    with pytest.raises(TypeError, match="simulations must be an integer"):
        Limit(simulations=value)


@pytest.mark.parametrize("value", [0, 0.0, -1, math.inf, math.nan])
def test_seconds_out_of_range(value):
    with pytest.raises(ValueError, match="seconds must be a finite number above 0"):
        Limit(seconds=value)


@pytest.mark.parametrize("value", ["1", True, [1]])
def test_seconds_of_a_wrong_type(value):
    with pytest.raises(TypeError, match="seconds must be a finite number"):
        Limit(seconds=value)


def test_plain_numbers_are_kept():
    limit = Limit(simulations=np.int64(5), seconds=np.float32(0.5))
    assert limit == Limit(simulations=5, seconds=0.5)
    assert type(limit.simulations) is int
    assert type(limit.seconds) is float
    assert Limit(simulations=2**31 - 1).seconds is None
    assert Limit(seconds=1).simulations is None
    with pytest.raises(TypeError):
        Limit(5)
