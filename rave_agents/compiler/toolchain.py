"""Identifies the compiler: versions of libraries, the processor, this package's modules."""

import functools
import importlib.metadata
import importlib.util
import platform

import numpy as np

from rave_agents.compiler.cache_key import CacheKey
from rave_agents.compiler.machine_code import processor

MAKERS = (
    "compiler.arrays",
    "compiler.layout",
    "compiler.lean_lowering",
    "compiler.lean_typing",
    "compiler.linking",
    "compiler.lowering",
    "compiler.machine_code",
    "compiler.references",
    "compiler.shortcuts",
    "games.kit.memory",
    "games.kit.rules_lowering",
)
"""Modules of this package that influence the machine code of a function."""


@functools.cache
def toolchain() -> str:
    """A digest of all that identifies the compiler."""
    versions = [importlib.metadata.version(name) for name in ("numba", "llvmlite")]
    key = CacheKey()
    key.note(*versions, np.__version__, platform.python_version(), processor())
    for name in MAKERS:
        spec = importlib.util.find_spec(f"rave_agents.{name}")
        code = spec.loader.get_code(spec.name)  # type: ignore[union-attr]
        assert code is not None
        key.add(code)
    return key.digest()
