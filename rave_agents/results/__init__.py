"""What a search found out: the root's moves, what is proven, the final move, as told to people.

It reads the room ``tree`` and imports what lies below.
"""
