"""Questions about one position: its analysis, its solution with a certificate, a review of a game.

It imports agents and the arena.
"""
