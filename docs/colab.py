"""The first cell of each notebook, which installs the package on Colab, and the README's badge.

The repository's address stands in one place, ``Repository`` of ``[project.urls]`` in
``pyproject.toml``; the links of the documentation to Colab come from there, too.

    python docs/colab.py            writes them, after the address has been filled in
"""

import json
import pathlib
import tomllib
from typing import Any

ROOT = pathlib.Path(__file__).parents[1]
NOTEBOOKS = ROOT / "examples" / "notebooks"
EXTRAS = "openspiel,pettingzoo,plot"
MARK = "# On Colab, "
"""The beginning of the cell."""
BADGES = "<!-- badges -->"
"""The beginning of the README's line with the badge."""


def repository() -> str:
    """The repository's address; empty while it is not filled in."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project.get("urls", {}).get("Repository", "")).removesuffix("/").removesuffix(".git")


def first_cell(address: str) -> list[str]:
    """The lines of the cell that installs the package."""
    if not address:
        return [
            f"{MARK}install rave-agents first. The repository's address is missing yet:\n",
            "# it goes into [project.urls] of pyproject.toml, and docs/colab.py writes it here.",
        ]
    return [
        f"{MARK}this installs rave-agents; elsewhere it does nothing.\n",
        "import sys\n",
        "\n",
        'if "google.colab" in sys.modules:\n',
        f'    %pip install -q "rave-agents[{EXTRAS}] @ git+{address}"',
    ]


def badge(address: str) -> str:
    """The badge that tells whether the gate has passed; empty where there is no GitHub to ask."""
    if not address.startswith("https://github.com/"):
        return ""
    workflow = f"{address}/actions/workflows/gate.yml"
    return f" [![gate]({workflow}/badge.svg)]({workflow})"


def with_badge(readme: str, address: str) -> str:
    """The README with the badge in its line."""
    lines = readme.split("\n")
    place = next(number for number, line in enumerate(lines) if line.startswith(BADGES))
    lines[place] = BADGES + badge(address)
    return "\n".join(lines)


def link(address: str, notebook: str) -> str:
    """The link that opens a notebook in Colab; empty where Colab cannot fetch it."""
    place = address.partition("https://github.com/")[2]
    if not place:
        return ""
    base = "https://colab.research.google.com/github"
    return f"[Open in Colab]({base}/{place}/blob/HEAD/examples/notebooks/{notebook}.ipynb)\n\n"


def with_first_cell(notebook: dict[str, Any], address: str) -> dict[str, Any]:
    """A notebook with the cell in front of its first code, and its cells counted anew."""
    cells = [cell for cell in notebook["cells"] if not "".join(cell["source"]).startswith(MARK)]
    place = next(n for n, cell in enumerate(cells) if cell["cell_type"] == "code")
    made = {
        "cell_type": "code",
        "execution_count": 1,
        "id": "colab",
        "metadata": {},
        "outputs": [],
        "source": first_cell(address),
    }
    cells.insert(place, made)
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for count, cell in enumerate(code, 1):
        cell["execution_count"] = count
        for output in cell["outputs"]:
            if "execution_count" in output:
                output["execution_count"] = count
    return {**notebook, "cells": cells}


def main() -> None:
    """Write the cells and the badge."""
    readme = ROOT / "README.md"
    text = with_badge(readme.read_text(encoding="utf-8"), repository())
    readme.write_text(text, encoding="utf-8")
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        text = json.dumps(with_first_cell(notebook, repository()), indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
