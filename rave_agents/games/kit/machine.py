"""The machine code of rules: compiled once, kept on disk, loaded without Numba."""

import functools
import inspect
import pathlib
import re
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rave_agents.compiler.cache_key import CacheKey, is_ours
from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.compiler.edits import code_generation, watch
from rave_agents.compiler.folders import choose_cache_directory
from rave_agents.compiler.machine_code import Callback, MachineCode, load_or_compile
from rave_agents.compiler.mistakes import UncompilableError
from rave_agents.compiler.progress import off_the_clock
from rave_agents.compiler.settings import codegen_settings
from rave_agents.compiler.signals import uninterrupted
from rave_agents.compiler.toolchain import toolchain
from rave_agents.errors import GameError
from rave_agents.games.kit import playing
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
            key = key_of_rules(rules, kit)
            _watch(rules, key.names)
            place = _place(rules, key)
            try:
                if not (str(place) in _loaded or place.exists()):
                    try_out(rules, key.own_functions, uses_numba=bool(key.dispatchers))
                with off_the_clock():
                    uninterrupted(
                        lambda: vars(rules).update(
                            {attribute: (generation, _load(rules, place, key, kit))}
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
    return _place(rules, key_of_rules(rules, playing))


def _place(rules: BaseRules, key: CacheKey) -> pathlib.Path:
    kind = type(rules)
    name = re.sub(r"[^\w.-]", "_", kind.name or kind.__name__)
    return choose_cache_directory("games") / f"{name}-{key.digest()}"


def _load(rules: BaseRules, place: pathlib.Path, key: CacheKey, kit: types.ModuleType) -> Callback:
    if str(place) in _loaded and not key.unknown:
        return _loaded[str(place)]

    def compiled() -> MachineCode:
        from rave_agents.games.kit.rules_lowering import callback_code  # noqa: PLC0415  (slow: Numba)

        return callback_code(kit.entry, rules, key.dispatchers)

    code = load_or_compile(place, _description(rules, kit), compiled, key)
    _loaded[str(place)] = code.load_callback()
    return _loaded[str(place)]


def key_of_rules(rules: BaseRules, kit: types.ModuleType = playing) -> CacheKey:
    """All that compiled code has of one object of rules: methods, and attributes as constants."""
    key, kind = CacheKey(), type(rules)
    key.note(toolchain(), codegen_settings(), repr(rules.parameters), kit.__name__)
    key.note(f"{kind.__module__}.{kind.__qualname__}")
    key.add(kit.entry)
    key.names.add("record")  # The type of the records, which the compiler looks up.
    _add_members(key, {*dir(kind), *vars(rules)}, lambda name: _members(rules, name))
    key.add_bodies()
    return key


def _add_members(
    key: CacheKey, known: Iterable[str], members: Callable[[str], Iterable[object]]
) -> None:
    """Add what the functions look up in rules, and what that looks up, until nothing is new."""
    has = {name for name in known if not name.startswith("__")}
    done: set[str] = set()
    while waiting := sorted((key.names & has) - done):
        done.update(waiting)
        for name in waiting:
            for member in members(name):
                key.add_named(name, member)


def _members(rules: BaseRules, name: str) -> Iterator[object]:
    """A constant, a method or both, as ``rules_lowering`` finds it."""
    try:
        value = getattr(rules, name, None)
    except Exception as error:  # Where compiled code needs it, it fails there.
        value = repr(error)
    if not callable(value):
        yield value
    member = inspect.getattr_static(type(rules), name, None)
    if inspect.isfunction(member) or isinstance(member, property | functools.cached_property):
        yield member


def _watch(rules: BaseRules, names: Iterable[str]) -> None:
    """Watch the members of the user's own rules, but for what each object has of its own."""
    kind: Any = type(rules)

    def make_key() -> CacheKey:
        key = CacheKey(only_users=True)
        key.names.update(names)
        _add_members(key, dir(kind), lambda name: [inspect.getattr_static(kind, name, None)])
        return key

    if not is_ours(kind.__module__):
        watch(kind, make_key)


def _description(rules: BaseRules, kit: types.ModuleType) -> str:
    """What is compiled, for the message to the user."""
    beside = {
        "a learned value": rules.is_judged,
        "a learned policy": rules.gives_priors,
        "a playout policy": rules.is_chosen,
    }
    parts = " and ".join(name for name, has in beside.items() if has)
    description = f"the rules of {rules}" + (f" with {parts}" if parts else "")
    return description + _PURPOSES.get(kit.__name__.rpartition(".")[2], "")


_PURPOSES = {
    "expanding": " for the solver",
    "keyed_playing": " for transpositions",
    "self_teaching": " for self-play",
}
"""Purposes of modules of the kit, all but ``playing``."""
