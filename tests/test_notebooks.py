"""The notebooks run, and read well unexecuted: their outputs are stored."""

import importlib.util
import json
import pathlib

import pytest

NOTEBOOKS = sorted((pathlib.Path(__file__).parent.parent / "examples").rglob("*.ipynb"))


def cells(path):
    return json.loads(path.read_text())["cells"]


@pytest.fixture(scope="module")
def colab():
    place = NOTEBOOKS[0].parents[2] / "docs" / "colab.py"
    spec = importlib.util.spec_from_file_location("colab", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_first_cell_is_the_one_that_installs_from_the_repository(colab, path):
    notebook = json.loads(path.read_text())
    assert colab.with_first_cell(notebook, colab.repository()) == notebook


def test_an_address_that_is_filled_in_is_in_the_cell_and_the_link(colab):
    address = "https://github.com/someone/rave-agents"
    cell = "".join(colab.first_cell(address))
    assert f"[openspiel,pettingzoo,plot] @ git+{address}" in cell
    assert "/github/someone/rave-agents/blob/HEAD/examples/" in colab.link(
        address, "inside_a_search"
    )
    assert colab.link("", "inside_a_search") == ""
    assert f"[![gate]({address}/actions/workflows/gate.yml/badge.svg)]" in colab.badge(address)


def test_the_badge_of_the_readme_is_that_of_the_repository(colab):
    readme = (NOTEBOOKS[0].parents[2] / "README.md").read_text(encoding="utf-8")
    assert colab.with_badge(readme, colab.repository()) == readme


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_was_executed_in_order_without_an_error(path):
    code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not any(output["output_type"] == "error" for output in outputs)
    assert code[-1]["outputs"]


@pytest.mark.full
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path):
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": path.parent}}
    nbclient.NotebookClient(notebook, timeout=300, resources=folder).execute()
