"""A selection formula of the user's own, called by the loop like its own ones.

The loop stays as it is compiled: it gets the address of the formula's machine code.
"""

import ctypes
import functools
import inspect
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from rave_agents.search.compiler import JIT_DISABLED, kernel

Formula = Callable[..., float]
"""A function of ``PARAMETERS``, in that order, that returns a score."""

PARAMETERS = ("n", "q", "n_amaf", "q_amaf", "p", "N", "c")
"""Visits and mean value of an edge; AMAF visits and mean value; prior probability; visits of its
node; the configured ``exploration``. All are floats; values lie in [0, 1], from the view of the
player who moves. ``q`` is ``first_play_urgency`` without any visits, and 0 with AMAF visits only;
``q_amaf`` is 0 without AMAF visits. With ``amaf_unvisited=False`` an edge without visits has no
AMAF visits either. Dividing by zero gives an infinity or NaN, and an edge of score NaN is not taken
while there is another."""

_C_TYPE = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * len(PARAMETERS))
_SIGNATURE = types.float64(*[types.float64] * len(PARAMETERS))


def check_formula(formula: Formula) -> None:
    """Raise ValueError if a function does not take exactly ``PARAMETERS``."""
    try:
        given = tuple(inspect.signature(_python_function(formula)).parameters)
    except (TypeError, ValueError):  # Not every function that is written in C tells.
        given = ("?",)
    if given != PARAMETERS:
        raise ValueError(
            f"selection: a formula of your own takes ({', '.join(PARAMETERS)}), "
            f"but {_name(formula)} takes ({', '.join(given)})."
        )


@functools.lru_cache(maxsize=64)
def compiled_formula(formula: Formula) -> Any:
    """The formula as a C function; it must be kept as long as ``formula_address`` is in use.

    Raises:
        ValueError: if Numba cannot compile it; the message says why.
    """
    function = _python_function(formula)
    if JIT_DISABLED:
        return _C_TYPE(lambda *values: function(*map(np.float64, values)))
    try:
        return numba.cfunc(_SIGNATURE, error_model="numpy")(function)
    except Exception as error:  # Numba's errors have no common class.
        raise ValueError(f"selection: Numba cannot compile {_name(formula)}: {error}") from error


def formula_address(compiled: Any) -> int:
    """The address of a compiled formula."""
    if JIT_DISABLED:
        return ctypes.cast(compiled, ctypes.c_void_p).value or 0
    return int(compiled.address)


def _python_function(formula: Formula) -> Formula:
    """The Python function behind a function that may have been compiled by Numba already."""
    return getattr(formula, "py_func", formula)


def _name(formula: Formula) -> str:
    return getattr(_python_function(formula), "__name__", repr(formula))


@intrinsic
def _call_address(
    typing_context: Any,
    address: Any,
    n: Any,
    q: Any,
    n_amaf: Any,
    q_amaf: Any,
    p: Any,
    N: Any,
    c: Any,
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        function_type = ir.FunctionType(double, [double] * len(PARAMETERS))
        pointer = builder.inttoptr(arguments[0], function_type.as_pointer())
        return builder.call(pointer, arguments[1:])

    return types.float64(types.int64, *[types.float64] * len(PARAMETERS)), codegen


@functools.lru_cache(maxsize=8)
def _function_at(address: int) -> Any:
    return _C_TYPE(address)


def _call_interpreted(address, n, q, n_amaf, q_amaf, p, N, c):  # type: ignore[no-untyped-def]
    return _function_at(address)(n, q, n_amaf, q_amaf, p, N, c)


@overload(_call_interpreted)
def _call_compiled(address, n, q, n_amaf, q_amaf, p, N, c):  # type: ignore[no-untyped-def]
    def call(address, n, q, n_amaf, q_amaf, p, N, c):  # type: ignore[no-untyped-def]
        return _call_address(address, n, q, n_amaf, q_amaf, p, N, c)

    return call


@kernel
def call_formula(
    address: int, n: float, q: float, n_amaf: float, q_amaf: float, p: float, N: float, c: float
) -> float:
    """The score that the formula at ``address`` gives an edge."""
    return _call_interpreted(  # type: ignore[no-untyped-call]
        address, float(n), float(q), float(n_amaf), float(q_amaf), float(p), float(N), float(c)
    )
