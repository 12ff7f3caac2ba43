"""Frames that environments render, of copies that are made for it."""

import contextlib
import os
import warnings
from typing import Any

from rave_agents.environments.spaces import EnvAbilities
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState


def frame_of(state: GameState, mode: str) -> Any:
    """Render the environment of a position in a mode, whichever mode it was made with.

    Args:
        state: the position; it is not changed.
        mode: ``rgb_array`` or ``ansi``.

    Returns:
        The frame; None if the position has no environment, or if that does not render so.
    """
    if StateAbilities(state).env is None:
        return None
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = state.clone().env.unwrapped  # type: ignore[attr-defined]
        env.render_mode = mode
        return env.render()
    return None


def text_frame(state: GameState) -> str | None:
    """The position as its environment renders it in text; None if that is none of its modes."""
    env = StateAbilities(state).env
    modes = EnvAbilities(env).metadata or {}
    if "ansi" not in (modes.get("render_modes") or ()):
        return None
    frame = frame_of(state, "ansi")
    return frame if isinstance(frame, str) and frame.strip() else None
