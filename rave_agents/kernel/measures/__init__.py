"""Measurements of the growing tree, from which parts learn how reliable they are."""
