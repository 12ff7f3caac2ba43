"""The search: it owns the trees, runs the loop in slices and threads, and decides when to end.

A ``Searcher`` has a ``TreeSearch`` for each thread, which has a ``SearchTree``, of the room
``tree``.
``Searcher`` is the object that agents use (``searcher.py``). It imports the rooms below.
"""
