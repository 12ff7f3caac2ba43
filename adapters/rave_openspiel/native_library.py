"""Compiles this package's C++ files against the installed open_spiel, each once.

Compiled libraries are in the user's cache directory. A library's name holds two hashes: one of
everything that it must match (the open_spiel build, this package's source, the machine), one of the
compiler and its command. A library gets its name only after a separate process has tested it.
Without a working compiler, any matching library is used, whichever compiler built it, so that a
container image needs a compiler only in the stage that fills the cache. A library built with the
user's own options is tested again before use, since it may depend on something that only the
building process had, such as a sanitizer's runtime. If a build fails, the reason is stored with
the libraries, so that later processes do not try again.
"""

import ctypes
import functools
import hashlib
import importlib.metadata
import logging
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyspiel

from rave_agents.compiler.folders import choose_cache_directory, is_own_file
from rave_agents.game.endless import LONGEST_GAME
from rave_agents.game.game_state import NO_ACTION, PlayerId
from rave_agents.game.utility_limits import CHANCE_ROUNDING
from rave_agents.simulate.expansion import Answered, Place
from rave_agents.simulate.frame import LOSES, WINS, CheckChildren
from rave_agents.simulate.simulator import Frame, Header, Status, Step
from rave_agents.simulate.visits import VisitPlace


class Part(NamedTuple):
    """A C++ file that is compiled into its own library, so that each can fail alone."""

    name: str
    """The library's file name, without hashes and suffix."""
    purpose: str
    """A description for messages."""
    source: pathlib.Path
    """The C++ file."""
    test: str
    """The module that tests the library, run with its path as the argument."""
    calls_pyspiel: bool = False
    """True if it calls functions that pyspiel exports, and must be linked with pyspiel."""
    constants: Mapping[str, int] = {}
    """Constants of its own, in addition to those of all libraries."""

    @property
    def flags(self) -> list[str]:
        """The compiler's flags that define them."""
        return [f"-D{name}={value}" for name, value in self.constants.items()]


BRIDGE = Part(
    "bridge",
    "the bridge to OpenSpiel's C++ states",
    pathlib.Path(__file__).with_name("bridge.cpp"),
    "rave_openspiel.native_check",
)
"""Simulations of OpenSpiel's C++ states."""

REGISTRY = Part(
    "registry",
    "the library that registers bots with OpenSpiel",
    pathlib.Path(__file__).with_name("registry.cpp"),
    "rave_openspiel.registry_check",
    calls_pyspiel=True,
)
"""The library that registers Python bots with OpenSpiel."""

EXPANDER = Part(
    "expander",
    "the expansion of OpenSpiel's C++ states for the solver",
    pathlib.Path(__file__).with_name("expander.cpp"),
    "rave_openspiel.expander_check",
    constants={
        **{f"PLACE_{place.name}": int(place) for place in Place},
        **{f"ANSWERED_{answer.name}": int(answer) for answer in Answered},
    },
)
"""Expansions of OpenSpiel's C++ states."""

VISITOR = Part(
    "visitor",
    "the visits of OpenSpiel's C++ histories",
    pathlib.Path(__file__).with_name("visitor.cpp"),
    "rave_openspiel.visitor_check",
    constants={
        **{f"VISIT_{place.name}": int(place) for place in VisitPlace},
        **{f"ANSWERED_{answer.name}": int(answer) for answer in Answered},
    },
)
"""Visits of histories of OpenSpiel's C++ games."""

HISTORIES = Part(
    "histories",
    "the replays of OpenSpiel's C++ histories",
    pathlib.Path(__file__).with_name("histories.cpp"),
    "rave_openspiel.histories_check",
)
"""Replays of histories of OpenSpiel's C++ games."""

HEADERS = sorted(pathlib.Path(__file__).parent.glob("*.h"))
"""What the C++ files include."""

ERRORS = ("GAME", "SPIEL", "MEMORY", "ENDLESS", "OTHER")
"""The exceptions for the bridge's error codes, from 1 on."""

OWN_OPTIONS = "-options"
"""Suffix of a library that was compiled with the user's own options in CXX."""

_COMPILERS = ("c++", "g++", "clang++")
_SECONDS = 300
"""Seconds after which the compiler or the test is killed."""

# Mangled names of ``SpielFatalError(const std::string&)`` under the two libstdc++ string ABIs.
_NEW_STRINGS = (
    "_ZN10open_spiel15SpielFatalErrorERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
)
_OLD_STRINGS = "_ZN10open_spiel15SpielFatalErrorERKSs"

_log = logging.getLogger("rave_agents")


class BridgeError(Exception):
    """A library that cannot be used, with the reason in one line.

    Args:
        reason: the reason, in one line.
        details: further output, such as the compiler's.
        tried: whether this process has just tried to build the library.
    """

    def __init__(self, reason: str, details: str = "", *, tried: bool = False) -> None:
        super().__init__(reason)
        self.details = details
        self.tried = tried


