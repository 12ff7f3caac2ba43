"""Explains mistakes in a user's functions in a few lines: the reason, the file and the line.

Numba's messages about a function that it cannot compile run to hundreds of lines about its own code
and this package's. So compilation notes which of the user's functions failed.
"""

import builtins
import dis
import inspect
import linecache
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from rave_agents.game.arguments import unknown_name

IN_THE_INTERPRETER = "With NUMBA_DISABLE_JIT=1 all runs in the interpreter, where it works."
"""Advice for code that only the interpreter can run."""

_LONGEST_LINE = 200

_LIBRARIES = {
    *("rave_agents", "rave_openspiel", "rave_pettingzoo", "rave_gymnasium"),
    *("numba", "numpy"),
}


class UncompilableError(ValueError):
    """A user's function cannot be compiled; the message says where and why."""


class _Failure(NamedTuple):
    """A user's function, and the error that ended its compilation."""

    function: types.FunctionType
    error: Exception


_failures: list[_Failure] = []
"""Failures of the compilation in progress, the innermost first. One runs at a time."""


def forget_failures() -> None:
    """Forget the failures of the last compilation."""
    _failures.clear()


def compile_or_note(function: Any, compiled: Callable[[], Any]) -> Any:
    """Compile a function; note a failure in a user's function.

    Numba compiles some functions twice, so a failure inside a function that compiles after all is
    dropped.
    """
    before = len(_failures)
    try:
        result = compiled()
    except Exception as error:
        if not is_packages(function):
            _failures.append(_Failure(function, error))
        raise
    del _failures[before:]
    return result


def is_packages(function: Any) -> bool:
    """True if a function is of this package, NumPy or Numba."""
    return _is_librarys(getattr(function, "__module__", None))


def _is_librarys(module: str | None) -> bool:
    return str(module).partition(".")[0] in _LIBRARIES


def message_at(reason: str, code: types.CodeType, line: int | None) -> str:
    """A message: the reason, then the place and its source line, as in a traceback."""
    number = line or _line_of_def(code)
    source = linecache.getline(code.co_filename, number).strip()
    place = f'{reason}\n  File "{code.co_filename}", line {number}, in {code.co_qualname}'
    return f"{place}\n    {source}" if source else place


def _line_of_def(code: types.CodeType) -> int:
    """The line of a function's ``def``; ``co_firstlineno`` is that of its first decorator."""
    first = code.co_firstlineno
    for line in range(first, first + 20):
        if linecache.getline(code.co_filename, line).lstrip().startswith(("def ", "async def ")):
            return line
    return first


# What compiled code cannot do.


