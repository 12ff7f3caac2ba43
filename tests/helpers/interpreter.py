"""Searches whose kernel runs in the interpreter, so that each may be composed of other parts.

To compile a combination of parts takes seconds, so that many random ones can be compared in the
interpreter alone. That both give the same trees is shown by ``test_interpreted.py``.
"""

import contextlib
from unittest import mock


@contextlib.contextmanager
def interpreted():
    """Run the loop in the interpreter meanwhile."""
    with (
        mock.patch("rave_agents.compiler.dispatch.JIT_DISABLED", new=True),
        mock.patch("rave_agents.searcher.prepared.JIT_DISABLED", new=True),
        mock.patch("rave_agents.searcher.tree_search.JIT_DISABLED", new=True),
    ):
        yield


def interpreted_but_for(seed, every):
    """The same, but for one seed of so many, whose search is compiled."""
    return contextlib.nullcontext() if seed % every == 0 else interpreted()
