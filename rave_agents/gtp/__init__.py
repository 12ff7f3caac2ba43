"""The Go Text Protocol, version 2, and the agent that plays what another program answers.

``protocol.py`` parses commands and formats answers, ``vertices.py`` writes and reads moves,
``position.py`` keeps the game of an engine, and ``score.py`` scores Go boards. ``process.py`` runs
another program, and ``client.py`` is the agent that plays its moves. The engine itself is in the
room ``gtp_engine``. The agent ``uci`` asks programs that speak UCI: ``uci_moves.py``,
``uci_process.py``, ``uci_client.py``.
"""
