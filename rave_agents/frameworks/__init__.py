"""The plugs: adapters of game frameworks, found by entry point, and what an agent is.

This package imports no adapter by name. It imports the rooms ``game`` and ``config``.
"""
