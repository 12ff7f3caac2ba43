"""Ask pyright how much of each package's public interface has a type that users can rely on.

Fails, with pyright's report, for a package of which less than 95 % has one.
"""

import json
import subprocess
import sys
from typing import Any

PACKAGES = ("rave_agents", "rave_openspiel", "rave_pettingzoo", "rave_gymnasium")

LEAST = 0.95
"""The share of public symbols that must have a known type."""


def report(package: str) -> dict[str, Any]:
    """What pyright knows of an installed package's types."""
    options = ["--verifytypes", package, "--ignoreexternal", "--outputjson"]
    answer = subprocess.run(
        [sys.executable, "-m", "pyright", *options], stdout=subprocess.PIPE, text=True, check=False
    )
    found: dict[str, Any] = json.loads(answer.stdout)
    if "typeCompleteness" not in found:
        raise SystemExit(f"pyright does not know {package}: {answer.stdout}")
    completeness: dict[str, Any] = found["typeCompleteness"]
    return completeness


def main() -> None:
    """Check all packages."""
    poor = []
    for package in PACKAGES:
        found = report(package)
        share = found["completenessScore"]
        print(f"{package}: {share:.1%} of the public interface is typed")
        if share < LEAST:
            poor.append(package)
            for symbol in found["symbols"]:
                for diagnostic in symbol.get("diagnostics", []):
                    print(f"  {symbol['name']}: {diagnostic['message']}", file=sys.stderr)
    if poor:
        raise SystemExit(f"less than {LEAST:.0%}: {', '.join(poor)}")


if __name__ == "__main__":
    main()
