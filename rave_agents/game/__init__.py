"""What a game is to the search, and how people write its moves.

``GameState`` is the interface that adapters implement (``game_state.py``); beside it lie the
notation of moves and the checks of what users give. It imports the errors alone.
"""
