"""The program ``rave-agents``.

Standard output has the answer alone: tables for people, or with ``--json`` one JSON object.
Progress, logs and errors go to standard error. Exit codes: 0, 1 if a game of a match or sweep
failed, 2 if something was asked that cannot be done, 130 after Ctrl-C, 143 after SIGTERM, 129 after
SIGHUP. What an encoding lacks is written in plain characters.
"""

# Commands are listed in the help in the order of these imports.
from rave_agents.cli import play, review, matches, tournaments, races, searches  # noqa: F401, I001
from rave_agents.cli import values, certificates, lists  # noqa: F401
from rave_agents.cli.program import app, main

__all__ = ["app", "main"]
