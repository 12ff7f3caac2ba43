"""The machine code of rules: compiled once, kept on disk, loaded without Numba."""

import functools
import hashlib
import inspect
import pathlib
import threading

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.compiler.folders import choose_cache_directory
from rave_agents.compiler.machine_code import Callback, MachineCode, found_or_compiled
from rave_agents.compiler.signals import uninterrupted
from rave_agents.compiler.sources import code_as_text, constant_as_text, own_sources
from rave_agents.games import playing
from rave_agents.games.rules import Rules

_lock = threading.Lock()
_loaded: dict[Rules, Callback] = {}


def loaded(rules: Rules) -> Callback:
    """``simulate`` of these rules, compiled or found on disk."""
    with _lock:
        if rules not in _loaded:
            uninterrupted(lambda: _loaded.update({rules: _load(rules)}))
        return _loaded[rules]


def prepare(rules: Rules) -> None:
    """Compile the rules, or load them, so that no search's clock pays for it."""
    if not JIT_DISABLED:
        loaded(rules)


def place_on_disk(rules: Rules) -> pathlib.Path:
    """Where the machine code of these rules is kept."""
    return choose_cache_directory("games") / _kit_sources() / _name(rules)


def _load(rules: Rules) -> Callback:
    def compiled() -> MachineCode:
        from rave_agents.games.rules_lowering import callback_code  # noqa: PLC0415  (imports Numba)

        return callback_code(playing.simulate_at, rules)

    what = f"the rules of {rules}"
    return found_or_compiled(place_on_disk(rules), what, compiled).load_callback()


@functools.cache
def _kit_sources() -> str:
    """A name for the sources of the kit, and of all that compiles it."""
    digest = hashlib.sha256(own_sources().encode())
    folder = pathlib.Path(__file__).parent
    for name in ("bits", "machine", "memory", "playing", "refusals", "rules", "rules_lowering"):
        digest.update((folder / f"{name}.py").read_bytes())
    return digest.hexdigest()[:16]


def _name(rules: Rules) -> str:
    """A name for one object of rules: its code, and its constants."""
    kind = type(rules)
    digest = hashlib.sha256(f"{kind.__module__}.{kind.__qualname__} {rules}".encode())
    for name in sorted(dir(kind)):
        method = inspect.getattr_static(kind, name)
        if inspect.isfunction(method) and not name.startswith("__"):
            digest.update(f"{name} {code_as_text(method)}".encode())
    for name, value in sorted(vars(rules).items()):
        digest.update(f"{name}={constant_as_text(value) or repr(value)}".encode())
    for base in kind.__mro__:
        for name, value in sorted(vars(base).items()):
            if told := constant_as_text(value):
                digest.update(f"{base.__name__}.{name}={told}".encode())
    return f"{kind.name or kind.__name__}-{digest.hexdigest()[:16]}"
