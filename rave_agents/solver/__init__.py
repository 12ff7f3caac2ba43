"""The solver: depth-first proof-number search with a table of positions, in bounded memory.

It proves or refutes statements of the form "this player can force at least this much from here",
for any ``GameState`` of perfect information without chance. ``proof_search.py`` is what others use;
``search.py`` has the compiled loop, ``children.py`` and ``path.py`` its steps, ``records.py`` what
it works on, ``table.py`` the table, and ``team.py`` threads that share it.
"""
