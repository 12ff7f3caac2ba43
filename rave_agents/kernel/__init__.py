"""The search: everything that Numba compiles. Start at ``loop.py``.

One loop over one tree, composed of parts. A part has its own file with its constants, arrays, hooks
and reports; a family of parts has its own folder: ``amaf``, ``proofs``, ``values``, ``moves`` and
``measures``. ``compiler/dispatch.py`` says how parts are chosen.
"""
