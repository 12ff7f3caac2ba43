"""Simulations in copies of PettingZoo's and Gymnasium's environments.

``environment_state.py`` is the base of the adapters' states, ``hidden_information.py`` says what a
search may not know, and ``worlds.py`` draws worlds by the user's function. ``copying.py`` copies an
environment and ``clone_check.py`` checks the copies. ``generators.py`` finds an environment's
random number generators and ``dice.py`` reseeds them, so that a simulation does not foresee chance;
``chance.py`` detects chance. ``environment_simulator.py`` runs the simulations, and ``plan.py``
says how far they look ahead; ``wrappers.py`` leaves out wrappers. It imports the rooms ``game`` and
``simulate``.
"""
