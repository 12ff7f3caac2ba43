"""The program ``rave-agents``.

Standard output has the answer alone: tables for people, or with ``--json`` one JSON object.
Progress, logs and errors go to standard error. Exit codes: 0, 1 if a game of a run failed, 2 for a
request that is refused, 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP. Characters that the
output's encoding lacks are replaced by plain ones.

Options follow the functions that the commands call, see ``follow.py``.
"""

# The help lists the commands in the order of these imports.
from rave_agents.cli import play, runs, searches, engines, learning, lists  # noqa: F401, I001
from rave_agents.cli.program import app, main

__all__ = ["app", "main"]
