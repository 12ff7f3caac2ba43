"""Certificates: proofs of positions in files that anyone can check.

Only ``checker.py`` must be trusted: it uses a game through ``GameState`` alone, and shares no code
with a search. ``writer.py`` writes the answers of a solver, or of any other source.
"""
