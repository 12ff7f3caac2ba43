"""The search: all that Numba compiles. Start at ``loop.py``.

One loop over one tree, composed of parts: each concept has a file of its own, with its constants,
its arrays and its functions. ``dispatch.py`` says how parts are chosen.
"""
