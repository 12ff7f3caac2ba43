"""Engines that play any of this package's agents for other programs: over GTP and over UCI.

``engine.py`` has the commands of the Go Text Protocol, ``uci_engine.py`` those of the Universal
Chess Interface, ``uci_go.py`` reads its limits and ``uci_info.py`` writes what it thinks.
``serve.py`` runs both on standard input and output, ``analysis.py`` shows the last search in GoGui.
It imports ``agents`` and ``gtp``, which has the protocols.
"""
