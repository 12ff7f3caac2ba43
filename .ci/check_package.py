"""Build wheel and sdist, install the wheel where nothing else is, and play a match from it.

Needs the package ``build``. Raises at the first thing that is wrong:

* the wheel holds other files than the packages in this tree, or one that is needed is missing;
* the wheel that is made from the sdist differs from the one that is made from the tree;
* the installation, without a C++ compiler, of the wheel with the extra ``openspiel`` in an empty
  virtual environment fails;
* a search or a match fails there, outside of this tree: without a compiler, and, where
  ``RAVE_AGENTS_NATIVE=1``, with the native bridge;
* CITATION.cff names another version.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Mapping

ROOT = pathlib.Path(__file__).resolve().parent.parent

PACKAGES = {
    "rave_agents": ROOT / "rave_agents",
    "rave_openspiel": ROOT / "adapters" / "rave_openspiel",
    "rave_pettingzoo": ROOT / "adapters" / "rave_pettingzoo",
    "rave_gymnasium": ROOT / "adapters" / "rave_gymnasium",
}

NEEDED = [
    "rave_openspiel/bridge.cpp",
    "rave_openspiel/expander.cpp",
    "rave_openspiel/registry.cpp",
    "rave_openspiel/first_history.h",
    "rave_openspiel/histories.h",
    "rave_openspiel/states.h",
    "rave_openspiel/histories.cpp",
    "rave_openspiel/visitor.cpp",
    *(f"{package}/{name}" for package in PACKAGES for name in ("__init__.py", "py.typed")),
]
"""Files whose loss a look at the tree alone would not show."""

SWITCH = "RAVE_AGENTS_NATIVE"


def build(source: pathlib.Path, output: pathlib.Path, *options: str) -> None:
    """Build distributions of a source tree."""
    command = [sys.executable, "-m", "build", *options, "--outdir", str(output), str(source)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def contents(wheel: pathlib.Path) -> dict[str, bytes]:
    """The files of a wheel by their names."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def tree_files() -> set[str]:
    """The files of the packages in this tree, by their names in a wheel."""
    return {
        f"{package}/{path.relative_to(folder).as_posix()}"
        for package, folder in PACKAGES.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def check_contents(wheel: pathlib.Path) -> None:
    """Raise unless the wheel holds the packages of this tree, wholly and alone."""
    names = {name for name in contents(wheel) if ".dist-info/" not in name}
    missing = (tree_files() | set(NEEDED)) - names
    surplus = names - tree_files()
    if missing or surplus:
        raise SystemExit(f"{wheel.name}: missing {sorted(missing)}, surplus {sorted(surplus)}")


def check_sdist(sdist: pathlib.Path, wheel: pathlib.Path, folder: pathlib.Path) -> None:
    """Raise unless the sdist builds the same wheel."""
    with tarfile.open(sdist) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.4
        archive.extractall(folder, **safely)
    (unpacked,) = folder.iterdir()
    build(unpacked, folder / "dist", "--wheel")
    (rebuilt,) = (folder / "dist").iterdir()
    ours, theirs = contents(wheel), contents(rebuilt)
    different = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    if rebuilt.name != wheel.name or different:
        raise SystemExit(f"{sdist.name} builds another wheel: {rebuilt.name}, {sorted(different)}")


def check_citation(version: str) -> None:
    """Raise unless CITATION.cff names this version."""
    if f"\nversion: {version}\n" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8"):
        raise SystemExit(f"CITATION.cff does not name version {version}")


class Installation:
    """An empty virtual environment with the wheel in it.

    Args:
        folder: where to make it, outside of this tree.
        wheel: what to install.
    """

    def __init__(self, folder: pathlib.Path, wheel: pathlib.Path) -> None:
        venv.create(folder, with_pip=True)
        self.folder = folder
        self._programs = folder / ("Scripts" if os.name == "nt" else "bin")
        path = self.without_compiler()["PATH"]
        self.run("python", "-m", "pip", "install", "--quiet", f"{wheel}[openspiel]", PATH=path)

    def run(self, program: str, *arguments: str, **environment: str) -> str:
        """Run one of its programs, with nothing of this tree in sight.

        Args:
            program: its name.
            *arguments: its arguments.
            **environment: variables to change.

        Returns:
            Its standard output.
        """
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [shutil.which(program, path=str(self._programs)) or program, *arguments],
            cwd=self.folder,
            env={**inherited, **environment},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout

    def without_compiler(self) -> Mapping[str, str]:
        """An environment in which no compiler is found, and nothing that was compiled before."""
        system = os.environ.get("SYSTEMROOT")
        folders = [str(self._programs), *([f"{system}\\System32"] if system else [])]
        cache = str(self.folder / "cache")
        return {
            "PATH": os.pathsep.join(folders),
            "HOME": cache,
            "WIN_PD_OVERRIDE_LOCAL_APPDATA": cache,
            "XDG_CACHE_HOME": cache,
            "NUMBA_CACHE_DIR": "",
            "CXX": "",
            SWITCH: "",
        }


def check_installation(installation: Installation) -> None:
    """Raise unless searches and a match run from the wheel."""
    for package in ("rave_agents", "rave_openspiel"):
        place = installation.run("python", "-c", f"import {package}; print({package}.__file__)")
        if not pathlib.Path(place.strip()).is_relative_to(installation.folder):
            raise SystemExit(f"what runs is not the wheel's: {place}")

    bare = installation.without_compiler()
    native = {SWITCH: os.environ.get(SWITCH, "")}
    for environment, provider in (
        (bare, "python with C++ playouts"),
        (native, "native" if native[SWITCH] == "1" else None),
    ):
        command = ["search", "crazyhouse", "rave(simulations=200)", "--json"]
        found = json.loads(installation.run("rave-agents", *command, **environment))["provider"]
        if provider not in (found, None):
            raise SystemExit(f"a search ran by {found!r}, not by {provider!r}")
        command = ["match", "tic_tac_toe", "rave(simulations=200)", "random", "--games=10"]
        print(installation.run("rave-agents", *command, **environment))


def main() -> None:
    """Make all checks."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        build(ROOT, folder / "dist", "--sdist", "--wheel")
        (wheel,) = (folder / "dist").glob("*.whl")
        (sdist,) = (folder / "dist").glob("*.tar.gz")
        check_contents(wheel)
        check_citation(wheel.name.split("-")[1])
        (folder / "sdist").mkdir()
        check_sdist(sdist, wheel, folder / "sdist")
        check_installation(Installation(folder / "venv", wheel))
        print(f"{wheel.name} and {sdist.name} are in order")


if __name__ == "__main__":
    main()
