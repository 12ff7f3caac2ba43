"""Analysis of one position, the search for a proof, and learning: values and networks.

It imports agents and the arena.
"""
