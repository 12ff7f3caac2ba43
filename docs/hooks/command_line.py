"""The reference of the command line, made from the commands themselves."""

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from typer.cli import get_docs_for_click

from rave_agents.cli import app

MARK = "<!-- commands -->"
"""What stands on a page where the commands go."""


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the commands with their arguments and options where a page asks for them."""
    return markdown.replace(MARK, commands()) if MARK in markdown else markdown


def commands() -> str:
    """Every command with its usage, arguments and options, as Markdown."""
    program = typer.main.get_command(app)
    context = typer.Context(program, info_name="rave-agents")
    text = get_docs_for_click(obj=program, ctx=context, name="rave-agents")
    return text[text.index("\n## ") :]
