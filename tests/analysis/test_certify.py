"""Certificates of what the solver proves."""

import os
import random

import pytest
from helpers.forced import Forced, LoopGame
from helpers.random_trees import KINDS, random_tree, tree_state

from rave_agents.analysis.certify import certify, position_header, write_bounds, write_proof
from rave_agents.analysis.expected_value import solve_expected
from rave_agents.analysis.solve import solve_position
from rave_agents.certificates.certificate_file import Header, verify_certificate
from rave_agents.certificates.checker import after
from rave_agents.errors import CertificateError
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import PlayerId
from rave_agents.games import CHANCE, rules_class
from rave_agents.solver.expected_value import ExpectedValue
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.solver.value_search import ValueSearch, loops_are_drawn

PROOFS = int(os.environ.get("RAVE_AGENTS_PROOFS", "5"))
"""Random games of each kind that are solved and certified."""

GAMES = {
    "tic_tac_toe": {},
    "nim": {"pile_sizes": "1;3;5"},
    "hex": {"num_cols": 3, "num_rows": 3},
    "connect_four": {"rows": 4, "columns": 4},
    "clobber": {"rows": 3, "columns": 4},
    "breakthrough": {"rows": 5, "columns": 3},
    "dots_and_boxes": {"num_rows": 1, "num_cols": 2},
    "nogo": {"board_size": 3},
}


def certified(path, root, header, game, *, max_memory_mb=4.0, **options):
    """The bounds that the solver proves, which a certificate confirms."""
    search = ProofSearch(root, max_memory_mb=max_memory_mb, **options)
    bounds = ValueSearch(search, root, 0).run()
    lines = write_proof(path, header, root, search, 0, bounds)
    assert verify_certificate(path, game).lines == lines
    return bounds


@pytest.mark.slow
@pytest.mark.full(but=["tic_tac_toe"])
@pytest.mark.parametrize("name", GAMES)
def test_what_is_proven_of_a_game_is_certified(name, tmp_path):
    game = as_game(rules_class(name)(**GAMES[name]))
    header = position_header(game, name, [])
    root = header.root(game)
    bounds = certified(tmp_path / "p.xz", root, header, game, repetition=loops_are_drawn(root))
    assert bounds.is_point


@pytest.mark.full(but=["2-zero sum"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_values_of_random_trees_are_certified(kind, threads, tmp_path):
    """With chance and without, for up to four players."""
    header, path = Header("tree", None, (), ()), tmp_path / "p.xz"
    for seed in range(PROOFS):
        nodes = random_tree(kind, seed)
        root = tree_state(kind, nodes)
        if root.is_terminal():
            continue
        value = Forced(root, 0).value
        if any(node.mover == CHANCE for node in nodes):
            search = ExpectedValue(root, 0, max_memory_mb=0.1)
            bounds = search.solve(root)
            write_bounds(path, header, root, search)
            verify_certificate(path, root)
        else:
            bounds = certified(path, root, header, root, max_memory_mb=1.0, threads=threads)
        assert bounds == pytest.approx((value, value), abs=1e-9)


@pytest.mark.full(but=["1-0.0", "2-0.0"])
@pytest.mark.parametrize("endless", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_proven_with_loops_is_certified(endless, threads, tmp_path):
    for seed in range(2 * PROOFS):
        root = LoopGame(seed)
        if root.is_terminal():
            continue
        header = Header("loops", None, (), ())
        found = certified(
            tmp_path / "p.xz", root, header, root, repetition=endless, threads=threads
        )
        value = Forced(root, 0, endless).value
        assert found == (value, value)


@pytest.mark.full
def test_what_the_table_has_lost_is_searched_for_again(tmp_path):
    """Positions of Connect Four, with room for far fewer than the proof has."""
    game, draw = as_game(rules_class("connect_four")(rows=5, columns=4)), random.Random(1)
    state, moves = game.new_initial_state(), []
    for _ in range(6):
        moves.append(draw.choice(state.legal_actions()))
        state = after(state, moves[-1])
    header = position_header(game, "connect_four", moves)
    certified(tmp_path / "p.xz", header.root(game), header, game, max_memory_mb=1.0)


def test_nothing_proven_is_not_certified(tmp_path):
    root = LoopGame(1)
    search = ProofSearch(root, max_memory_mb=1.0)
    with pytest.raises(CertificateError, match="Nothing is proven"):
        write_proof(tmp_path / "p.xz", Header("g", None, (), ()), root, search, 0, (-1.0, 1.0))


def test_a_position_from_a_text_is_told_by_it_or_refused(tmp_path):
    game, fen = as_game("chess"), "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"
    header = position_header(game, "chess", [], "Ra8#", fen)
    assert header.position == fen
    assert header.root(game).is_terminal()
    plain = as_game("tic_tac_toe")
    with pytest.raises(CertificateError, match="needs the moves"):
        position_header(plain, "tic_tac_toe", [], "", "x.. ... ...")


class OneOrTwo:
    """Players take one or two; the last one wins. It has the required methods alone."""

    def __init__(self, left=4, mover=0):
        self.left, self.mover = left, mover

    def clone(self):
        return type(self)(self.left, self.mover)

    def current_player(self):
        return self.mover if self.left else PlayerId.TERMINAL

    def is_terminal(self):
        return self.left == 0

    def is_chance_node(self):
        return False

    def has_chance_nodes(self):
        return False

    def chance_outcomes(self):
        return []

    def legal_actions(self):
        return [action for action in (0, 1) if action < self.left]

    def apply_action(self, action):
        self.left, self.mover = self.left - action - 1, 1 - self.mover

    def returns(self):
        won = 0.0 if self.left else 1.0
        return [-won, won] if self.mover == 0 else [won, -won]

    def num_players(self):
        return 2

    def num_distinct_actions(self):
        return 2

    def min_utility(self):
        return -1.0

    def max_utility(self):
        return 1.0

    def utility_sum(self):
        return 0.0


class Drawn(OneOrTwo):
    """Chance decides who begins."""

    def __init__(self, left=4, mover=int(PlayerId.CHANCE)):
        super().__init__(left, mover)

    def is_chance_node(self):
        return self.mover == PlayerId.CHANCE

    def has_chance_nodes(self):
        return True

    def chance_outcomes(self):
        return [(0, 0.5), (1, 0.5)] if self.is_chance_node() else []

    def legal_actions(self):
        return [0, 1] if self.is_chance_node() else super().legal_actions()

    def apply_action(self, action):
        if self.is_chance_node():
            self.mover = action
        else:
            super().apply_action(action)


@pytest.mark.parametrize(
    ("solve", "game", "moves"),
    [
        (solve_position, OneOrTwo, ""),
        (solve_expected, Drawn, "0"),
        (solve_position, OneOrTwo, "0 1"),
    ],
)
@pytest.mark.full(but=3)
def test_games_without_keys_are_certified(solve, game, moves, tmp_path):
    solution = solve(game(), moves=moves, progress=False, max_memory_mb=1.0)
    certify(tmp_path / "p.xz", solution, game(), moves=moves)
    (statement,) = verify_certificate(tmp_path / "p.xz", game()).header.statements
    assert abs(statement.value) == pytest.approx(1.0)
