"""Evaluators that judge many leaves in one call, and the simulations that wait for them.

``batch_evaluator.py`` says what such an evaluator is. ``batch.py`` has the arrays that it is asked
with, and takes its answer, which ``simulate/evaluations.py`` validates. ``leaves.py`` is what the
compiled loop does on both sides of a call.
"""
