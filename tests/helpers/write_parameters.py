"""Write the types of agents' parameters for static checkers and editors, from the configuration.

It writes ``rave_agents/config/search_parameters.py``, the types of everything that a search takes
by name; with ``--check`` it fails, and says so, if that is not up to date.
"""

import sys
from itertools import filterfalse
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from rave_agents.config.field_names import field_types, part_classes
from rave_agents.config.part_specs import fields_of, is_own, plain_type
from rave_agents.config.search_config import SearchConfig

ROOT = Path(__file__).resolve().parents[2]

TYPES = ROOT / "rave_agents" / "config" / "search_parameters.py"


def parameter_types(config: Any) -> dict[str, list[Any]]:
    """The types of all fields of a configuration class and of this package's parts, by name."""
    found = {name: [kind] for name, kind in field_types(config).items()}
    for kind in filterfalse(is_own, part_classes(config)):
        for name, annotation in fields_of(kind).items():
            if hasattr(annotation, "_fields"):
                continue  # The field of a runtime record: it holds the part that it was made of.
            types = found.setdefault(name, [])
            if plain_type(annotation) not in types:
                types.append(plain_type(annotation))
    return found


def types_text() -> str:
    """The module with the types of all parameters of a search."""
    lines = [
        '"""The types of all that a search takes by name, for static checkers and editors.',
        "",
        "Written by ``tests/helpers/write_parameters.py`` from ``SearchConfig`` and its parts.",
        '"""',
        "",
        "from typing import Any, Literal, TypedDict",
        "",
        "PartOrSpec = str | tuple[Any, ...]",
        '"""A part of a search, or its spec such as ``"hand_selected(k=300)"``."""',
        "",
        "",
        "class SearchParameters(TypedDict, total=False):",
        '    """Fields of ``SearchConfig``, and of the parts that may be in it."""',
        "",
    ]
    for name, types in parameter_types(SearchConfig).items():
        lines.append(f"    {name}: {' | '.join(dict.fromkeys(map(_written, types)))}")
    return "\n".join(lines) + "\n"


def _written(kind: Any) -> str:
    if isinstance(kind, UnionType):
        return "PartOrSpec"
    if get_origin(kind) is Literal:
        choices = ", ".join(f'"{each}"' for each in get_args(kind))
        return f"Literal[{choices}]"
    return str(kind.__name__)


def main(arguments: list[str]) -> int:
    """Write the file, or check it."""
    if TYPES.exists() and TYPES.read_text() == types_text():
        return 0
    if "--check" in arguments:
        print(f"{TYPES} is not up to date: run python tests/helpers/write_parameters.py")
        return 1
    TYPES.write_text(types_text())
    print(f"wrote {TYPES}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
