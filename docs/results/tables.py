"""The tables of README and documentation, written from the data that lie beside this file.

Each table is a JSON file: the command that measured it, the commit, the date and the machine, the
columns and rows, and under ``figures`` what the text says of it. A page shows a table between
``<!-- table: NAME -->`` and ``<!-- end of table -->``.

    python docs/results/tables.py            writes the tables into the pages
    python docs/results/tables.py --check    names numbers that no file holds, and ends with 1
    python docs/results/tables.py --stale    names the tables whose code has changed since
"""

import argparse
import ast
import dataclasses
import hashlib
import json
import pathlib
import re
import subprocess
import sys
from typing import Self

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
PAGES = ("README.md", "docs/index.md", "docs/results.md", "docs/reproduce.md")
"""Pages whose numbers must be in a file."""

MARKED = re.compile(r"<!-- table: (\w+) -->\n.*?<!-- end of table -->\n", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.,×])\d+(?:,\d{3})*(?:\.\d+)?(?![\w×]|[.,]\d)")


@dataclasses.dataclass(frozen=True)
class Table:
    """A measurement, and where it comes from."""

    name: str
    """The name of its file."""
    command: str
    """The command that measured it, with the values of one row where there are many."""
    commit: str
    """The commit of the code that was measured."""
    date: str
    """The day, as in 2026-11-26."""
    machine: str
    """Processors and versions."""
    columns: list[str]
    """Heads of the columns."""
    rows: list[list[str]]
    """The cells."""
    figures: dict[str, str] = dataclasses.field(default_factory=dict)
    """Numbers that texts take from it, by what they are."""
    code: list[str] = dataclasses.field(default_factory=list)
    """Files and folders of the code that decides it."""
    digest: str | None = None
    """Digest of that code when it was measured; None if that is not known."""

    @classmethod
    def read(cls, path: pathlib.Path) -> Self:
        """Read a file of data."""
        return cls(path.stem, **json.loads(path.read_text(encoding="utf-8")))

    def write(self) -> None:
        """Write the file of data, a row of the table on each line."""
        fields = {key: value for key, value in vars(self).items() if key != "name"}
        rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in fields.pop("rows"))
        head = json.dumps(fields, ensure_ascii=False, indent=1)[:-2]
        text = f'{head},\n "rows": [\n  {rows}\n ]\n}}\n'
        (HERE / f"{self.name}.json").write_text(text, encoding="utf-8")

    @property
    def stale(self) -> bool:
        """True if the code has changed since, or it is not known which code was measured."""
        return self.digest is None or self.digest != digest_of(self.code)

    def markdown(self) -> str:
        """The table, and below it how it was measured."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"{shown}\n\n`{self.command}`, {self.machine}, {self.date}, commit {self.commit}.\n"


def tables() -> dict[str, Table]:
    """All tables by name."""
    return {path.stem: Table.read(path) for path in sorted(HERE.glob("*.json"))}


def digest_of(code: list[str]) -> str:
    """The digest of Python code without its comments and docstrings."""
    digest = hashlib.sha256()
    for entry in code:
        place = ROOT / entry
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                body = getattr(node, "body", None)
                if isinstance(body, list):
                    node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
            digest.update(f"{path.relative_to(ROOT).as_posix()} {ast.dump(tree)}".encode())
    return digest.hexdigest()[:16]


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def written(text: str, data: dict[str, Table]) -> str:
    """A page's text with its tables as the data have them."""

    def fill(found: re.Match[str]) -> str:
        return f"<!-- table: {found[1]} -->\n{data[found[1]].markdown()}<!-- end of table -->\n"

    return MARKED.sub(fill, text)


def without_source(text: str, data: dict[str, Table]) -> list[str]:
    """The numbers of a page's text that no file holds, each with its line.

    Code, links, tables of data and whole numbers below 100 say nothing that was measured.
    """
    known = {number for table in data.values() for number in _numbers_of(table)}
    plain = MARKED.sub(lambda found: "\n" * found[0].count("\n"), text)
    plain = re.sub(r"```.*?```", lambda found: "\n" * found[0].count("\n"), plain, flags=re.DOTALL)
    plain = re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]*>|Python [\d.]+( to [\d.]+)?", " ", plain)
    return [
        f"line {line}: {number[0]}"
        for line, words in enumerate(plain.splitlines(), 1)
        for number in NUMBER.finditer(words)
        if number[0] not in known and ("." in number[0] or float(number[0].replace(",", "")) >= 100)
    ]


def _numbers_of(table: Table) -> set[str]:
    cells = [cell for row in table.rows for cell in row]
    texts = [*cells, *table.figures.values(), table.machine, table.command]
    return {number for text in texts for number in NUMBER.findall(text)}


def commit() -> str:
    """The commit of this tree, for a new measurement."""
    asked = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(
        asked, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def main() -> int:
    """Write the tables, or check them; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; name what is wrong")
    parser.add_argument("--stale", action="store_true", help="name the tables of older code")
    options = parser.parse_args()
    data = tables()
    if options.stale:
        print("\n".join(f"{name}: {each.commit}" for name, each in data.items() if each.stale))
        return 0
    wrong = []
    for name in PAGES:
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        now = written(text, data)
        if options.check and now != text:
            wrong.append(f"{name}: a table differs from its data")
        wrong += [f"{name}, {each}, which no file holds" for each in without_source(now, data)]
        if not options.check:
            page.write_text(now, encoding="utf-8")
    print("\n".join(wrong) if wrong else "All numbers have their data.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
