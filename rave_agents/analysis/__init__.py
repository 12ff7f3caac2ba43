"""Analysis of one position: the move that an agent chooses, and the search for a proof.

It imports agents and the arena.
"""
