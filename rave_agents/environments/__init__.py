"""Copies of environments: whether they are right, and chance inside them.

PettingZoo's and Gymnasium's environments are copied to be played on (``copying.py``,
``clone_check.py``); their generators of random numbers are found and replaced, so that a simulation
does not know the future (``generators.py``, ``chance.py``), and simulated
(``environment_simulator.py``). It imports the rooms ``game`` and ``simulate``.
"""
