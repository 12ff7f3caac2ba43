"""The ramp by which measurements become trust."""

import pytest

from rave_agents.kernel.ramp import ramp


@pytest.mark.parametrize(
    ("x", "none", "full", "share"),
    [
        (1, 2, 4, 0.0),
        (2, 2, 4, 0.0),
        (3, 2, 4, 0.5),
        (5, 2, 4, 1.0),
        (3.5, 4, 2, 0.25),
        (5, 4, 2, 0),
    ],
)
def test_a_ramp_rises_or_falls_from_none_to_full(x, none, full, share):
    assert ramp(float(x), float(none), float(full)) == share
