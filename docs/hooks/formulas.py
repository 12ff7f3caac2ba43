"""Formulas between dollar signs become MathML: browsers typeset it, and load nothing for it."""

import html
import re

from latex2mathml.converter import convert

FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
"""What the extension ``pymdownx.arithmatex`` makes of ``$...$`` and ``$$...$$``."""


def on_page_content(page_html: str, **_: object) -> str:
    """Typeset the formulas of a page."""
    return FORMULA.sub(_typeset, page_html)


def _typeset(found: re.Match[str]) -> str:
    display = "block" if found["tag"] == "div" else "inline"
    return convert(html.unescape(found["latex"]).strip(), display=display)
