"""Machine code of an entry: kept on disk, loaded by LLVM alone, called by its address."""

import contextlib
import ctypes
import gc
import hashlib
import json
import pathlib
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir

from rave_agents.compiler.folders import read_own
from rave_agents.compiler.mistakes import (
    IN_THE_INTERPRETER,
    UncompilableError,
    explain_numba_error,
    forget_failures,
    refuse_calls_of_python,
)
from rave_agents.compiler.progress import announced
from rave_agents.files import written_whole

Run = Callable[[Any, int], int]
"""A loaded entry: takes the address of its record and a number, returns a number."""

_Native = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * 4)
"""Numba's calling convention: a status; the addresses of the result and of what was raised, then
the arguments."""


class MachineCode(NamedTuple):
    """An entry as the linker takes it."""

    symbol: str
    """The function's name in it."""
    externals: tuple[str, ...]
    """The functions of others that it calls."""
    compiled: bytes
    """The object file."""
    fixed: bool = False
    """True if there are addresses of this process in it, so that no other one can use it."""

    def save(self, path: pathlib.Path) -> None:
        """Write it so that no process reads half of it, or not at all if no file can be written."""
        head = json.dumps([self.symbol, self.externals]).encode()
        whole = head + b"\n" + self.compiled
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with written_whole(path, permissions=0o600) as file:
                file.write(hashlib.sha256(whole).digest() + whole)

    @classmethod
    def saved(cls, path: pathlib.Path) -> "MachineCode | None":
        """Read the file of ``save``; None if there is none, or it is damaged or others' work."""
        content = read_own(path)
        if content is None:
            return None
        digest, whole = content[:32], content[32:]
        if hashlib.sha256(whole).digest() != digest:
            return None
        head, _, compiled = whole.partition(b"\n")
        symbol, externals = json.loads(head)
        return cls(symbol, tuple(externals), compiled)

    def load(self) -> Run:
        """Link it into this process."""
        engine = self._linked("")
        return _Loaded(engine, _Native(engine.get_function_address(self.symbol)))

    def load_callback(self) -> "Callback":
        """Link it into this process, behind a C function of one number: ``int32_t f(int64_t)``.

        It gets 0 for the second number. Where compiled code raises, the C function returns 0.
        """
        engine = self._linked(_c_function(self.symbol))
        raised = engine.get_global_value_address(_RAISED)
        return Callback(engine, engine.get_function_address(_C_FUNCTION), raised)

    def _linked(self, more: str) -> Any:
        """An engine with the code, and a module of LLVM's language beside it."""
        for name in self.externals:
            _provide(name)
        engine = _new_engine(more)
        engine.add_object_file(llvm.ObjectFileRef.from_data(self.compiled))
        engine.finalize_object()
        return engine


class Callback(NamedTuple):
    """Loaded code behind a C function."""

    engine: Any
    """Holds the code."""
    address: int
    """Address of the C function, as long as the engine lives."""
    raised_at: int
    """Address of what compiled code has raised last: its status, and Numba's record of it."""

    def last_raised(self) -> BaseException | None:
        """The exception that compiled code has raised last; None if it has raised none."""
        status, record = (ctypes.c_int64 * 2).from_address(self.raised_at)
        return _exception(status, ctypes.c_void_p(record)) if status else None


def load_or_compile(
    path: pathlib.Path, what: str, compiled: Callable[[], MachineCode], key: Any
) -> MachineCode:
    """Load machine code from a file, or compile it and write the file.

    Args:
        path: the file.
        what: a name of the code for the message to the user.
        compiled: compiles it; it imports Numba.
        key: the ``CacheKey`` that names the file. If it does not identify the code, the code is
            kept in this process only.
    """
    place = str(path), *key.identity()
    code = _of_this_process[place][0] if place in _of_this_process else None
    if code is None and not key.unknown:
        code = MachineCode.saved(path)
    if code is None:
        with _without_garbage_collection(), announced(what) as reasons:
            code = _compile_or_explain(compiled, key)
            if code.fixed:
                _addressed.append(key)
                reasons.append("it has a large array or a C function by its address")
            elif key.unknown:
                _of_this_process[place] = code, key
                reasons.extend(key.reasons())
            else:
                code.save(path)
    return code


