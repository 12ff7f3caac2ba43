"""Checks of what users give, and suggestions for misspelt names."""

import difflib
from collections.abc import Iterable

MOST_NAMES_LISTED = 30
"""Names up to which a message lists all of them beside the nearest."""


STOCK_NAMES = {
    "uct_c": (
        "rule",
        "Use c, halved: utilities in [-1, 1] are scaled to [0, 1] here, so uct_c=2 is c=1",
    ),
    "max_simulations": ("simulations", "Use simulations"),
    "solve": ("proofs", "Use proofs='proofs', or an agent that proves, such as uct_solver"),
    "random_state": ("seed", "Use seed, an integer"),
    "rollout_count": ("playout_count", "Use playout_count"),
    "n_rollouts": ("playout_count", "Use playout_count"),
    "child_selection_fn": ("rule", "Use rule, such as 'puct'"),
    "child_selection_policy": ("rule", "Use rule, such as 'puct'"),
    "dirichlet_noise": ("root_noise", "Use root_noise, such as 'dirichlet_noise(alpha=0.3)'"),
    "dont_return_chance_node": (
        "simulations",
        "Leave it out: this package has no such option",
    ),
    "final_policy_type": ("final_move", "Use final_move and temperature"),
}
"""Parameters of OpenSpiel's own bots: the parameter of this package that replaces each, and the
advice to give where it exists."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """The message for a name that does not exist, with the nearest that do.

    For a parameter of OpenSpiel's own bots it says what stands for it here.
    """
    known = sorted(map(str, known))
    like, advice = STOCK_NAMES.get(str(name), ("", ""))
    if like in known:
        return f"Unknown {kind} {name!r}, which OpenSpiel's own bot has. {advice}."
    near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    message = f"Unknown {kind} {name!r}."
    if near:
        message += f" Did you mean {' or '.join(map(repr, near))}?"
    if not near or len(known) <= MOST_NAMES_LISTED:
        message += f" There are: {', '.join(known) or 'none'}."
    return message


def check_names(
    kind: str,
    given: Iterable[str],
    known: Iterable[str],
    error: type[Exception] = TypeError,
) -> None:
    """Raise an error for the first name in ``given`` that is not ``known``."""
    known = tuple(known)
    for name in given:
        if name not in known:
            raise error(unknown_name(kind, name, known))


def is_integer(value: object) -> bool:
    """True if a value can stand for an integer; bools cannot."""
    return hasattr(value, "__index__") and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """True if a value can stand for a real number; bools cannot."""
    return hasattr(value, "__float__") and not isinstance(value, bool)


def checked_seed(seed: int | None) -> int | None:
    """The seed, refused if it is neither None nor an integer of at least 0."""
    if seed is None:
        return None
    if not is_integer(seed):
        raise TypeError(f"seed must be an integer or None, got {seed!r}.")
    if int(seed) < 0:
        raise ValueError(f"seed must be at least 0, got {seed!r}.")
    return int(seed)
