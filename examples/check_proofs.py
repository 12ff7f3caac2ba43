"""Proofs of small random positions against exhaustive search, each with a certificate.

python examples/check_proofs.py [--proofs 1000] [--only hex] [--seed 0] [--json FILE]

Positions come in turn from each row of ``sources``: games near their ends, compiled and by their
own states, games of chance and of more players, random trees, and random graphs in which play can
go round. Of each the solver proves what a player can force, or expect, and a search that looks at
every line of play, without a table, says the same. For graphs that is iteration to a fixpoint.

Each proof is written as a certificate, which the checker of ``rave-agents verify`` must verify, and
refuse once a byte is changed, once one reply has no answer, and once more is claimed. A line of the
proof that is changed within may leave another right proof: then what it states must be true.
"""

import functools
import itertools
import json
import lzma
import math
import os
import pathlib
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

import typer

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.forced import Forced, LoopGame  # noqa: E402
from helpers.graphs import GraphRules, GraphState  # noqa: E402
from helpers.loop_rules import PLACES, as_rules  # noqa: E402
from helpers.random_trees import KINDS, random_tree, tree_state  # noqa: E402

from rave_agents.analysis.certify import write_bounds, write_proof  # noqa: E402
from rave_agents.certificates import writer  # noqa: E402
from rave_agents.certificates.certificate_file import (  # noqa: E402
    Header,
    read_header,
    read_lines,
    verify_certificate,
)
from rave_agents.certificates.checker import AT_LEAST, after  # noqa: E402
from rave_agents.errors import CertificateError  # noqa: E402
from rave_agents.frameworks.own_games import as_game  # noqa: E402
from rave_agents.game.game_state import has_chance  # noqa: E402
from rave_agents.solver.expected_value import ExpectedValue, ValueBounds  # noqa: E402
from rave_agents.solver.proof_search import ProofSearch  # noqa: E402
from rave_agents.solver.state_expander import with_history  # noqa: E402
from rave_agents.solver.value_search import Interval, ValueSearch, loops_are_drawn  # noqa: E402

GAMES = (
    "tic_tac_toe",
    "connect_four",
    "connect_four(rows=3,columns=4,x_in_row=3)",
    "hex(num_cols=3,num_rows=4)",
    "breakthrough(rows=5,columns=3)",
    "clobber(rows=3,columns=4)",
    "othello",
    "dots_and_boxes(num_rows=2,num_cols=2)",
    "mnk(m=4,n=3,k=3)",
    "nim(pile_sizes=2;3;4,is_misere=True)",
    "nim(pile_sizes=1;2;3;4,is_misere=False)",
    "go(board_size=3,komi=0.5)",
    "pentago",
    "mancala",
    "oware",
    "havannah(board_size=3)",
    "y(board_size=4)",
    "gomoku(size=4,connect=3)",
    "twixt(board_size=5)",
    "ultimate_tic_tac_toe",
    "amazons",
)
"""Games that package and OpenSpiel have."""

OTHERS = (
    "nogo(board_size=4)",
    "misere(game=tic_tac_toe())",
    "misere(game=mnk(m=3,n=4,k=3))",
    "start_at(history=4;0;8,game=tic_tac_toe())",
    "cliff_walking(horizon=12)",
)
"""Games that the package alone has, and games without compiled rules."""

CHANCES = (
    "pig(players=2,winscore=6,horizon=12)",
    "pig(players=3,winscore=4,horizon=9)",
    "einstein_wurfelt_nicht",
    "catch(rows=4,columns=3)",
    "2048",
)
"""Games of dice and of other chance."""

STATES = ", OpenSpiel's states"
"""The end of a row's name in which the solver expands these, in place of compiled rules."""

SMALL = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 4096}]
"""Packing in small buffers."""

MOST_LINES = 1_000
"""Positions that a search for the truth looks at; more are too many, and the game goes on."""

MOST_MOVES = 100
"""Moves of a line of play that it looks at."""

LESS = -100.0
"""A return that is less than all others."""

SEEDS = 10**7
"""Random trees and graphs that one seed of the command has before those of the next."""

LONGEST_GAME = 1_000
"""Moves of a random game."""


