"""A session on a page in the browser: a small server for this machine alone, and the page.

``app.py`` answers the page, ``snapshot.py`` says what it shows, ``pictures.py`` draws boards and
environments, ``review_page.py`` writes reviews, ``server.py`` runs it, and ``notebook.py`` shows it
in a cell. The server needs the extra ``web`` (Starlette and uvicorn). It imports ``sessions``,
``analysis``, ``plots`` and rooms below.
"""
