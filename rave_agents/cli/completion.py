"""Completion of games, agents and their parameters in a shell."""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from rave_agents.cli.vocabulary import Fields, Vocabulary, keep_vocabulary, read_vocabulary


@functools.cache
def vocabulary() -> Vocabulary:
    """The names that are completed."""
    found = read_vocabulary()
    if found is None:
        from rave_agents.cli.vocabulary_source import collected  # noqa: PLC0415  (slow: frameworks)

        found = collected()
        keep_vocabulary(found)
    return found


Offered = list[tuple[str, str]]
"""Words that a shell offers, each with a word of help."""


def complete_game(incomplete: str) -> Offered:
    """Offer games; in a list, for its last item."""
    before, name = _last_item(incomplete, ",;")
    return [(before + each, told) for each, told in _beginning(vocabulary().games, name)]


def complete_agent(incomplete: str) -> Offered:
    """Offer agents, and within parentheses their parameters and the values of these."""
    calls, before, item = _open_calls(incomplete)
    if not calls:
        return _beginning(vocabulary().agents, incomplete)
    known = vocabulary()
    fields = (known.parameters if len(calls) == 1 else known.parts).get(calls[-1], {})
    return [(before + each, "") for each in _arguments(fields, item)]


def complete_agents(incomplete: str) -> Offered:
    """Offer agents for the last of a list."""
    before, spec = _last_item(incomplete, ",; ")
    return [(before + each, told) for each, told in complete_agent(spec)]


def complete_game_or_agent(incomplete: str) -> Offered:
    """Offer games and agents."""
    return [*complete_game(incomplete), *complete_agent(incomplete)]


def complete_vary(ctx: Any, incomplete: str) -> Offered:
    """Offer the parameters of the agent that varies."""
    words = [ctx.params.get("agent"), *ctx.args[1:2]]  # No parameter is set before --vary's value.
    agent = next((word for word in words if word), "").partition("(")[0]
    key, equals, values = incomplete.partition("=")
    fields = vocabulary().parameters.get(agent, {})
    if not equals:
        return [(f"{name}=", "") for name in fields if name.startswith(key)]
    before, value = _last_item(values, ",")
    return [(f"{key}={before}{each}", "") for each in fields.get(key, []) if each.startswith(value)]


def _arguments(fields: Fields, item: str) -> list[str]:
    """Texts that may stand in an item's place, as far as it is written: ``sch`` or ``schedule=fu``.

    A single word would be closed by the shell, as if nothing followed: so there are always two.
    """
    key, equals, value = item.partition("=")
    if not equals:
        keys = [name for name in fields if name.startswith(key)]
        if len(keys) > 1:
            return [f"{name}=" for name in keys]
        return [text for name in keys for text in (f"{name}=", *_assigned(fields, name, ""))]
    values = _assigned(fields, key, value)
    return [f"{values[0]}{end}" for end in (")", ",")] if len(values) == 1 else values


def _assigned(fields: Fields, key: str, value: str) -> list[str]:
    return [f"{key}={each}" for each in fields.get(key, []) if each.startswith(value)]


def _beginning(named: Mapping[str, str], text: str) -> Offered:
    return [(name, told) for name, told in named.items() if name.startswith(text)]


def _open_calls(text: str) -> tuple[list[str], str, str]:
    """The calls that are open at a text's end, what stands before the item there, and the item."""
    calls: list[str] = []
    start = 0
    for place, character in enumerate(text):
        if character == "(":
            calls.append(text[start:place].rpartition("=")[2].strip())
        elif character == ")" and calls:
            calls.pop()
        if character in "(,":
            start = place + 1
    return calls, text[:start], text[start:]


def _last_item(text: str, separators: Iterable[str]) -> tuple[str, str]:
    """The text before the last item of a list, and the item."""
    depth = start = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and character in separators:
            start = place + 1
    return text[:start], text[start:]