class Task(NamedTuple):
    """A position, and a player whose value is to be proven."""

    root: Any
    game: Any
    """The game, or the position itself, for the checker."""
    header: Header
    player: int
    value: float
    """The truth."""
    repetition: float | None = None


class TooManyError(Exception):
    """A position is no small one."""


def truth(root: Any, player: int) -> float:
    """A player's value against all others, by every line of play.

    Raises:
        TooManyError: for more than ``MOST_LINES`` positions.
    """
    left = MOST_LINES

    def value(state: Any, moves_left: int = MOST_MOVES) -> float:
        nonlocal left
        left -= 1
        if left < 0 or moves_left < 0:
            raise TooManyError
        if state.is_terminal():
            return float(state.returns()[player])
        if state.is_chance_node():
            steps = state.chance_outcomes()
            return math.fsum(share * value(after(state, a), moves_left - 1) for a, share in steps)
        values = [value(after(state, a), moves_left - 1) for a in state.legal_actions()]
        return max(values) if state.current_player() == player else min(values)

    return value(root)


def of_game(name: str, first: int) -> Iterator[Task]:
    """Positions near the ends of random games."""
    draw, game = random.Random(f"{name} {first}"), as_game(name)
    while True:
        state = game.new_initial_state()
        moves: list[int] = []
        line: list[tuple[Any, tuple[int, ...]]] = []
        while not state.is_terminal() and len(moves) < LONGEST_GAME:
            line.append((state.clone(), tuple(moves)))
            chance = state.is_chance_node()
            steps = [a for a, _ in state.chance_outcomes()] if chance else state.legal_actions()
            moves.append(int(draw.choice(list(steps))))
            state.apply_action(moves[-1])
        player, found = draw.randrange(state.num_players()), None
        for root, played in line[: -draw.randint(2, 12) : -1]:
            if root.is_chance_node():
                continue
            try:
                found = played, truth(getattr(root, "state", root), player)
            except TooManyError:
                break
        if found is not None:
            header = Header(name, None, found[0], ())
            yield Task(with_history(header.root(game)), game, header, player, found[1])


def of_trees(kind: str, first: int) -> Iterator[Task]:
    """Random trees; some have chance."""
    for seed in itertools.count(first):
        root = tree_state(kind, random_tree(kind, seed))
        player = seed % root.num_players()
        if not root.is_terminal():
            value = Forced(root, player).value
            yield Task(root, root, Header("tree", None, (), ()), player, value)


def of_loops(players: int, first: int, *, compiled: bool) -> Iterator[Task]:
    """Random graphs in which play may go on for ever, by states in Python or by rules."""
    draw = random.Random(f"{players} {first}")
    for seed in itertools.count(first):
        root, player = LoopGame(seed, players, draw.randint(3, PLACES)), draw.randrange(players)
        endless = draw.choice([-1.0, 0.0, 1.0, None])
        if root.is_terminal():
            continue
        value = Forced(root, player, LESS if endless is None else endless).value
        if value == LESS:  # Nothing is forced where endless play is never enough.
            value = -math.inf
        position = as_rules(root) if compiled else root
        yield Task(position, position, Header("loops", None, (), ()), player, value, endless)


def of_graphs(first: int, *, keyed: bool) -> Iterator[Task]:
    """Random graphs without loops, whose positions have keys, or have none."""
    draw = random.Random(f"{keyed} {first}")
    for seed in itertools.count(first):
        players, values = draw.choice([1, 2, 3]), draw.choice([(-1, 0, 1), (-10, -3.5, 0, 3.5, 10)])
        rules = GraphRules(
            seed, nodes=draw.randint(3, 12), num_players=players, loops=False, values=values
        )
        root, player = with_history(GraphState(rules, keyed=keyed)), draw.randrange(players)
        if root.is_terminal():
            continue
        value = max(
            end[player] for end in rules.ends.values() if rules.forced(player, end[player])[0]
        )
        header = Header("graph", None, (), ())
        yield Task(root, root, header, player, value)