def _compile_or_explain(compiled: Callable[[], MachineCode], key: Any) -> MachineCode:
    """Compile; if a user's function is at fault, explain the error in a few lines."""
    functions = key.own_functions
    refuse_calls_of_python(functions)
    forget_failures()
    try:
        code = compiled()
    except Exception as error:
        if not functions:
            raise
        raise UncompilableError(explain_numba_error(error, functions)) from None
    finally:
        forget_failures()
    if _NEEDS_INTERPRETER & {*code.externals}:
        names = ", ".join(sorted({function.__qualname__ for function in functions}))
        reason = f"One of these functions calls the interpreter, as print does: {names}."
        raise UncompilableError(f"{reason} {IN_THE_INTERPRETER}")
    return code


_NEEDS_INTERPRETER = {"PyGILState_Ensure", "numba_gil_ensure"}
"""Functions by which compiled code waits for the interpreter's lock."""


_addressed: list[Any] = []
"""Keys of code with addresses in it: they keep the arrays at these addresses alive."""

_of_this_process: dict[tuple[str, ...], tuple[MachineCode, Any]] = {}
"""Code that no file can identify, and the keys that keep what it looked up alive."""


_collection = threading.Lock()


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector, which takes a seventh of Numba's time and frees little."""
    with _collection:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if gc.get_freeze_count() == 0:
                # Move new objects to the oldest generation, which only full collections visit.
                gc.freeze()
                gc.unfreeze()
            if was_enabled:
                gc.enable()


_C_FUNCTION = "rave_agents_callback"
_RAISED = "rave_agents_raised"


def _c_function(symbol: str) -> str:
    """A C function that calls one of Numba's calling convention, see ``_Native``."""
    word, status = ir.IntType(64), ir.IntType(32)
    module = ir.Module()
    pointers = [word.as_pointer(), ir.IntType(8).as_pointer().as_pointer()]
    called = ir.Function(module, ir.FunctionType(status, [*pointers, word, word]), symbol)
    function = ir.Function(module, ir.FunctionType(status, [word]), _C_FUNCTION)
    builder = ir.IRBuilder(function.append_basic_block())
    result = builder.alloca(word)
    raised = builder.alloca(ir.IntType(8).as_pointer())
    raised_status = builder.call(called, [result, raised, function.args[0], word(0)])
    kept = ir.GlobalVariable(module, ir.ArrayType(word, 2), _RAISED)
    kept.initializer = ir.Constant(kept.value_type, None)
    is_raised = builder.icmp_signed("!=", raised_status, status(0))
    with builder.if_then(is_raised, likely=False):
        for place, what in enumerate(
            (builder.sext(raised_status, word), builder.ptrtoint(builder.load(raised), word))
        ):
            builder.store(what, builder.gep(kept, [status(0), status(place)], inbounds=True))
    value = builder.trunc(builder.load(result), status)
    builder.ret(builder.select(is_raised, status(0), value))
    return str(module)


def processor() -> str:
    """The processor that machine code is for: its name, and what it can do."""
    features = llvm.get_host_cpu_features()
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features.flatten()}"


def _new_engine(module: str) -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(module), machine)


def _provide(name: str) -> None:
    """Give LLVM the address of a function of the C library or of Numba."""
    if llvm.address_of_symbol(name) is not None:
        return
    with contextlib.suppress(AttributeError, OSError, TypeError):
        function = getattr(ctypes.CDLL(None), name)
        llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
        return
    from numba.core.registry import cpu_target  # noqa: PLC0415  (slow: Numba)

    cpu_target.target_context.refresh()


class _Raised(ctypes.Structure):
    """Numba's record of an exception that was raised."""

    _fields_ = (
        ("pickled", ctypes.c_void_p),
        ("size", ctypes.c_int32),
        ("arguments", ctypes.c_void_p),
        ("unwrap", ctypes.c_void_p),
        ("made_at_run_time", ctypes.c_int32),
    )


class _Loaded:
    """A function of linked machine code.

    Args:
        engine: holds the code.
        native: the function.
    """

    def __init__(self, engine: Any, native: Any) -> None:
        self._engine = engine
        self._native = native

    def __call__(self, record: Any, number: int) -> int:
        status = self._native(*record.arguments, number)
        if status != 0:
            raise _exception(status, ctypes.c_void_p(record[-1]))
        return int(record[-2])


def _exception(status: int, raised: ctypes.c_void_p) -> BaseException:
    if status < 1 or not raised.value:
        return RuntimeError(f"compiled code ended with the status {status}")
    record = _Raised.from_address(raised.value)
    if record.made_at_run_time > 0:
        return RuntimeError("an exception whose arguments were made at run time")
    kind, arguments, place = pickle.loads(ctypes.string_at(record.pickled, record.size))
    exception = kind(*(arguments or ()))
    assert isinstance(exception, BaseException)
    if place is not None:
        _, file, line = place
        exception.add_note(f"line {line} of {file}")
    return exception
