"""The search tree in memory: its composition of parts, and its arrays.

It imports the kernel, whose arrays these are, and ``config``.
"""
