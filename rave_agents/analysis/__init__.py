"""Questions about a position: its analysis, its solution with a certificate; the review of a game;
the exploitability of agents.

It imports agents and the arena.
"""
