"""Agents that have a name, made from specs such as ``rave(simulations=500)``.

It imports the searcher, and programs that play by the Go Text Protocol (``gtp``).
"""
