"""The contract between the search and a game, and the provider that calls Python.

``simulator.py`` says what a provider of simulations does; ``python_simulator.py`` is the one for
any GameState, by a callback into Python. ``frame.py`` has the buffers that they share.
``checked_answers.py`` validates what a state answers, ``evaluations.py`` what evaluators and value
functions do, both within the ``utility_limits.py`` of the game.
"""
