"""What a part of a search is, and how a search of parts becomes machine code.

A part is declared (``dispatch.py``: functions chosen by class; ``arrays.py``, ``runtime.py``,
``part_fields.py``: what its fields are), laid out in memory (``layout.py``), compiled by Numba
(``lowering.py``, ``linking.py``, ``references.py``) and kept on disk (``machine_code.py``). A
process that finds its search there does not load Numba at all.
"""
