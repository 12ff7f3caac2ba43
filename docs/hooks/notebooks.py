"""The examples' notebooks as pages of the documentation, with their outputs, and their picture."""

import importlib.util
import pathlib

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter
from nbconvert.preprocessors import RegexRemovePreprocessor

ROOT = pathlib.Path(__file__).parents[2]
NOTEBOOKS = ROOT / "examples" / "notebooks"
FOLDER = "notebooks"
PICTURE = ROOT / "examples" / "hex_picture.png"

_spec = importlib.util.spec_from_file_location("colab", ROOT / "docs" / "colab.py")
assert _spec is not None
assert _spec.loader is not None
colab = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(colab)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every notebook, its pictures, and the picture of the first page."""
    files.append(File.generated(config, PICTURE.name, abs_src_path=str(PICTURE)))
    exporter = MarkdownExporter()
    exporter.register_preprocessor(RegexRemovePreprocessor(patterns=[r"\s*\Z"]), enabled=True)
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        resources = {"output_files_dir": path.stem, "unique_key": "output"}
        text, resources = exporter.from_filename(str(path), resources)
        text = colab.link(colab.repository(), path.stem) + text
        files.append(File.generated(config, f"{FOLDER}/{path.stem}.md", content=text))
        for output, content in resources["outputs"].items():
            files.append(File.generated(config, f"{FOLDER}/{output}", content=content))
    return files


def on_serve(server: object, **_: object) -> object:
    """Build anew when a notebook changes."""
    server.watch(str(NOTEBOOKS))  # type: ignore[attr-defined]
    return server
