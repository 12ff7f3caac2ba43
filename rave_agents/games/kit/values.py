"""Value functions and policies that are compiled together with a game's rules."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel, open_function
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.simulate.evaluator import EvaluatorAbilities


@open_function
def position_value(value: Any, rules: Any, state: Any, returns: Any) -> None:
    """Write each player's expected return in a position, in the game's utilities.

    It is compiled with the rules of a game of the kit: ``value`` is the part, ``rules`` the
    ``Rules``, ``state`` the record, and ``returns`` has a 0 for each player. It is called only in
    positions in which a player is to move.
    """


class JudgedRules(NamedTuple):
    """Rules with a value function, or with a policy."""

    rules: BaseRules
    """The rules, with the value function as ``judge``, or the policy as ``give_priors``."""
    weights: NDArray[np.float32]
    """The weights of the value function or the policy."""


def is_compiled_value(value: object) -> bool:
    """True if a value function is a part that implements ``position_value``."""
    return type(value) in position_value.implementations


def judged_rules(value: Any, rules: BaseRules) -> JudgedRules | None:
    """A game's rules with a value function; None if it cannot be compiled.

    Args:
        value: a part that implements ``position_value``, or an object with ``judged(rules)``.
        rules: the game.
    """
    if is_compiled_value(value):
        body = position_value.implementations[type(value)]
        return JudgedRules(_with_part(rules, value, body), np.zeros(0, np.float32))
    found: JudgedRules | None = EvaluatorAbilities(value).judged(rules)
    return found


def rules_with_priors(policy: Any, rules: BaseRules) -> JudgedRules | None:
    """A game's rules with a policy; None if it has no ``with_priors(rules)``."""
    found: JudgedRules | None = EvaluatorAbilities(policy).with_priors(rules)
    return found


@functools.lru_cache(maxsize=64)
def _with_part(rules: BaseRules, value: Any, body: Callable[..., None]) -> BaseRules:
    compiled = kernel(body)

    def judge(self: Any, state: Any, cells: Any, weights: Any, returns: Any) -> None:
        compiled(self.value_part, self, state, returns)

    return with_judge(rules, judge, value_part=value)


def with_judge(rules: BaseRules, judge: Callable[..., None], **attributes: Any) -> BaseRules:
    """The same game with a value function as its ``Rules.judge``.

    Args:
        rules: the game.
        judge: the method.
        **attributes: attributes that it needs, constants in the machine code.
    """
    return with_method(rules, "judge", judge, is_judged=True, **attributes)


def with_method(
    rules: BaseRules, name: str, method: Callable[..., None], **attributes: Any
) -> BaseRules:
    """The same game with another method and further attributes, in a subclass of the same name."""
    kind = type(rules)
    members = {name: method, "__module__": kind.__module__, "__qualname__": kind.__qualname__}
    made: BaseRules = object.__new__(type(kind.__name__, (kind,), members))
    vars(made).update({name: item for name, item in vars(rules).items() if name[0] != "_"})
    vars(made).update(attributes)
    return made
