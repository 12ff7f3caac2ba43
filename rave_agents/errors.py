"""The exceptions of this package."""


class RaveAgentsError(Exception):
    """The base of this package's own exceptions."""


class GameError(RaveAgentsError, ValueError):
    """A game's state or an evaluator broke the common interface during a search."""


class FormulaError(RaveAgentsError, ValueError):
    """A part of the user's own raised or gave no score; the message names it."""


class UnsupportedGameError(RaveAgentsError, ValueError):
    """A game is of a type that this package does not search; the message says which and why."""


class UnknownNameError(RaveAgentsError, ValueError):
    """A game, an agent or a preset has no such name; the message offers the nearest."""


class ConformanceError(RaveAgentsError, AssertionError):
    """A check of ``rave_agents.testing`` failed; the message says what was violated."""


class CertificateError(RaveAgentsError, ValueError):
    """A certificate is refused, or cannot be written; the message says where and why."""


class CloneError(RaveAgentsError, TypeError):
    """An environment cannot be cloned correctly; the message says why and what to do."""


class ForfeitError(RaveAgentsError):
    """An agent loses the game in progress; the message says why, such as ``resigned``.

    Args:
        message: why.
        fault: whether it failed or broke the rules, so that the game says little of its play.
    """

    def __init__(self, message: str, *, fault: bool = False) -> None:
        super().__init__(message)
        self.fault = fault
