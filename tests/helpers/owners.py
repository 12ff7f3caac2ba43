"""Files of another user."""

import os

ANOTHER = 65534
"""The user id of nobody."""


def give_away(path, monkeypatch):
    """Let a file or folder belong to another user.

    Root gives it away. For everybody else this process takes another user id from then on.
    """
    if os.getuid() == 0:
        os.chown(path, ANOTHER, ANOTHER)
    else:
        user = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: user + 1)
