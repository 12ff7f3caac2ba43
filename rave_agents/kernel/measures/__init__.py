"""Measurements of the tree as it grows, from which parts learn how far to trust themselves."""
