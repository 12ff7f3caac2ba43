"""The search: all that Numba compiles. Start at ``loop.py``.

One loop over one tree, composed of parts. Each part has a file of its own, with its constants, its
arrays, its hooks and its reports, and each family of parts a folder: ``amaf``, ``proofs``,
``values``, ``moves`` and ``measures``. ``compiler/dispatch.py`` says how parts are chosen.
"""
