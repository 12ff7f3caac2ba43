"""Errors of custom parts, naming the part."""

import contextlib

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.config.part_specs import own_parts, raised_at
from rave_agents.errors import FormulaError
from rave_agents.searcher.playout_policy import PlayoutPolicy
from rave_agents.simulate.simulator import Simulator
from rave_agents.tree.composition import Parts


def no_scores(parts: Parts) -> FormulaError:
    """The error for custom parts that score every edge as NaN."""
    names = " or ".join(own_parts(parts)) or type(parts.rule).__name__
    return FormulaError(
        f"{names} gave NaN for every action of a position: at least one of a position's actions "
        "needs a number. Mind 0 / 0 and infinity - infinity where n or n_amaf is 0."
    )


def is_part_failure(parts: Parts, error: BaseException) -> bool:
    """True if a custom part may have raised the error that ended the loop."""
    own = len(own_parts(parts)) > 0
    return own and isinstance(error, Exception) and not is_raised_by_handler(error)


def part_failed(parts: Parts, error: BaseException) -> FormulaError:
    """The error for an exception raised by a custom part."""
    names = " or ".join(own_parts(parts))
    message = f"{names}: the search raised {type(error).__name__}: {error}"
    return FormulaError(f"{message}{raised_at(error)}")


def raise_failure(parts: Parts, policy: PlayoutPolicy | None, simulator: Simulator) -> None:
    """Raise the error that ended a simulation: the playout policy's or the provider's."""
    if policy is not None:
        try:
            policy.raise_error()
        except Exception as error:
            with contextlib.suppress(Exception):
                simulator.raise_pending()
            raise part_failed(parts, error) from error
    simulator.raise_pending()
