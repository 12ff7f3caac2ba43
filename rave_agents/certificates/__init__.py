"""Certificates: proofs of positions in files, which anyone can check.

``checker.py`` is all that has to be trusted: it knows a game by ``GameState`` alone, and shares no
code with a search. ``writer.py`` writes the answers of whoever knows them.
"""