class SharedLibrary:
    """A compiled library.

    Args:
        path: the file.

    Raises:
        BridgeError: if the library cannot be loaded.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise BridgeError(f"the library cannot be loaded: {error}") from error

    def function(self, name: str, result: type | None, *arguments: type) -> Any:
        """Return a function of the library, with its argument and result types."""
        function = self._library[name]
        function.restype = result
        function.argtypes = arguments
        return function

    def capsules(self, set_reader: str) -> Any:
        """Let the library read capsules, by its function ``set_reader``; returns what makes them.

        ``new_owner(address, None, release)`` makes a capsule that releases what it owns when it
        dies. No Python runs then: a signal handler's exception in a finalizer would be lost.
        """
        pointer, pythonapi = ctypes.c_void_p, ctypes.pythonapi
        self.function(set_reader, None, pointer)(
            ctypes.cast(pythonapi.PyCapsule_GetPointer, pointer)
        )
        new_owner = pythonapi["PyCapsule_New"]
        new_owner.restype = ctypes.py_object
        new_owner.argtypes = [pointer, ctypes.c_char_p, pointer]
        return new_owner


class Library(SharedLibrary):
    """The functions of a compiled bridge; see ``SharedLibrary``."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__(path)
        pointer, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
        self.create: Any = self.function("bridge_create", pointer, pointer, number, number)
        self.new_owner: Any = self.capsules("bridge_set_capsule_reader")
        self.release: Any = ctypes.cast(self._library.bridge_release_owned, pointer)
        self.set_deadline: Any = self.function(
            "bridge_set_deadline", None, pointer, ctypes.c_double
        )
        self.forget_positions: Any = self.function("bridge_forget_positions", None, pointer)
        self.observe: Any = self.function(
            "bridge_observe", None, pointer, number, number, pointer, pointer
        )
        self.root_view: Any = self.function("bridge_root_view", number, pointer, pointer)
        long = ctypes.c_int64
        self.set_worlds_deadline: Any = self.function(
            "bridge_set_worlds_deadline", None, pointer, ctypes.c_double
        )
        self.worlds: Any = self.function("bridge_worlds", long, pointer, pointer, long, pointer)
        self.error: Any = self.function("bridge_error", number, pointer)
        self.message: Any = self.function("bridge_message", text, pointer)
        self.play_out: Any = self.function("bridge_play_out", long, pointer, long, pointer)
        simulate = self._library.bridge_simulate
        self.simulate_address: int = int(ctypes.cast(simulate, pointer).value or 0)


def built_library(part: Part, *, retry: bool) -> pathlib.Path:
    """Return the path of a library; compile and test it first if the cache has none.

    Args:
        part: the library.
        retry: whether to try again after a build failed in an earlier process.

    Raises:
        BridgeError: if it cannot be built or fails its test, and the cache has no matching one.
    """
    directory = choose_cache_directory("openspiel-bridge")
    stem = f"{part.name}-{_key(part)}"
    try:
        return _built_by_compiler(part, directory, stem, retry=retry)
    except BridgeError:
        # The newest first: a library by another compiler works too, or does not load.
        found = sorted(directory.glob(f"{stem}-*.so"), key=lambda path: -path.stat().st_mtime_ns)
        for path in found:
            if is_own_file(path.stat()) and _can_be_used(part, path):
                return path
        raise


def _built_by_compiler(
    part: Part, directory: pathlib.Path, stem: str, *, retry: bool
) -> pathlib.Path:
    """Return the library that the current compiler builds, from the cache if it is there."""
    compiler = find_compiler()
    command = [*compiler, *_flags(), *part.flags, *_include_flags()]
    linked = [pyspiel.__file__] if part.calls_pyspiel else []
    made_by = _digest(_compiler_version(tuple(compiler)), *command, *linked)
    options = OWN_OPTIONS if any(word.startswith("-") for word in compiler[1:]) else ""
    path = directory / f"{stem}-{made_by}{options}.so"
    failure = path.with_suffix(".failed")
    if path.exists() and is_own_file(path.stat()):
        return path
    if failure.exists() and not retry:
        reason, _, details = failure.read_text().partition("\n")
        raise BridgeError(f"{reason} (an earlier attempt; delete {failure} to try again)", details)
    _log.warning("rave_openspiel: compiling %s ...", part.purpose)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory) as folder:
            built = pathlib.Path(folder) / path.name
            try:
                # The folder is not part of what the library is known by, nor is the source's.
                shared = f"-iquote{pathlib.Path(__file__).parent}"
                _compile([*command, shared, str(part.source), *linked, "-o", str(built)])
                _test(part, built)
            except BridgeError as error:
                # Write aside and move into place, so that no process reads half a reason.
                noted = pathlib.Path(folder) / failure.name
                noted.write_text(f"{error}\n{error.details}")
                noted.replace(failure)
                error.tried = True
                raise
            built.chmod(0o755)  # Under any umask: ``is_own_file`` refuses files others can write.
            # Two processes may build at once: each moves a complete library into place.
            built.replace(path)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BridgeError(f"{directory}: {error}") from error
    failure.unlink(missing_ok=True)
    return path


