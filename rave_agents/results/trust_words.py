"""Meanings of what a search trusts, for the remarks of its result."""

MUCH_TRUSTED, LITTLE_TRUSTED = 0.8, 0.2
"""Shares of trust from which, and below which, all actions are said to do so."""


def amaf_meaning(trust: float) -> str:
    """Meaning of a trust in AMAF values for the game."""
    return _meaning(
        trust,
        much="actions mean the same whenever they are played",
        some="some actions mean something else when played later",
        little="actions mean something else when played later",
    )


def proof_meaning(trust: float) -> str:
    """Meaning of a trust in the bonus of proof numbers for the game."""
    return _meaning(
        trust,
        much="how few replies a move leaves mostly tells how good it is",
        some="how few replies a move leaves tells a little of how good it is",
        little="how few replies a move leaves does not tell how good it is",
    )


def value_meaning(trust: float) -> str:
    """Meaning of a trust in learned values for these values."""
    return _meaning(
        trust,
        much="they foretell how playouts end",
        some="they foretell some of how playouts end",
        little="they foretell little of how playouts end",
    )


def _meaning(trust: float, much: str, some: str, little: str) -> str:
    if trust > MUCH_TRUSTED:
        return much
    return little if trust < LITTLE_TRUSTED else some
