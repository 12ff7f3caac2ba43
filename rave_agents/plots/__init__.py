"""Pictures of searches: boards with statistics on their cells, bars, trees, curves.

Drawing needs matplotlib (the extra ``plot``), which is imported by the first drawing function;
finding a board (``board.py``) does not. The functions read results, nodes and states by attribute,
so that the room imports only ``frameworks`` and rooms below it, and ``SearchResult.plot`` can use
it.
"""
