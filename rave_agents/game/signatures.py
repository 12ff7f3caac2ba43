"""Signatures with every parameter of a class, including those that its constructor forwards."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

WIDTH = 80
"""Characters above which a signature is written on several lines."""


class Signature(inspect.Signature):
    """A signature printed with one parameter per line if it is long."""

    def __str__(self) -> str:
        text = super().__str__()
        if len(text) <= WIDTH:
            return text
        lines = [str(each) for each in self.parameters.values()]
        kinds = [each.kind for each in self.parameters.values()]
        if inspect.Parameter.KEYWORD_ONLY in kinds:
            lines.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
        return "(\n    " + ",\n    ".join(lines) + ",\n)"


def parameters_of(function: Any) -> Mapping[str, inspect.Parameter] | None:
    """Return the parameters of a function or a class by name; None if it has no signature."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None


def is_needed(parameter: inspect.Parameter) -> bool:
    """True if a function cannot be called without an argument for this parameter."""
    several = (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and parameter.kind not in several


def _nothing_else(kind: type) -> dict[str, tuple[Any, Any]]:
    return {}


class InitSignature:
    """The ``__signature__`` of a class and its subclasses: their constructor's, not ``__new__``'s.

    Args:
        passed_on: the default and the annotation of each ``**config`` parameter, by name.
    """

    def __init__(
        self, passed_on: Callable[[Any], Mapping[str, tuple[Any, Any]]] = _nothing_else
    ) -> None:
        self._passed_on = passed_on

    def __get__(self, instance: Any, kind: Any) -> inspect.Signature:
        """Return the signature of a class; its instances have none."""
        if instance is not None:
            # ``inspect`` then falls back to ``__call__``, as for any other instance.
            raise AttributeError("__signature__")
        parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
        if parameters and parameters[-1].name == "config":
            del parameters[-1]
            taken = {each.name for each in parameters}
            parameters += [
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
                )
                for name, (default, annotation) in self._passed_on(kind).items()
                if name not in taken
            ]
        return Signature(parameters)
