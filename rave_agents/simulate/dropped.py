"""Reasons for which Python drops a simulation, which leaves the tree as it was."""


class SimulationDropped(Exception):  # noqa: N818  (nothing went wrong)
    """Raised inside a simulation to drop it."""


class DeadlinePassed(SimulationDropped):
    """Raised where its time is up."""


class FrameTooSmall(SimulationDropped):
    """Raised where a buffer of the frame is too small; the header says which."""


class PolicyFailed(SimulationDropped):
    """Raised where the playout policy has made no choice; the search knows why."""
