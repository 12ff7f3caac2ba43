"""Packages of others that a part of this package needs, and the command that installs them.

A message names the packages themselves: an index need not have this one.
"""

import importlib.metadata
import re

_OF_EXTRA = re.compile(r"^(?P<needs>[^;]+);.*\bextra\s*==\s*['\"](?P<extra>[\w.-]+)['\"]")


def install_command(extra: str) -> str | None:
    """The command that installs what an extra needs; None if there is no such extra."""
    try:
        lines = importlib.metadata.requires("rave-agents") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = [match for line in lines if (match := _OF_EXTRA.match(line))]
    needed = [match["needs"].strip() for match in found if match["extra"] == extra]
    return f"pip install {' '.join(repr(each) for each in needed)}" if needed else None


def missing(what: str, extra: str, package: str) -> str:
    """The message for something that needs a package that is not installed.

    Args:
        what: the sentence up to the package, such as ``"Pictures need"``.
        extra: the extra of this package that has it.
        package: its name.
    """
    command = install_command(extra) or f"pip install {package}"
    return f"{what} {package}, which is not installed: {command}"
