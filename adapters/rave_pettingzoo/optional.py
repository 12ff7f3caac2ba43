"""OpenSpiel's side of Shimmy's environments, for installations that have it."""

from types import ModuleType


def openspiel() -> ModuleType:
    """The module ``rave_pettingzoo.openspiel``."""
    from rave_pettingzoo import openspiel as module  # noqa: PLC0415  (optional: OpenSpiel)

    return module
