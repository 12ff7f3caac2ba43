"""The Go Text Protocol, version 2: an engine that serves any agent, and an agent that asks engines.

``protocol.py`` has the form of commands and answers, ``vertices.py`` how moves are written in them.
The engine: ``position.py`` keeps the game, ``score.py`` counts Go's boards, ``analysis.py`` shows
what was found, ``engine.py`` has the commands, ``serve.py`` puts it on standard input and output.
The other side: ``process.py`` runs a program, ``client.py`` lets it play. Programs that speak UCI
play likewise: ``uci_moves.py``, ``uci_process.py``, ``uci_client.py``.
"""
