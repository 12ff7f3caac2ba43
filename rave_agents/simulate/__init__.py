"""The contract between the search and a game, and the provider that calls Python.

``simulator.py`` defines a provider of simulations, ``frame.py`` the buffers it shares with the
search; ``python_simulator.py`` is the provider for any GameState, by a callback into Python.
``checked_answers.py`` checks the answers of states, ``evaluations.py`` those of evaluators and
value functions.
"""
