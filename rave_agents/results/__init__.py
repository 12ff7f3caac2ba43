"""Results of a search: the root's moves and proofs, the final move, and texts for people.

It reads the room ``tree`` and imports what lies below.
"""
