"""The contract between the search and a game, and the provider that calls Python.

``simulator.py`` says what a provider of simulations does; ``python_simulator.py`` is the one for
any GameState, by a callback into Python. ``frame.py`` has the buffers that they share.
``checked_answers.py`` checks the answers of states, ``evaluations.py`` those of evaluators and
value functions.
"""
