"""A game between people and agents, wherever it is shown: in a terminal, a browser or a notebook.

``session.py`` has the rules of a session: seats, moves, undo, clocks, the file it is kept in.
``live.py`` plays one, with agents that think beside it (``agent_runner.py``, ``agent_worker.py``).
``views.py`` says what a seat sees of it. It imports ``arena`` and rooms below.
"""
