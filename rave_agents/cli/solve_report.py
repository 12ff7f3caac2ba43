"""A search for a proof, for people at a terminal: its progress and its result."""

import contextlib
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console, RenderableType
from rich.live import Live
from rich.markup import escape

from rave_agents.analysis.solve import Solution
from rave_agents.cli.arena_tables import plain_table, whole
from rave_agents.game.notation import position_text
from rave_agents.results.search_result import SearchResult

ENDS = {
    "simulations": "not solved: the simulations are used up",
    "seconds": "not solved: the time is used up",
    "memory": "not solved: the memory is full, and without more nothing can be proven",
    "exhausted": "not solved: the tree no longer grows, and so nothing more is proven",
    "interrupted": "not solved: interrupted",
}
"""Messages for a search that ended without a proof, by the reason."""

ROWS_OVER_TIME = 12
"""Rows of the table of a search for a proof, at most."""


@contextlib.contextmanager
def solve_progress(console: Console) -> Iterator[Callable[[SearchResult], None]]:
    """Show the root's numbers over time, from the first call of the function that it gives.

    The moments that stay lie ever further apart: each at twice the seconds of the one before.
    """
    moments: list[SearchResult] = []
    live = Live(get_renderable=lambda: moments_table(moments), console=console, transient=True)

    def update(result: SearchResult) -> None:
        if len(moments) > 1 and moments[-1].seconds < 2 * moments[-2].seconds:
            moments.pop()
        moments.append(result)
        live.start()

    try:
        yield update
    finally:
        if live.is_started:
            live.stop()


def moments_table(moments: Sequence[SearchResult]) -> RenderableType:
    """Table of a search for a proof over time, as seen by the player to move."""
    table = plain_table()
    for name in ("seconds", "simulations", "nodes", "proof number", "disproof number"):
        table.add_column(name, justify="right", min_width=len(name))
    for result in moments[-ROWS_OVER_TIME:]:
        numbers = map(whole, (result.proof_number, result.disproof_number))
        effort = (f"{result.seconds:.1f}", whole(result.simulations), whole(result.nodes))
        table.add_row(*effort, *numbers)
    return table


def solution(found: Solution) -> list[RenderableType]:
    """The position and its proof, or how far the proof came."""
    result = found.result
    table = plain_table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    line = escape(" ".join(result.principal_variation_names))
    if result.outcome is None:
        table.add_row("outcome", f"[yellow]{ENDS[found.end]}[/]")
        low, high = found.bounds
        table.add_row(f"returns of player {result.player}", f"from {low:g} to {high:g}")
        table.add_row("expected line", line)
    else:
        table.add_row("outcome", f"[green]{result.proven}[/] for player {result.player}")
        table.add_row("returns", ", ".join(f"{value:g}" for value in result.outcome))
        table.add_row("proven line", line)
    table.add_row("proof number", whole(result.proof_number))
    table.add_row("disproof number", whole(result.disproof_number))
    table.add_section()
    table.add_row("simulations", whole(result.simulations))
    table.add_row("nodes", whole(result.nodes))
    table.add_row("seconds", f"{result.seconds:.2f}")
    full = ", [yellow]full[/]" if result.memory_full else ""
    table.add_row("memory", f"{result.memory_bytes / 2**20:.1f} MB{full}")
    return [escape(position_text(found.state).rstrip("\n")), "", table]
