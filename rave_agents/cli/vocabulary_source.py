"""Names that a shell completes, of what is installed now."""

import functools
from typing import Any, Literal, get_args, get_origin

from rave_agents import parts
from rave_agents.agents.named_agents import agent_types
from rave_agents.cli.vocabulary import Fields, Vocabulary
from rave_agents.compiler.part_fields import Takes, part_name
from rave_agents.config.part_specs import fields_of, is_own, is_part, kinds_of
from rave_agents.config.search_config import SearchConfig
from rave_agents.frameworks.adapters import adapters
from rave_agents.frameworks.agent import AgentType


def collected() -> Vocabulary:
    """The vocabulary of the installed frameworks, the agents and the parts."""
    types = agent_types()
    listed = [game for adapter in adapters().values() for game in adapter.games()]
    kinds: list[Any] = [kind for kind in vars(parts).values() if hasattr(kind, "_field_defaults")]
    return Vocabulary(
        games={game.name: game.description for game in listed if game.supported},
        agents={name: kind.summary for name, kind in sorted(types.items())},
        parameters={name: _parameters(kind) for name, kind in types.items()},
        parts={part_name(kind): _fields(kind) for kind in kinds},
    )


def _parameters(kind: AgentType) -> Fields:
    """An agent's parameters, those of its parts by their short names too."""
    config: Any = kind.config
    fields: Any = SearchConfig
    own = {} if config is None else fields_of(fields)
    found = {name: _offered(own.get(name), value) for name, value in kind.parameters.items()}
    for path, owner in [] if config is None else config.inner_fields():
        offered = _offered(fields_of(owner)[path[-1]], functools.reduce(getattr, path, config))
        found.setdefault(path[-1], offered)
        found[".".join(path)] = offered
    return found


def _fields(kind: Any) -> Fields:
    """The fields of a part."""
    defaults = kind._field_defaults
    return {name: _offered(note, defaults.get(name)) for name, note in fields_of(kind).items()}


def _offered(annotation: Any, default: Any) -> list[str]:
    """The values that are offered for a parameter."""
    notes = getattr(annotation, "__metadata__", ())
    for takes in (note for note in notes if isinstance(note, Takes)):
        return sorted(name for name, kind in kinds_of(takes).items() if not is_own(kind))
    bare = annotation.__origin__ if notes else annotation
    if get_origin(bare) is Literal:
        return [str(value) for value in get_args(bare)]
    if isinstance(default, bool):
        return ["True", "False"]
    return [] if default is None or is_part(default) else [str(default)]
