"""Simulations of one or many trees that take a step one after the other, in one call."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from rave_agents.evaluators import leaves
from rave_agents.evaluators.batch import BatchArrays
from rave_agents.simulate.simulator import Status

EXPECTED = {leaves.SEEK: int(Status.PENDING)}
"""The status after which the next one may follow; else it is DONE."""


class Member(Protocol):
    """A simulation that may wait, and the search that it belongs to."""

    compiled: tuple[int, Any] | None
    """Where its ``advance`` and its record are; None if they can only be called from Python."""
    call: Callable[[], int]
    """Takes the step, from Python."""
    handle: Callable[[int, int], bool]
    """Does what a step and its status ask for; returns whether to take the step once more."""


def take_step(members: Sequence[Any], batch: BatchArrays, step: int) -> None:
    """Let each member take a step, see ``evaluators/leaves.py``.

    Raises:
        Exception: what a member's ``call`` or ``handle`` raises.
    """
    batch.begin(step)
    expected = EXPECTED.get(step, int(Status.DONE))
    place = 0
    while place < len(members):
        if members[place].compiled is None:
            status = members[place].call()
        else:
            place, status = _run_compiled(members, place, expected)
            if place == len(members):
                return
        again = status != expected and members[place].handle(step, status)
        place += not again


def _run_compiled(members: Sequence[Any], first: int, expected: int) -> tuple[int, int]:
    """Let members take their step until one has another status; returns its place and status."""
    end = first
    while end < len(members) and members[end].compiled is not None:
        end += 1
    crew = leaves.Crew(
        np.array([member.compiled[0] for member in members[first:end]], np.int64),
        np.array([ctypes.addressof(member.compiled[1]) for member in members[first:end]], np.int64),
        np.array([expected, 0], np.int64),
    )
    place = leaves.advance_all.bound(crew)(leaves.from_to(0, end - first))
    return first + place, int(crew.expected[1])
