"""Games on paper: SGF, PGN, journals, positions, openings, and the records of finished games.

``reader.py`` reads a game from any of these files. The room plays no games: matches, reviews and
people's games use it.
"""
