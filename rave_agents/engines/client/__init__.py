"""Other programs as agents, over GTP and UCI, and how both protocols write moves.

``process.py`` runs a program, ``agent.py`` is the agent that both protocols share, ``gtp.py`` and
``uci.py`` are their vocabularies. ``vertices.py`` and ``uci_moves.py`` write and read
moves, ``boards.py`` knows the sizes of boards and scores Go.
"""
