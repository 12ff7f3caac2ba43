"""Results of a search: the root's moves and proofs, the final move, and readable texts.

It reads the room ``tree`` and imports lower rooms.
"""
