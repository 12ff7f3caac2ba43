"""Pictures: boards with stones and what a search knows on them, bars, trees, curves.

Drawing needs matplotlib (the extra ``plot``), which is imported when something is drawn; finding a
board (``board.py``) does not. A result, a tree's node or a state is read by its attributes, so that
the room imports only ``frameworks`` and what lies below, and ``SearchResult.plot`` can use it.
"""
