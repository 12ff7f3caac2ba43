"""The notebooks run, and read well unexecuted: their outputs are stored."""

import json
import pathlib

import pytest

NOTEBOOKS = sorted((pathlib.Path(__file__).parent.parent / "examples").rglob("*.ipynb"))


def cells(path):
    return json.loads(path.read_text())["cells"]


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


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


def test_boards_weights_of_amaf_curves_what_is_proven_and_the_tree_are_pictures():
    path = next(path for path in NOTEBOOKS if path.stem == "inside_a_search")
    pictures = [
        output
        for cell in cells(path)
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == 7
