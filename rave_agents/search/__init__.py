"""The kernel: one loop over one tree, in Python that Numba compiles. Start at ``loop.py``."""
