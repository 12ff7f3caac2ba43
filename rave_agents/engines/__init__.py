"""GTP and UCI: this package's agents for other programs, and other programs as agents.

``GtpEngine`` and ``UciEngine`` are conversations: they act on lines and write lines (``engine.py``;
``serve.py`` runs them on standard input and output). ``gtp_position.py``, ``gtp_analysis.py`` and
``uci_lines.py`` are their vocabularies.

The folder ``client`` has the other direction: running programs, and the agents ``gtp`` and ``uci``
that play their moves. It is a room of its own, below ``agents``, since specs name these two, while
an engine plays any agent.
"""
