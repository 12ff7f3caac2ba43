"""The game as the search sees it, and the notation of its moves.

``GameState`` is the interface that adapters implement (``game_state.py``); beside it lie the
notation of moves and the checks of what users give. It imports the errors alone.
"""
