"""What the tutorials' examples print, and their pictures, made by running the pages.

A page's Python runs from top to bottom as one program. Behind each block that prints something
stands what it printed, between fences with the title ``Output``; long outputs are cut. A comment
``<!-- picture: EXPRESSION -->`` before a picture is evaluated there: a figure is saved as SVG, an
array of colours as PNG, see ``picture_tools.py``. ``<!-- picture of data: EXPRESSION -->`` needs
nothing of the page, whose program may need a package that is not installed.

    python docs/outputs.py                    writes the outputs and pictures of all tutorials
    python docs/outputs.py play openspiel     of some
    python docs/outputs.py --check            names the pages that print something else
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from helpers import pages  # noqa: E402

TUTORIALS = pages.DOCS / "tutorials"
LONGEST = 14
"""Lines of an output that are shown."""

WIDEST = 110
"""Characters of a line; sentences that are longer are wrapped."""

END = "<end of block>"
SHOWN = re.compile(r'\n*^```text title="Output"\n(.*?)^```\n', re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"<!-- picture( of data)?: (.+?) -->\n!\[[^\]]+\]\(\.\./(pictures/[\w.]+)\)")
VARYING = re.compile(r"\d[\d.,]*(e-\d+)?\s(s|ms)\b")
"""Times, which no two runs have in common."""

RATES = re.compile(
    r"^(seconds a move|simulations a second) .*$|[\d,]+ simulations a second.*$", re.M
)

TOOLS = f"""
import sys
sys.path.insert(0, {str(pages.DOCS)!r})
from picture_tools import *
"""


def program(page: pathlib.Path, folder: pathlib.Path) -> str:
    """A page's program, which says where each block ends, and draws its pictures at the end."""
    text = ""
    for block in pages.blocks(page):
        if block.language == "python" and not block.title:
            text += "\n" * (block.line - 1 - text.count("\n")) + block.code
            text += f'print("{END}", flush=True)\n'
    return f"{text}{TOOLS}{drawn(page, folder, of_data=False)}"


def drawn(page: pathlib.Path, folder: pathlib.Path, *, of_data: bool) -> str:
    """The lines that draw a page's pictures: of its own program, or of published data."""
    found = PICTURE.findall(page.read_text(encoding="utf-8"))
    return "".join(
        f"save({made}, {str(folder / path)!r})\n"
        for data, made, path in found
        if bool(data) == of_data
    )


def outputs_of(
    page: pathlib.Path, pictures: pathlib.Path, within: pathlib.Path
) -> tuple[list[str], subprocess.CompletedProcess[str]]:
    """Run a page; returns what each of its blocks printed, and how the program ended.

    Args:
        page: the page.
        pictures: the folder of ``pictures/``.
        within: the folder in which the program runs.
    """
    (pictures / "pictures").mkdir(exist_ok=True)
    pages.write_files(page, within)
    file = within / f"page_{page.stem}.py"
    file.write_text(program(page, pictures), encoding="utf-8")
    finished = pages.run(within, file.name)
    return [shortened(part) for part in finished.stdout.split(f"{END}\n")[:-1]], finished


def shortened(text: str) -> str:
    """An output as a page shows it: sentences wrapped, and the first lines alone of a long one."""
    lines = []
    for line in text.strip("\n").splitlines():
        is_sentence = len(line) > WIDEST and "  " not in line
        lines += textwrap.wrap(line, WIDEST) if is_sentence else [line.rstrip()]
    return "\n".join([*lines[:LONGEST], "..."] if len(lines) > LONGEST + 1 else lines)


def shown_outputs(page: pathlib.Path) -> list[str]:
    """The outputs that a page shows, in order."""
    return [found[1].rstrip("\n") for found in SHOWN.finditer(page.read_text(encoding="utf-8"))]


def without_times(text: str) -> list[str]:
    """The words of an output but for times and speeds."""
    return RATES.sub("", VARYING.sub("TIME", text)).split()


def written(page: pathlib.Path, outputs: list[str]) -> str:
    """A page's text with what its blocks printed behind them."""
    text = SHOWN.sub("\n", page.read_text(encoding="utf-8"))
    rest = iter(outputs)

    def with_output(found: re.Match[str]) -> str:
        if found[2] != "python" or found[3]:
            return found[0]
        output = next(rest)
        return f'{found[0]}\n\n```text title="Output"\n{output}\n```' if output else found[0]

    return pages.FENCE.sub(with_output, text)


def main() -> int:
    """Write the outputs, or check them; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("page", nargs="*", help="names of tutorials; without them, all")
    parser.add_argument("--check", action="store_true", help="write nothing; name what is wrong")
    options = parser.parse_args()
    wrong = []
    for page in sorted(TUTORIALS.glob("*.md")):
        if not pages.script(page) or (options.page and page.stem not in options.page):
            continue
        with tempfile.TemporaryDirectory() as folder:
            within = pathlib.Path(folder)
            if lines := drawn(page, pages.DOCS, of_data=True):
                (within / "data.py").write_text(TOOLS + lines, encoding="utf-8")
                pages.run(within, "data.py").check_returncode()
            outputs, finished = outputs_of(page, within if options.check else pages.DOCS, within)
        if finished.returncode:
            last = finished.stderr.strip().rpartition("\n")[2]
            wrong.append(f"{page.stem}: {last}")
        elif not options.check:
            page.write_text(written(page, outputs), encoding="utf-8")
        elif not same(page, outputs):
            wrong.append(f"{page.stem}: it prints something else")
    print("\n".join(wrong) if wrong else "All outputs are what the pages print.")
    return bool(wrong)


def same(page: pathlib.Path, outputs: list[str]) -> bool:
    """True if a page shows what its blocks printed, but for times and speeds."""
    printed = [without_times(output) for output in outputs if output]
    return [without_times(text) for text in shown_outputs(page)] == printed


if __name__ == "__main__":
    sys.exit(main())
