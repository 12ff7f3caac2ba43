"""Names that a shell completes: games, agents, parameters and parts, kept between processes.

To import all frameworks for each press of the Tab key would take too long.
"""

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

from rave_agents import __version__
from rave_agents.files import written_whole

Fields = dict[str, list[str]]
"""Values to offer for each parameter: names of parts, choices, or the default."""


class Vocabulary(NamedTuple):
    """Everything that is completed."""

    games: dict[str, str]
    """Games that the search can play, with their descriptions."""
    agents: dict[str, str]
    """Agents, with their summaries."""
    parameters: dict[str, Fields]
    """The parameters of each agent."""
    parts: dict[str, Fields]
    """The fields of each part."""


def read_vocabulary() -> Vocabulary | None:
    """The vocabulary that was kept; None if there is none, or something was installed since."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(kept_in().read_text(encoding="utf-8"))
        if kept.pop("installed") == _installed():
            return Vocabulary(**kept)
    return None


def keep_vocabulary(found: Vocabulary) -> None:
    """Keep the vocabulary for other processes, if a file can be written."""
    with contextlib.suppress(OSError):
        kept_in().parent.mkdir(parents=True, exist_ok=True)
        with written_whole(kept_in(), "w", encoding="utf-8") as file:
            file.write(json.dumps({"installed": _installed(), **found._asdict()}))


def kept_in() -> Path:
    """The file that the vocabulary is kept in."""
    return platformdirs.user_cache_path("rave_agents", appauthor=False) / "completion.json"


def _installed() -> list[Any]:
    """A text that changes whenever a package is installed or removed."""
    folders = [Path(place) for place in sys.path if place.endswith("-packages")]
    times = [[str(folder), folder.stat().st_mtime_ns] for folder in folders if folder.is_dir()]
    return [__version__, os.path.dirname(os.path.dirname(__file__)), *times]
