"""The game as the search sees it: positions, facts, notation of moves, and checks of arguments.

``GameState`` (``game_state.py``) is the interface of positions; ``StateAbilities``
(``abilities.py``) lists what they may offer in addition, and ``Facts`` (``facts.py``) is what a
game is, asked once.
"""
