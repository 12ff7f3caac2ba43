"""The page of games: live in the browser or a notebook, stored as a review or a report.

One page and one model of steps serve all of them (``page.html``, ``page.js``, ``page.css``). A live
page is served on this machine alone, see ``server``.
"""
