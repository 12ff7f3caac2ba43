"""The rank of pages in the search of the site: tutorials first, generated pages last."""

from mkdocs.structure.pages import Page

BOOSTS = {"tutorials": 2, "reference": 0.5, "games": 0.5, "laboratory.md": 0.5}
"""By folder or page; others have 1."""


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Set the page's rank, unless the page itself says one."""
    boost = BOOSTS.get(page.file.src_uri.partition("/")[0])
    if boost is not None:
        page.meta.setdefault("search", {"boost": boost})
    return markdown
