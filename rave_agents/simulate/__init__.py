"""The contract between the search and a game, and the provider that calls Python.

``simulator.py`` says what a provider of simulations does; ``python_simulator.py`` is the one for
any GameState, by a callback into Python. It imports the frame of the kernel, and nothing above.
"""
