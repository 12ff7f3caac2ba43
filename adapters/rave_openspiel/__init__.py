"""OpenSpiel for rave-agents."""

from rave_openspiel.adapter import OpenSpielGame, refusal
from rave_openspiel.states import OpenSpielState

__all__ = ["OpenSpielGame", "OpenSpielState", "refusal"]
