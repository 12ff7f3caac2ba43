"""A selection formula of the user's own, called by the loop like its own ones.

The loop stays as it is compiled: it gets the address of the formula's machine code.
"""

import ctypes
import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from rave_agents.errors import FormulaError
from rave_agents.search.compiler import JIT_DISABLED, kernel

Formula = Callable[..., float]
"""A function of ``PARAMETERS``, in that order, that returns a score."""

PARAMETERS = ("n", "q", "n_amaf", "q_amaf", "p", "N", "c")
"""Visits and mean value of an edge; AMAF visits and mean value; prior probability; visits of its
node; the configured ``exploration``. All are floats; values lie in [0, 1], from the view of the
player who moves. ``q`` is ``first_play_urgency`` without any visits, and 0 with AMAF visits only;
``q_amaf`` is 0 without AMAF visits. With ``amaf_unvisited=False`` an edge without visits has no
AMAF visits either. Dividing by zero gives an infinity or NaN, and an edge of score NaN is not taken
while there is another. A formula that raises, or gives NaN for every action of a position, ends the
search with FormulaError."""

FAILURE_LENGTH = 1 + len(PARAMETERS)
"""Numbers in a failure: 1 if the formula raised, and the arguments with which it did."""

_C_TYPE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, *[ctypes.c_double] * len(PARAMETERS))
_SIGNATURE = types.float64(
    types.CPointer(types.float64),  # type: ignore[attr-defined]
    *[types.float64] * len(PARAMETERS),
)


def check_formula(formula: Formula) -> None:
    """Raise ValueError if a function does not take exactly ``PARAMETERS``."""
    try:
        given = tuple(inspect.signature(_python_function(formula)).parameters)
    except (TypeError, ValueError):  # Not every function that is written in C tells.
        given = ("?",)
    if given != PARAMETERS:
        raise ValueError(
            f"selection: a formula of your own takes ({', '.join(PARAMETERS)}), "
            f"but {formula_name(formula)} takes ({', '.join(given)})."
        )


class CompiledFormula:
    """A formula as a C function, which notes an exception where it is told to instead of raising.

    It must be kept as long as its ``address`` is in use. The C function takes the address of a
    failure, see ``FAILURE_LENGTH``, before ``PARAMETERS``.

    Args:
        formula: a function of ``PARAMETERS``.

    Raises:
        ValueError: if Numba cannot compile it; the message says why.
    """

    def __init__(self, formula: Formula) -> None:
        self.name = formula_name(formula)
        """The formula's name, for messages."""
        self._function = _python_function(formula)
        self._raised: BaseException | None = None
        if JIT_DISABLED:
            self._compiled: Any = _C_TYPE(self._called)
            self.address = ctypes.cast(self._compiled, ctypes.c_void_p).value or 0
            self._call = self._compiled
            return
        try:
            self._compiled = numba.cfunc(_SIGNATURE, error_model="numpy")(_guarded(self._function))
        except Exception as error:  # Numba's errors have no common class.
            raise ValueError(f"selection: Numba cannot compile {self.name}: {error}") from error
        self.address = int(self._compiled.address)
        self._call = _C_TYPE(self.address)

    def score(self, arguments: Sequence[float]) -> float:
        """The score for ``PARAMETERS``.

        Raises:
            FormulaError: if the formula raises.
        """
        failure = np.zeros(FAILURE_LENGTH)
        with np.errstate(all="ignore"):
            score = float(self._call(failure.ctypes.data, *arguments))
        self.raise_failure(failure)
        return score

    def raise_failure(self, failure: NDArray[np.float64]) -> None:
        """Raise what the formula raised, if it did; the failure is forgotten.

        Raises:
            FormulaError: from the formula's own exception.
        """
        if failure[0] == 0.0:
            return
        failure[0] = 0.0
        arguments = failure[1:].tolist()
        raised, self._raised = self._raised, None
        if raised is None:  # Compiled code does not keep it: the interpreter meets it again.
            try:
                with np.errstate(all="ignore"):
                    self._function(*map(np.float64, arguments))
            except Exception as error:
                raised = error
        if raised is not None and not isinstance(raised, Exception):
            raise raised  # Ctrl-C.
        what = "an exception" if raised is None else f"{type(raised).__name__}: {raised}"
        raise FormulaError(
            f"selection: {self.name}({_listed(arguments)}) raised {what}"
        ) from raised

    def _called(self, address: int, *arguments: float) -> float:
        """The C function where nothing is compiled."""
        try:
            return float(self._function(*map(np.float64, arguments)))
        except BaseException as error:
            self._raised = error
            failure = (ctypes.c_double * FAILURE_LENGTH).from_address(address)
            failure[:] = [1.0, *arguments]
            return math.nan


