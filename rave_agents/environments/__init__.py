"""Simulations in copies of PettingZoo's and Gymnasium's environments.

``environment_state.py`` is the base of the adapters' states, and ``facts.py`` the record of what
all states of an environment share. ``cloner.py`` copies environments by ``copying.py`` and checks
the copies by ``clone_check.py``; ``wrappers.py`` leaves out wrappers. ``chance.py`` detects chance,
``generators.py`` finds random number generators and ``dice.py`` reseeds them, so that a simulation
does not foresee chance. ``worlds.py`` draws worlds by the user's function, ``plan.py`` has horizon
and discount, and ``environment_simulator.py`` runs the simulations.
"""
