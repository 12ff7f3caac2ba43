"""The ramp by which a measurement becomes a share of trust."""

from rave_agents.compiler.dispatch import kernel


@kernel
def ramp(x: float, none: float, full: float) -> float:
    """``(x - none) / (full - none)``, at least 0 and at most 1; it falls where ``full < none``."""
    return max(0.0, min(1.0, (x - none) / (full - none)))
