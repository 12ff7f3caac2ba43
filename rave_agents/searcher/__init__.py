"""The search: owns the trees, runs the loop in slices and threads, and decides when to stop.

Agents use a ``Searcher`` (``searcher.py``). It has a ``TreeSearch`` per thread, each with a
``SearchTree`` from the room ``tree``.
"""
