"""Shortcuts through Numba's compiler: what the package's own functions need of its passes.

``int``, ``max`` and ``min`` of numbers become a few instructions in place of functions, each of
which takes Numba some ten milliseconds.
"""

from collections.abc import Callable
from types import BuiltinFunctionType, CodeType
from typing import Any

from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.extending import lower_builtin, type_callable

_types: Any = types
_NUMBERS = (types.Integer, types.Boolean, types.Float)


def _int(x: Any) -> Any:
    """``int`` of a number."""


def _max(x: Any, y: Any) -> Any:
    """``max`` of two numbers."""


def _min(x: Any, y: Any) -> Any:
    """``min`` of two numbers."""


@type_callable(_int)
def _typed_int(context: Any) -> Callable[..., Any]:
    def typer(x: Any) -> Any:
        # Of one width, so that functions are not compiled for several.
        wide = isinstance(x, _types.Integer) and x.bitwidth == _types.intp.bitwidth
        return (x if wide else types.intp) if isinstance(x, _NUMBERS) else None

    return typer


@lower_builtin(_int, types.Any)
def _lowered_int(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return context.cast(builder, values[0], signature.args[0], signature.return_type)


def _choose(function: Callable[[Any, Any], Any], comparison: str) -> None:
    """Type and lower ``_max`` or ``_min``, with Python's rules for equals and NaN."""

    @type_callable(function)
    def _typed(context: Any) -> Callable[..., Any]:
        def typer(x: Any, y: Any) -> Any:
            plain = isinstance(x, _NUMBERS) and isinstance(y, _NUMBERS)
            return context.unify_types(x, y) if plain else None

        return typer

    @lower_builtin(function, types.Any, types.Any)
    def _lowered(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = signature.return_type
        x, y = (
            context.cast(builder, value, given, kind)
            for value, given in zip(values, signature.args, strict=True)
        )
        if isinstance(kind, types.Float):
            prefers = builder.fcmp_ordered(comparison, y, x)
        elif getattr(kind, "signed", False):
            prefers = builder.icmp_signed(comparison, y, x)
        else:
            prefers = builder.icmp_unsigned(comparison, y, x)
        return builder.select(prefers, y, x)


_choose(_max, ">")
_choose(_min, "<")

_INSTRUCTIONS: dict[Any, tuple[int, Any]] = {
    int: (1, _int),
    max: (2, _max),
    min: (2, _min),
}
"""Functions of Python's: with how many arguments they are a few instructions, and these."""


@register_pass(mutates_CFG=False, analysis_only=False)
class PlainCalls(FunctionPass):  # type: ignore[misc]
    """Call instructions where a function of the package calls one of these."""

    _name = "plain_calls"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Put the instructions in the place of what is called."""
        named: dict[str, ir.Global] = {}
        for block in state.func_ir.blocks.values():
            for assignment in block.find_insts(ir.Assign):
                value = assignment.value
                if isinstance(value, ir.Global):
                    named[assignment.target.name] = value
                elif isinstance(value, ir.Expr) and value.op == "call":
                    called = named.get(value.func.name)
                    if called is not None and not value.kws and value.vararg is None:
                        count, instruction = _instruction(called.value)
                        if count == len(value.args):
                            called.value = instruction
        return False


def _instruction(function: Any) -> tuple[int, Any]:
    builtin = isinstance(function, type | BuiltinFunctionType)
    return _INSTRUCTIONS.get(function, _NONE) if builtin else _NONE


_NONE = (-1, None)

_UNNEEDED = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteSemanticConstants",
    "DeadBranchPrune",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "NopythonRewrites",
    "DumpParforDiagnostics",
}
"""Numba's passes for what the package's own functions have not: contexts, closures, arrays as
wholes, values that are None."""


def passes_for_the_packages_own(passes: list[tuple[Any, str]], code: CodeType) -> Any:
    """The passes that such a function needs, of all of Numba's."""
    has_closures = any(isinstance(constant, CodeType) for constant in code.co_consts)
    needed = []
    for stage, text in passes:
        if stage.__name__ == "ReconstructSSA":
            needed.append((PlainCalls, "plain calls"))
        if has_closures or stage.__name__ not in _UNNEEDED:
            needed.append((stage, text))
    return needed
