"""Games that the frameworks lack, their rules compiled by Numba."""

from rave_agents.games.nogo import NoGoState

__all__ = ["NoGoState"]
