"""Adapters of game frameworks, found by entry point, and the protocol of an agent.

This package imports no adapter by name. It imports the rooms ``game`` and ``config``.
"""
