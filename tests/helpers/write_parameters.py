"""Write what static checkers and editors know of agents' parameters, from the configuration.

Without arguments it writes; with ``--check`` it fails, and says so, if a file is not up to date:

- ``rave_agents/config/search_parameters.py``: the types of all that a search takes by name;
- the lists of parameters in the docstrings of the agents of the three frameworks.
"""

import ast
import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from rave_agents.config.field_names import parameter_types
from rave_agents.config.search_config import SearchConfig

ROOT = Path(__file__).resolve().parents[2]

TYPES = ROOT / "rave_agents" / "config" / "search_parameters.py"

AGENTS = {
    "rave_openspiel.named_bots": "SearchBot",
    "rave_pettingzoo.agents": "SearchAgent",
    "rave_gymnasium.agents": "PlanningAgent",
}
"""The modules of the agents, and the base class that explains what all of them take."""

IMPORTANT = {
    "simulations": "simulations for each move, at least 1; 1,000 where there is no limit",
    "seconds": "wall-clock seconds for each move, above 0",
    "clock": 'the time for the game in place of ``seconds``, such as ``"60+1"``: 60 s, and 1 s '
    "more with each move",
    "evaluator": "what evaluates positions in place of random playouts",
    "seed": "decides everything random, at least 0; None for one that the system draws",
    "horizon": "steps that a simulation looks ahead, at least 1; None for the end",
    "discount": "what a reward counts less with every step, above 0 and at most 1",
    "threads": "threads that search at the same time, from 1",
    "c": "the weight of exploration for values in [0, 1], at least 0",
    "max_considered": "the root's actions that are considered at most, at least 1",
    "c_scale": "the weight of values beside the logarithms of priors, at least 0",
    "schedule": "the weight of AMAF values, which falls as visits come in; or "
    '``"hand_selected(k=300)"``, ``"fuego"``, ``"pachi"``',
    "bias": "the mean error of AMAF values on the scale [0, 1]: the larger, the sooner their "
    "weight falls",
    "k": "visits at which values and AMAF values weigh alike, above 0",
    "ref": "playouts that an ancestor's AMAF values need to be used, at least 0",
    "last": "the weight in AMAF values of a move at the end; one at the node itself has 2",
    "constant": "the weight of the proof numbers' bonus in the score, at least 0",
    "contempt": "the mean value in [0, 1] below which a sure draw is played",
    "gamma": "the share of choices that are uniformly random, in [0, 1]",
    "temperature": "0 plays the best move; at 1 moves are drawn by their visits",
}
"""The parameters that matter most, each where the agent takes it: meaning, unit and range."""


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


def agents_text(module: Any, base: str) -> str:
    """The module of a framework's agents, with their lists of parameters."""
    text = Path(inspect.getfile(module)).read_text()
    lines = text.splitlines()
    for node in reversed(list(_agents(ast.parse(text)))):
        docstring = node.body[0]
        summary = str(ast.literal_eval(docstring.value)).partition("\n")[0]  # type: ignore[attr-defined]
        written = _docstring(getattr(module, node.name), summary, base)
        lines[docstring.lineno - 1 : docstring.end_lineno] = written
    return "\n".join(lines) + "\n"


def _agents(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """The classes that name a preset."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(
            isinstance(each, ast.Assign) and getattr(each.targets[0], "id", "") == "preset"
            for each in node.body
        ):
            yield node


def _docstring(kind: Any, summary: str, base: str) -> list[str]:
    parameters = inspect.signature(kind).parameters
    lines = [f'"""{summary}', "", "The parameters that matter most, with their defaults:", ""]
    for name, meaning in IMPORTANT.items():
        if name in parameters and not (name == "c" and kind.preset == "gumbel"):  # Of other moves.
            item = f"- ``{name}={_shown(parameters[name].default)}``: {meaning}"
            lines += textwrap.wrap(item, 96, subsequent_indent="  ", break_on_hyphens=False)
    also = (
        f"``inspect.signature({kind.__name__})`` lists all; ``{base}`` explains those of the "
        "agent, ``rave_agents.SearchConfig`` those of its search."
    )
    lines += ["", *textwrap.wrap(also, 96, break_on_hyphens=False), '"""']
    return [f"    {line}".rstrip() for line in lines]


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value).replace("'", '"')


def main(arguments: list[str]) -> int:
    """Write the files, or check them."""
    texts = {TYPES: types_text()}
    for name, base in AGENTS.items():
        module = importlib.import_module(name)
        texts[Path(inspect.getfile(module))] = agents_text(module, base)
    old = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if "--check" in arguments:
        for path in old:
            print(f"{path} is not up to date: run python tests/helpers/write_parameters.py")
        return int(bool(old))
    for path in old:
        path.write_text(texts[path])
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
