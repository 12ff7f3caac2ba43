"""Adapters of game frameworks, found by entry point; ``as_game``; and the protocol of an agent.

This package imports no adapter by name.
"""
