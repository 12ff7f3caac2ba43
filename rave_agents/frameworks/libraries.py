"""Recognises policies and models of other libraries by their form, without importing any."""

import sys
from collections.abc import Mapping
from typing import Any

METHODS = (
    "predict",
    "compute_single_action",
    "compute_actions",
    "compute_action",
    "forward_inference",
    "get_action",
    "get_action_and_value",
    "act",
)
"""Methods that return a policy's action; the first one present counts."""


NAMES: Mapping[str, str] = {
    **dict.fromkeys(("observation", "obs"), "observation"),
    **dict.fromkeys(
        (
            "action_mask",
            "action_masks",
            "mask",
            "masks",
            "invalid_action_mask",
            "legal_actions_mask",
        ),
        "mask",
    ),
    **dict.fromkeys(("agent", "agent_id", "agent_name", "agent_selection", "player"), "agent"),
    **dict.fromkeys(("player_id", "seat"), "agent"),
    "state": "state",
    "legal_actions": "legal",
    **dict.fromkeys(("info", "infos"), "info"),
    "env": "env",
}
"""Names of a policy's parameters, and the argument that each receives."""


def is_torch_module(thing: Any) -> bool:
    """True if a policy is a PyTorch module, which takes tensors."""
    # No import: if torch is not loaded, the object cannot be a module of it.
    kind = getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", None)
    return kind is not None and isinstance(thing, kind)
