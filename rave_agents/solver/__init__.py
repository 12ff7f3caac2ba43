"""The solver: depth-first proof-number search with a table of positions, in bounded memory.

It proves or refutes statements of the form "this player can force at least this return from here"
for any ``GameState`` with perfect information and without chance. ``proof_search.py`` is the
interface; ``search.py`` has the compiled loop, ``children.py`` and ``path.py`` its steps,
``records.py`` its data, ``table.py`` the transposition table, and ``team.py`` the threads that
share it.
"""
