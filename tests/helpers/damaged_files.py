"""Files of games, damaged at random, and all that reads them.

As a program: ``python damaged_files.py SEED COUNT``.

It prints one object of JSON: how many files were read all the same, how many were refused, and what
was raised otherwise.
"""

import collections
import json
import pathlib
import random
import sys
import tempfile
import traceback
import warnings

from rave_agents import from_step
from rave_agents.arena import merge_journals, play_match, play_tournament, run_scaling, run_sweep
from rave_agents.arena.report_data import load_report
from rave_agents.web.report_page import report_page

PAGE_EVERY = 50
"""Of how many files of a kind one is made a page of."""

ODD = (
    *(None, True, False, 0, 1, -1, 2, 7, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**400),
    *(0.5, -0.0, 1e308, -1e308, 1e-320, float("nan"), float("inf"), float("-inf")),
    *("", "x", "random", "$\\frac{1}{$", "\x1b]0;x\x07", "\ud800", "a" * 20000, "1", "uct(", "nan"),
    *(
        "tic_tac_toe",
        "no_game",
        "gtp(command=false)",
        "uct(simulations=nan)",
        "uct(evaluator=os:f)",
    ),
    *([], [[]], [1], [1, 2], ["a", "a"], [None, None], {}, {"a": 1}, {"": {}}, [[[[[[]]]]]]),
)


def _match(path):
    play_match("tic_tac_toe", "random", "random", games=4, sprt="0,50", output=path)


def _tournament(path):
    lowest = from_step(lambda state: min(state.legal_actions()))
    agents = {"one": "random", "two": "random(seed=1)", "three": lowest}
    games = ["tic_tac_toe", "nim"]
    play_tournament(games, agents, games_per_pairing=2, anchor="one", gauntlet="two", output=path)


def _sweep(path):
    run_sweep("tic_tac_toe", "random", "random", {"seed": [1, 2]}, games=2, output=path)


def _scaling(path):
    run_scaling("tic_tac_toe", "uct", "random", simulations=[2, 3], games=2, output=path)


def _episodes(path):
    import rave_pettingzoo

    rave_pettingzoo.tournament(
        "tictactoe_v3", {"one": "random", "two": "random(seed=1)"}, episodes=2, output=path,
        progress=False,
    )  # fmt: skip


KINDS = {
    "match": _match,
    "tournament": _tournament,
    "sweep": _sweep,
    "scaling": _scaling,
    "episodes": _episodes,
}


def damaged(content, draw):
    """A file's bytes with one to three damages."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        content = draw.choice((_changed_value, _changed_value, _changed_lines, _changed_bytes))(
            content, draw
        )
    return content


def _changed_value(content, draw):
    lines = content.split(b"\n")
    place = draw.randrange(max(1, len(lines) - 1))
    try:
        value = json.loads(lines[place])
    except ValueError:
        return content
    spots = list(_spots(value))
    if not spots:
        return content
    holder, key = draw.choice(spots)
    if draw.random() < 0.2:
        del holder[key]
    elif draw.random() < 0.2:
        other, its = draw.choice(spots)
        holder[key], other[its] = other[its], holder[key]
    else:
        holder[key] = draw.choice(ODD)
    try:
        lines[place] = json.dumps(value).encode()
    except (ValueError, RecursionError):  # A value that now holds itself.
        return content
    return b"\n".join(lines)


def _spots(value):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        yield value, key
        if isinstance(item, dict | list):
            yield from _spots(item)


def _changed_lines(content, draw):
    lines = content.split(b"\n")
    one, two = (draw.randrange(len(lines)) for _ in range(2))
    what = draw.randrange(4)
    if what == 0:
        lines[one], lines[two] = lines[two], lines[one]
    elif what == 1:
        del lines[one]
    elif what == 2:
        lines.insert(one, lines[two])
    else:
        lines[one] = lines[one][: draw.randrange(len(lines[one]) + 1)]
    return b"\n".join(lines)


def _changed_bytes(content, draw):
    start = draw.randrange(len(content) + 1)
    some = bytes(draw.randrange(256) for _ in range(draw.choice((1, 1, 1, 8, 100))))
    return content[:start] + some + content[start + draw.choice((0, len(some), 20)) :]


def read_everywhere(kind, path, *, page):
    """All that reads a file of games."""
    readers = {"merge": lambda: merge_journals(path.with_name("merged"), [path, path])}
    if kind != "episodes":
        readers["report"] = lambda: _report(path, page=page)
    readers["resume"] = lambda: KINDS[kind](path)
    for name, read in readers.items():
        try:
            read()
            yield name, "read"
        except ValueError as error:
            clear = str(path) in str(error) and str(error).isprintable() and len(str(error)) < 2000
            clear = clear and not isinstance(error, UnicodeError)
            yield name, "refused" if clear else _told(name, error)
        except Exception as error:
            yield name, _told(name, error)
        path.with_name("merged").unlink(missing_ok=True)


def _report(path, *, page):
    data = load_report(path)
    str(data.result), data.result.to_dict()
    data.result.to_csv(path.with_name("table.csv"))
    if page:
        path.with_name("page.html").write_text(report_page(data), encoding="utf-8")


def _told(name, error):
    where = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{name}: {type(error).__name__}: {str(error)[:200]!a} in {where.filename}:{where.lineno}"
    )


def main(seed, count):
    warnings.simplefilter("ignore")
    draw = random.Random(seed)
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        whole = {}
        for kind, play in KINDS.items():
            path = pathlib.Path(folder, kind)
            play(path)
            whole[kind] = path.read_bytes()
        for number in range(count):
            kind = list(KINDS)[number % len(KINDS)]
            path = pathlib.Path(folder, f"damaged_{kind}")
            path.write_bytes(damaged(whole[kind], draw))
            page = number // len(KINDS) % PAGE_EVERY == 1
            counts.update(outcome for _, outcome in read_everywhere(kind, path, page=page))
    print(json.dumps(counts))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
