"""Plants the faults of ``faults.toml``, one at a time, and tells which test of the gate finds each.

Two clones of a commit are made in a temporary folder, a sound and a faulty one. The tests of the
gate run until one fails: first those that the fault names, then all others.
What fails must pass in the sound clone, or else the script stops. Other arguments go to pytest::

    python .ci/plant_faults.py --only "passes add up" --only "draws are lost" -n 1
    python .ci/plant_faults.py --full     # pytest --full of the named tests, and nothing else
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator

HERE = pathlib.Path(__file__).resolve().parent
HANGS = 3600
"""Seconds after which a run of tests counts as endless."""

GATE = [[], ["--compiled"], ["--slow"]]
"""The runs of the gate."""

KINDS = {"--compiled", "--slow", "--full"}

FINE = {0, 5}
"""Exit codes of pytest: all passed, or there was no test."""


def main() -> None:
    """Plant the faults, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--commit", default="HEAD", help="whose tests and code: HEAD if left out")
    parser.add_argument("--only", action="append", metavar="NAME", help="plant this fault")
    parser.add_argument("--full", action="store_true", help="ask pytest --full of the named tests")
    given, options = parser.parse_known_args()
    faults = tomllib.loads((HERE / "faults.toml").read_text("utf-8"))["fault"]
    unknown = {*(given.only or [])} - {fault["name"] for fault in faults}
    if unknown:
        sys.exit(f"There is no fault {', '.join(sorted(unknown))}.")
    with tempfile.TemporaryDirectory() as folder:
        sound, faulty = (_clone(pathlib.Path(folder, name), given.commit) for name in "sf")
        for fault in faults:
            _planted(faulty / fault["file"], fault["old"], fault["new"])  # Exits if it cannot be.
        print("| fault | found by | seconds |\n|---|---|---|", flush=True)
        for fault in faults:
            if given.only and fault["name"] not in given.only:
                continue
            begun = time.monotonic()
            with _planted(faulty / fault["file"], fault["old"], fault["new"]):
                found = _first_failure(sound, faulty, _runs(fault["tests"], given.full), options)
            seconds = time.monotonic() - begun
            print(f"| {fault['name']} | {found or 'nothing'} | {seconds:.0f} |", flush=True)


def _clone(folder: pathlib.Path, commit: str) -> pathlib.Path:
    command = ["git", "clone", "--quiet", "--no-checkout", str(HERE.parent), str(folder)]
    subprocess.run(command, check=True)
    # What a branch's name means here, the clone need not know.
    command = ["git", "-C", str(HERE.parent), "rev-parse", f"{commit}^{{commit}}"]
    revision = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["git", "-C", str(folder), "checkout", "--quiet", revision], check=True)
    return folder


class _planted:  # noqa: N801
    """A file with another text in the place of one that it has once."""

    def __init__(self, file: pathlib.Path, old: str, new: str) -> None:
        self._file, self._text = file, file.read_text("utf-8")
        if self._text.count(old) != 1:
            sys.exit(f"{file.name} does not have once: {old.strip()}")
        self._faulty = self._text.replace(old, new)

    def __enter__(self) -> None:
        self._file.write_text(self._faulty, "utf-8")

    def __exit__(self, *error: object) -> None:
        self._file.write_text(self._text, "utf-8")


def _runs(folders: list[str], full: bool) -> Iterator[list[str]]:
    """The arguments of each run of pytest."""
    named = [f"tests/{folder}" for folder in folders]
    if full:
        yield ["--full", *named]
        return
    others = ["tests", *(f"--ignore={folder}" for folder in named)]
    for where in (named, others):
        for kind in GATE:
            yield [*kind, *where]


def _first_failure(
    sound: pathlib.Path, faulty: pathlib.Path, runs: Iterator[list[str]], options: list[str]
) -> str:
    """The test that fails in the faulty clone alone; empty if there is none."""
    for arguments in runs:
        code, output = _pytest(faulty, ["-x", *arguments, *options])
        if code in FINE:
            continue
        kind = [argument for argument in arguments if argument in KINDS]
        failed = re.search(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", output, re.MULTILINE)
        what = [*kind, failed[1]] if failed else arguments
        again, told = _pytest(sound, [*what, *options])
        if again not in FINE:
            sys.exit(f"Without any fault this fails, too: {' '.join(what)}\n{told}")
        return " ".join(what) if failed else f"{' '.join(kind)} {output.splitlines()[-1]}"
    return ""


def _pytest(tree: pathlib.Path, arguments: list[str]) -> tuple[int, str]:
    path = os.pathsep.join([str(tree), str(tree / "adapters")])
    environment = {**os.environ, "PYTHONPATH": path, "RAVE_AGENTS_NATIVE": "1"}
    command = [sys.executable, "-m", "pytest", "--tb=short", "-p", "no:cacheprovider", *arguments]
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, timeout=HANGS, check=False
        )
    except subprocess.TimeoutExpired:
        return 1, "They do not end."
    return done.returncode, done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
