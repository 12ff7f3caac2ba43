"""Analyses of positions, solutions with certificates, reviews of games, exploitability of agents.

It imports agents and the arena.
"""
