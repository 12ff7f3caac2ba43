"""Simulations in copies of PettingZoo's and Gymnasium's environments.

``copying.py`` copies an environment and ``clone_check.py`` checks the copies. ``generators.py``
finds an environment's random number generators and ``dice.py`` reseeds them, so that a simulation
does not foresee chance; ``chance.py`` detects chance. ``environment_simulator.py`` runs the
simulations, and ``plan.py`` says how far they look ahead; ``wrappers.py`` leaves out wrappers. It
imports the rooms ``game`` and ``simulate``.
"""
