"""Learned values: what they look at, their files, what teaches them, and those that are shipped."""
