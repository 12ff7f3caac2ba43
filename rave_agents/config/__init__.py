"""The configuration of a search: ``SearchConfig``, its parts and their specs, presets, limits.

It imports the parts of the kernel, which load no compiler, and what lies below.
"""
