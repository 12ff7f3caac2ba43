"""Learned values and policies: what they look at, their files, their teacher, and shipped ones."""
