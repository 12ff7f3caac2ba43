"""What an agent thinks of one position, and the search for a proof.

It imports agents and the arena.
"""
