"""Calls the provider of simulations."""

from typing import Any

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.layout import call_address
from rave_agents.kernel import codes


@kernel
def call_provider(search: Any) -> int:
    """Let the provider take the step that the header asks for. Returns a ``Status``."""
    header, settings = search.frame.header, search.settings
    # A Python provider writes its status to the header, last of all: an exception in a callback is
    # not passed on, but leaves FAILED there.
    header[codes.STATUS] = codes.FAILED
    status = call_address(settings.simulate_address, settings.header_address)
    return int(header[codes.STATUS]) if header[codes.IN_PYTHON] != 0 else int(status)
