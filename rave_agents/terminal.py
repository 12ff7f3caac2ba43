"""What the program writes: answers to standard output, all else to standard error."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console


def stderr() -> Console:
    """A console for progress, logs and errors."""
    return Console(stderr=True)


def say(text: str) -> None:
    """Write a line to standard error; the text may have Rich's markup."""
    stderr().print(text, soft_wrap=True, highlight=False)


def show(*renderables: Any) -> None:
    """Write what Rich can render to standard output."""
    console = Console()
    for renderable in renderables:
        console.print(renderable, highlight=False)


def show_json(value: Mapping[str, Any]) -> None:
    """Write one line of strict JSON to standard output."""
    sys.stdout.write(json.dumps(_strict(value), allow_nan=False, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _strict(value: Any) -> Any:
    """The value with None for numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_strict(item) for item in value]
    return value
