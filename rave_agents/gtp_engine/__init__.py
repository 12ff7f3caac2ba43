"""This package's agents as a program that plays by the Go Text Protocol.

It imports agents and the room ``gtp``, which has the protocol.
"""
