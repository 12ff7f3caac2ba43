"""Parses the ``value`` argument: checked, and loaded where it is a file or a spec."""

import os
from typing import Annotated, Any

from rave_agents.compiler.part_fields import Takes
from rave_agents.config.part_specs import checked, is_part
from rave_agents.config.search_config import SearchConfig
from rave_agents.game.object_names import split_place
from rave_agents.games.kit.values import is_compiled_value, position_value
from rave_agents.kernel.values.implicit_minimax import Judging
from rave_agents.searcher.linear_value import LinearValue


def checked_value(value: Any, config: SearchConfig, evaluator: Any) -> Any:
    """A value function: a part, a ``LinearValue`` or a callable; None for none.

    Args:
        value: that, or the path of a file of a ``LinearValue``, or a part's spec.
        config: the search's tunables.
        evaluator: the search's evaluator, if any.

    Raises:
        TypeError, ValueError: for anything else, or beside an evaluator.
        OSError: if there is no such file.
    """
    if value is None:
        if config.judging != Judging():
            raise ValueError(
                "judging says what a value function is used for: give value=..., a value function."
            )
        return None
    if evaluator is not None:
        raise ValueError("Give an evaluator or a value function, not both.")
    if isinstance(value, str | os.PathLike):
        text = os.fspath(value)
        if os.path.exists(text) or not _is_spec(text):
            return LinearValue.load(text)
        return checked("value", Annotated[Any, Takes(position_value)], text)
    if is_part(value) and not is_compiled_value(value):
        raise TypeError(
            f"value: nothing is registered for {type(value).__name__}. Write a function under "
            f"@implements(position_value, {type(value).__name__})."
        )
    if not (is_part(value) or callable(value)) or isinstance(value, type):
        raise TypeError(
            "value must be a function of a state, a part that implements position_value, or the "
            f"path of a learned value: got {value!r}."
        )
    return value


def _is_spec(text: str) -> bool:
    """True if a text names a part of a module, also by a dot, rather than a file of values."""
    words = text.partition("(")[0].split(".")
    dotted = len(words) > 1 and words[-1] != "npz" and all(word.isidentifier() for word in words)
    return dotted or split_place(text) is not None
