"""Search that converges where information is hidden: Monte-Carlo CFR.

It begins at the start of the game and keeps regrets and an average strategy for each information
set. ``RegretSearch`` is the door; ``traversal.py`` has the algorithm.
"""
