"""Functions that are compiled into their callers alone.

Numba makes machine code of every function that it compiles, optimised, even of those that are then
inlined everywhere and thrown away: with the depth of calls, most of the time goes there. So the
functions of the kernel are only lowered to LLVM's intermediate code, and the entry that they are
linked into is optimised once, as a whole.
"""

import contextlib
import functools
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numba
from llvmlite.binding import Linkage
from numba import _dynfunc
from numba.core import cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError
from numba.core.imputils import user_function
from numba.core.typed_passes import NativeLowering

from rave_agents.compiler.dispatch import NOT_INLINED, KernelFunction
from rave_agents.compiler.lean_lowering import LeanLower
from rave_agents.compiler.mistakes import compile_or_note, is_packages
from rave_agents.compiler.progress import count_function
from rave_agents.compiler.references import RecordReference, in_memory
from rave_agents.compiler.shortcuts import PlainPasses, passes_for_the_packages_own


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into other libraries, and never run by itself."""

    _merged: Any = None
    raises = True
    """False if its function is known to raise nothing."""
    is_not_inlined = False
    """True if its function is marked so, see ``dispatch.not_inlined``."""

    def finalize(self) -> None:
        """Neither optimise nor make machine code; what it calls is linked with it later."""
        self._raise_if_finalized()
        if hasattr(self, "_reload_init"):  # Numba 0.61 has none.
            for library in self._linking_libraries:
                self._reload_init.update(library._reload_init)
        self._finalize_dynamic_globals()
        self._finalized = True

    def add_ir_module(self, ir_module: Any) -> None:
        """Hand the code over to LLVM, and take apart what refers to itself in circles."""
        if self.is_not_inlined:
            (function,) = (each for each in ir_module.functions if not each.is_declaration)
            function.attributes.discard("alwaysinline")
            function.attributes.add("noinline")
        super().add_ir_module(ir_module)
        for function in ir_module.functions:
            for block in function.blocks:
                block.instructions.clear()
                block.terminator = None
            function.blocks.clear()

    def _optimize_functions(self, module: Any) -> None:
        """Leave them as they are; the entry is optimised once, as a whole."""
        module.data_layout = self._codegen._data_layout

    def _get_module_for_linking(self) -> Any:
        """Its code and that of all that it calls, for the library of an entry."""
        self._ensure_finalized()
        if self._merged is None:
            module = self._own_module().clone()
            for library in _called_by(self):
                linked = isinstance(library, LinkedLibrary)
                other = library._own_module() if linked else library._get_module_for_linking()
                module.link_in(other, preserve=True)
            self._merged = module
        return self._merged

    def _own_module(self) -> Any:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = "linkonce_odr"  # It may be linked in more than once.
        return self._final_module


def _called_by(library: Any) -> list[Any]:
    """All libraries that one needs, each once, and after all that call it.

    The linker leaves out a function that nothing calls yet. Libraries that are not to be linked
    only have theirs in them.
    """
    found: list[Any] = []

    def visit(called: Any) -> None:
        if called in found:
            return
        if isinstance(called, LinkedLibrary):
            for inner in called._linking_libraries:
                visit(inner)
        found.append(called)

    visit(library)
    return found[-2::-1]


def has_addresses(library: Any) -> bool:
    """True if code has addresses of this process in it: those of arrays, or of C functions."""
    waiting, seen = [library], set()
    addresses: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            # LLVM appends a number to a name that it meets again: numba.dynamic.globals.7f32a0.1
            addresses |= {int(name.split(".")[3], 16) for name in one._dynamic_globals}
            waiting += one._linking_libraries
    # Code that calls a compiled function has that function's own address, and never uses it.
    return bool(addresses) and not addresses <= {
        id(one)
        for one in gc.get_objects()
        if not {Dispatcher, KernelFunction}.isdisjoint(type(one).__mro__)
    }


def _unexecutable(library: Any, description: Any, environment: Any) -> Any:
    """A placeholder for a function without machine code."""
    name = description.qualname.rpartition(".")[2]
    module = description.lookup_module()
    return _dynfunc.make_function(module, name, "", 0, environment, (library,))


@contextlib.contextmanager
def _without_machine_code(context: Any) -> Iterator[None]:
    context.get_executable = _unexecutable
    context.insert_user_function = functools.partial(_insert_user_function, context)
    try:
        yield
    finally:
        del context.get_executable, context.insert_user_function


def _insert_user_function(context: Any, function: Any, description: Any, libraries: Any) -> None:
    """Let calls of a function that never raises look at nothing but its result.

    Numba looks at a status after every call, which is half of the code that LLVM is given.
    """
    raises = any(getattr(library, "raises", True) for library in libraries)
    optional = isinstance(description.restype, types.Optional)  # type: ignore[attr-defined]
    plain = description.inline and not (raises or optional)
    call: Any = (_plain_call if plain else user_function)(description, libraries)
    if any(getattr(library, "is_not_inlined", False) for library in libraries):
        call = _call_with_records_in_memory(call)
    context._defns[function].append(call, call.signature)


def _call_with_records_in_memory(call: Any) -> Any:
    def called(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = zip(call.signature, arguments, strict=True)
        given = [in_memory(builder, kind, argument) for kind, argument in kinds]
        return call(context, builder, signature, given)

    described: Any = called
    described.signature, described.libs = call.signature, call.libs
    return described


def _plain_call(description: Any, libraries: Any) -> Any:
    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        convention = context.call_conv
        place = convention.get_return_type(description.restype).pointee
        result = cgutils.alloca_once(builder, place)
        raised = convention._get_excinfo_argument(builder.function)
        given = context.get_arg_packer(description.argtypes).as_arguments(builder, arguments)
        called = context.declare_function(builder.module, description)
        builder.call(called, [result, raised, *given])
        return context.get_returned_value(builder, description.restype, builder.load(result))

    described: Any = call
    described.signature, described.libs = description.argtypes, tuple(libraries)
    return described


class _Lower(LeanLower):
    def _compute_def_location(self) -> Any:
        try:
            return super()._compute_def_location()
        except IndexError:  # Numba 0.68 wants a statement after a docstring.
            return self.func_ir.loc


@register_pass(mutates_CFG=True, analysis_only=False)
class LinkedLowering(NativeLowering):  # type: ignore[misc]
    """Lower a function into a library that is linked into others."""

    _name = "linked_lowering"

    @property
    def lowering_class(self) -> Any:
        """The class that lowers a function."""
        return _Lower

    def run_pass(self, state: Any) -> bool:
        """Lower it; Numba holds its compiler lock."""
        library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library.__class__ = LinkedLibrary
        library.is_not_inlined = getattr(state.func_id.func, NOT_INLINED, False)
        state.library = library
        with _without_machine_code(state.targetctx):
            return bool(super().run_pass(state))


class EntryLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code of an entry, with all that it calls."""

    def _optimize_final_module(self) -> None:
        """Optimise it once: Numba's first, cheap round is for the counts of references."""
        made = self._codegen._module_pass_manager()
        # Numba 0.61 gives a manager alone, later versions one with the builder of its passes.
        manager, *builder = made if isinstance(made, tuple) else (made,)
        manager.run(self._final_module, *builder)


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):  # type: ignore[misc]
    """Numba's lowering into the library of an entry."""

    _name = "entry_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower it; Numba holds its compiler lock."""
        library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library.__class__ = EntryLibrary
        library.enable_object_caching()
        state.library = library
        return bool(super().run_pass(state))


class EntryCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, for entries."""

    def define_pipelines(self) -> list[Any]:
        """Numba's own passes but for the lowering."""
        manager = PlainPasses("nopython")
        manager.passes = [
            (EntryLowering, text) if stage is NativeLowering else (stage, text)
            for stage, text in DefaultPassBuilder.define_nopython_pipeline(self.state).passes
        ]
        manager.finalize()
        return [manager]


GIVES_A_NUMBER: "weakref.WeakSet[Any]" = weakref.WeakSet()
"""Functions of the user's own whose callers need a number."""


_unliteral: Any = types.unliteral  # type: ignore[attr-defined]
_NOTHING: Any = (types.NoneType, types.Optional)  # type: ignore[attr-defined]
"""Types of what may be None."""


def expect_number(function: Any, described: Any) -> None:
    """Note that callers of a function need a number, if it stands for one that returns one."""
    if described.__annotations__.get("return") in (int, float, bool):
        GIVES_A_NUMBER.add(function)


class LinkedCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, for functions that are compiled into their callers alone."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function; where that fails, it is noted."""
        return compile_or_note(func, lambda: self._compiled(func))

    def _compiled(self, func: Any) -> Any:
        result = super().compile_extra(func)
        count_function()
        returned = result.signature.return_type
        if func in GIVES_A_NUMBER and isinstance(returned, _NOTHING):
            raise TypingError("On some way it returns None, where a number is needed.")
        return result

    def define_pipelines(self) -> list[Any]:
        """Numba's own passes but for the lowering; fewer where it is the package's function."""
        function = self.state.func_id.func
        passes = _all_passes(self.state)
        own = is_packages(function)
        manager = PlainPasses("nopython")
        manager.passes = passes_for_the_packages_own(passes, function.__code__) if own else passes
        manager.finalize()
        return [manager]


_passes: list[tuple[Any, str]] = []


def _all_passes(state: Any) -> list[tuple[Any, str]]:
    """Numba's passes, which are the same for all functions, but for the lowering."""
    if not _passes:
        numbas = DefaultPassBuilder.define_nopython_pipeline(state).passes
        _passes.extend(
            (LinkedLowering, text) if stage is NativeLowering else (stage, text)
            for stage, text in numbas
        )
    return _passes


# The kernel allocates nothing and returns no array: its caller holds what it works on. Without
# Numba's reference counts, which are atomic, it is a third faster.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
}
INNER = {**OPTIONS, "forceinline": True, "pipeline_class": LinkedCompiler}


def function_type(function: Callable[..., Any], sums_in_any_order: bool = False) -> Any:
    """The Numba type of a function that is compiled into its callers."""
    epoch = RecordReference.epoch
    return types.Dispatcher(_compiled_into_callers(function, sums_in_any_order, epoch))


@functools.cache
def _compiled_into_callers(
    function: Callable[..., Any], sums_in_any_order: bool, epoch: Any
) -> Any:
    """A dispatcher, which is kept: its type refers to it weakly."""
    fastmath = {"reassoc"} if sums_in_any_order else False
    dispatcher: Any = numba.njit(**INNER, fastmath=fastmath)(function)
    template = dispatcher.get_call_template
    dispatcher.get_call_template = lambda given, named: template(  # Once for all constants.
        tuple(map(_unliteral, given)), {name: _unliteral(kind) for name, kind in named.items()}
    )
    return dispatcher
