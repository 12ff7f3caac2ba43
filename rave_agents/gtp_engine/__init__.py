"""A Go Text Protocol engine that plays any of this package's agents.

``engine.py`` has the commands, ``serve.py`` runs them on standard input and output, ``analysis.py``
shows the last search in GoGui. It imports ``agents`` and ``gtp``, which has the protocol.
"""
