"""Shortcuts through Numba's compiler: what the package's own functions need of its passes.

``int``, ``max`` and ``min`` of numbers become a few instructions in place of functions, each of
which takes Numba some ten milliseconds.
"""

import contextlib
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType
from typing import Any

from numba.core import errors, ir, types
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.ir_utils import build_definitions
from numba.core.rewrites import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import IRLegalization, PreLowerStripPhis
from numba.core.untyped_passes import GenericRewrites, IRProcessing, ReconstructSSA
from numba.extending import lower_builtin, type_callable

_types: Any = types
_errors: Any = errors
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


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainProcessing(IRProcessing):  # type: ignore[misc]
    """Numba's first look at a function, without the lifetimes of what is counted."""

    _name = "plain_processing"

    def run_pass(self, state: Any) -> bool:
        """Bring the blocks into order."""
        if state.func_ir.is_generator:
            return bool(super().run_pass(state))
        state.func_ir.blocks = canonicalize_cfg(state.func_ir.blocks)
        state.func_ir.generator_info = None
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainRewrites(GenericRewrites):  # type: ignore[misc]
    """Numba's rewriting of constants."""

    _name = "plain_rewrites"

    def run_pass(self, state: Any) -> bool:
        """Rewrite each block as long as there is something to rewrite."""
        function = state.func_ir
        for kind in rewrite_registry.rewrites["before-inference"]:
            rewrite = kind(state)
            for place in list(function.blocks):
                while rewrite.match(
                    function, function.blocks[place], state.typemap, state.calltypes
                ):
                    function.blocks[place] = rewrite.apply()
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainSSA(ReconstructSSA):  # type: ignore[misc]
    """Numba's pass that gives each assignment a variable of its own."""

    _name = "plain_ssa"

    def run_pass(self, state: Any) -> bool:
        """Give them."""
        if state.func_ir.is_generator:
            return bool(super().run_pass(state))
        state.func_ir = reconstruct_ssa(state.func_ir)
        self._patch_locals(state)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainPhis(PreLowerStripPhis):  # type: ignore[misc]
    """Numba's pass that makes assignments of what SSA has added."""

    _name = "plain_phis"

    def run_pass(self, state: Any) -> bool:
        """Make them."""
        if state.func_ir.is_generator:
            return bool(super().run_pass(state))
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class PlainLegalization(IRLegalization):  # type: ignore[misc]
    """Numba's last look before lowering: nothing is deleted that nobody counts."""

    _name = "plain_legalization"

    def run_pass(self, state: Any) -> bool:
        """Leave it as it is."""
        return bool(super().run_pass(state)) if state.func_ir.is_generator else True


_PLAIN = {
    "IRProcessing": PlainProcessing,
    "GenericRewrites": PlainRewrites,
    "ReconstructSSA": PlainSSA,
    "PreLowerStripPhis": PlainPhis,
    "IRLegalization": PlainLegalization,
}
"""Passes that take the place of Numba's: these count lifetimes of variables, five times."""

_UNNEEDED = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteSemanticConstants",
    "DeadBranchPrune",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "InlineOverloads",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "NopythonRewrites",
    "NoPythonSupportedFeatureValidation",
    "AnnotateTypes",
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
        if has_closures:
            needed.append((stage, text))
        elif stage.__name__ not in _UNNEEDED:
            needed.append((_PLAIN.get(stage.__name__, stage), text))
    return needed


@contextlib.contextmanager
def operators_typed_once(context: Any) -> Iterator[None]:
    """Let Numba look up the result of an operator of numbers once for all functions."""
    if "resolve_function_type" in vars(context):
        yield
        return
    resolve = context.resolve_function_type

    def resolved(function: Any, arguments: Any, named: Any) -> Any:
        operator = getattr(function, "typing_key", None)
        if (
            named
            or type(operator) is not BuiltinFunctionType
            or operator.__module__ != "_operator"
            or not all(isinstance(each, _NUMBERS) for each in arguments)
        ):
            return resolve(function, arguments, named)
        key = function, tuple(arguments)
        if key not in _operators:
            _operators[key] = resolve(function, arguments, named)
        return _operators[key]

    context.resolve_function_type = resolved
    try:
        yield
    finally:
        del context.resolve_function_type


_operators: dict[Any, Any] = {}


class PlainPasses(PassManager):  # type: ignore[misc]
    """Passes one after the other, without the records that Numba keeps of each."""

    _known: dict[tuple[Any, ...], Any] = {}  # noqa: RUF012  (one for all functions)

    def finalize(self) -> None:
        """Find what passes need of others, once for all functions with these."""
        stages = tuple(stage for stage, _ in self.passes)
        if stages not in self._known:
            self._known[stages] = self.dependency_analysis()
        self._analysis = self._known[stages]
        self._finalized = True

    def _runPass(self, index: int, one: Any, state: Any) -> None:  # noqa: N802
        one.analysis = self._analysis
        with _errors.new_error_context("Pass {name}", name=one.name()):
            one.run_initialization(state)
            one.run_pass(state)
            one.run_finalizer(state)
