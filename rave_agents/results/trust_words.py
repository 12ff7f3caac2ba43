"""Meanings of what a search trusts, for the remarks of its result."""

MUCH_TRUSTED, LITTLE_TRUSTED = 0.8, 0.2
"""Shares of trust from which, and below which, all actions are said to do so."""


def amaf_meaning(trust: float) -> str:
    """Meaning of a trust in AMAF values for the game."""
    if trust > MUCH_TRUSTED:
        return "actions mean the same whenever they are played"
    if trust < LITTLE_TRUSTED:
        return "actions mean something else when played later"
    return "some actions mean something else when played later"


def proof_meaning(trust: float) -> str:
    """Meaning of a trust in the bonus of proof numbers for the game."""
    if trust > MUCH_TRUSTED:
        return "how few replies a move leaves mostly tells how good it is"
    if trust < LITTLE_TRUSTED:
        return "how few replies a move leaves does not tell how good it is"
    return "how few replies a move leaves tells a little of how good it is"


def value_meaning(trust: float) -> str:
    """Meaning of a trust in learned values for these values."""
    if trust > MUCH_TRUSTED:
        return "they foretell how playouts end"
    if trust < LITTLE_TRUSTED:
        return "they foretell little of how playouts end"
    return "they foretell some of how playouts end"
