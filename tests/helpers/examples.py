"""The scripts of the examples, to call their functions."""

import importlib.util
import pathlib

EXAMPLES = pathlib.Path(__file__).parent.parent.parent / "examples"


def load_example(name):
    """The module of an example's script."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
