"""Calls of a C function at an address, from the interpreter and from compiled code."""

import ctypes
import functools
import operator
from typing import Any


@functools.lru_cache(maxsize=8)
def _function_at(address: int) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(address)


def call_address(address: int, argument: int) -> int:
    """Call the C function ``int32_t f(int64_t)`` at an address."""
    # Arrays give NumPy's integers, which ctypes does not take.
    return int(_function_at(operator.index(address))(operator.index(argument)))