@functools.lru_cache(maxsize=64)
def compiled_formula(formula: Formula) -> CompiledFormula:
    """The formula as a C function.

    Raises:
        ValueError: if Numba cannot compile it; the message says why.
    """
    return CompiledFormula(formula)


def try_formula(
    formula: CompiledFormula,
    *,
    first_play_urgency: float,
    exploration: float,
    prior_visits: float,
    amaf: bool,
) -> None:
    """Call a formula with arguments as searches have them, before the first search.

    Args:
        formula: the formula.
        first_play_urgency: ``q`` without any visits.
        exploration: ``c``.
        prior_visits: the AMAF visits that each edge starts with, at least 0.
        amaf: whether there are AMAF statistics.

    Raises:
        FormulaError: if it raises, or always gives NaN.
    """
    q = 0.0 if prior_visits > 0.0 else first_play_urgency
    visited = [(0.0, q), (1.0, 0.0), (1.0, 1.0), (7.0, 0.5)]
    credited = [(prior_visits, 0.5 if prior_visits > 0.0 else 0.0)]
    if amaf:
        credited += [(prior_visits + 1.0, 1.0), (prior_visits + 30.0, 0.4)]
    cases = [
        (n, 0.0 if n == 0.0 and n_amaf > 0.0 else q, n_amaf, q_amaf, 0.25, 12.0, exploration)
        for n, q in visited
        for n_amaf, q_amaf in credited
        if n_amaf >= n or not amaf
    ]
    if all(math.isnan(formula.score(case)) for case in cases):
        raise no_scores(formula, f", such as {formula.name}({_listed(cases[0])})")


def no_scores(formula: CompiledFormula, where: str = " of a position") -> FormulaError:
    """The error of a formula that gives no score to choose by."""
    return FormulaError(
        f"selection: {formula.name} gave NaN for every action{where}: a formula must give a number "
        "for at least one of a position's actions. Mind 0 / 0 and infinity - infinity where n or "
        "n_amaf is 0."
    )


def _guarded(function: Formula) -> Callable[..., float]:
    """The same with a failure's address in front, for Numba."""
    compiled = numba.njit(error_model="numpy")(function)

    def guarded(failure, n, q, n_amaf, q_amaf, p, N, c):  # type: ignore[no-untyped-def]
        try:
            return float(compiled(n, q, n_amaf, q_amaf, p, N, c))
        except Exception:
            noted = numba.carray(failure, (FAILURE_LENGTH,))
            noted[0] = 1.0
            noted[1], noted[2], noted[3], noted[4] = n, q, n_amaf, q_amaf
            noted[5], noted[6], noted[7] = p, N, c
        return np.nan

    return guarded


def _listed(arguments: Sequence[float]) -> str:
    pairs = zip(PARAMETERS, arguments, strict=True)
    return ", ".join(f"{name}={value:g}" for name, value in pairs)


def _python_function(formula: Formula) -> Formula:
    """The Python function behind a function that may have been compiled by Numba already."""
    return getattr(formula, "py_func", formula)


def formula_name(formula: Formula) -> str:
    """How the formula is called."""
    return getattr(_python_function(formula), "__name__", repr(formula))


@intrinsic
def _call_address(
    typing_context: Any,
    address: Any,
    failure: Any,
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
        function_type = ir.FunctionType(double, [ir.IntType(64)] + [double] * len(PARAMETERS))
        pointer = builder.inttoptr(arguments[0], function_type.as_pointer())
        return builder.call(pointer, arguments[1:])

    numbers = [types.float64] * len(PARAMETERS)
    return types.float64(types.int64, types.int64, *numbers), codegen


@functools.lru_cache(maxsize=8)
def _function_at(address: int) -> Any:
    return _C_TYPE(address)


def _call_interpreted(address, failure, n, q, n_amaf, q_amaf, p, N, c):  # type: ignore[no-untyped-def]
    return _function_at(address)(failure, n, q, n_amaf, q_amaf, p, N, c)


@overload(_call_interpreted)
def _call_compiled(address, failure, n, q, n_amaf, q_amaf, p, N, c):  # type: ignore[no-untyped-def]
    def call(address, failure, n, q, n_amaf, q_amaf, p, N, c):  # type: ignore[no-untyped-def]
        return _call_address(address, failure, n, q, n_amaf, q_amaf, p, N, c)

    return call


@kernel
def call_formula(
    address: int,
    failure: int,
    n: float,
    q: float,
    n_amaf: float,
    q_amaf: float,
    p: float,
    N: float,
    c: float,
) -> float:
    """The score that the formula at ``address`` gives an edge; NaN if it raises.

    The arguments with which it raised are then noted at the address ``failure``.
    """
    return _call_interpreted(  # type: ignore[no-untyped-call]
        address,
        failure,
        float(n),
        float(q),
        float(n_amaf),
        float(q_amaf),
        float(p),
        float(N),
        float(c),
    )
