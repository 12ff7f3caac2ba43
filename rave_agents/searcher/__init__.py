"""The search: it owns the trees, runs the loop in slices and threads, and decides when to end.

``Searcher`` is the object that agents use (``searcher.py``). It imports the rooms below.
"""