def _can_be_used(part: Part, path: pathlib.Path) -> bool:
    """True if this process can load a library that another compiler built."""
    try:
        if path.stem.endswith(OWN_OPTIONS):
            _test(part, path)  # Loading it here could end the process.
        SharedLibrary(path)
    except (BridgeError, OSError, subprocess.TimeoutExpired):
        return False
    return True


def find_compiler() -> list[str]:
    """Return the C++ compiler's command: the environment variable CXX, or the first one installed.

    Raises:
        BridgeError: if there is no compiler.
    """
    if os.environ.get("CXX"):
        return shlex.split(os.environ["CXX"])
    for name in _COMPILERS:
        if shutil.which(name):
            return [name]
    raise BridgeError(f"there is no C++ compiler ({', '.join(_COMPILERS)}; or set CXX)")


def _flags() -> list[str]:
    return [
        *("-std=c++17", "-O2", "-DNDEBUG", "-shared", "-fPIC", "-fvisibility-inlines-hidden"),
        *_string_flags(),
        *(f"-D{name}={value}" for name, value in _constants().items()),
    ]


def _include_flags() -> list[str]:
    headers = pathlib.Path(pyspiel.__file__).with_name("open_spiel")
    if not (headers / "spiel.h").exists():
        raise BridgeError(f"open_spiel has no headers in {headers}")
    includes = [headers.parent, headers / "abseil-cpp", headers / "json" / "include"]
    # As system headers, so that their warnings do not hide ours.
    return [f"-isystem{include}" for include in includes]


def _string_flags() -> list[str]:
    """Return the flag for OpenSpiel's libstdc++ string ABI; empty for other standard libraries."""
    # With the wrong ABI, every std::string that crosses the boundary is garbage.
    exported = ctypes.CDLL(pyspiel.__file__)
    for flag, symbol in ((1, _NEW_STRINGS), (0, _OLD_STRINGS)):
        if hasattr(exported, symbol):
            return [f"-D_GLIBCXX_USE_CXX11_ABI={flag}"]
    return []


def _constants() -> dict[str, float]:
    """Return the constants that the loop and the bridge must agree on."""
    return {
        **{f"HEADER_{place.name}": int(place) for place in Header},
        **{f"BUFFER_{name.upper()}": Header.PATH + i for i, name in enumerate(Frame._fields[1:])},
        **{f"STATUS_{status.name}": int(status) for status in Status},
        **{f"STEP_{step.name}": int(step) for step in Step},
        **{f"CHECK_{check.name}": int(check) for check in CheckChildren},
        **{f"PLAYER_{player.name}": int(player) for player in PlayerId},
        "MOVE_WINS": WINS,
        "MOVE_LOSES": LOSES,
        **{f"ERROR_{name}": number for number, name in enumerate(ERRORS, 1)},
        "NO_ACTION": NO_ACTION,
        "LONGEST_GAME": LONGEST_GAME,
        "CHANCE_ROUNDING": CHANCE_ROUNDING,
    }


def _key(part: Part) -> str:
    """Return the hash of everything that a library must match, whichever compiler built it."""
    linked = [pyspiel.__file__] if part.calls_pyspiel else []
    return _digest(
        *(importlib.metadata.version("open_spiel"), _pyspiel_content()),
        *(platform.system(), platform.machine()),
        *_flags(),
        *part.flags,
        *linked,
        *(source.read_text(encoding="utf-8") for source in (part.source, *HEADERS)),
    )


def _pyspiel_content() -> str:
    """Return an identifier of the pyspiel build that survives copying the file."""
    # Wheels record a hash of each file: reading it beats hashing tens of megabytes at each start.
    path = pathlib.Path(pyspiel.__file__)
    size = path.stat().st_size
    installed = importlib.metadata.distribution("open_spiel")
    if pathlib.Path(str(installed.locate_file(path.name))) == path:
        for line in (installed.read_text("RECORD") or "").splitlines():
            name, _, content = line.partition(",")
            if name == path.name and content.endswith(f",{size}"):
                return content
    return f"{size} {path.stat().st_mtime_ns}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@functools.cache
def _compiler_version(compiler: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(
            [*compiler, "--version"], capture_output=True, text=True, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise BridgeError(f"the compiler {shlex.join(compiler)} cannot be run: {error}") from error
    return done.stdout


def _compile(command: Sequence[str]) -> None:
    done = _run(command)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        reason = errors[0] if errors else f"exit status {done.returncode}"
        raise BridgeError(f"the compiler failed: {reason}", done.stderr)


def _test(part: Part, path: pathlib.Path) -> None:
    """Test the library in another process, since it may crash."""
    environment = {
        **os.environ,
        "RAVE_AGENTS_NATIVE": "0",  # The test must not build what it tests.
        "PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path),
    }
    # -P: a file in the user's folder must not shadow a module of ours.
    done = _run([sys.executable, "-P", "-m", part.test, str(path)], environment)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise BridgeError(f"the compiled {part.name} failed its test: {lines[-1]}", done.stderr)


def _run(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
