"""Checks of users' arguments, and suggestions for misspelt names."""

import difflib
from collections.abc import Collection, Iterable, Sequence

MOST_NAMES_LISTED = 30
"""Maximum number of names for a message to list all of them."""

NEAREST_NAMES_LISTED = 5
"""Number of names listed if there are more, and none is near."""

SYNONYMS = {
    "time_limit": ("seconds", "use seconds"),
    "movetime": ("seconds", "use seconds, not milliseconds"),
    "rollouts": ("simulations", "use simulations; playout_count is the playouts at each leaf"),
    "rollout_count": ("playout_count", "use playout_count"),
    "uct_c": ("rule", "use c, halved: c is for values in [0, 1], uct_c for utilities in [-1, 1]"),
    "exploration_constant": ("rule", "use c, the constant for values in [0, 1]"),
    "c_puct": ("rule", "use c, as in rule='puct(c=1.5)', for values in [0, 1]"),
    "random_state": ("seed", "use seed"),
    "n_jobs": ("threads", "use threads"),
    "child_selection_fn": ("rule", "use rule, such as 'puct'"),
    "dirichlet_noise": ("root_noise", "use root_noise='dirichlet_noise'"),
    "solve": ("proofs", "use proofs='proofs', or an agent such as uct_solver"),
    "gamma": ("discount", "use discount"),
}
"""Common names of other libraries that resemble none of ours: our argument, and the advice."""


def unknown_name(kind: str, name: object, known: Iterable[str], see: str = "") -> str:
    """The message for a name that does not exist, with the nearest that do.

    Args:
        kind: the kind of name, such as ``"preset"``.
        name: the name given.
        known: those that there are.
        see: where all of them are listed, for the message.
    """
    known = sorted(map(str, known))
    plain = {each.casefold(): each for each in known}
    # Case-insensitive: names of presets and parts mix conventions, such as ``UCB1`` and ``ucb1``.
    near = difflib.get_close_matches(str(name).casefold(), plain, n=3, cutoff=0.5)
    near = [plain[each] for each in near]
    message = f"Unknown {kind} {name!r}."
    if near:
        message += f" Did you mean {' or '.join(map(repr, near))}?"
    if len(known) <= MOST_NAMES_LISTED:
        message += f" There are: {', '.join(known) or 'none'}."
    elif not near:
        nearest = difflib.get_close_matches(str(name), known, n=NEAREST_NAMES_LISTED, cutoff=0.3)
        nearest = nearest or known[:NEAREST_NAMES_LISTED]
        message += f" There are {len(known)}, such as {', '.join(nearest)}"
        message += f"; all: {see}." if see else "."
    return message


def synonym_advice(name: str, known: Collection[str]) -> str | None:
    """The advice for another library's name of an argument in ``known``; else None."""
    argument, advice = SYNONYMS.get(name, (None, None))
    return advice if argument in known else None


def unknown_argument(kind: str, name: str, known: Iterable[str], see: str = "") -> str:
    """The message for an argument of an agent, a search or a limit that does not exist.

    Args:
        kind: the kind of name, such as ``"parameter of rave"``.
        name: the name given.
        known: those that there are.
        see: where all of them are listed, for the message.
    """
    known = tuple(known)
    advice = synonym_advice(name, known)
    if advice is not None:
        return f"Unknown {kind} {name!r}: {advice}."
    return unknown_name(kind, name, known, see)


def check_arguments(
    kind: str, given: Iterable[str], known: Iterable[str], error: type[Exception] = TypeError
) -> None:
    """Raise an error for the first argument in ``given`` that is not ``known``."""
    known = tuple(known)
    for name in given:
        if name not in known:
            raise error(unknown_argument(kind, name, known))


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


def refuse_positional(
    kind: str, given: Sequence[object], taken: Sequence[str], by_name: Sequence[str] = ()
) -> None:
    """Refuse positional arguments for keyword-only parameters, and guess their names.

    Args:
        kind: the name of the function or class.
        given: the arguments given by position.
        taken: the names of those that may be.
        by_name: keyword-only names, the likeliest first; if empty, those of a search.

    Raises:
        TypeError: if there are more.
    """
    if len(given) <= len(taken):
        return
    value = given[len(taken)]
    if by_name:
        name = by_name[0]
    elif isinstance(value, str):
        name = "clock"
    elif is_integer(value):
        name = "simulations"
    else:
        name = "seconds" if is_number(value) else "evaluator"
    shown = f"{value!r}" if is_number(value) or isinstance(value, str) else "..."
    raise TypeError(
        f"{kind} takes {', '.join(taken) or 'nothing'} by position and all else by name, such as "
        f"{kind}({', '.join([*taken, f'{name}={shown}'])}): got {value!r} by position."
    )


def is_integer(value: object) -> bool:
    """True for integers of any library; a bool is none."""
    # ``numbers.Integral`` would miss integers of libraries that do not register, such as torch.
    return hasattr(value, "__index__") and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """True for real numbers of any library; a bool is none."""
    return hasattr(value, "__float__") and not isinstance(value, bool)
