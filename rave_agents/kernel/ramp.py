"""A linear ramp that turns a measurement into trust."""

from rave_agents.compiler.dispatch import kernel


@kernel
def ramp(x: float, none: float, full: float) -> float:
    """``(x - none) / (full - none)``, clipped to [0, 1]; decreasing if ``full < none``."""
    return max(0.0, min(1.0, (x - none) / (full - none)))
