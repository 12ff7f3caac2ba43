"""The blocks of code of the documentation's pages, and how they are run."""

import pathlib
import re
import shlex
import subprocess
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

FENCE = re.compile(r"^( *)```(\w*)(?: title=\"([\w.]+)\")?\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
INCLUDED = re.compile(r"^--8<--\n(examples/[\w.]+)\n--8<--\n", re.MULTILINE)
"""A file that a page shows whole."""
OUTPUT = "Output"
"""The title of what a page's code prints."""

SMALL = {
    "--games": "2",
    "--simulations": "5",
    "--iterations": "5",
    "--clock": "0.1+0.01",
    "--rounds": "1",
}
"""What options are given when a command is run in short."""


class Block(NamedTuple):
    """A block of code between fences."""

    language: str
    """What stands behind the fence; empty if nothing does."""
    title: str
    """The file that it is, or empty."""
    line: int
    """The line of the page on which its code begins, from 1."""
    code: str
    """The code."""


def blocks(page):
    """The blocks of a page, from top to bottom."""
    text = page.read_text(encoding="utf-8")
    text = INCLUDED.sub(lambda found: (ROOT / found[1]).read_text(encoding="utf-8"), text)
    return [
        Block(
            found[2],
            "" if found[3] == OUTPUT else found[3] or "",
            text.count("\n", 0, found.start(4)) + 1,
            found[4],
        )
        for found in FENCE.finditer(text)
    ]


def name(page):
    """A page's path within the documentation."""
    return page.relative_to(DOCS).as_posix()


def script(page):
    """A page's Python code as one program, its lines where they are on the page."""
    program = ""
    for block in blocks(page):
        if block.language == "python" and not block.title:
            program += "\n" * (block.line - 1 - program.count("\n")) + block.code
    return program


def write_files(page, folder):
    """Write the modules that a page shows with their names."""
    for block in blocks(page):
        if block.title:
            (folder / block.title).write_text(block.code, encoding="utf-8")


def run(folder, *arguments):
    """Run Python in a folder, to its end."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def commands(page):
    """The commands of a page's bash blocks, as lists of words."""
    for block in blocks(page):
        if block.language == "bash":
            for line in block.code.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words:
                    yield words


def in_short(words):
    """A command with small boards and budgets, whatever it asks for."""
    words = [re.sub(r"\bsimulations=\d+", "simulations=5", word) for word in words]
    words = [re.sub(r"\bseconds=[\d.]+", "seconds=0.01", word) for word in words]
    for option, value in SMALL.items():
        if option in words:
            words[words.index(option) + 1] = value
    if "learn" in words and "--games" in words:
        words[words.index("--games") + 1] = "10"  # Enough for its rounds.
    if {"learn", "train"} & {*words} and "--checks" not in words:
        words = [*words, "--checks", "0"]
    return words