def sources() -> dict[str, Callable[[int], Iterator[Task]]]:
    """Sources of positions by the names of the rows; each takes the first of its seeds."""
    found: dict[str, Callable[[int], Iterator[Task]]] = {}
    for name in (*GAMES, *OTHERS, *CHANCES):
        found[name] = functools.partial(of_game, name)
    for name in GAMES:
        found[name + STATES] = functools.partial(of_game, name)
    for kind in KINDS:
        found[f"trees: {kind}"] = functools.partial(of_trees, kind)
    for players in (1, 2, 3):
        for compiled in (False, True):
            name = f"loops: {players} players, by {'rules' if compiled else 'states'}"
            found[name] = functools.partial(of_loops, players, compiled=compiled)
    found["graphs"] = functools.partial(of_graphs, keyed=True)
    found["graphs without keys"] = functools.partial(of_graphs, keyed=False)
    return found


class Prover:
    """Solves tasks of a row and checks their certificates.

    Args:
        path: the file to write certificates to.
        seed: a seed for what is changed in them.
    """

    def __init__(self, path: pathlib.Path, seed: str) -> None:
        self.path, self.draw = path, random.Random(seed)
        self.search: ProofSearch | None = None

    def check(self, task: Task) -> list[str]:
        """Everything that is wrong with a proof; nothing if all is right."""
        wrong, (low, high) = [], self.prove(task)
        if not is_near(low, task.value) or not is_near(high, task.value):
            return [f"the value is {task.value}, not from {low} to {high}"]
        verified = self.refusal(task)
        if verified:
            return [f"its certificate is refused: {verified}"]
        packed = self.path.read_bytes()
        at = self.draw.randrange(len(packed))
        changed = packed[at] ^ self.draw.randrange(1, 256)
        self.path.write_bytes(packed[:at] + bytes([changed]) + packed[at + 1 :])
        if not self.refusal(task):
            wrong.append(f"byte {at} was changed to {changed}, and it is verified")
        lines = lzma.decompress(packed).decode().splitlines()
        for told, made in (
            ("a reply is missing", without_reply(lines, self.draw)),
            ("more is claimed", with_more(lines)),
        ):
            self.write(made)
            if not self.refusal(task):
                wrong.append(f"{told}, and it is verified")
        self.write(with_changed_line(lines, self.draw))
        if not self.refusal(task) and not self.is_true(task):
            wrong.append(f"a line was changed, and what is false is verified: {self.path}")
        return wrong

    def prove(self, task: Task) -> Interval | ValueBounds:
        """The bounds of the solver, and their certificate."""
        if has_chance(task.root):
            expected = ExpectedValue(task.root, task.player, max_memory_mb=0.5)
            bounds = expected.solve(task.root)
            write_bounds(self.path, task.header, task.root, expected)
            return bounds
        search = self.search_for(task)
        interval = ValueSearch(search, task.root, task.player).run()
        write_proof(self.path, task.header, task.root, search, task.player, interval)
        return interval

    def search_for(self, task: Task) -> ProofSearch:
        """A search with an empty table, or the last one, if it is of the same game."""
        repetition = task.repetition
        if repetition is None:
            repetition = loops_are_drawn(task.root)
        alone = task.game is task.root
        if self.search is None or alone or self.draw.random() < 0.05:
            self.search = ProofSearch(task.root, max_memory_mb=1.0, repetition=repetition)
        return self.search

    def refusal(self, task: Task) -> str:
        """The reason that the certificate is refused; empty if it is verified."""
        try:
            verify_certificate(self.path, task.game)
        except CertificateError as error:
            return str(error)
        return ""

    def is_true(self, task: Task) -> bool:
        """True if the statements of a certificate that was changed are right."""
        header = read_header(read_lines(self.path))
        if header.moves != task.header.moves:
            return True  # It is of another position, of which nothing is known here.
        for each in header.statements:
            if each.player != task.player or each.endless not in (None, task.repetition):
                continue
            worse = min if each.bound == AT_LEAST else max
            if not is_near(worse(each.value, task.value), each.value):
                return False
        return True

    def write(self, lines: list[str]) -> None:
        """Pack lines into the file."""
        text = "".join(f"{line}\n" for line in lines)
        self.path.write_bytes(lzma.compress(text.encode(), filters=SMALL))


def is_near(one: float, other: float) -> bool:
    """True if two values are the same, but for rounding."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


def arity(line: str) -> int:
    """The number of positions that follow below a line's."""
    line = line.removesuffix("+")
    return int(line[1:]) if line.startswith("*") else int(line.isdigit())


