"""Calls of a C function at an address, from the interpreter and from compiled code."""

import ctypes
import functools
from typing import Any


@functools.lru_cache(maxsize=8)
def _function_at(address: int) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(address)


def call_address(address: int, argument: int) -> int:
    """Call the C function ``int32_t f(int64_t)`` at an address."""
    return int(_function_at(int(address))(int(argument)))  # Arrays give NumPy's integers.
