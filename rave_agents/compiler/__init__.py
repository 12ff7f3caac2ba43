"""Parts of a search, and their compilation to machine code.

A part is declared (``dispatch.py``: functions chosen by class; ``arrays.py``, ``runtime.py``,
``part_fields.py``: what its fields are), laid out in memory (``layout.py``), compiled by Numba
(``lowering.py``, ``linking.py``, ``references.py``) and kept on disk (``machine_code.py``), under a
name that says all that Numba has seen (``sources.py``: the package's own files; ``fingerprint.py``,
``looked_up.py``: functions of the user; ``settings.py``: Numba's settings). A process that finds
its search there does not load Numba at all. What the user's functions look up is watched
(``changes.py``), so that a search begins with new code after an edit in a running process.
"""
