"""Games that the frameworks lack, their rules compiled by Numba, which is loaded with the first."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rave_agents.games.nogo import NoGoState

__all__ = ["NoGoState"]


def __getattr__(name: str) -> Any:
    if name == "NoGoState":
        from rave_agents.games.nogo import NoGoState  # noqa: PLC0415  (imports Numba)

        return NoGoState
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
