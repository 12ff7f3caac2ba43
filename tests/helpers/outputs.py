"""``docs/outputs.py``, which is no module of a package."""

import importlib.util

from helpers.pages import DOCS

_spec = importlib.util.spec_from_file_location("docs_outputs", DOCS / "outputs.py")
outputs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(outputs)
