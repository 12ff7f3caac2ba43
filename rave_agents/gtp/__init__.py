"""The Go Text Protocol, version 2: an engine that serves any agent, and an agent that asks engines.

``protocol.py`` has the form of commands and answers, ``vertices.py`` how moves are written in them,
``engine.py`` and ``serve.py`` the engine, ``process.py`` and ``client.py`` the other side.
"""