def without_reply(lines: list[str], draw: random.Random) -> list[str]:
    """A proof of which the answer to one reply is cut out, with all that follows it.

    Half of the time the line above counts one reply less.
    """
    places = [at for at, line in enumerate(lines) if at and line.startswith("*")]
    if not places:
        return [*lines[:-2], *lines[-1:]]
    at = draw.choice(places)
    begin = at + 1
    for _ in range(draw.randrange(arity(lines[at]))):
        begin = end_of(lines, begin)
    rest = [*lines[:begin], *lines[end_of(lines, begin) :]]
    if draw.random() < 0.5:
        rest[at] = re.sub(r"\d+", str(arity(lines[at]) - 1), lines[at])
    return rest


def end_of(lines: list[str], begin: int) -> int:
    """The place after a position's lines."""
    left = 1
    while left:
        left += arity(lines[begin]) - 1
        begin += 1
    return begin


def with_more(lines: list[str]) -> list[str]:
    """A proof with statements that say a little more."""
    header = read_header(iter(lines))
    more = [
        each._replace(value=each.value + (1e-6 if each.bound == AT_LEAST else -1e-6))
        for each in header.statements
    ]
    return [header._replace(statements=(*more,)).to_line(), *lines[1:]]


def with_changed_line(lines: list[str], draw: random.Random) -> list[str]:
    """A proof with another character in one place of one line."""
    at = draw.randrange(len(lines))
    place = draw.randrange(len(lines[at]))
    changed = draw.choice("0123456789=*+-.?")
    return [*lines[:at], lines[at][:place] + changed + lines[at][place + 1 :], *lines[at + 1 :]]


class Count(NamedTuple):
    """The proofs of a row, and what was wrong."""

    proofs: int
    wrong: list[str]


def check_row(name: str, proofs: int, seed: int = 0, most_wrong: int = 3) -> Count:
    """Check so many proofs of a row; other seeds give other positions."""
    os.environ["RAVE_AGENTS_GAMES"] = "openspiel" if name.endswith(STATES) else "compiled"
    tasks, done = sources()[name](seed * SEEDS), 0
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        prover = Prover(pathlib.Path(folder) / "proof.xz", f"{name} {seed}")
        for task in tasks:
            if done == proofs or len(wrong) == most_wrong:
                break
            done += 1
            moves = ",".join(map(str, task.header.moves))
            try:
                found = prover.check(task)
            except Exception as error:
                found = [f"{type(error).__name__}: {error}"]
            wrong += [f"{moves} (player {task.player}): {each}" for each in found]
    return Count(done, wrong)


def main(
    proofs: Annotated[int, typer.Option(min=1, help="Proofs of all rows together.")] = 1000,
    only: Annotated[str, typer.Option(help="A part of the names of the rows wanted.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Others give other positions.")] = 0,
    output: Annotated[str, typer.Option("--json", help="A file for the counts.")] = "",
) -> None:
    """Check proofs, print the rows, and end with 1 if any is wrong."""
    rows = [name for name in sources() if only in name]
    if not rows:
        raise typer.BadParameter(f"no row's name has {only!r}: {', '.join(sources())}.")
    writer.COMPRESSION = 0  # Larger buffers take longer to make than small proofs do.
    counts, begin = {}, time.process_time()
    for place, name in enumerate(rows):
        share = proofs * (place + 1) // len(rows) - proofs * place // len(rows)
        first, counts[name] = time.process_time(), check_row(name, share, seed)
        spent = time.process_time() - first
        print(f"{counts[name].proofs:>7} {spent:7.1f} s  {name}", flush=True)
        for each in counts[name].wrong:
            print(f"        WRONG: {each}", flush=True)
    total = sum(count.proofs for count in counts.values())
    wrong = [each for count in counts.values() for each in count.wrong]
    print(f"{total} proofs, {len(wrong)} wrong, {time.process_time() - begin:.0f} CPU seconds")
    if output:
        told = {name: count._asdict() for name, count in counts.items()}
        pathlib.Path(output).write_text(json.dumps(told, indent=1))
    raise typer.Exit(1 if wrong else 0)


if __name__ == "__main__":
    typer.run(main)
