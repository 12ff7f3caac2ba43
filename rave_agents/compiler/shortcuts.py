"""Shortcuts through Numba's compiler for the package's own functions, which need few of its passes.

``int``, ``max`` and ``min`` of numbers become a few instructions in place of functions, each of
which takes Numba some ten milliseconds.
"""

import inspect
import operator
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType
from typing import Any

from numba.core import errors, ir, types
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.interpreter import Interpreter
from numba.core.ir_utils import build_definitions, compute_cfg_from_blocks
from numba.core.rewrites import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import IRLegalization, PreLowerStripPhis
from numba.core.untyped_passes import (
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)
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
"""Python's functions that become instructions: with how many arguments, and by which function."""


@register_pass(mutates_CFG=False, analysis_only=False)
class PlainCalls(FunctionPass):  # type: ignore[misc]
    """Call instructions where a function of the package calls one of these."""

    _name = "plain_calls"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Replace calls of ``int``, ``max`` and ``min``."""
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


class _PlainInterpreter(Interpreter):  # type: ignore[misc]
    def post_process(self, peepholes: Any, func_ir: Any) -> Any:
        needed = [each for each in peepholes if each.__name__ not in _UNNEEDED_REWRITES]
        return super().post_process(needed, func_ir)


_UNNEEDED_REWRITES = {"peep_hole_delete_with_exit", "peep_hole_fuse_dict_add_updates"}
"""Rewrites of ``with`` blocks and of large dictionaries, which look at all variables."""


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainTranslation(TranslateByteCode):  # type: ignore[misc]
    """Numba's translation of bytecode, without rewrites that these functions do not need."""

    _name = "plain_translation"

    def run_pass(self, state: Any) -> bool:
        """Translate the bytecode."""
        state.func_ir = _PlainInterpreter(state.func_id).interpret(state.bc)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainProcessing(IRProcessing):  # type: ignore[misc]
    """Numba's first pass over a function, without the lifetimes of variables."""

    _name = "plain_processing"

    def run_pass(self, state: Any) -> bool:
        """Put the blocks into canonical order."""
        state.func_ir.blocks = canonicalize_cfg(state.func_ir.blocks)
        state.func_ir.generator_info = None
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainRewrites(GenericRewrites):  # type: ignore[misc]
    """Numba's rewriting of constants."""

    _name = "plain_rewrites"

    def run_pass(self, state: Any) -> bool:
        """Apply each rewrite to each block until it no longer matches."""
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
        """Convert to static single assignment."""
        state.func_ir = reconstruct_ssa(state.func_ir)
        self._patch_locals(state)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainPhis(PreLowerStripPhis):  # type: ignore[misc]
    """Numba's pass that turns phi nodes back into assignments."""

    _name = "plain_phis"

    def run_pass(self, state: Any) -> bool:
        """Strip the phi nodes."""
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class PlainLegalization(IRLegalization):  # type: ignore[misc]
    """Numba's last pass before lowering, which inserts deletions; none are needed here."""

    _name = "plain_legalization"

    def run_pass(self, state: Any) -> bool:
        """Change nothing."""
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class KnownBranches(FunctionPass):  # type: ignore[misc]
    """Remove branches that a constant of the rules decides, such as ``rules.may_meet_chance``.

    The type of such an argument has ``constant_of(name)``.
    """

    _name = "known_branches"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Turn decided branches into jumps, and drop the blocks that nothing reaches any more."""
        function, changed = state.func_ir, False
        if not any(hasattr(kind, "constant_of") for kind in state.args):
            return False
        for block in function.blocks.values():
            branch = block.terminator
            if isinstance(branch, ir.Branch):
                condition = _known(function, state.args, branch.cond)
                if condition is not None:
                    way = branch.truebr if condition else branch.falsebr
                    block.body[-1], changed = ir.Jump(way, branch.loc), True
        if changed:
            for place in compute_cfg_from_blocks(function.blocks).dead_nodes():
                del function.blocks[place]
            function.blocks = canonicalize_cfg(function.blocks)
            function._definitions = build_definitions(function.blocks)
        return changed


_COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}


def _definition(function: Any, variable: Any) -> Any:
    """The only definition of a variable; None if there are several."""
    definitions = function._definitions.get(variable.name, ())
    return definitions[0] if len(definitions) == 1 else None


def _known(function: Any, arguments: Any, variable: Any) -> Any:
    """The constant value of a variable; None if it is not known when compiling."""
    value = _definition(function, variable)
    if isinstance(value, ir.Var):
        return _known(function, arguments, value)
    if isinstance(value, ir.Const | ir.Global | ir.FreeVar):
        return value.value if type(value.value) in (bool, int, float) else None
    finds = _FINDS.get(value.op) if isinstance(value, ir.Expr) else None
    return None if finds is None else finds(function, arguments, value)


def _known_attribute(function: Any, arguments: Any, value: Any) -> Any:
    owner = _definition(function, value.value)
    if not isinstance(owner, ir.Arg):
        return None
    constant_of = getattr(arguments[owner.index], "constant_of", None)
    return None if constant_of is None else constant_of(value.attr)


def _known_call(function: Any, arguments: Any, value: Any) -> Any:
    called = getattr(_definition(function, value.func), "value", None)
    if called is not bool or len(value.args) != 1:
        return None
    number = _known(function, arguments, value.args[0])
    return None if number is None else bool(number)


def _known_unary(function: Any, arguments: Any, value: Any) -> Any:
    number = _known(function, arguments, value.value)
    return None if number is None or value.fn is not operator.not_ else not number


def _known_comparison(function: Any, arguments: Any, value: Any) -> Any:
    sides = [_known(function, arguments, side) for side in (value.lhs, value.rhs)]
    return None if None in sides or value.fn not in _COMPARISONS else value.fn(*sides)


_FINDS = {
    "getattr": _known_attribute,
    "call": _known_call,
    "unary": _known_unary,
    "binop": _known_comparison,
}

_PLAIN = {
    "TranslateByteCode": PlainTranslation,
    "IRProcessing": PlainProcessing,
    "GenericRewrites": PlainRewrites,
    "ReconstructSSA": PlainSSA,
    "PreLowerStripPhis": PlainPhis,
    "IRLegalization": PlainLegalization,
}
"""Replacements of Numba's passes, five of which compute lifetimes of variables again."""

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
"""Numba's passes for features that the package's own functions do not use: ``with`` blocks,
closures, expressions of whole arrays, optional values."""


def passes_for_the_packages_own(passes: list[tuple[Any, str]], code: CodeType) -> Any:
    """The passes for a function of the package; a generator or one with closures needs all."""
    has_closures = any(isinstance(constant, CodeType) for constant in code.co_consts)
    needs_all = has_closures or bool(code.co_flags & inspect.CO_GENERATOR)
    needed = []
    for stage, text in passes:
        if stage.__name__ == "ReconstructSSA":
            needed.append((PlainCalls, "plain calls"))
            if not needs_all:
                needed.append((KnownBranches, "known branches"))
        if needs_all:
            needed.append((stage, text))
        elif stage.__name__ not in _UNNEEDED:
            needed.append((_PLAIN.get(stage.__name__, stage), text))
    return needed


class PlainPasses(PassManager):  # type: ignore[misc]
    """Runs passes in order, without the timing records and locks of Numba's manager."""

    _known: dict[tuple[Any, ...], Any] = {}  # noqa: RUF012  (one for all functions)

    def finalize(self) -> None:
        """Find which passes need which analyses, once for each list of passes."""
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
