"""Proven outcomes: bounds (score-bounded MCTS), proof numbers (PN-MCTS), both in selection."""
