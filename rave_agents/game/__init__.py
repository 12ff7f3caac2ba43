"""The game as the search sees it: positions, facts, notation of moves, and checks of arguments.

``GameState`` (``game_state.py``) is the interface of positions, ``StateAbilities``
(``abilities.py``) its optional methods, and ``Facts`` (``facts.py``) a game's properties, asked
once.
"""
