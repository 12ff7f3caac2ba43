"""Explanations of learned trust, for the remarks of a result."""

MUCH_TRUSTED, LITTLE_TRUSTED = 0.8, 0.2
"""Trust above the first is called high, below the second low."""


def amaf_meaning(trust: float) -> str:
    """What the trust in AMAF values says about the game."""
    return _meaning(
        trust,
        much="actions mean the same whenever they are played",
        some="some actions mean something else when played later",
        little="actions mean something else when played later",
    )


def proof_meaning(trust: float) -> str:
    """What the trust in the bonus of proof numbers says about the game."""
    return _meaning(
        trust,
        much="moves that leave few replies are mostly good",
        some="moves that leave few replies are sometimes good",
        little="moves that leave few replies are no better than others",
    )


def value_meaning(trust: float) -> str:
    """What the trust in learned values says about these values."""
    return _meaning(
        trust,
        much="they predict how playouts end",
        some="they partly predict how playouts end",
        little="they hardly predict how playouts end",
    )


def _meaning(trust: float, much: str, some: str, little: str) -> str:
    if trust > MUCH_TRUSTED:
        return much
    return little if trust < LITTLE_TRUSTED else some
