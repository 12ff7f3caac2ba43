"""The machine code of rules: compiled once, kept on disk, loaded without Numba."""

import functools
import hashlib
import inspect
import pathlib
import re
import threading
import types

from rave_agents.compiler.changes import MISSING, Watched, code_generation, watch
from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.compiler.fingerprint import Fingerprint, is_ours
from rave_agents.compiler.folders import choose_cache_directory
from rave_agents.compiler.looked_up import looked_up
from rave_agents.compiler.machine_code import Callback, MachineCode, found_or_compiled
from rave_agents.compiler.mistakes import UncompilableError
from rave_agents.compiler.settings import codegen_settings
from rave_agents.compiler.signals import uninterrupted
from rave_agents.compiler.sources import own_sources
from rave_agents.errors import GameError
from rave_agents.games.kit import leaves, playing, playouts
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.games.kit.trial import try_out

_lock = threading.Lock()
_loaded: dict[str, Callback] = {}
"""Loaded code by the names of its files: it may be in use after its rules have been edited."""


def loaded(rules: BaseRules, kit: types.ModuleType = playing) -> Callback:
    """A module of the kit compiled with these rules, or found on disk: its ``entry``."""
    with _lock:
        generation = code_generation()
        attribute = f"{_MACHINE_CODE}_{kit.__name__}"
        known = vars(rules).get(attribute)
        if known is None or known[0] != generation:
            sources = sources_of_rules(rules, kit)
            watch(_shared(sources.watched, rules))
            place = _place(rules, sources)
            try:
                if not (str(place) in _loaded or place.exists()):
                    own, uses_numba = sources.own_functions(), bool(sources.dispatchers)
                    try_out(rules, own, uses_numba=uses_numba)
                uninterrupted(
                    lambda: vars(rules).update(
                        {attribute: (generation, _load(rules, place, sources, kit))}
                    )
                )
            except UncompilableError as error:
                raise GameError(f"The rules of {rules} have a mistake. {error}") from None
            known = vars(rules)[attribute]
        return known[1]


_MACHINE_CODE = "_machine_code"
"""The attributes of rules under which their code is found: others that are equal may differ."""


def prepare(rules: BaseRules) -> None:
    """Compile the rules, or load them, so that no search's clock pays for it."""
    if not JIT_DISABLED:
        loaded(rules)


def place_on_disk(rules: BaseRules) -> pathlib.Path:
    """Path of the machine code of these rules."""
    return _place(rules, sources_of_rules(rules, playing))


def _place(rules: BaseRules, sources: Fingerprint) -> pathlib.Path:
    kind = type(rules)
    name = re.sub(r"[^\w.-]", "_", kind.name or kind.__name__)
    return choose_cache_directory("games") / _kit_sources() / f"{name}-{sources.digest()}"


def _shared(watched: Watched, rules: BaseRules) -> Watched:
    """Names that rules have looked up, without their own attributes, which no other code reads.

    Watched, those of every object that was ever searched would be asked at each search.
    """
    own = vars(rules)
    return watched._replace(names={k: v for k, v in watched.names.items() if v[0] is not own})


def _load(
    rules: BaseRules, place: pathlib.Path, sources: Fingerprint, kit: types.ModuleType
) -> Callback:
    if str(place) in _loaded and not sources.unknown:
        return _loaded[str(place)]

    def compiled() -> MachineCode:
        from rave_agents.games.kit.rules_lowering import callback_code  # noqa: PLC0415  (slow: Numba)

        return callback_code(kit.entry, rules, sources.dispatchers)

    code = found_or_compiled(place, f"the rules of {rules}", compiled, sources)
    _loaded[str(place)] = code.load_callback()
    return _loaded[str(place)]


@functools.cache
def _kit_sources() -> str:
    """A name for the sources of the kit, and of all that compiles it."""
    digest = hashlib.sha256(own_sources().encode())
    for path in sorted(pathlib.Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def sources_of_rules(rules: BaseRules, kit: types.ModuleType = playing) -> Fingerprint:
    """All that compiled code has of one object of rules: methods, and attributes as constants."""
    found, kind = Fingerprint(), type(rules)
    found.note(codegen_settings(), f"{kind.__module__}.{kind.__qualname__}", repr(rules.parameters))
    found.note(kit.__name__)
    found.names |= _names_of_the_kit(kit)
    found.watching = not is_ours(kind.__module__)
    has = {name for name in (*dir(kind), *vars(rules)) if not name.startswith("__")}
    done: set[str] = set()
    while waiting := sorted((found.names & has) - done):
        done.update(waiting)
        for name in waiting:
            _add_member(found, rules, name)
    return found


def _add_member(found: Fingerprint, rules: BaseRules, name: str) -> None:
    """Add a method or a constant, as ``rules_lowering`` finds it."""
    kind = type(rules)
    try:
        value = getattr(rules, name, None)
    except Exception as error:  # Where compiled code needs it, it fails there.
        value = repr(error)
    if not callable(value):
        found.add_named(name, value)
    member = inspect.getattr_static(kind, name, None)
    if inspect.isfunction(member) or isinstance(member, property | functools.cached_property):
        found.add_named(name, member)
    for owner in (rules, *(base for base in kind.__mro__[:-1] if not is_ours(base.__module__))):
        found.look_up(vars(owner), owner, name, vars(owner).get(name, MISSING))


@functools.cache
def _names_of_the_kit(kit: types.ModuleType) -> frozenset[str]:
    """Names that a module of the kit and its compiler may look up in rules."""
    members = [one for module in (kit, playing, leaves, playouts) for one in vars(module).values()]
    functions = [getattr(one, "py_func", one) for one in members]
    codes = [one.__code__ for one in functions if inspect.isfunction(one)]
    return frozenset({"record"}.union(*(looked_up(code).attributes for code in codes)))
