"""Other programs as agents, over GTP and UCI, and how both protocols write moves.

``process.py`` runs a program, ``session.py`` has the session and the agent that both protocols
share, ``gtp.py`` and ``uci.py`` what each says. ``vertices.py`` and ``uci_moves.py`` write and read
moves, ``boards.py`` knows the sizes of boards and scores Go.
"""
