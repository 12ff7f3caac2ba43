"""The libraries of GCC's sanitizers, and how a process runs under them."""

import os
import shutil
import subprocess

import pytest

FLAGS = "-g -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all"
# vptr would need the type information of every state, which pyspiel does not export.


def runtime(name):
    """The path of one of GCC's libraries; None if there is none."""
    found = subprocess.run(
        ["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return found if os.path.isabs(found) and os.path.exists(found) else None


def sanitizing():
    """The environment variables of a process under the sanitizers; skips where there are none."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    libraries = [runtime(name) for name in ("libasan.so", "libubsan.so", "libstdc++.so.6")]
    if None in libraries:
        pytest.skip("GCC's sanitizers are not installed")
    return {
        "CXX": f"g++ {FLAGS}",
        "LD_PRELOAD": " ".join(libraries),
        # Python itself leaves memory behind, and pyspiel is loaded before the library.
        "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0",
    }
