"""The tree in memory: what it is composed of, and its arrays, kept by their declarations.

It imports the kernel, whose arrays these are, and ``config``.
"""
