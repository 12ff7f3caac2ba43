"""Games on paper: SGF and PGN files, positions, openings, and the records of finished games.

Everything here is read or written without an agent: matches, reviews and people's games use it.
"""
