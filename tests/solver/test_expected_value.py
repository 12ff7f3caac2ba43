"""Expected values where chance moves: exact ones, bounds that hold, and their certificates."""

import math
import random

import pytest
from helpers.forced import Forced, LoopGame
from helpers.games import Position, RandomRules
from helpers.random_trees import KINDS, random_tree, tree_state

from rave_agents.analysis.certify import certify
from rave_agents.analysis.expected_value import solve_expected
from rave_agents.certificates.certificate_file import verify_certificate
from rave_agents.certificates.checker import after
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.own_games import as_game
from rave_agents.games.pig import Pig
from rave_agents.solver.expected_value import ExpectedValue

TOLERANCE = 1e-9


def close(bounds, value):
    return all(math.isclose(bound, value, abs_tol=TOLERANCE) for bound in bounds)


@pytest.mark.full(but=["zero sum"])
@pytest.mark.parametrize("kind", KINDS)
def test_values_of_random_trees(kind):
    for seed in range(6):
        root = tree_state(kind, random_tree(kind, seed))
        for player in range(root.num_players()):
            found = ExpectedValue(root, player, max_memory_mb=0.1).solve(root)
            assert close(found, Forced(root, player).value)


def test_the_answer_at_every_position_guarantees_its_bound():
    for seed in range(3, 7):
        root = tree_state("zero sum", random_tree("zero sum", seed))
        search, pending = ExpectedValue(root, 0, max_memory_mb=0.1), [root]
        search.solve(root)
        while pending:
            state = pending.pop()
            steps = [outcome for outcome, _ in state.chance_outcomes()] or state.legal_actions()
            pending += [after(state, action) for action in steps]
            if state.current_player() >= 0:
                bounds = search.known(state)
                low, high = search.known(after(state, search.answer(state)))
                own = state.current_player() == 0
                assert low >= bounds.low if own else high <= bounds.high


@pytest.mark.full
def test_bounds_hold_the_value_whenever_a_search_ends():
    root = Pig(winscore=4, horizon=8).new_initial_state()
    value = Forced(root, 0).value
    widths = []
    for positions in (1, 10, 100, 10**6):
        search = ExpectedValue(root, 0, max_memory_mb=1)
        search._slice = 1
        low, high = search.solve(root, positions=positions)
        assert low <= value + TOLERANCE
        assert high >= value - TOLERANCE
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == 2.0
    assert widths[-1] < TOLERANCE


@pytest.mark.full
def test_a_small_table_loses_time_and_no_truth():
    root = Pig(winscore=5, horizon=12).new_initial_state()
    small, large = (ExpectedValue(root, 0, max_memory_mb=mb) for mb in (0.005, 1))
    assert close(small.solve(root), Forced(root, 0).value)
    assert close(large.solve(root), Forced(root, 0).value)
    assert small.positions > large.positions


@pytest.mark.full
def test_only_what_matters_is_looked_into():
    root = Pig(winscore=5, horizon=12).new_initial_state()
    search = ExpectedValue(root, 0, max_memory_mb=4)
    search.solve(root)
    assert search.end == "solved"
    assert search.positions < 0.9 * len(Forced(root, 0).below)


def test_bounds_hold_where_play_can_go_round():
    """Whatever endless play counts, the value is within; without chance they meet where it ends."""
    met = 0
    for seed in range(30):
        root = LoopGame(seed)
        search = ExpectedValue(root, 0, max_memory_mb=0.1)
        low, high = search.solve(root)
        values = [Forced(root, 0, endless).value for endless in (-1.0, 0.0, 1.0)]
        assert low <= min(values)
        assert high >= max(values)
        met += low == high
    assert met > 10


class Walk(LoopGame):
    """A random walk from the middle to one of two ends, which has no bound in time."""

    def __init__(self, width):
        super().__init__(0)
        self.seed, self.at, self.width = width, width // 2, width

    def is_chance_node(self):
        return self.at not in (0, self.width)

    def is_terminal(self):
        return self.at in (0, self.width)

    def current_player(self):
        return -1 if self.is_chance_node() else -4

    def chance_outcomes(self):
        return [(self.at - 1, 0.5), (self.at + 1, 0.5)]

    def returns(self):
        return [1.0, -1.0] if self.at else [-1.0, 1.0]


def test_values_are_iterated_where_chance_goes_round():
    """The gambler's ruin: who has a of n wins with probability a / n."""
    root = Walk(8)
    root.at = 2
    low, high = ExpectedValue(root, 0, max_memory_mb=0.1, precision=1e-6).solve(root)
    assert low <= -0.5 <= high
    assert high - low <= 1e-6


@pytest.mark.full
@pytest.mark.parametrize(
    "game", [Pig(winscore=5, horizon=12), Pig(players=3, winscore=3, horizon=6)]
)
def test_certificates_of_both_bounds_are_verified(game, tmp_path):
    path = tmp_path / "proof.xz"
    found = solve_expected(game, max_memory_mb=1, progress=False)
    lines = certify(path, found, game)
    value = Forced(game.new_initial_state(), 0).value
    assert close(found.bounds, value)
    verified = verify_certificate(path, game)
    assert verified.lines == lines
    assert close([statement.value for statement in verified.header.statements], value)


@pytest.mark.full
def test_a_certificate_proves_the_bounds_of_an_unfinished_search(tmp_path):
    path = tmp_path / "proof.xz"
    game = Pig(winscore=5, horizon=12)
    found = solve_expected(game, max_memory_mb=4, precision=0.5, progress=False)
    certify(path, found, game)
    low, high = found.bounds
    assert 0.0 < high - low <= 0.5
    lower, upper = (each.value for each in verify_certificate(path, game).header.statements)
    assert lower == pytest.approx(low, abs=1e-9)
    assert upper == pytest.approx(high, abs=1e-9)


@pytest.mark.full
def test_einsteins_last_cubes():
    draw, state = random.Random(2), as_game("einstein_wurfelt_nicht").new_initial_state()
    line = [state.clone()]
    while not state.is_terminal():
        steps = [a for a, _ in state.chance_outcomes()] if state.is_chance_node() else None
        state.apply_action(draw.choice(steps or list(state.legal_actions())))
        line.append(state.clone())
    root = line[-9]
    found = ExpectedValue(root, 0, max_memory_mb=4).solve(root)
    assert close(found, Forced(root.on_compiled_rules() or root, 0).value)


class Keyless(Position):
    """A position that gives neither a key nor its moves."""

    position_key = None


def test_positions_without_keys_are_told_apart_by_their_moves():
    rules = RandomRules(3, chance=0.3, zero_sum=True)
    found, known = (solve_expected(kind(rules), max_memory_mb=1) for kind in (Keyless, Position))
    assert (found.end, found.bounds, found.actions) == ("solved", known.bounds, known.actions)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("kuhn_poker", {}, "IMPERFECT_INFORMATION"),
        ("pig", {"positions": 0}, "positions must be an integer of at least 1"),
        ("pig", {"seconds": 0}, "seconds must be a finite number above 0"),
        ("pig", {"max_memory_mb": 0}, "max_memory_mb must be a finite number above 0"),
        ("pig", {"precision": -1}, "precision must be a finite number of at least 0"),
    ],
)
def test_refuses(name, options, message):
    with pytest.raises((ValueError, UnsupportedGameError), match=message):
        solve_expected(name, **options)
