"""A game between people and agents, however it is shown.

``session.py`` has the game with its moves, clocks and undo, ``setting_up.py`` makes one, and
``live.py`` plays it with agents that think in threads or processes (``agent_runner.py``,
``agent_worker.py``). ``views.py`` limits what a seat sees, and ``game_file.py`` saves the game.
"""
