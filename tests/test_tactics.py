"""The tactical positions: each has the one best move that it states, and agents can be tested."""

import json
import math
import random

import pyspiel
import pytest
from helpers.examples import EXAMPLES, load_example
from helpers.processes import run_python

SCRIPT = EXAMPLES / "tactics.py"
POSITIONS = json.loads(SCRIPT.with_name("tactical_positions.json").read_text())


@pytest.fixture(scope="module")
def tactics():
    return load_example("tactics")


class TooManyNodesError(Exception):
    pass


class Exhaustive:
    """Looks at everything, to a number of plies and of positions."""

    def __init__(self, most=20_000):
        self.most, self.nodes, self.known = most, 0, {}

    def wins(self, state, player, plies=math.inf):
        """Whether a player can force a win."""
        if state.is_terminal():
            return state.returns()[player] > 0
        if plies == 0:
            return False
        key = str(state), state.current_player(), player, plies
        if plies < math.inf:  # Lines of Action, whose draws by repetition depend on the way.
            key = tuple(state.history()), player, plies
        if key not in self.known:
            self.nodes += 1
            if self.nodes > self.most:
                raise TooManyNodesError
            below = (self.wins(state.child(a), player, plies - 1) for a in state.legal_actions())
            own = state.current_player() == player
            self.known[key] = any(below) if own else all(below)
        return self.known[key]

    def outcome(self, state, player):
        """1, 0 or -1."""
        if state.get_game().get_type().short_name != "lines_of_action":
            return self.wins(state, player) - self.wins(state, 1 - player)
        for plies in range(5):
            for winner in (player, 1 - player):
                if self.wins(state, winner, plies):
                    return 1 if winner == player else -1
        raise TooManyNodesError


def state_of(position):
    state = pyspiel.load_game(position["game"]).new_initial_state()
    for action in position["moves"]:
        assert action in state.legal_actions()
        state.apply_action(action)
    return state


@pytest.mark.compiled
@pytest.mark.full(but=["500-3"])
@pytest.mark.parametrize(("nodes", "least"), [(500, 3), (20_000, 15)])
def test_the_stated_move_is_the_only_best_one(nodes, least):
    proven = {position["game"]: 0 for position in POSITIONS}
    for position in POSITIONS:
        state, exhaustive = state_of(position), Exhaustive(nodes)
        player = state.current_player()
        try:
            outcomes = {
                action: exhaustive.outcome(state.child(action), player)
                for action in state.legal_actions()
            }
        except TooManyNodesError:
            continue
        proven[position["game"]] += 1
        best = max(outcomes.values())
        assert [action for action in outcomes if outcomes[action] == best] == [position["best"]]
        assert best == (1 if position["achieves"] == "win" else 0)
    assert sum(proven.values()) >= least


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four(rows=4,columns=4,x_in_row=3)"])
def test_the_prover_agrees_with_looking_at_everything(tactics, name):
    draw = random.Random(name)
    game = pyspiel.load_game(name)
    for _ in range(20):
        state = game.new_initial_state()
        while state.move_number() < 6 and not state.is_terminal():
            state.apply_action(draw.choice(state.legal_actions()))
        for path_matters in (False, True):
            prover = tactics.Prover(path_matters=path_matters)
            for player in range(2):
                won = prover.wins(state, player)
                assert won == Exhaustive().wins(state, player)
                if won:
                    plies = prover.plies(state, player)
                    assert tactics.wins_within(state, player, plies)


@pytest.mark.full
def test_agents_are_tested():
    arguments = ["test", "uct_solver", "random", "--simulations", "50", "--seeds", "2"]
    finished = run_python(SCRIPT, *arguments, "--per-game", "2", "--json")
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout)
    assert found["positions"] == 8
    assert found["agents"].keys() == {"uct_solver", "random"}
    for rows in found["agents"].values():
        low, high = rows["all"]["ci95"]
        assert 0 <= low <= rows["all"]["solved"] <= high <= 1
