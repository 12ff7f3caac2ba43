"""The search: it owns the trees, runs the loop in slices and threads, and decides when to end.

A ``Searcher`` has a ``TreeSearch`` for each thread, and that a ``SearchTree`` (``rave_agents.tree``).
``Searcher`` is the object that agents use (``searcher.py``). It imports the rooms below.
"""