def refuse_calls_of_python(functions: Iterable[types.FunctionType]) -> None:
    """Refuse calls such as ``print``: in compiled code they would wait for the interpreter forever.

    Args:
        functions: the user's functions to compile.

    Raises:
        UncompilableError: naming the line.
    """
    for function in functions:
        for code in _codes(function.__code__):
            loads = (one for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL")
            for name in sorted({one.argval for one in loads} | {"objmode"}):
                called = function.__globals__.get(name, vars(builtins).get(name))
                refused = name == "objmode" or any(called is one for one in _INTERACTIVE)
                line = _line_of(code, name) if refused else None
                if line is not None:
                    reason = f"Compiled code cannot call {name}. {IN_THE_INTERPRETER}"
                    raise UncompilableError(message_at(reason, code, line))


_INTERACTIVE = (print, input, breakpoint)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


def _line_of(code: types.CodeType, name: str) -> int | None:
    """The first line of a function that looks up a name; None if none does."""
    if name not in code.co_names:
        return None
    line = None
    for instruction in dis.get_instructions(code):
        if instruction.positions is not None and instruction.positions.lineno is not None:
            line = instruction.positions.lineno
        if instruction.argval == name:
            return line
    return line


# What Python raises.


def place_in(error: BaseException) -> tuple[types.CodeType, int] | None:
    """The innermost place in the user's code in a traceback; None if there is none."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__"))
        if not (_is_librarys(module) or module.partition(".")[0] in sys.stdlib_module_names):
            found = frame.f_code, line
    return found


def explain_arguments(described: Any, function: Any) -> str | None:
    """Explain why a function does not accept another function's arguments; None if it does.

    Args:
        described: the function that it replaces.
        function: the user's function.
    """
    code, wanted = getattr(function, "__code__", None), described.__code__
    if code is None:
        return None
    most, defaults = code.co_argcount, len(function.__defaults__ or ())
    takes_more = bool(code.co_flags & inspect.CO_VARARGS)
    if most - defaults <= wanted.co_argcount and (takes_more or wanted.co_argcount <= most):
        return None
    names = ", ".join(wanted.co_varnames[: wanted.co_argcount])
    reason = f"{described.__name__} takes {wanted.co_argcount} arguments, ({names}): {most} here."
    return message_at(reason, code, None)


# What Numba raises.


def explain_numba_error(error: Exception, functions: Iterable[types.FunctionType]) -> str:
    """Explain an error of Numba's in a few lines, with its place in the user's functions.

    Args:
        error: the error.
        functions: the user's functions, searched if no failure was noted.
    """
    failures = _failures or [_Failure(function, error) for function in functions]
    for function, raised in failures:
        line = _line_of_error(function.__code__, raised)
        if line is not None:
            return message_at(_reason(raised), function.__code__, line)
    if _failures:
        return message_at(_reason(_failures[0].error), _failures[0].function.__code__, None)
    return _reason(error)


def _line_of_error(code: types.CodeType, error: Exception) -> int | None:
    lines = {line for one in _codes(code) for _, _, line in one.co_lines() if line is not None}
    name = code.co_filename.rpartition("/")[2]
    for place in _PLACE.finditer(_plain(error)):
        path, line = place.group(1) or place.group(3), int(place.group(2) or place.group(4))
        if path.rpartition("/")[2] == name and line in lines:
            return line
    for file, line in _locations(error):
        if file.rpartition("/")[2] == name and line in lines:
            return line
    undefined = _UNDEFINED.search(_plain(error))
    return None if undefined is None else _line_of(code, undefined.group(1))


_PLACE = re.compile(
    r'File "([^"\n]+)", line (\d+)|(?:During: .* at|Raised from) (\S+) \((\d+)\)$', re.M
)
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
_UNTYPED = re.compile(r"Untyped (?:global|freevar)(?: name)? '(\w+)'.*(?:\s.*)?<class '([\w.]+)'>")
_CONTAINER = re.compile(r"(?:class '|reflected |OverloadSelector.*\b)(list|dict|set)\b", re.I)
_NO_MEMORY = re.compile("NRT required but not enabled|Only accept returning of array passed")
_ARGUMENTS = re.compile("(?:too many positional|missing a required|got an unexpected).*argument.*")
_FIELD = re.compile(r"Unknown attribute '(\w+)' of type (\w+?)\d*$", re.M)
_IMPOSSIBLE = re.compile(r"^\s*>>> (.+)$", re.M)
_NOISE = re.compile(
    r"Failed in nopython|No match|Rejected as|There are \d|- Of which|Overload |Operator Overload|"
    r"With argument|- Resolution failure|During:|raised from|None$|Enable logging|File |"
    r"def |@|<source|\^|Type Restricted|\* "
)


def _locations(error: Exception) -> Iterator[tuple[str, int]]:
    places, found = error.__traceback__, [getattr(error, "loc", None)]
    while places is not None:
        found.append(getattr(places.tb_frame.f_locals.get("self"), "loc", None))
        places = places.tb_next
    for place in reversed(found):
        if isinstance(getattr(place, "line", None), int):
            yield str(place.filename), place.line


def _plain(error: Exception) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", str(error))


def _reason(error: Exception) -> str:
    """One sentence about the mistake, in terms of the user's code where Numba's text names it."""
    text = re.sub(r"\.* Raised from .*", "", _plain(error))
    if isinstance(error, KeyError):
        *_, innermost = traceback.walk_tb(error.__traceback__)
        fields = getattr(innermost[0].f_locals.get("self"), "fields", ())
        reason = unknown_name("field of the record", error.args[0], fields)
    elif _NO_MEMORY.search(text):
        reason = (
            "Compiled code makes no lists, dictionaries, sets, strings or new arrays. Write to an "
            "array that is given or that the record has; make tables beforehand."
        )
    elif container := _CONTAINER.search(text):
        reason = (
            f"Compiled code knows no {container.group(1).lower()} of Python's. Make it a tuple "
        )
        reason += "or a NumPy array."
    elif missing := _FIELD.search(text):
        reason = f"{missing.group(2)} has no attribute {missing.group(1)!r}."
    elif undefined := _UNDEFINED.search(text):
        reason = f"The name {undefined.group(1)!r} is not defined."
    elif untyped := _UNTYPED.search(text):
        reason = f"Compiled code cannot use {untyped.group(1)!r}, a {untyped.group(2)}."
        if untyped.group(2) == "function":
            reason += " Mark the function with kernel of rave_agents.parts."
    elif arguments := _ARGUMENTS.search(text):
        called = re.findall(r"Function\(<function (\w+)", text[: arguments.start()])
        reason = f"{called[-1]}(): {arguments.group()}." if called else f"{arguments.group()}."
    elif impossible := _IMPOSSIBLE.search(text):
        reason = f"Compiled code cannot do this: {_short(impossible.group(1))}."
    else:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        lines = [line for line in lines if not _NOISE.match(line)]
        reason = f"{_short(lines[0] if lines else type(error).__name__).rstrip('.')}."
    return reason


def _short(line: str) -> str:
    line = re.sub(r"Record\(.*?;(?:True|False)\)", "the record", line)
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..."
