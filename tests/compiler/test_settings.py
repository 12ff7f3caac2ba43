"""Numba's settings decide what machine code is made, and are read as Numba reads them."""

import os
import subprocess
import sys

import pytest
from helpers.processes import run_python

DECIDE = {
    "NUMBA_OPT": "0", "NUMBA_ENABLE_AVX": "0", "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "+sse2", "NUMBA_BOUNDSCHECK": "1", "NUMBA_DEBUGINFO": "1",
    "NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "1", "NUMBA_DISABLE_INTEL_SVML": "1",
    "NUMBA_EXTEND_VARIABLE_LIFETIMES": "1", "NUMBA_LLVM_REFPRUNE_PASS": "0",
    "NUMBA_ENABLE_PROFILING": "1",
}  # fmt: skip
DECIDE_NOTHING = {
    "NUMBA_CACHE_DIR": "/tmp", "NUMBA_NUM_THREADS": "1", "NUMBA_DISABLE_JIT": "0",
    "NUMBA_SHOW_HELP": "1", "NUMBA_THREADING_LAYER": "omp", "NUMBA_COLOR_SCHEME": "light_bg",
    "NUMBA_OPT": "3", "NUMBA_LOOP_VECTORIZE": "1", "NUMBA_CPU_NAME": None,
}  # fmt: skip


def run(program, folder=None, **environment):
    """What a program prints that has no setting of Numba's but these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**kept, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout


READ = f"""
import os, sys
from rave_agents.compiler.settings import codegen_settings

def read(settings):
    os.environ.update({{name: value for name, value in settings.items() if value is not None}})
    told = codegen_settings()
    for name in settings:
        os.environ.pop(name, None)
    return told

decide, nothing = {DECIDE}, {DECIDE_NOTHING}
told = {{name: read({{name: value}}) for name, value in decide.items()}}
assert "numba" not in sys.modules
assert codegen_settings() == read(nothing) == ""
assert "" not in told.values() and len(set(told.values())) == len(told), told

import numba
assert codegen_settings() == ""
# Once it is loaded, Numba is loath to change how many threads there are.
del nothing["NUMBA_NUM_THREADS"]
assert read(nothing) == ""
for name, value in decide.items():
    assert read({{name: value}}) == told[name], name
assert codegen_settings() == ""
numba.config.OPT = 0
assert codegen_settings() == "OPT=0"
"""


@pytest.mark.full
def test_what_decides_the_machine_code_is_told_with_numba_and_without():
    run(READ)


DISABLED = """
import os, warnings
from rave_agents.compiler.settings import jit_is_disabled
warnings.simplefilter("ignore")
told = {}
for value in ("0", "1", "2", "-1", " 1 ", "", "no", "false", "False", "true", "off", "1.0"):
    os.environ["NUMBA_DISABLE_JIT"] = value
    told[value] = jit_is_disabled()
import numba
for value, disabled in told.items():
    os.environ["NUMBA_DISABLE_JIT"] = value
    numba.core.config.reload_config()
    assert bool(numba.config.DISABLE_JIT) == jit_is_disabled() == disabled, value
assert told["1"] and not told["false"]
"""


@pytest.mark.full
def test_whether_anything_is_compiled_is_read_as_numba_reads_it():
    run(DISABLED)


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("value", ["false", "0"])
def test_a_setting_that_is_no_number_is_told(value):
    program = "import warnings; warnings.simplefilter('always'); import rave_agents.parts"
    done = run_python("-c", program, check=True, NUMBA_DISABLE_JIT=value)
    assert ("NUMBA_DISABLE_JIT must be a whole number" in done.stderr) == (value == "false")


FILE = """
import sys
from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.compiler.settings import codegen_settings
print(JIT_DISABLED, codegen_settings(), "numba" in sys.modules)
import numba
assert codegen_settings() == "OPT=_OptLevel(1)", codegen_settings()
"""


@pytest.mark.full
def test_the_file_of_settings_counts(tmp_path):
    pytest.importorskip("yaml")
    (tmp_path / ".numba_config.yaml").write_text("opt: '1'\ndisable_jit: 1\n")
    assert run(FILE, tmp_path) == "True OPT=_OptLevel(1) False\n"
    assert run(FILE, tmp_path, NUMBA_DISABLE_JIT="0") == "False OPT=_OptLevel(1) False\n"
