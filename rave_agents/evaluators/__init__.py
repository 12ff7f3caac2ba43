"""Evaluators of positions: learned values and policies, networks, and their files.

``LinearValue`` and ``MovePolicy`` are compiled with a game's rules, a ``BatchEvaluator`` (such as a
``TrainedNetwork``) judges many leaves in one call. ``data/`` has the files and the levels that ship
with the package. ``learning/`` makes such files.
"""
