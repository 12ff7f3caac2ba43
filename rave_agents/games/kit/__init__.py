"""The kit: what compiles, simulates and shows any game that is written as ``Rules``.

A game subclasses ``Rules`` (``rules.py``, ``base_rules.py``). Simulations are written once
(``playing.py``, ``leaves.py``, ``playouts.py``), and so are their compilation
(``rules_lowering.py``), machine code (``machine.py``), provider (``rules_simulator.py``) and
GameState (``rules_state.py``). The kit imports no game.
"""
